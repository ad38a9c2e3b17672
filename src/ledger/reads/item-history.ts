/**
 * What a prompt keeps of the way of an item: what the operator or a parent said about it, wherever
 * that was said, and the events that leave process notes. Neither gets slower as the item gets
 * older.
 */
import type { Kysely } from 'kysely'
import type { EventType, Rows, StoredEvent } from '../../domain/state/event.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { storedEvent } from './events.ts'
import type { Database } from '../sqlite/schema.ts'

/** Newest turns of the item whose messages count as said about it. */
const turnsLooked = 200

/** Who may say what constrains the work. */
const instructing = ['operator_prompt', 'delegation'] as const

/** The first, and the newest `limit` - 1 behind it; oldest first. */
export async function readWordsAbout(
  db: Kysely<Database>,
  work_item_id: WorkItemId,
  limit: number,
): Promise<Rows['messages'][]> {
  const about = db
    .selectFrom('turns')
    .select('id')
    .where('work_item_id', '=', work_item_id)
    .orderBy('born', 'desc')
    .limit(turnsLooked)
  // One message may make several items, and its turn is about none or one of them.
  const changing = db
    .selectFrom('events')
    .select('turn_id')
    .distinct()
    .where('subject_id', '=', work_item_id)
    .where('subject_table', '=', 'work_items')
    .where('turn_id', 'is not', null)
  const said = db
    .selectFrom('messages')
    .select(['born', 'data'])
    .where('kind', 'in', instructing)
    .where((eb) =>
      eb.or([
        eb('work_item_id', '=', work_item_id),
        eb('turn_id', 'in', about),
        eb('turn_id', 'in', changing),
      ]),
    )
  const newest = await said.orderBy('born', 'desc').limit(limit).execute()
  const first = newest.length < limit ? [] : await said.orderBy('born').limit(1).execute()
  const later = newest.toReversed().filter(({ born }) => born !== first[0]?.born)
  const kept = [...first, ...later.slice(later.length + first.length > limit ? 1 : 0)]
  return kept.map(({ data }) => JSON.parse(data) as Rows['messages'])
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
