import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, say, wait, World } from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, run, turnOf } from '../../testing/world/turns.ts'
import { errorResult } from '../state/call.ts'
import { completeItem } from '../work/complete.ts'
import { roundsOf } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { admit } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { delegated } from '../state/provenance.ts'
import { roundId, type Finish } from '../state/turn.ts'
import { mayEndAfterCalls, nextStep, type Step } from './step.ts'
import { callFinished } from '../../testing/events.ts'

function opened(): { w: World; id: WorkItemId } {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  return { w, id }
}

/** The same for words of the operator. */
function spoken(): { w: World; id: WorkItemId } {
  const w = new World()
  const id = item(w, { focus: true })
  say(w)
  begin(w, 'message')
  return { w, id }
}

type Short = (string | null)[]
function short(w: World): Short {
  const step: Step = nextStep(w.facts, w.now)
  switch (step.do) {
    case 'open':
    case 'hold':
      return [step.do]
    case 'stream':
      return ['stream', step.round.id]
    case 'start_call':
    case 'run_call':
      return [step.do, step.call.id]
    case 'request':
      return ['request', step.kind]
    case 'report':
      return ['report', step.text]
    case 'end':
      return ['end', step.outcome, step.reason, step.text]
  }
}

test('a turn goes request, answer, calls in order, next request, and ends in words', () => {
  const { w } = opened()
  assert.deepEqual(short(w), ['open'])
  const round = ask(w)
  assert.deepEqual(short(w), ['stream', round.id])
  const [a, b] = answer(w, { calls: [{ tool: 'ReadFile' }, { tool: 'EditFile' }] })
  assert.ok(a && b)
  assert.deepEqual(short(w), ['start_call', a.id])
  w.do((d) =>
    d.emit({ type: 'call_started', id: a.id, intent: null, task_id: null, work_item_id: null }),
  )
  assert.deepEqual(short(w), ['run_call', a.id])
  const result = errorResult('ReadFile', 'fault', 'no', 'no')
  w.do((d) => d.emit(callFinished(a.id, { result })))
  assert.deepEqual(short(w), ['start_call', b.id])
  run(w, b, () => null)
  assert.deepEqual(short(w), ['request', 'work'])
  ask(w)
  answer(w, { text: 'That is all.' })
  assert.deepEqual(short(w), ['end', 'completed', null, 'That is all.'])
})

test('the same step comes out of facts that were read anew', () => {
  const { w } = opened()
  act(w, { tool: 'ReadFile' }, () => null)
  ask(w)
  answer(w, { calls: [{ tool: 'ReadFile' }] })
  const before = short(w)
  assert.deepEqual(short(w.reload()), before)
})

// What an answer without calls leads to. `then` is the kind of the round it answers.
const answers: [Parameters<typeof ask>[1], Finish, text: string, interject: boolean, Short][] = [
  ['work', 'stop', 'Words.', false, ['end', 'completed', null, 'Words.']],
  ['work', 'other', 'Words.', false, ['end', 'completed', null, 'Words.']],
  ['work', 'stop', 'Words.', true, ['request', 'work']],
  ['work', 'content_filter', 'Wo', false, ['end', 'failed', 'policy', 'Wo']],
  ['work', 'length', 'Wor', false, ['request', 'continue']],
  ['work', 'length', '', false, ['request', 'continue']],
  ['work', 'stop', ' ', false, ['request', 'again']],
  ['again', 'stop', '', false, ['end', 'completed', 'empty_answer', '']],
  ['again', 'stop', 'Words.', false, ['end', 'completed', null, 'Words.']],
  ['report', 'stop', 'It is out.', false, ['report', 'It is out.']],
  ['report', 'stop', '', false, ['report', '']],
  ['report', 'length', 'It is o', false, ['end', 'completed', 'cut_by_length', 'It is o']],
  ['report', 'content_filter', 'It', false, ['report', '']],
]

test('what an answer without calls leads to', () => {
  for (const [kind, finish, text, interject, expect] of answers) {
    const { w } = spoken()
    ask(w, kind)
    if (interject) say(w, { priority: 'interject' })
    answer(w, { text, finish })
    assert.deepEqual(short(w), expect, `${kind} ${finish} "${text}"`)
  }
})

test('an empty answer ends a turn at once where no word of the operator or a parent waits for one', () => {
  const ask2 = (w: World, text: string, interjected = false) => {
    ask(w)
    if (interjected) say(w, { priority: 'interject' })
    answer(w, { text })
  }
  const silent = ['end', 'completed', 'silent', '']
  const again = ['request', 'again']
  const worlds: Record<string, [make: () => World, expect: Short]> = {
    'it goes on by itself': [() => opened().w, silent],
    'an event': [
      () => {
        const w = new World()
        deliver(w)
        begin(w, 'message')
        return w
      },
      silent,
    ],
    'a recheck': [
      () => {
        const w = new World()
        wait(w, { work_item_id: item(w), recheck_at: w.now })
        begin(w, 'review_triggered')
        return w
      },
      silent,
    ],
    'the operator spoke': [() => spoken().w, again],
    'a parent spoke': [
      () => {
        const w = new World()
        w.do((d) =>
          admit(d, { id: d.mint('msg'), provenance: delegated([]), priority: 'next', body: 'Do.' }),
        )
        begin(w, 'message')
        return w
      },
      again,
    ],
    'the operator got an answer, and nothing new since': [
      () => {
        const { w } = spoken()
        ask2(w, 'Here it is.')
        return w
      },
      silent,
    ],
    'the operator spoke again after the answer': [
      () => {
        const { w } = spoken()
        ask2(w, 'Here it is.', true)
        return w
      },
      again,
    ],
  }
  for (const [name, [make, expect]] of Object.entries(worlds)) {
    const w = make()
    ask2(w, '')
    assert.deepEqual(short(w), expect, name)
  }
})

test('an answer cut by length is continued once; both parts are one text', () => {
  const { w } = opened()
  ask(w)
  answer(w, { text: 'The first half, ', finish: 'length' })
  ask(w, 'continue')
  answer(w, { text: 'and the second.', finish: 'length' })
  assert.deepEqual(short(w), [
    'end',
    'completed',
    'cut_by_length',
    'The first half, and the second.',
  ])
})

test('an unpromoted completion of the turn’s item asks for the report, and of another for nothing', () => {
  const { w, id } = opened()
  const other = item(w)
  const complete = (work_item_id: WorkItemId) =>
    act(w, { tool: 'CompleteWorkItem', input: { work_item_id } }, (d) =>
      completeItem(d, { work_item_id, by: 'agent', report: null, turn: turnOf(w) }),
    )
  complete(other)
  assert.deepEqual(short(w), ['request', 'work'])
  complete('work_none')
  assert.deepEqual(short(w), ['request', 'work'])
  complete(id)
  assert.deepEqual(short(w.reload()), ['request', 'report'])
  ask(w, 'report')
  answer(w, { text: 'All is well.', calls: [] })
  assert.deepEqual(short(w), ['report', 'All is well.'])
})

test('a completion by somebody else in the meantime asks for no report', () => {
  const { w, id } = opened()
  ask(w)
  const [call] = answer(w, { calls: [{ tool: 'CompleteWorkItem', input: { work_item_id: id } }] })
  assert.ok(call)
  w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null }))
  run(w, call, (d) => completeItem(d, { work_item_id: id, by: 'agent', report: null, turn: null }))
  assert.deepEqual(short(w), ['request', 'work'])
})

test('ten rounds in a row that failed in every call end the turn', () => {
  const { w } = opened()
  const bad = { result: errorResult('ReadFile', 'fault', 'no', 'no') }
  const round = (result: 'success' | 'error') =>
    act(w, { tool: 'ReadFile' }, () => null, result === 'error' ? bad : {})
  round('success')
  for (let n = 0; n < limits.failing_rounds.value - 1; n++) round('error')
  assert.deepEqual(short(w), ['request', 'work'])
  round('error')
  assert.deepEqual(short(w), ['end', 'completed', 'errors', ''])
})

test('one call that succeeds in a round keeps the turn going', () => {
  const { w } = opened()
  for (let n = 0; n < limits.failing_rounds.value; n++) {
    ask(w)
    const [bad, good] = answer(w, { calls: [{ tool: 'ReadFile' }, { tool: 'ReadFile' }] })
    assert.ok(bad && good)
    run(w, bad, () => null, { result: errorResult('ReadFile', 'fault', 'no', 'no') })
    run(w, good, () => null)
  }
  assert.deepEqual(short(w), ['request', 'work'])
})

/** The last round as if it were the 500th. */
function atTheLimit(w: World): void {
  const last = roundsOf(w.facts, turnOf(w)).at(-1)
  assert.ok(last)
  for (let n = last.n + 1; n <= limits.rounds_per_turn.value; n++) {
    w.facts.include('rounds', { ...last, id: roundId(last.turn_id, n), n })
  }
}

test('a turn at its round limit ends completed, whatever it would go on with', () => {
  const { w } = opened()
  act(w, { tool: 'ReadFile' }, () => null)
  atTheLimit(w)
  for (const call of w.all('calls')) {
    w.facts.include('calls', { ...call, round: limits.rounds_per_turn.value })
  }
  assert.deepEqual(short(w), ['end', 'completed', 'round_limit', ''])
  const rows: [Finish, string, Short][] = [
    ['stop', '', ['end', 'completed', 'silent', '']],
    ['length', 'Wor', ['end', 'completed', 'cut_by_length', 'Wor']],
    ['stop', 'Words.', ['end', 'completed', null, 'Words.']],
  ]
  for (const [finish, text, expect] of rows) {
    const other = opened().w
    ask(other)
    say(other, { priority: 'interject' })
    answer(other, { text, finish })
    atTheLimit(other)
    assert.deepEqual(short(other), expect)
  }
})

test('whether the end of a round’s calls may end the turn is said rather too often', () => {
  const failed = errorResult('ReadFile', 'fault', 'no', 'no')
  const rounds = (w: World, ...good: boolean[]): void => {
    for (const [n, isGood] of good.entries()) {
      act(w, { tool: 'ReadFile', input: { n } }, () => null, isGood ? {} : { result: failed })
    }
  }
  const of = (prepare: (w: World, id: WorkItemId) => void): boolean => {
    const { w, id } = opened()
    prepare(w, id)
    return mayEndAfterCalls(w.facts)
  }
  const budget = { max_tokens: 1_000_000, max_usd: null, max_rounds: null, deadline: null }
  const budgeted = (w: World, id: WorkItemId) =>
    w.facts.include('work_items', { ...w.row('work_items', id), budget })
  const rows: [what: string, boolean, (w: World, id: WorkItemId) => void][] = [
    ['no round yet', true, () => {}],
    ['a good first round', false, (w) => rounds(w, true)],
    ['a failed first round', true, (w) => rounds(w, false)],
    ['a second after a good one', false, (w) => rounds(w, true, false)],
    ['a second after a failed one', true, (w) => rounds(w, false, true)],
    ['a third after a good one', false, (w) => rounds(w, false, true, false)],
    ['a third after a failed one', true, (w) => rounds(w, true, false, true)],
    [
      'an item with a budget',
      true,
      (w, id) => {
        rounds(w, true, true)
        budgeted(w, id)
      },
    ],
    [
      'the report that was asked for',
      true,
      (w) => {
        rounds(w, true, true)
        ask(w, 'report')
      },
    ],
    [
      'ten of the same',
      true,
      (w) => {
        for (let n = 0; n < limits.repeats.value; n++) rounds(w, true)
      },
    ],
    ['one round before the limit', false, (w) => rounds(w, ...most.slice(1))],
    ['the last round', true, (w) => rounds(w, ...most)],
  ]
  for (const [what, expect, prepare] of rows) assert.equal(of(prepare), expect, what)
  assert.equal(mayEndAfterCalls(new World().facts), true, 'no turn')
})

const most = Array.from({ length: limits.rounds_per_turn.value }, () => true)
