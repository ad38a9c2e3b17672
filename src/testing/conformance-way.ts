/** Conformance of what a prompt keeps of an item's way: the operator's words, and note events. */
import assert from 'node:assert/strict'
import { errorResult } from '../domain/call.ts'
import type { Cases } from './conformance.ts'
import {
  callFinished,
  callRecorded,
  itemCreated,
  laneOf,
  messageAdmitted,
  turnEnded,
  turnStarted,
} from './lane.ts'

export const wayCases: Cases = {
  'words about an item were bound to it or came in its turns': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [item, other] = [itemCreated(), itemCreated()]
    const about = { work_item_id: item.id }
    const [bound, inTurn, elsewhere] = [
      messageAdmitted({ body: 'bound', ...about }),
      messageAdmitted({ body: 'in its turn' }),
      messageAdmitted({ body: 'about another', work_item_id: other.id }),
    ]
    const event = messageAdmitted({ body: 'an event', ...about })
    const outside = {
      ...event,
      provenance: { ...event.provenance, kind: 'callback_event' },
    } as const
    const turn = turnStarted(about)
    const claimed = { type: 'message_claimed', turn_id: turn.id, to_coalesce: false } as const
    await lane.emit(item, other, bound, elsewhere, inTurn, outside)
    await lane.emit(turn, { ...claimed, id: inTurn.id })
    const found = await ledger.operatorWords(item.id, 10)
    assert.deepEqual(found, [lane.row('messages', bound.id), lane.row('messages', inTurn.id)])
    const newest = await ledger.operatorWords(item.id, 1)
    assert.deepEqual(newest, [lane.row('messages', inTurn.id)])
    await ledger.close()
  },

  'note events are of the given types, calls only where they say something': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const about = { work_item_id: item.id }
    const turn = turnStarted(about)
    const calls = [0, 1, 2].map((index) => ({ ...callRecorded(turn.id, 1, index), ...about }))
    const [look, edit, unsure] = calls
    assert.ok(look && edit && unsure)
    const content_checked = { ...edit, effect_class: 'content_checked' } as const
    const unknown = errorResult('T', 'outcome_unknown', 'x', 'Nobody knows.')
    const quiet = { tool_name: 'T', summary: 's', status: 'success' } as const
    await lane.emit(item, turn, look, content_checked, unsure)
    await lane.emit(
      { ...callFinished(look.id), result: { ...quiet, result: '"changed_something":true' } },
      { ...callFinished(edit.id), changed_something: true },
      { ...callFinished(unsure.id), result: unknown },
      turnEnded(turn.id),
    )
    const types = ['work_item_created', 'call_recorded', 'call_finished'] as const
    const found = await ledger.noteEvents(item.id, { looked: 100, types })
    assert.deepEqual(
      found.map(({ event }) => [event.type, event.id]),
      [
        ['work_item_created', item.id],
        ['call_recorded', edit.id],
        ['call_finished', edit.id],
        ['call_finished', unsure.id],
      ],
    )
    const last = await ledger.noteEvents(item.id, { looked: 2, types })
    assert.deepEqual(
      last.map(({ event }) => event.id),
      [unsure.id],
    )
    await ledger.close()
  },
}
