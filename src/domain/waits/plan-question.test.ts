/**
 * An item whose plan needs input asks: one question at a time, as soon as nothing else can be said
 * or waited for, and the answer to exactly that question is what lets it go on.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  item,
  itemRow,
  focusOf,
  pick,
  say,
  wait,
  waitOf,
  World,
} from '../../testing/world/agent-world.ts'
import { act, ask, begin, end, turn } from '../../testing/world/turns.ts'
import { prepared, type Bare } from '../../testing/world/operator-inputs.ts'
import { boundHash } from '../work/answer-question.ts'
import { completeItem } from '../work/complete.ts'
import type { WorkItemId } from '../ids.ts'
import { updateItem, type UpdateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { operate } from '../operator/decide.ts'
import { askForInput, questionOfPlan } from './plan-question.ts'
import { plus } from '../time.ts'
import { isRejection } from '../rejection.ts'
import { fireDue } from './wait-end.ts'

type Fields = Omit<UpdateItem, 'work_item_id' | 'by'>
const asks: Fields = { plan_status: 'needs_input', question: 'Red or blue?' }

/** In a turn: the agent's change of an item. */
const change = (w: World, id: WorkItemId, fields: Fields = asks) =>
  act(w, { tool: 'UpdateWorkItem', input: { work_item_id: id, ...fields } }, (d) =>
    updateItem(d, { work_item_id: id, by: 'agent', ...fields }),
  )
const does = (w: World, given: Bare) => w.do((d) => operate(d, prepared(w, given)))
const questions = (w: World) =>
  w
    .all('waits')
    .filter(({ status }) => status === 'active')
    .map(({ work_item_id, question }) => [work_item_id, question?.text ?? null])
const briefs = (w: World) => w.all('briefs').map(({ kind, text }) => [kind, text])

/** A turn about an item in focus, in which it is changed so that its plan needs input. */
function asking(fields: Fields = asks): { w: World; id: WorkItemId } {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  change(w, id, fields)
  return { w, id }
}

test('the question is asked by the commit that ends the turn, and not before', () => {
  const { w, id } = asking()
  assert.deepEqual(questions(w), [])
  end(w, { text: 'I stopped here.' })
  assert.deepEqual(questions(w), [[id, 'Red or blue?']])
  assert.deepEqual(briefs(w), [
    ['question', 'Red or blue?'],
    ['progress', 'I stopped here.'],
  ])
})

test('without a question the last words of the turn are it, else the head of the plan', () => {
  const rows: [fields: Fields, last: string, question: string][] = [
    [{ plan_status: 'needs_input' }, 'Which one?', 'Which one?'],
    [{ plan_status: 'needs_input', plan_text: '# Plan\n\nRed?' }, '', '# Plan\nRed?'],
    [{ plan_status: 'needs_input' }, '', 'The plan needs your input: Objective of work_0001'],
  ]
  for (const [fields, text, question] of rows) {
    const { w, id } = asking(fields)
    end(w, { text })
    assert.deepEqual(questions(w), [[id, question]])
    assert.deepEqual(briefs(w), [['question', question]])
  }
})

test('two items that ask in one turn ask their own questions; the last words are the turn’s own', () => {
  const { w, id } = asking({ plan_status: 'needs_input' })
  const other = item(w)
  change(w, other, { plan_status: 'needs_input', plan_text: 'Of the other.' })
  end(w, { text: 'Of this one?' })
  assert.deepEqual(questions(w), [
    [id, 'Of this one?'],
    [other, 'Of the other.'],
  ])
  say(w, { work_item_id: other, text: 'Yes.' })
  assert.deepEqual(questions(w), [[id, 'Of this one?']])
  assert.deepEqual(
    [id, other].map((one) => itemRow(w, one).plan_status),
    ['needs_input', 'draft'],
  )
})

test('the answer is the operator’s act: the plan is a draft again, focus returns, a turn starts', () => {
  const { w, id } = asking()
  end(w, {})
  assert.equal(focusOf(w), null)
  const asked = waitOf(w, id)
  const reply = does(w, {
    do: 'answer',
    wait_id: asked.id,
    bound_hash: boundHash(asked),
    text: 'Red.',
  })
  assert.deepEqual(reply.resolved, [asked.id])
  const { plan_status, input_wanted } = itemRow(w, id)
  assert.deepEqual([plan_status, input_wanted, focusOf(w)], ['draft', null, id])
  const settled = w.events.findLast(({ event }) => event.type === 'work_item_updated')?.event
  assert.equal(settled?.type === 'work_item_updated' && settled.by, 'operator')
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'message')
  assert.equal(next.start.message.work_item_id, id)
})

test('an item that has another wait asks when that one ends, however it ends', () => {
  const ends: [name: string, (w: World, id: WorkItemId) => void][] = [
    ['its time comes', (w) => w.pass(60_000).do(fireDue) ?? w.do(askForInput)],
    ['it is cancelled', (w, id) => void does(w, { do: 'cancel_wait', wait_id: waitOf(w, id).id })],
    ['the item may go on', (w, id) => void does(w, { do: 'unblock', work_item_id: id })],
    ['a turn looks at it', (w, id) => end(begun(w, id), {})],
  ]
  for (const [name, over] of ends) {
    const { w, id } = asking()
    act(w, { tool: 'WaitFor', input: {} }, () =>
      Object.assign({}, wait(w, { work_item_id: id, wake: 'timer', wake_at: plus(w.now, 60_000) })),
    )
    end(w, { outcome: 'waiting', reason: 'timer' })
    assert.deepEqual(questions(w), [[id, null]], name)
    over(w, id)
    assert.deepEqual(questions(w), [[id, 'Red or blue?']], name)
  }
})

/** A turn in which the agent gives up the wait of the item. */
function begun(w: World, id: WorkItemId): World {
  say(w, { text: 'What is with it?' })
  begin(w, 'message')
  ask(w)
  change(w, id, { blocked_by: null })
  return w
}

test('a question asked by WaitFor and one of the plan are two: each has its own answer', () => {
  const { w, id } = asking()
  act(w, { tool: 'WaitFor', input: {} }, () =>
    Object.assign({}, wait(w, { work_item_id: id, wake: 'operator_input', question: 'Ship it?' })),
  )
  end(w, { outcome: 'waiting', reason: 'operator_input' })
  assert.deepEqual(questions(w), [[id, 'Ship it?']])
  say(w, { work_item_id: id, text: 'Yes.' })
  assert.deepEqual(questions(w), [[id, 'Red or blue?']])
  assert.equal(itemRow(w, id).plan_status, 'needs_input')
  say(w, { work_item_id: id, text: 'Red.' })
  assert.deepEqual(questions(w), [])
  assert.equal(itemRow(w, id).plan_status, 'draft')
})

test('a change by the operator asks in its own commit, also while a turn runs', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  begin(w, 'continue_current')
  ask(w)
  change(w, a, asks)
  does(w, { do: 'update_item', work_item_id: b, plan_status: 'needs_input', question: 'Of b?' })
  assert.deepEqual(questions(w), [[b, 'Of b?']])
  does(w, { do: 'create_item', objective: 'New', plan_status: 'needs_input', plan: 'Head.\n' })
  assert.deepEqual(questions(w), [
    [b, 'Of b?'],
    ['work_made', 'Head.'],
  ])
})

test('a plan that needs no input any more asks nothing; another question takes the place of the first', () => {
  const { w, id } = asking()
  end(w, {})
  const first = waitOf(w, id).id
  does(w, { do: 'update_item', work_item_id: id, plan_status: 'needs_input', question: 'Green?' })
  assert.deepEqual(questions(w), [[id, 'Green?']])
  assert.equal(w.row('waits', first).status, 'cancelled')
  does(w, { do: 'update_item', work_item_id: id, plan_status: 'ready' })
  assert.deepEqual(questions(w), [])
  assert.deepEqual([itemRow(w, id).input_wanted, w.next().do], [null, 'start_turn'])
})

test('to go on without an answer is said of the question, not of the blocker', () => {
  const { w, id } = asking({ ...asks, blocked_by: 'no key' })
  end(w, {})
  const told = does(w, { do: 'unblock', work_item_id: id }).said
  assert.equal(
    told,
    `its blocker is cleared, but ${id} does not go on yet: ` +
      `its plan needs your input, "Red or blue?" (holon answer ${id} "…")`,
  )
  assert.deepEqual(questions(w), [[id, 'Red or blue?']])
  does(w, { do: 'cancel_wait', wait_id: waitOf(w, id).id })
  assert.deepEqual([questions(w), itemRow(w, id).plan_status], [[], 'draft'])
})

test('words that came while the turn ran answer the question that it ends with', () => {
  const { w, id } = asking()
  say(w, { work_item_id: id, text: 'Red.' })
  end(w, {})
  assert.deepEqual([questions(w), itemRow(w, id).plan_status], [[], 'draft'])
})

test('a completed item asks nothing', () => {
  const { w, id } = asking()
  w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null }))
  end(w, { text: 'Done.' })
  assert.deepEqual(questions(w), [])
})

test('one that an earlier program left without a question is asked, once', () => {
  const w = new World()
  const id = item(w, { plan_status: 'needs_input' })
  w.facts.include('work_items', { ...itemRow(w, id), input_wanted: null })
  w.do(askForInput)
  w.do(askForInput)
  assert.deepEqual(questions(w), [[id, `The plan needs your input: Objective of ${id}`]])
})

test('a question is refused where the plan needs no input, and is no longer than it may be', () => {
  const w = new World()
  const id = item(w)
  const rows: [Fields, string][] = [
    [{ question: 'Which?' }, 'question_not_wanted'],
    [{ plan_status: 'ready', question: 'Which?' }, 'question_not_wanted'],
    [{ plan_status: 'needs_input', question: ' ' }, 'question_empty'],
    [{ plan_status: 'needs_input', question: 'x'.repeat(limits.question.value + 1) }, 'over_limit'],
  ]
  for (const [fields, code] of rows) {
    const made = w.try((d) => updateItem(d, { work_item_id: id, by: 'agent', ...fields }))
    assert.equal(isRejection(made) && made.code, code)
  }
})

test('the head of a plan is its first lines that say something, and no more than can be read', () => {
  assert.equal(questionOfPlan('Ship', '\n# Ship\n\nWhich?\n'), '# Ship\nWhich?')
  assert.equal(questionOfPlan('Ship', 'x'.repeat(5_000)).length, limits.plan_question.value)
  assert.equal(questionOfPlan('Ship', ' \n'), 'The plan needs your input: Ship')
})

test('a turn that starts about an item that asks shows the question and holds nothing back', () => {
  const { w, id } = asking()
  end(w, {})
  const other = item(w)
  pick(w, other)
  turn(w, { rule: 'continue_current' })
  assert.deepEqual(questions(w), [[id, 'Red or blue?']])
})
