/**
 * What a prompt keeps of the way of an item (contracts 10): what the operator said about it,
 * wherever that was said, and the events that leave process notes. Neither gets slower as the item
 * gets older.
 */
import type { Kysely } from 'kysely'
import type { EventType, Rows, StoredEvent } from '../domain/event.ts'
import type { WorkItemId } from '../domain/ids.ts'
import { storedEvent } from './events.ts'
import type { Database } from './schema.ts'

/** Newest turns of the item whose messages count as said about it. */
const turnsLooked = 200

/** The `limit` newest, oldest first. */
export async function readOperatorWords(
  db: Kysely<Database>,
  work_item_id: WorkItemId,
  limit: number,
): Promise<Rows['messages'][]> {
  const turns = db
    .selectFrom('turns')
    .select('id')
    .where('work_item_id', '=', work_item_id)
    .orderBy('born', 'desc')
    .limit(turnsLooked)
  const found = await db
    .selectFrom('messages')
    .select('data')
    .where('kind', '=', 'operator_prompt')
    .where((eb) => eb.or([eb('work_item_id', '=', work_item_id), eb('turn_id', 'in', turns)]))
    .orderBy('born', 'desc')
    .limit(limit)
    .execute()
  return found.toReversed().map(({ data }) => JSON.parse(data) as Rows['messages'])
}

/** In the JSON of an event these stand unescaped only as fields of its own. */
const telling = {
  call_recorded: ['%"effect_class":"content_checked"%'],
  call_finished: ['%"changed_something":true%', '%"kind":"outcome_unknown"%'],
} as const

/** Most calls say nothing here: they are passed over before their results are parsed. */
export async function readNoteEvents(
  db: Kysely<Database>,
  work_item_id: WorkItemId,
  { looked, types }: { looked: number; types: readonly EventType[] },
): Promise<StoredEvent[]> {
  const newest = db
    .selectFrom('events')
    .selectAll()
    .where('work_item_id', '=', work_item_id)
    .orderBy('global_seq', 'desc')
    .limit(looked)
    .as('newest')
  let query = db.selectFrom(newest).selectAll().where('type', 'in', types)
  for (const [type, marks] of Object.entries(telling)) {
    query = query.where((eb) =>
      eb.or([eb('type', '<>', type), ...marks.map((mark) => eb('data', 'like', mark))]),
    )
  }
  return (await query.orderBy('global_seq').execute()).map(storedEvent)
}
