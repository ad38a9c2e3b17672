import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  focusOf,
  item,
  itemRow,
  pick,
  say,
  T0,
  task,
  wait,
  waitCommand,
  waitOf,
  World,
} from '../../testing/world/agent-world.ts'
import {
  act,
  ask,
  answer,
  begin,
  end,
  taskEnds,
  turn,
  type PlannedCall,
} from '../../testing/world/turns.ts'
import { agentPacing, itemPacing } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { createItem, updateItem } from '../work/create-and-update.ts'
import { levelOf, nextBack, stockOf } from './stock.ts'
import { limits } from '../limits.ts'
import { itemReady, mayDraw, paceAgent, paceItem } from './pacing.ts'
import { askAboutBucket } from '../scheduler/park.ts'
import { plus } from '../time.ts'
import { cancelWait, fireDue } from './wait-end.ts'
import { waitFor } from './wait-for.ts'

const minute = 60_000
const ready = (w: World, id: WorkItemId) => itemReady(w.facts, itemRow(w, id), w.now)
const counts = (w: World, id: WorkItemId) => {
  const { no_progress, self_started } = itemPacing(w.facts, id)
  return [no_progress, self_started]
}

// Every reason to be ready is true in the first row; each row takes the winning one away.
test('an item is ready for the first reason that applies, else from the end of its back-off', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const says = (because: string) => assert.equal(ready(w, id).because, because)
  says('it never had a turn')
  turn(w, { rule: 'continue_current', progress: true })
  w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', objective: 'Better' }))
  says('its revision moved from 1 to 2')
  w.do((d) => paceItem(d, id, { end_revision: 2 }))
  says('its last turn made progress')
  w.do((d) => paceItem(d, id, { last_turn_progress: false }))
  says('nothing is counted against it')
  w.do((d) => paceItem(d, id, { no_progress: 1 }))
  assert.deepEqual(ready(w, id), {
    ready: false,
    until: plus(T0, minute),
    because: `1 turn without progress; back-off until ${plus(T0, minute)}`,
  })
  w.pass(minute)
  says('its back-off has passed')
})

test('the back-off is one minute after one turn without progress and five after two', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const until = () => {
    const r = ready(w, id)
    return r.ready ? null : r.until
  }
  turn(w, { rule: 'continue_current' })
  assert.equal(until(), plus(T0, minute))
  turn(w.pass(minute), { rule: 'continue_current' })
  assert.equal(until(), plus(T0, 6 * minute))
  assert.deepEqual(counts(w, id), [2, 2])
})

test('the third self-started turn in a row without progress parks the item with one question', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const turns = [0, minute, 5 * minute].map(
    (pause) => turn(w.pass(pause), { rule: 'continue_current' }).id,
  )
  const question = waitOf(w, id)
  assert.deepEqual(
    [question.wake, question.by, question.runtime_cause, focusOf(w)],
    ['operator_input', 'runtime', 'no_progress', null],
  )
  const briefs = w.all('briefs').filter((b) => b.kind === 'question')
  assert.deepEqual(
    briefs.map((b) => b.wait_id),
    [question.id],
  )
  for (const one of turns) assert.match(briefs[0]?.text ?? '', new RegExp(one))
  assert.deepEqual(counts(w, id), [0, 0])
})

test('focus returns when the parking question is answered', () => {
  const w = new World()
  const id = item(w, { focus: true })
  for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'continue_current' })
  say(w, { wait_id: waitOf(w, id).id })
  assert.equal(focusOf(w), id)
  assert.deepEqual(w.lastOf('work_item_picked')[0]?.switch_kind, 'wait_resolved')
})

test('after 50 self-started turns without outside input the item is parked the same way', () => {
  const w = new World()
  const id = item(w, { focus: true })
  for (let n = 0; n < limits.self_started_turns.value; n++) {
    turn(w, { rule: 'continue_current', progress: true })
  }
  assert.equal(waitOf(w, id).runtime_cause, 'self_started_limit')
  assert.deepEqual(counts(w, id), [0, 0])
})

test('parked in the turn that waited, the item still gets focus back with the answer', () => {
  const w = new World()
  const id = item(w, { focus: true })
  w.do((d) => paceItem(d, id, { self_started: limits.self_started_turns.value - 1 }))
  begin(w, 'continue_current')
  act(w, { tool: 'WaitFor' }, (d) =>
    waitFor(d, waitCommand({ work_item_id: id, wake: 'timer', wake_at: plus(w.now, 1000) })),
  )
  end(w, { outcome: 'waiting' })
  assert.equal(waitOf(w, id).runtime_cause, 'self_started_limit')
  say(w, { work_item_id: id })
  assert.equal(focusOf(w), id)
})

test('a turn with progress ends the row; the next without it counts as the first', () => {
  const w = new World()
  const id = item(w, { focus: true })
  turn(w, { rule: 'continue_current' })
  turn(w.pass(minute), { rule: 'continue_current', progress: true })
  assert.deepEqual(counts(w, id), [0, 2])
  turn(w, { rule: 'continue_current' })
  assert.deepEqual(counts(w, id), [1, 3])
})

test('a turn that claims a message or a trigger never counts', () => {
  const w = new World()
  const id = item(w, { focus: true })
  say(w, { work_item_id: id })
  turn(w, { rule: 'message' })
  assert.deepEqual(counts(w, id), [0, 0])
  const waiting = item(w)
  wait(w, { work_item_id: waiting, delivery_mode: 'wake_hint' })
  w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'x' }))
  deliver(w)
  turn(w, { rule: 'review_triggered' })
  assert.deepEqual(counts(w, waiting), [0, 0])
})

test('a turn that claims nothing but task results counts as self-started', () => {
  const w = new World()
  const id = item(w)
  const bucket = () => levelOf(stockOf(agentPacing(w.facts), 'bucket'), w.now)
  taskEnds(w, task(w, { work_item_id: id }))
  const { started_by } = turn(w, { rule: 'message' })
  assert.deepEqual([started_by, counts(w, id), bucket()], ['itself', [1, 1], 499])
  taskEnds(w, task(w, { work_item_id: id }))
  say(w, { work_item_id: id })
  assert.equal(turn(w, { rule: 'message' }).started_by, 'input')
})

test('a review without a trigger draws on the bucket, and counts for nothing unless it changes', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  for (const work_item_id of [a, b]) wait(w, { work_item_id, recheck_at: plus(T0, minute) })
  w.do((d) => paceItem(d, a, { no_progress: 2, self_started: 7 }))
  const bucket = () => agentPacing(w.facts).bucket
  begin(w.pass(minute), 'review_triggered')
  act(w, { tool: 'ExecCommand' }, () => undefined, { hash: 'new each time', changed: false })
  end(w, { text: 'Nothing yet.' })
  const [first] = w.all('turns')
  assert.deepEqual([first?.started_by, first?.progress, bucket()], ['itself', false, 499])
  assert.deepEqual(counts(w, a), [2, 7])
  begin(w.pass(2 * minute), 'review_triggered')
  act(w, { tool: 'EditFile' }, () => undefined, { changed: true })
  end(w)
  const changed = w.all('turns').at(-1)
  assert.deepEqual([changed?.progress, bucket()], [true, 498])
  assert.deepEqual(counts(w, changed?.work_item_id as WorkItemId)[0], 0)
})

test('progress: a changed record, a new command result, a moved plan; not reading, not words', () => {
  const rows: [progress: boolean, call: PlannedCall, changed: boolean, hash: string | null][] = [
    [true, { tool: 'EditFile' }, true, null],
    [true, { tool: 'ExecCommand' }, false, 'h1'],
    [false, { tool: 'ReadFile' }, false, null],
  ]
  for (const [progress, call, changed, hash] of rows) {
    const w = new World()
    const id = item(w, { focus: true })
    begin(w, 'continue_current')
    act(w, call, () => null, { changed, ...(hash === null ? {} : { hash }) })
    end(w)
    assert.equal(itemPacing(w.facts, id).last_turn_progress, progress, call.tool)
  }
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  answer(w, { text: 'I thought about it at length.' })
  end(w, { text: 'I thought about it at length.', plan: itemRow(w, id).plan_artifact })
  assert.equal(itemPacing(w.facts, id).last_turn_progress, false)
  begin(w.pass(minute), 'continue_current')
  ask(w)
  answer(w, { text: 'Planned.' })
  end(w, { plan: { ...itemRow(w, id).plan_artifact, sha256: 'p', bytes: 9 } })
  assert.equal(itemPacing(w.facts, id).last_turn_progress, true)
})

test('the same command with the same result is progress once, until the item changes', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const poll = (hash: string) => {
    begin(w, 'continue_current')
    act(w, { tool: 'ExecCommand' }, () => null, { hash })
    end(w)
    w.pass(5 * minute)
    return itemPacing(w.facts, id).last_turn_progress
  }
  assert.deepEqual([poll('h1'), poll('h1'), poll('h2'), poll('h1')], [true, false, true, false])
  turn(w, { rule: 'continue_current', progress: true })
  assert.equal(poll('h1'), true)
})

test('a refused turn is no progress whatever it did before', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  act(w, { tool: 'EditFile' }, () => null, { changed: true })
  end(w, { outcome: 'failed', reason: 'refused' })
  assert.deepEqual(counts(w, id), [1, 1])
})

// What comes from outside, and whose counts it resets: the item's, and the agent's bucket.
const resets: [name: string, (w: World, id: WorkItemId) => void, item: boolean, agent: boolean][] =
  [
    ['an operator message about it', (w, id) => void say(w, { work_item_id: id }), true, true],
    ['an operator message about nothing', (w) => void say(w), false, true],
    ['an operator change', (w, id) => touch(w, id), true, true],
    ['an event that matches nothing', (w) => void deliver(w, { source: 'x' }), false, true],
    ['an event for its wait', (w) => void deliver(w, { source: 'ci' }), true, true],
    ['a task of half a minute', (w, id) => ranTask(w, id, minute / 2), false, false],
    ['a task of a minute', (w, id) => ranTask(w, id, minute), true, false],
    ['a timer of half a minute', (w, id) => timer(w, id, minute / 2), false, false],
    ['a timer of a minute', (w, id) => timer(w, id, minute), true, false],
    ['a cancelled wait', (w, id) => w.do((d) => void cancelWait(d, waitOf(w, id).id)), true, true],
    [
      'another item being made by the operator',
      (w) => void item(w, { by: 'operator' }),
      false,
      true,
    ],
  ]
function touch(w: World, id: WorkItemId) {
  w.do((d) => updateItem(d, { work_item_id: id, by: 'operator', objective: 'Again' }))
}
function ranTask(w: World, id: WorkItemId, ms: number) {
  const t = task(w, { work_item_id: id })
  taskEnds(w.pass(ms), t)
}
function timer(w: World, id: WorkItemId, ms: number) {
  wait(w, { work_item_id: id, wake: 'timer', wake_at: plus(w.now, ms) })
  w.pass(ms).do(fireDue)
}

test('outside input resets what is counted against the item; the stronger ones the agent too', () => {
  for (const [name, input, resetsItem, resetsAgent] of resets) {
    const w = new World()
    const id = item(w)
    wait(w, { work_item_id: id, source: 'ci' })
    w.do((d) => {
      paceItem(d, id, { no_progress: 2, self_started: 7, no_progress_turns: ['turn_1', 'turn_2'] })
      paceAgent(d, { bucket: 3, bucket_at: d.now })
    })
    input(w, id)
    const { bucket } = agentPacing(w.facts)
    assert.deepEqual(counts(w, id), resetsItem ? [0, 0] : [2, 7], name)
    assert.equal(bucket, resetsAgent ? limits.bucket.value : 3, name)
  }
})

test('the bucket holds 500 turns; one drawn comes back every ten minutes', () => {
  const w = new World()
  const pacing = () => agentPacing(w.facts)
  const level = () => levelOf(stockOf(pacing(), 'bucket'), w.now)
  assert.equal(level(), 500)
  w.do((d) => paceAgent(d, { bucket: 2, bucket_at: d.now }))
  item(w, { focus: true })
  turn(w.pass(5 * minute), { rule: 'continue_current', progress: true })
  assert.equal(level(), 1)
  assert.equal(nextBack(stockOf(pacing(), 'bucket')), plus(T0, 10 * minute))
  assert.equal(level() + (w.pass(5 * minute), 0), 1)
  assert.equal(level(), 2)
  w.pass(5000 * 10 * minute)
  assert.equal(level(), 500)
})

test('an empty bucket stops rules 6 and 9 until the next turn comes back', () => {
  const w = new World()
  item(w, { focus: true })
  item(w)
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
  assert.deepEqual(w.next(), {
    do: 'wait',
    for: 'backoff',
    until: plus(T0, 10 * minute),
    because: `2 open items, none can go on, next look at ${plus(T0, 10 * minute)}`,
  })
  turn(w.pass(10 * minute), { rule: 'continue_current', progress: true })
  assert.equal(w.next().do, 'wait')
})

test('a review that nothing but time asks for waits while the bucket is empty', () => {
  const w = new World()
  wait(w, { work_item_id: item(w), recheck_at: plus(T0, minute) })
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
  const next = w.pass(minute).next()
  assert.deepEqual([next.do, next.do === 'wait' && next.until], ['wait', plus(T0, 10 * minute)])
  turn(w.pass(9 * minute), { rule: 'review_triggered' })
  assert.equal(levelOf(stockOf(agentPacing(w.facts), 'bucket'), w.now), 0)
})

test('while the bucket is empty results of tasks stay queued; a word of the operator fills it', () => {
  const w = new World()
  const id = item(w)
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
  taskEnds(w, task(w, { work_item_id: id }))
  assert.equal(w.next().do, 'wait')
  say(w)
  assert.equal(agentPacing(w.facts).bucket, 500)
})

test('the agent asks the operator about an empty bucket once, until it is filled from outside', () => {
  const w = new World()
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
  assert.deepEqual([w.do(askAboutBucket), w.do(askAboutBucket)], [true, false])
  const asked = w.all('waits')[0] ?? assert.fail()
  assert.deepEqual([asked.runtime_cause, asked.status], ['bucket_empty', 'active'])
  say(w)
  assert.equal(w.row('waits', asked.id).status, 'resolved')
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
  assert.equal(w.do(askAboutBucket), true)
})

test('the first turn after a task of a minute is free, once a minute per item', () => {
  const w = new World()
  const id = item(w, { focus: true })
  w.do((d) => paceAgent(d, { bucket: 1, bucket_at: d.now }))
  const bucket = () => levelOf(stockOf(agentPacing(w.facts), 'bucket'), w.now)
  ranTask(w, id, minute)
  turn(w, { progress: true })
  assert.equal(bucket(), 1)
  turn(w, { progress: true })
  assert.equal(bucket(), 0)
  assert.equal(mayDraw(w.facts, id, w.now), false)
  const [a, b] = [task(w, { work_item_id: id }), task(w, { work_item_id: id })]
  taskEnds(w.pass(minute), a)
  assert.equal(mayDraw(w.facts, id, w.now), true)
  turn(w, { rule: 'continue_current', progress: true })
  taskEnds(w.pass(1), b)
  assert.equal(mayDraw(w.facts, id, w.now), false)
})

test('an unchanged count writes no event', () => {
  const w = new World()
  const id = item(w)
  w.do((d) => paceItem(d, id, { no_progress: 0 }))
  assert.deepEqual(w.last, [])
  pick(w, id)
  say(w)
  assert.deepEqual(w.lastOf('item_paced'), [])
  const made = w.do((d) =>
    createItem(d, {
      id: 'work_x',
      by: 'operator',
      objective: 'x',
      plan_status: 'draft',
      todo_list: [],
      plan: itemRow(w, id).plan_artifact,
      budget: null,
    }),
  )
  assert.deepEqual([made.ok, w.last.length], [true, 1])
})
