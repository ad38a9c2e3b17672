import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../domain/state/message.ts'
import { deliver, item, say, World } from '../../testing/world/agent-world.ts'
import { begin } from '../../testing/world/turns.ts'
import { stop, viewOf, type Presence } from '../../testing/why/why-world.ts'
import { conservation } from './conservation.ts'

const told = (w: World, presence: Presence) => conservation(viewOf(w, presence))
/** The message as no rule would leave it. */
const made = (w: World, fields: Partial<Message>) =>
  w.facts.include('messages', { ...w.row('messages', 'msg_0001'), ...fields })

test('a message of the open turn is carried by it, and one that claims another turn is lost', () => {
  const w = new World()
  say(w)
  const turn = begin(w)
  assert.equal(w.row('messages', 'msg_0001').status, 'claimed')
  assert.deepEqual(told(w, 'in_turn'), [])
  const lost = ['msg_0001 is claimed by a turn that is not open']
  made(w, { turn_id: 'turn_0009' })
  assert.deepEqual(told(w, 'in_turn'), lost)
  made(w, { turn_id: null })
  assert.deepEqual(told(w, 'in_turn'), lost)
  const rests = new World()
  say(rests)
  made(rests, { status: 'claimed', turn_id: turn.id })
  assert.deepEqual(told(rests, 'at_rest'), lost)
  made(rests, { status: 'claimed', turn_id: null })
  assert.deepEqual(told(rests, 'at_rest'), lost)
})

test('a queued message is carried by whatever will look at the queue again', () => {
  const w = new World()
  say(w)
  assert.deepEqual(told(w, 'at_rest'), [])
  stop(w)
  assert.deepEqual(told(w, 'at_rest'), [])
  const quiet = new World()
  deliver(quiet, { source: 'ci' })
  assert.deepEqual(told(quiet, 'at_rest'), [])
  // Bound to an item that is over: no lane has it, and it is not the end of a task either.
  const over = new World()
  const id = item(over)
  say(over)
  const done = { ...over.row('work_items', id), state: 'completed' as const }
  over.facts.include('work_items', done)
  for (const status of ['consumed', 'dropped', 'dead'] as const) {
    made(over, { status })
    assert.deepEqual(told(over, 'at_rest'), [], status)
  }
  made(over, { status: 'queued', kind: 'task_result', work_item_id: id })
  assert.deepEqual(told(over, 'at_rest'), [])
})
