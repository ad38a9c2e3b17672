import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, pick, say, T0, wait, World } from '../../testing/world/agent-world.ts'
import { begin, turn } from '../../testing/world/turns.ts'
import { situate, situations } from '../../testing/why/why-situations.ts'
import {
  emptyBucket,
  hold,
  stop,
  update,
  viewOf,
  type Presence,
} from '../../testing/why/why-world.ts'
import { candidateClasses } from '../state/decision.ts'
import type { WorkItemId } from '../ids.ts'
import { project } from '../facts/candidates.ts'
import type { SchedulingState } from '../facts/readiness.ts'
import { plus } from '../time.ts'
import type { AgentSnapshot } from './told.ts'
import { why, type Why } from './why.ts'
import { sentenceOf } from './sentence.ts'

const minute = 60_000

function whyOf(w: World, id: WorkItemId, seen: AgentSnapshot): Why {
  const p = project(w.facts, id, w.now)
  assert.ok(p)
  return why(seen, p)
}

const ask = (w: World, id: WorkItemId, presence: Presence = 'at_rest'): Why =>
  whyOf(w, id, viewOf(w, presence))

/** Timestamps as the table writes them. */
const clocks = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT(\d\d:\d\d):\d\d\.\d{3}Z/g, '$1')

for (const situation of situations) {
  test(`why says one true sentence: ${situation.name}`, () => {
    const { id, w, view } = situate(situation)
    const told = whyOf(w, id, view)
    const { state, sentence, next, when } = situation
    assert.deepEqual(
      [`${told.state} ${told.candidate_class}`, clocks(told.sentence), told.next],
      [state, `Release 2.4.0 ${sentence}`, next],
    )
    assert.equal(told.when && clocks(told.when), when)
  })
}

test('the table of why has a row for every scheduling state and candidate class', () => {
  const states: Record<SchedulingState, true> = {
    completed: true,
    waiting_task: true,
    waiting_operator: true,
    waiting_timer: true,
    waiting_external: true,
    blocked: true,
    runnable: true,
  }
  const seen = new Set(situations.flatMap(({ state }) => state.split(' ')))
  assert.deepEqual(seen, new Set([...Object.keys(states), ...candidateClasses]))
})

test('why is computed by the scheduler from present facts, and writes nothing', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w, { objective: 'Other' })]
  const before = w.events.length
  const told = ask(w, b)
  const verdict = `rule 6 goes before rule 9: ${a} is in focus and ready`
  assert.deepEqual(told, {
    work_item_id: b,
    agent_id: 'main',
    objective: 'Other',
    state: 'runnable',
    candidate_class: 'queued_runnable',
    question: null,
    also: [],
    why: `can run; ${a} in focus goes first`,
    detail: null,
    since: null,
    next: 'it is considered when that turn ends',
    when: null,
    sentence: `Other can run; ${a} in focus goes first.`,
    cost_since: T0,
    verdict,
    decision: {
      do: 'start_turn(continue_current)',
      because: 'the current item is runnable: it never had a turn',
    },
    considered: [
      { work_item_id: a, candidate_class: 'current_runnable', verdict: 'chosen' },
      { work_item_id: b, candidate_class: 'queued_runnable', verdict },
    ],
  })
  assert.equal(w.events.length, before)
})

test('why names the first rule that keeps the item from running', () => {
  const rows: [string, (w: World, id: WorkItemId) => Presence | void][] = [
    ['rule 1: the agent is stopped', (w) => stop(w)],
    ['rule 2: a turn is running', (w) => (say(w), begin(w), 'in_turn')],
    [`rule 3: the agent is held until ${plus(T0, minute)}`, (w) => hold(w)],
    ['rule 3: the agent is held until it is started', (w) => hold(w, 'provider_setup')],
    ['rule 4: an open turn goes on first', (w) => void (say(w), begin(w))],
    ['a message goes first: msg_0001', (w) => void say(w)],
    [
      'rule 6 goes before rule 9: work_0002 is in focus and ready',
      (w) => void item(w, { focus: true }),
    ],
    [
      'rule 8 goes before rule 9: wait_0001 wants a review',
      (w) => {
        wait(w, { work_item_id: item(w), delivery_mode: 'wake_hint' })
        deliver(w)
      },
    ],
    [
      `rule 9: the queue is backed off until ${plus(T0, minute)}`,
      (w) => void turn(w, { rule: 'queued_available' }),
    ],
    ['rule 9: the bucket of self-started turns is empty', (w) => emptyBucket(w)],
    ['rule 6: the bucket of turns is empty', (w, id) => (pick(w, id), emptyBucket(w))],
    [
      `rule 6: 1 turn without progress; back-off until ${plus(T0, minute)}`,
      (w, id) => {
        pick(w, id)
        turn(w, { rule: 'continue_current' })
      },
    ],
    ['wait_0001 (external) is active', (w, id) => void wait(w, { work_item_id: id })],
    ['plan_status is needs_input', (w, id) => void update(w, id, { plan_status: 'needs_input' })],
    ['chosen', () => undefined],
    ['chosen', (w, id) => void pick(w, id)],
    ['chosen', (w, id) => (pick(w, id), void say(w))],
    ['a turn is about it', (w, id) => (pick(w, id), begin(w), 'in_turn')],
  ]
  for (const [expect, prepare] of rows) {
    const w = new World()
    const id = item(w)
    const presence = prepare(w, id) ?? 'at_rest'
    assert.equal(ask(w, id, presence).verdict, expect)
  }
})

test('what an item costs: nothing since its last turn, or since it was made', () => {
  const w = new World()
  const id = item(w)
  assert.equal(ask(w.pass(minute), id).cost_since, T0)
  say(w, { work_item_id: id })
  begin(w)
  assert.equal(ask(w, id, 'in_turn').cost_since, null)
  hold(w.pass(minute))
  assert.equal(ask(w.pass(minute / 2), id, 'in_turn').cost_since, plus(T0, 2 * minute))
  const x = new World()
  const other = item(x, { focus: true })
  turn(x.pass(minute))
  assert.equal(ask(x.pass(minute), other).cost_since, plus(T0, minute))
})

test('since when an item is as it is; null where the facts do not say', () => {
  const w = new World()
  const [ready, asked, stuck] = [item(w), item(w), item(w)]
  w.pass(minute)
  wait(w, { work_item_id: asked, wake: 'operator_input' })
  update(w.pass(minute), stuck, { blocked_by: 'no key' })
  w.pass(minute)
  assert.deepEqual(
    [ready, asked, stuck].map((id) => ask(w, id).since),
    [null, plus(T0, minute), plus(T0, 2 * minute)],
  )
})

test('a sentence has one end: ours, or that of the words it quotes', () => {
  const rows: [objective: string, detail: string | null, sentence: string][] = [
    ['Ship it.', null, 'Ship it waits.'],
    ['Ship it\nwith care', ' a  b\nc ', 'Ship it waits: "a b c".'],
    ['Ship', 'Which?', 'Ship waits: "Which?"'],
    ['Ship', 'Done.', 'Ship waits: "Done."'],
    ['Ship', 'One of…', 'Ship waits: "One of…"'],
  ]
  assert.deepEqual(
    rows.map(([objective, detail]) => sentenceOf({ objective, why: 'waits', detail })),
    rows.map(([, , sentence]) => sentence),
  )
})
