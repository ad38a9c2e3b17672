/**
 * A turn decided once more from its events: what comes out the same, and what is told to differ.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, say, waitCommand, World } from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end } from '../../testing/world/turns.ts'
import type { Event, StoredEvent } from '../state/event.ts'
import { Replay } from './replay.ts'
import { decideNext } from '../scheduler/next.ts'
import { survey } from '../scheduler/survey.ts'
import { observePlan } from './end.ts'
import { startTurn } from './start.ts'
import { waitFor } from '../waits/wait-for.ts'

/** A turn about the operator's words that reads a file and answers, and one that waits. */
function lived(): World {
  const w = new World()
  const id = item(w, { focus: true })
  say(w)
  begin(w, 'message')
  act(w, { tool: 'ReadFile', input: { path: 'a.txt' } }, () => null)
  ask(w)
  answer(w, { text: 'Read.' })
  end(w, { text: 'Read.' })
  // The plan is noted in the commit that starts the turn, after the scheduler looked.
  const seen = survey(w.facts, w.now, false)
  const next = decideNext(seen)
  assert.ok(next.do === 'start_turn')
  w.do((d) => {
    observePlan(d, itemRow(w, id), { ...itemRow(w, id).plan_artifact, bytes: 7 })
    startTurn(d, seen, next, 'test/model')
  })
  act(w, { tool: 'WaitFor' }, (d) => waitFor(d, waitCommand({ work_item_id: id, source: 'ci' })))
  end(w, { outcome: 'waiting' })
  return w
}

type Change = (event: Event, stored: StoredEvent) => Event | null

/** The turn again, over events of which some were changed (null: taken out). */
function again(w: World, turn: `turn_${string}`, change: Change = (event) => event): Replay {
  const events = w.events.flatMap((stored): StoredEvent[] => {
    const event = change(stored.event, stored)
    return event === null ? [] : [{ ...stored, event }]
  })
  const replay = new Replay('main', turn)
  for (const [at, stored] of events.entries()) replay.push(stored, events.slice(at + 1, at + 9))
  return replay
}

const told = ({ decisions, divergence }: Replay) => ({
  decisions,
  what: divergence?.what ?? null,
  stored: divergence?.stored ?? null,
  again: divergence?.again ?? null,
})
const same = (decisions: number) => ({ decisions, what: null, stored: null, again: null })

test('what was decided of a turn comes out the same, and of other turns nothing is asked', () => {
  const w = lived()
  // The start, two requests, the start of the call, the end.
  assert.deepEqual(told(again(w, 'turn_0001')), same(5))
  // The start, one request, the start of the call; the call itself ended it.
  assert.deepEqual(told(again(w, 'turn_0002')), same(3))
  assert.deepEqual(told(again(w, 'turn_none')), same(0))
})

test('the rows of a replay are the fold of its events', () => {
  const w = lived()
  const replay = again(w, 'turn_0001')
  assert.deepEqual(replay.row('turns', 'turn_0002'), w.row('turns', 'turn_0002'))
  assert.deepEqual(replay.rows('rounds'), w.all('rounds'))
  assert.deepEqual(replay.rows('turns'), w.all('turns'))
  assert.deepEqual([replay.rows('tasks'), replay.row('turns', 'turn_none')], [[], undefined])
})

test('a field that is undefined is as one that is not there, in any order of the fields', () => {
  const turned = again(lived(), 'turn_0001', (event) => {
    const fields = Object.entries(event).toReversed()
    return { ...Object.fromEntries(fields), more: undefined } as unknown as Event
  })
  assert.deepEqual(told(turned), same(5))
})

const about = (turn: string, { turn_id, event }: Pick<StoredEvent, 'turn_id' | 'event'>) =>
  turn_id === turn || event.id === turn

test('a start that was changed is named with both sides, and what follows is not asked', () => {
  const w = lived()
  const because = again(w, 'turn_0001', (event) =>
    event.type === 'decision_made' ? { ...event, because: 'the moon is full' } : event,
  )
  const { decisions, what, stored } = told(because)
  assert.deepEqual([decisions, what], [0, 'the decision'])
  assert.match(stored ?? '', /"because":"the moon is full"/)
  assert.match(because.divergence?.again ?? '', /"because":"the operator spoke"/)
  const decided = w.events.find(({ event }) => event.type === 'decision_made')
  assert.equal(because.divergence?.seq, decided?.seq)

  const claims = again(w, 'turn_0001', (event) =>
    event.type === 'message_claimed' ? { ...event, to_coalesce: true } : event,
  )
  assert.deepEqual([claims.decisions, claims.divergence?.what], [1, 'what it made'])
  assert.match(claims.divergence?.stored ?? '', /"to_coalesce":true/)
  assert.match(claims.divergence?.again ?? '', /"to_coalesce":false/)
})

test('a decision where the rules would not start a turn is named with what they would do', () => {
  const w = lived()
  const unsaid = again(w, 'turn_0001', (event, stored) =>
    event.type === 'message_admitted' || event.type.startsWith('message_')
      ? null
      : event.type === 'work_item_picked' || event.type === 'work_item_created'
        ? null
        : stored.seq > 20
          ? null
          : event,
  )
  const { decisions, what, again: next } = told(unsaid)
  assert.deepEqual([decisions, what, next], [0, 'the decision', 'sleep: no open item, no message'])
})

test('an event that the start made and that is missing is named by the step that comes', () => {
  const w = lived()
  const missing = again(w, 'turn_0001', (event) =>
    event.type === 'agent_paced' || event.type === 'message_claimed' ? null : event,
  )
  assert.notEqual(missing.divergence, null)
  assert.match(missing.divergence?.what ?? '', /^what (the start|it) made$/)
})

const steps: [name: string, change: Change, wanted: string, again: string][] = [
  [
    'a second request of another kind',
    (event) =>
      event.type === 'request_sent' && event.n === 2 ? { ...event, kind: 'report' } : event,
    'a request for report',
    'a request for work',
  ],
  [
    'a first request that is the second',
    (event) => (event.type === 'request_sent' && event.n === 1 ? { ...event, n: 2 } : event),
    'a request for work',
    'request 1',
  ],
  [
    'a request although the answer ended the turn',
    (event, stored) =>
      event.type === 'turn_ended' && about('turn_0001', { ...stored, event })
        ? ({ ...event, type: 'request_sent', id: 'turn_0001:3', n: 3, kind: 'again' } as never)
        : event,
    'a request for again',
    'end completed',
  ],
  [
    'another reason of the end',
    (event) =>
      event.type === 'turn_ended' && event.id === 'turn_0001'
        ? { ...event, reason: 'round_limit' }
        : event,
    'end completed: round_limit',
    'end completed',
  ],
]
for (const [name, change, stored, then] of steps) {
  test(`${name} is named by what was wanted and what comes next again`, () => {
    const w = lived()
    const { divergence } = cut(w, change)
    assert.deepEqual(
      [divergence?.what, divergence?.stored, divergence?.again],
      ['the next step', stored, then],
    )
  })
}

/** As `again`, until the first difference: what comes after it may not fold any more. */
function cut(w: World, change: Change): Replay {
  const replay = new Replay('main', 'turn_0001')
  for (const [at, stored] of w.events.entries()) {
    if (replay.divergence !== null) return replay
    const event = change(stored.event, stored)
    if (event === null) continue
    try {
      replay.push({ ...stored, event }, w.events.slice(at + 1, at + 9))
    } catch (error) {
      if (replay.divergence === null) throw error
    }
  }
  return replay
}

test('a request that was sent again is the same request', () => {
  const w = lived()
  const replay = new Replay('main', 'turn_0001')
  for (const [at, stored] of w.events.entries()) {
    const { event } = stored
    const starts = w.events.slice(at + 1, at + 9)
    replay.push(stored, starts)
    if (event.type !== 'request_sent' || event.id !== 'turn_0001:2') continue
    replay.push(stored, starts)
    assert.deepEqual(told(replay), same(5))
    return
  }
  assert.fail('there was no second request')
})

test('an abort and the end by a call are nobody’s step', () => {
  const w = new World()
  say(w)
  begin(w, 'message')
  ask(w)
  end(w, { outcome: 'aborted', reason: 'operator_aborted' })
  assert.deepEqual(told(again(w, 'turn_0001')), same(2))
})
