/**
 * Conformance of what a surface pages through: lists, feeds, counts, sums, and the doors outside
 * events come in by.
 */
import assert from 'node:assert/strict'
import type { Table } from '../../domain/state/event.ts'
import type { Usage } from '../../domain/state/turn.ts'
import type { SpendFilter } from '../../ports/ledger-filters.ts'
import type { Ledger, PageFilter } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf } from '../world/ledger-world.ts'
import {
  briefDelivered,
  deliveryAccepted,
  deliveryDead,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  receiptKept,
  requestSent,
  roundRecorded,
  scheduleCreated,
  slotSettled,
  snoozed,
  taskQueued,
  triggerCreated,
  turnEnded,
  turnStarted,
  usageOf,
  waitRegistered,
} from '../events.ts'

/** Walks a list to its end in pages of `limit`; answers the ids of each page. */
async function walked(ledger: Ledger, table: Table, filter: PageFilter): Promise<string[][]> {
  const pages: string[][] = []
  let edge: { before?: number; after?: number } = {}
  for (;;) {
    const { entries, more } = await ledger.page(table, { ...filter, ...edge })
    pages.push(entries.map(({ row }) => row.id))
    const last = entries.at(-1)
    if (!more || !last) return pages
    edge = filter.order === 'newest' ? { before: last.born } : { after: last.born }
  }
}

const usage = (given: Partial<Usage>): Usage =>
  usageOf({ input_tokens: 100, output_tokens: 10, ...given })

export const pageCases: Cases = {
  'a list is walked from either end, whole and without repetition': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const items = Array.from({ length: 5 }, () => itemCreated())
    await lane.emit(...items.slice(0, 3))
    await other.emit(itemCreated())
    await lane.emit(...items.slice(3))
    await lane.emit(...items.slice(1, 3).map(({ id }) => itemCompleted(id)))
    const [a, b, c, d, e] = items.map(({ id }) => id)
    const of = (filter: Omit<PageFilter, 'limit'>) =>
      walked(ledger, 'work_items', { agent_id: 'main', limit: 2, ...filter })

    assert.deepEqual(await of({ order: 'newest' }), [[e, d], [c, b], [a]])
    assert.deepEqual(await of({ order: 'oldest' }), [[a, b], [c, d], [e]])
    assert.deepEqual(await of({ order: 'newest', status: ['open'] }), [[e, d], [a]])
    assert.deepEqual(await of({ order: 'oldest', status: ['completed'] }), [[b, c]])
    assert.deepEqual(await of({ order: 'newest', status: ['completed', 'open'] }), [
      [e, d],
      [c, b],
      [a],
    ])
    assert.deepEqual(await of({ order: 'newest', status: [] }), [[]])
    const everywhere = await ledger.page('work_items', { order: 'oldest', limit: 9 })
    assert.deepEqual(
      everywhere.entries.map(({ born, row }) => [born, row.agent_id]),
      [
        [3, 'main'],
        [4, 'main'],
        [5, 'main'],
        [6, 'other'],
        [7, 'main'],
        [8, 'main'],
      ],
    )
    assert.equal(everywhere.more, false)
    await assert.rejects(of({ order: 'oldest', kind: ['x'] }), /work_items have no kind/)
    await ledger.close()
  },

  'a page keeps its place while rows are added and changed': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const old = Array.from({ length: 4 }, () => itemCreated())
    await lane.emit(...old)
    const first = await ledger.page('work_items', { order: 'newest', limit: 2 })
    await lane.emit(itemCreated(), itemCompleted(old[0]?.id ?? 'work_'))
    const before = first.entries.at(-1)?.born ?? 0
    const second = await ledger.page('work_items', { order: 'newest', limit: 2, before })
    assert.deepEqual(
      [...first.entries, ...second.entries].map(({ row }) => row.id),
      old.toReversed().map(({ id }) => id),
    )
    const list = await ledger.list('work_items', { limit: 2, before: old[2]?.id ?? '' })
    assert.deepEqual(
      list.map(({ id }) => id),
      [old[0]?.id, old[1]?.id],
    )
    assert.deepEqual(await ledger.list('work_items', { limit: 2, before: 'work_nowhere' }), [])
    await ledger.close()
  },

  'lists are filtered by kind, item, turn and schedule': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const turn = turnStarted({ work_item_id: item.id })
    const [reply, question] = [
      briefDelivered({ kind: 'reply', turn_id: turn.id }),
      briefDelivered({ kind: 'question', work_item_id: item.id }),
    ]
    const [schedule, another] = [scheduleCreated(), scheduleCreated()]
    await lane.emit(item, turn, reply, question, briefDelivered(), schedule, another)
    await lane.emit(slotSettled(schedule.id), slotSettled(another.id))
    const ids = async (table: Table, filter: Partial<PageFilter>) => {
      const { entries } = await ledger.page(table, { order: 'oldest', limit: 9, ...filter })
      return entries.map(({ row }) => row.id)
    }
    assert.deepEqual(await ids('briefs', { kind: ['question', 'reply'] }), [reply.id, question.id])
    assert.deepEqual(await ids('briefs', { agent_id: 'main', kind: ['reply'] }), [reply.id])
    assert.deepEqual(await ids('briefs', { work_item_id: item.id }), [question.id])
    assert.deepEqual(await ids('briefs', { turn_id: turn.id }), [reply.id])
    assert.deepEqual(await ids('turns', { status: ['open'] }), [turn.id])
    assert.deepEqual(await ids('turns', { turn_id: turn.id }), [turn.id])
    assert.deepEqual(await ids('slots', { schedule_id: another.id }), [
      `${another.id}@2026-02-01T00:00:00.000Z`,
    ])
    await ledger.close()
  },

  'a feed has the seqs of its agent, or of the home, from either side': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const item = itemCreated()
    await lane.emit(messageAdmitted(), item)
    await other.emit(messageAdmitted())
    await lane.emit(itemCompleted(item.id))
    const seqs = async (page: Omit<Parameters<Ledger['eventPage']>[0], 'limit'>, limit = 9) =>
      (await ledger.eventPage({ ...page, limit })).map(({ global_seq, seq }) => [global_seq, seq])

    assert.deepEqual(await seqs({}, 2), [
      [1, 1],
      [2, 1],
    ])
    assert.deepEqual(await seqs({ after: 4 }), [
      [5, 2],
      [6, 4],
    ])
    assert.deepEqual(await seqs({ before: 3 }, 1), [[2, 1]])
    assert.deepEqual(await seqs({ agent_id: 'main', after: 2 }), [
      [4, 3],
      [6, 4],
    ])
    assert.deepEqual(await seqs({ agent_id: 'main', before: 4 }, 2), [
      [3, 2],
      [4, 3],
    ])
    assert.deepEqual(await seqs({ work_item_id: item.id, after: 4 }), [[6, 4]])
    assert.deepEqual(await ledger.eventRange(null), { first: 1, last: 6 })
    assert.deepEqual(await ledger.eventRange('main'), { first: 1, last: 4 })
    assert.deepEqual(await ledger.eventRange('nobody'), { first: 1, last: 0 })
    await ledger.close()
  },

  'a trigger is found by the hash of its token, before and after a reset': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const trigger = triggerCreated({ token_sha256: 'first' })
    await lane.emit(trigger)
    assert.deepEqual(await ledger.triggerByToken('first'), lane.row('triggers', trigger.id))
    const reset = { type: 'trigger_reset', id: trigger.id, generation: 2 } as const
    await lane.emit({ ...reset, token_sha256: 'second' })
    assert.equal(await ledger.triggerByToken('first'), null)
    await lane.emit({ type: 'trigger_revoked', id: trigger.id, by: 'operator' })
    const found = await ledger.triggerByToken('second')
    assert.deepEqual([found?.agent_id, found?.status], ['main', 'revoked'])
    await ledger.close()
  },

  'a delivery is found again by what its sender calls it': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const via = { kind: 'trigger', trigger_id: 'trig_1' } as const
    const named = (source: string | null) => deliveryAccepted({ sender_id: 'one', source, via })
    const [first, again, unnamed] = [named('github'), named('github'), named(null)]
    await lane.emit(first)
    await lane.emit(again, unnamed, deliveryAccepted())
    const rows = [first, again, unnamed].map(({ id }) => lane.row('deliveries', id))
    const since = rows[0]?.received_at ?? ''
    const find = (source: string | null, at = since, agent: string | null = 'main') =>
      ledger.deliveryBySender(agent, source, 'one', at)
    const other = await laneOf(ledger, 'other')
    const signed = deliveryAccepted({
      sender_id: 'one',
      source: 'github',
      via: { kind: 'webhook', webhook: 'github' },
    })
    await other.emit(signed)

    assert.deepEqual(await find('github'), rows[0])
    assert.deepEqual(await find('github', rows[1]?.received_at), rows[1])
    assert.deepEqual(await find(null), rows[2])
    assert.equal(await find('gitlab'), null)
    assert.equal(await find('github', since, 'nobody'), null)
    assert.equal((await find('github', since, 'other'))?.id, signed.id)
    assert.deepEqual(await find('github', since, null), other.row('deliveries', signed.id))
    assert.equal(await find(null, since, null), null)
    assert.equal(await find('github', '2030-01-01T00:00:00.000Z'), null)
    await ledger.close()
  },

  'live rows have the doors, the timetable and what is put away': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [open, shut] = [triggerCreated(), triggerCreated()]
    const [due, paused, over] = [scheduleCreated(), scheduleCreated(), scheduleCreated()]
    await lane.emit(open, shut, due, paused, over, deliveryDead(), receiptKept())
    await lane.emit(
      { type: 'trigger_revoked', id: shut.id, by: 'operator' },
      { type: 'schedule_paused', id: paused.id, by: 'operator' },
      { type: 'schedule_removed', id: over.id, by: 'operator' },
      slotSettled(due.id),
      snoozed('wait_1', null),
      snoozed('wait_2', '2027-01-01T00:00:00.000Z'),
      snoozed('wait_3', '2025-01-01T00:00:00.000Z'),
    )
    const live = (await ledger.live('main'))?.rows ?? []
    const ids = (table: Table) => live.flatMap(([of, row]) => (of === table ? [row.id] : []))
    assert.deepEqual(ids('triggers'), [open.id])
    assert.deepEqual(ids('schedules'), [due.id, paused.id])
    assert.deepEqual(ids('snoozes'), ['wait_1', 'wait_2'])
    for (const table of ['deliveries', 'slots', 'receipts'] as const) {
      assert.deepEqual(ids(table), [])
    }
    assert.deepEqual(await ledger.idsLike('schedules', due.id), [{ id: due.id, agent_id: 'main' }])
    assert.deepEqual(await ledger.idsLike('snoozes', 'wait_1'), [
      { id: 'wait_1', agent_id: 'main' },
    ])
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'counts are of an agent or of the home': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const item = itemCreated()
    await lane.emit(item, itemCreated(), itemCompleted(item.id), waitRegistered(), taskQueued())
    await lane.emit(messageAdmitted(), deliveryDead(), deliveryAccepted())
    await other.emit(itemCreated(), messageAdmitted(), messageAdmitted({ consumed_because: 'x' }))
    const none = {
      open_items: 0,
      completed_items: 0,
      active_waits: 0,
      running_tasks: 0,
      queued_messages: 0,
      dead_deliveries: 0,
    }
    const main = {
      open_items: 1,
      completed_items: 1,
      active_waits: 1,
      running_tasks: 1,
      queued_messages: 1,
      dead_deliveries: 1,
    }
    assert.deepEqual(await ledger.counts('main'), main)
    assert.deepEqual(await ledger.counts('other'), { ...none, open_items: 1, queued_messages: 1 })
    assert.deepEqual(await ledger.counts('nobody'), none)
    assert.deepEqual(await ledger.counts(null), { ...main, open_items: 2, queued_messages: 2 })
    await ledger.close()
  },

  'spend is summed by agent, item and day, and a price that is not known is no zero': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const turn = turnStarted()
    const about = { work_item_id: item.id }
    await lane.emit(item, turn)
    const rounds: [number, object, Partial<Usage>][] = [
      [1, about, { usd: 0.25, cached_input_tokens: 60 }],
      [2, about, { usd: 0.5, reasoning_tokens: 5 }],
      [3, {}, {}],
    ]
    for (const [n, of, used] of rounds) {
      await lane.emit(requestSent(turn.id, n, of))
      await lane.emit({ ...roundRecorded(`${turn.id}:${n}`), usage: usage(used) })
    }
    // Nothing came to the fourth; of the fifth, for nobody's item, an answer broke off.
    await lane.emit(requestSent(turn.id, 4, about))
    const broke = { input_tokens: 7, output_tokens: 2, usd: 0.125 }
    await lane.emit(requestSent(turn.id, 5))
    await lane.emit({ type: 'answer_cut', id: `${turn.id}:5`, answers: 1, usage: usage(broke) })
    await lane.emit(turnEnded(turn.id))
    const day = '2026-01-02'
    const sum = {
      requests: 2,
      unpriced: 0,
      input_tokens: 200,
      output_tokens: 20,
      cached_input_tokens: 60,
      cache_write_tokens: 0,
      reasoning_tokens: 5,
      usd: 0.75,
    }
    const rest = { ...sum, requests: 2, unpriced: 1, input_tokens: 107, output_tokens: 12 }
    const unknown = { ...rest, cached_input_tokens: 0, reasoning_tokens: 0, usd: 0.125 }
    const counts = { requests: 4, unpriced: 1, input_tokens: 307, output_tokens: 32 }
    const all = { ...sum, ...counts, usd: 0.875 }
    const nobody = { agent_id: null, work_item_id: null, day: null }
    const spend = (by: SpendFilter['by'], more: Partial<SpendFilter> = {}) =>
      ledger.spend({ by, ...more })

    assert.deepEqual(await spend([]), [{ ...nobody, ...all }])
    assert.deepEqual(await spend(['day']), [{ ...nobody, day, ...all }])
    assert.deepEqual(await spend(['agent', 'item']), [
      { ...nobody, agent_id: 'main', ...unknown },
      { ...nobody, agent_id: 'main', work_item_id: item.id, ...sum },
    ])
    assert.deepEqual(await spend(['item'], about), [{ ...nobody, work_item_id: item.id, ...sum }])
    assert.deepEqual(await spend([], { agent_id: 'other' }), [])
    assert.deepEqual(await spend([], { from: '2026-01-03' }), [])
    assert.deepEqual(await spend([], { from: day, to: day }), [{ ...nobody, ...all }])
    await ledger.close()
  },
}
