/**
 * Reading rows of any table: one by its id, or by the end of it. Lists are in pages.ts.
 */
import { sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../domain/event.ts'
import type { Database } from './schema.ts'

/** Matches of a short id: more than a few are one answer, "not unique". */
const mostMatches = 5
/** Characters of a short id after its noun, at least; the tail indexes hold as many. */
const tailLength = 4

/** Tables whose ids are names. */
const named: ReadonlySet<Table> = new Set([
  'agents',
  'rounds',
  'pacing',
  'slots',
  'receipts',
  'snoozes',
  'meters',
])

/** All row tables share the columns of this one that these queries use; see schema.ts. */
type Any = 'work_items'

export async function readRow<T extends Table>(
  db: Kysely<Database>,
  table: T,
  id: string,
): Promise<Rows[T] | null> {
  const found = await db
    .selectFrom(table as Any)
    .select('data')
    .where('id', '=', id)
    .executeTakeFirst()
  return found ? (JSON.parse(found.data) as Rows[T]) : null
}

export async function readAgents(db: Kysely<Database>): Promise<Rows['agents'][]> {
  const found = await db.selectFrom('agents').select('data').orderBy('born').execute()
  return found.map(({ data }) => JSON.parse(data) as Rows['agents'])
}

/**
 * Ids of `table` that `short` may mean: `work_7f3a` is every `work_…7f3a`; a whole id is itself.
 * Agents, rounds, pacing, slots, receipts, snoozes and meters have names, not minted ids: there
 * only the whole name matches.
 */
export async function readIdsLike(
  db: Kysely<Database>,
  table: Table,
  short: string,
): Promise<string[]> {
  const cut = short.indexOf('_') + 1
  const [noun, tail] = [short.slice(0, cut), short.slice(cut)]
  const ids = db
    .selectFrom(table as Any)
    .select('id')
    .orderBy('born')
    .limit(mostMatches)
  if (named.has(table)) return (await ids.where('id', '=', short).execute()).map(({ id }) => id)
  if (noun === '' || tail.length < tailLength) return []
  const found = await ids
    .where(sql`substr(id, -4)`, '=', tail.slice(-tailLength))
    .where(sql`substr(id, ${-tail.length})`, '=', tail)
    .where(sql`substr(id, 1, ${noun.length})`, '=', noun)
    .execute()
  return found.map(({ id }) => id)
}
