import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TurnId } from '../../domain/ids.ts'
import type { Message } from '../../domain/state/message.ts'
import { say, World } from '../../testing/world/agent-world.ts'
import { messageRecordOf, messageStatuses } from './message-record.ts'

const turn = 'turn_0007' as TurnId

function received(given: Partial<Message>) {
  const w = new World()
  say(w)
  return messageRecordOf({ ...w.row('messages', 'msg_0001'), ...given }, [])
}

test('what has become of a message is said by its state, its turn, its request and the reason', () => {
  const places: Partial<Message>[] = [
    { turn_id: null, round: null, status_reason: null },
    { turn_id: null, round: 3, status_reason: 'it was cut' },
    { turn_id: turn, round: null, status_reason: 'it was cut' },
    { turn_id: turn, round: 3, status_reason: null },
  ]
  const shown = ['needed no turn', 'needed no turn: it was cut', `in turn ${turn}`]
  const inTurn = [...shown, `in turn ${turn}, request 3`]
  const because = (word: string) => [word, `${word}: it was cut`, `${word}: it was cut`, word]
  const expected: Record<Message['status'], readonly string[]> = {
    queued: Array<string>(4).fill('queued for the next turn'),
    claimed: inTurn,
    consumed: inTurn,
    aborted: inTurn,
    failed: inTurn,
    interjected: inTurn,
    coalesced: inTurn,
    dropped: because('dropped'),
    dead: because('dead'),
  }
  for (const status of messageStatuses) {
    const said = places.map((place) => received({ ...place, status }).receipt.said)
    assert.deepEqual(said, expected[status], status)
  }
  assert.equal(received({ priority: 'interject' }).receipt.said, 'queued for the next request')
})

test('a receipt names the request once there are a turn and a round of it, and no bookkeeping', () => {
  const places: [TurnId | null, number | null, string | null][] = [
    [null, null, null],
    [null, 1, null],
    [turn, null, null],
    [turn, 0, `${turn}:0`],
    [turn, 2, `${turn}:2`],
  ]
  for (const [turn_id, round, request_id] of places) {
    const { receipt, ...fields } = received({
      turn_id,
      round,
      created_at: '2026-03-02T09:00:01.000Z',
    })
    const { said: _, ...of } = receipt
    assert.deepEqual(of, { accepted_at: '2026-03-02T09:00:01.000Z', turn_id, request_id })
    for (const own of ['to_coalesce', 'round', 'turn_count']) assert.ok(!(own in fields), own)
  }
})
