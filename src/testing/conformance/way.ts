/** Conformance of what a prompt keeps of an item's way: what was said of it, and note events. */
import assert from 'node:assert/strict'
import { errorResult } from '../../domain/state/call.ts'
import type { Cases } from './case.ts'
import { laneOf } from '../world/ledger-world.ts'
import {
  callFinished,
  callRecorded,
  itemCreated,
  messageAdmitted,
  turnEnded,
  turnStarted,
} from '../events.ts'

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
    const found = await ledger.wordsAbout(item.id, 10)
    assert.deepEqual(found, [lane.row('messages', bound.id), lane.row('messages', inTurn.id)])
    await ledger.close()
  },

  'words are about every item that their turn made or changed': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [old, one, two, aside] = [itemCreated(), itemCreated(), itemCreated(), itemCreated()]
    const [first, again] = [messageAdmitted({ body: 'first' }), messageAdmitted({ body: 'again' })]
    const [making, changing] = [turnStarted({}), turnStarted({})]
    const claimed = { type: 'message_claimed', to_coalesce: false } as const
    await lane.emit(old, aside, first, making, { ...claimed, id: first.id, turn_id: making.id })
    await lane.emit(one, two, { type: 'turn_bound', id: making.id, work_item_id: aside.id })
    await lane.emit(turnEnded(making.id), again, changing)
    await lane.emit({ ...claimed, id: again.id, turn_id: changing.id })
    await lane.emit({
      type: 'work_item_updated',
      id: old.id,
      changed: { objective: 'Another' },
      by: 'agent',
    })
    const said = async (id: typeof one.id) => (await ledger.wordsAbout(id, 9)).map((m) => m.body)
    assert.deepEqual(
      [await said(one.id), await said(two.id), await said(old.id), await said(aside.id)],
      [['first'], ['first'], ['again'], ['first']],
    )
    await ledger.close()
  },

  'of many words about an item the first one stays, and the newest': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const said = ['a', 'b', 'c', 'd'].map((body) =>
      messageAdmitted({ body, work_item_id: item.id }),
    )
    await lane.emit(item, ...said)
    for (const [limit, shown] of [
      [2, 'a d'],
      [3, 'a c d'],
      [4, 'a b c d'],
    ] as const) {
      const found = await ledger.wordsAbout(item.id, limit)
      assert.equal(found.map(({ body }) => body).join(' '), shown)
    }
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
