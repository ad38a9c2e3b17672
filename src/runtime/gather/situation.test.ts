/** What of an agent's history a turn that opens again, a compaction or a fork may be told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Facts } from '../../domain/facts/facts.ts'
import type { Message } from '../../domain/state/message.ts'
import { localPrompt } from '../../domain/state/provenance.ts'
import { aMessage, noteEvents } from '../../testing/world/note-events.ts'
import { withoutUnread } from './situation.ts'

type Row = Pick<Message, 'id' | 'kind' | 'status'>

const factsOf = (...rows: Row[]): Pick<Facts, 'row'> => ({
  row: (_table, id) => rows.find((one) => one.id === id) as never,
})

test('words that no turn has claimed are no part of what it is told', () => {
  const facts = factsOf(
    { id: 'msg_1', kind: 'operator_prompt', status: 'claimed' },
    { id: 'msg_2', kind: 'operator_prompt', status: 'queued' },
    { id: 'msg_3', kind: 'operator_prompt', status: 'dropped' },
    { id: 'msg_4', kind: 'webhook_event', status: 'queued' },
  )
  const ids = ['msg_1', 'msg_2', 'msg_3', 'msg_4', 'msg_5'] as const
  const told = noteEvents(ids.map((id) => aMessage(id, localPrompt('tui'), 'Words.')))
  assert.deepEqual(
    withoutUnread(facts, told as never).map(({ event }) => 'id' in event && event.id),
    // The last is of before what is in memory: a turn has ended with it.
    ['msg_1', 'msg_4', 'msg_5'],
  )
})
