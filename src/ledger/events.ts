/**
 * Reading events, in global order, page by page: streams, traces and `verify` start here.
 */
import type { Kysely, Selectable } from 'kysely'
import type { Event, StoredEvent } from '../domain/event.ts'
import type { EventFilter } from './port.ts'
import type { Database } from './schema.ts'

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
  event: JSON.parse(row.data) as Event,
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

/** 0 while nothing was ever committed. */
export async function readLastGlobalSeq(db: Kysely<Database>): Promise<number> {
  const found = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('global_seq').as('last'))
    .executeTakeFirst()
  return found?.last ?? 0
}
