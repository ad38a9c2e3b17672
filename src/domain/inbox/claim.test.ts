import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, say, task, wait, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, taskEnds, turn } from '../../testing/world/turns.ts'
import { claims } from './claim.ts'
import { taskResultId, type MessageId, type WorkItemId } from '../ids.ts'
import { abandonTurn } from '../turns/start.ts'

const minute = 60_000

function claimed(w: World, cause: MessageId | null, about: WorkItemId | null) {
  const { shown, coalesced } = claims(
    w.facts,
    cause === null ? null : w.row('messages', cause),
    about,
  )
  return { shown: shown.map((m) => m.id), coalesced: coalesced.map((m) => m.id) }
}

test('a turn claims its cause, what is bound to its item, and the unbound rest of the lane', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  const cause = say(w, { work_item_id: a }).message_id
  const unbound = say(w).message_id
  say(w, { work_item_id: b })
  wait(w, { work_item_id: a, source: 'ci' })
  const bound = deliver(w, { source: 'ci' }).message_id
  deliver(w, { source: 'mail' })
  assert.deepEqual(claimed(w, cause, a), { shown: [cause, unbound, bound], coalesced: [] })
})

test('a self-started turn claims what is bound to its item only', () => {
  const w = new World()
  const id = item(w)
  say(w)
  deliver(w)
  const t = task(w, { work_item_id: id })
  taskEnds(w, t)
  assert.deepEqual(claimed(w, null, id), { shown: [taskResultId(t.id)], coalesced: [] })
  assert.deepEqual(claimed(w, null, null), { shown: [], coalesced: [] })
})

test('at most 20 messages: first what is not an event, oldest first, then the newest events', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  const events = Array.from({ length: 25 }, () => deliver(w, { source: 'ci' }).message_id)
  const words = Array.from({ length: 4 }, () => say(w, { work_item_id: id }).message_id)
  const cause = words[2] ?? assert.fail()
  assert.deepEqual(claimed(w, cause, id), {
    shown: [...events.slice(9), ...words],
    coalesced: events.slice(0, 9),
  })
})

test('at most 64 KiB: what does not fit stays queued, in order', () => {
  const w = new World()
  const big = 'x'.repeat(30_000)
  const ids = Array.from({ length: 4 }, () => say(w, { text: big }).message_id)
  const small = say(w, { text: 'small' }).message_id
  assert.deepEqual(claimed(w, ids[0] ?? null, null), { shown: ids.slice(0, 2), coalesced: [] })
  assert.notEqual(small, ids[0])
})

test('a cause larger than the limit is claimed all the same, alone', () => {
  const w = new World()
  const cause = say(w, { text: 'x'.repeat(65_536) }).message_id
  say(w)
  assert.deepEqual(claimed(w, cause, null), { shown: [cause], coalesced: [] })
})

test('only older events of waits that are shown are coalesced; the rest stay queued', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  const first = deliver(w, { source: 'ci' }).message_id
  const words = Array.from({ length: 20 }, () => say(w, { work_item_id: id }).message_id)
  // No event fits, so none of the wait is shown, and none is coalesced.
  assert.deepEqual(claimed(w, words[0] ?? null, id), { shown: words, coalesced: [] })
  assert.equal(w.row('messages', first).status, 'queued')
})

test('events that no single wait matched are never coalesced', () => {
  const w = new World()
  const events = Array.from({ length: 22 }, () => deliver(w).message_id)
  const got = claimed(w, events[0] ?? null, null)
  assert.deepEqual([got.shown.length, got.coalesced], [20, []])
})

test('messages to coalesce are claimed until the first request is answered, which makes them coalesced', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  const events = Array.from({ length: 22 }, () => deliver(w, { source: 'ci' }).message_id)
  const oldest = events[1] ?? assert.fail()
  begin(w, 'message')
  const { status, to_coalesce } = w.row('messages', oldest)
  assert.deepEqual([status, to_coalesce], ['claimed', true])
  ask(w)
  assert.equal(w.row('messages', oldest).status, 'claimed')
  answer(w, { text: 'I have seen it.' })
  assert.equal(w.row('messages', oldest).status, 'coalesced')
})

test('without that request they return to the queue', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  const events = Array.from({ length: 22 }, () => deliver(w, { source: 'ci' }).message_id)
  begin(w, 'message')
  w.do(abandonTurn)
  assert.deepEqual(
    events.map((message) => w.row('messages', message).status),
    events.map(() => 'queued'),
  )
})

test('a message with attempts is claimed alone', () => {
  const w = new World()
  const poison = say(w, { text: 'poison' }).message_id
  begin(w, 'message')
  w.do(abandonTurn)
  const good = say(w, { text: 'good' }).message_id
  assert.deepEqual(claimed(w, poison, null), { shown: [poison], coalesced: [] })
  // And nobody else's turn takes it along.
  assert.deepEqual(claimed(w, good, null), { shown: [good], coalesced: [] })
})

test('a turn that goes on with an item takes what was given back about it, alone', () => {
  const w = new World()
  const [id, other] = [item(w), item(w)]
  const t = task(w, { work_item_id: id })
  taskEnds(w, t)
  const result = taskResultId(t.id)
  begin(w)
  w.do(abandonTurn)
  assert.equal(w.row('messages', result).attempts, 1)
  assert.deepEqual(claimed(w, null, id), { shown: [result], coalesced: [] })
  assert.deepEqual(claimed(w, null, other), { shown: [], coalesced: [] })
})

test('an event that is not due is shown by a turn started for another cause', () => {
  const w = new World()
  wait(w, { source: 'ci' })
  deliver(w, { source: 'ci' })
  turn(w, { rule: 'message' })
  const early = deliver(w.pass(minute / 2), { source: 'ci' }).message_id
  const other = deliver(w, { source: 'mail' }).message_id
  assert.deepEqual(claimed(w, other, null), { shown: [early, other], coalesced: [] })
})
