/**
 * Reading events, in global order, page by page: streams, traces and `verify` start here.
 */
import type { Kysely, Selectable } from 'kysely'
import type { StoredEvent } from '../../domain/state/event.ts'
import type { AgentId } from '../../domain/ids.ts'
import { eventOf } from '../../domain/state/upcast.ts'
import type { EventFilter, EventPage, EventRange } from '../../ports/ledger-filters.ts'
import type { Database } from '../sqlite/schema.ts'

export const storedEvent = (row: Selectable<Database['events']>): StoredEvent => ({
  id: row.id,
  global_seq: row.global_seq,
  agent_id: row.agent_id,
  seq: row.seq,
  at: row.at,
  v: 1,
  work_item_id: row.work_item_id as StoredEvent['work_item_id'],
  turn_id: row.turn_id as StoredEvent['turn_id'],
  causation_id: row.causation_id,
  event: eventOf(row.data),
})

export async function readEvents(
  db: Kysely<Database>,
  filter: EventFilter,
): Promise<StoredEvent[]> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('global_seq', '>', filter.after)
    .orderBy('global_seq')
    .limit(filter.limit)
  if (filter.agent_id !== undefined) query = query.where('agent_id', '=', filter.agent_id)
  if (filter.work_item_id !== undefined) {
    query = query.where('work_item_id', '=', filter.work_item_id)
  }
  return (await query.execute()).map(storedEvent)
}

/** A page of a feed: the first after a seq, or the last before one; ascending either way. */
export async function readEventPage(
  db: Kysely<Database>,
  { agent_id, work_item_id, after = 0, before, limit }: EventPage,
): Promise<StoredEvent[]> {
  const place = agent_id === undefined ? 'global_seq' : 'seq'
  let query = db
    .selectFrom('events')
    .selectAll()
    .where(place, '>', after)
    .orderBy(place, before === undefined ? 'asc' : 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where(place, '<', before)
  if (agent_id !== undefined) query = query.where('agent_id', '=', agent_id)
  if (work_item_id !== undefined) query = query.where('work_item_id', '=', work_item_id)
  const found = (await query.execute()).map(storedEvent)
  return before === undefined ? found : found.toReversed()
}

/** The first event from which none is missing, and the last. */
export async function readEventRange(
  db: Kysely<Database>,
  agent_id: AgentId | null,
): Promise<EventRange> {
  if (agent_id === null) {
    const meta = await db.selectFrom('meta').select('pruned_global_seq').executeTakeFirst()
    const last = await readLastGlobalSeq(db)
    return { first: (meta?.pruned_global_seq ?? 0) + 1, last }
  }
  const floor = await db
    .selectFrom('floors')
    .select('seq')
    .where('agent_id', '=', agent_id)
    .executeTakeFirst()
  const newest = await db
    .selectFrom('events')
    .select('seq')
    .where('agent_id', '=', agent_id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { first: (floor?.seq ?? 0) + 1, last: newest?.seq ?? 0 }
}

/** 0 while nothing was ever committed. */
export async function readLastGlobalSeq(db: Kysely<Database>): Promise<number> {
  const found = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('global_seq').as('last'))
    .executeTakeFirst()
  return found?.last ?? 0
}
