/**
 * Reading rows of any table: one by id, by the end of an id, and lists, newest last.
 */
import { sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../domain/event.ts'
import type { ListFilter } from './port.ts'
import { schema, type Database } from './schema.ts'

/** Matches of a short id: more than a few are one answer, "not unique". */
const mostMatches = 5
/** Characters of a short id after its noun, at least; the tail indexes hold as many. */
const tailLength = 4

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
 * Agents, rounds and pacing have names, not minted ids: there only the whole name matches.
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
  const named = table === 'agents' || table === 'rounds' || table === 'pacing'
  if (named) return (await ids.where('id', '=', short).execute()).map(({ id }) => id)
  if (noun === '' || tail.length < tailLength) return []
  const found = await ids
    .where(sql`substr(id, -4)`, '=', tail.slice(-tailLength))
    .where(sql`substr(id, ${-tail.length})`, '=', tail)
    .where(sql`substr(id, 1, ${noun.length})`, '=', noun)
    .execute()
  return found.map(({ id }) => id)
}

/** The `limit` newest rows that pass the filter, oldest first. */
export async function readList<T extends Table>(
  db: Kysely<Database>,
  table: T,
  filter: ListFilter,
): Promise<Rows[T][]> {
  const column = (...names: string[]) => {
    const found = names.find((name) => name in schema[table].columns)
    // A filter that means nothing is a caller's mistake; an answer to it would look like one.
    if (found === undefined) throw new Error(`${table} have no ${names.join(' or ')}`)
    return sql.ref<string>(found)
  }
  const { agent_id, work_item_id, turn_id, status, kind } = filter
  // With a status few rows pass, and `+` keeps SQLite from walking all rows in order to find them.
  let query = db
    .selectFrom(table as Any)
    .select('data')
    .orderBy(status === undefined ? sql`born` : sql`+born`, 'desc')
    .limit(filter.limit)
  if (agent_id !== undefined) {
    query = query.where(table === 'agents' ? column('id') : column('agent_id'), '=', agent_id)
  }
  if (work_item_id !== undefined) {
    const own = table === 'work_items' || table === 'pacing'
    query = query.where(own ? column('id') : column('work_item_id'), '=', work_item_id)
  }
  if (turn_id !== undefined) {
    query = query.where(table === 'turns' ? column('id') : column('turn_id'), '=', turn_id)
  }
  if (status !== undefined) query = query.where(column('state', 'status'), 'in', status)
  if (kind !== undefined) query = query.where(column('kind'), 'in', kind)
  const found = await query.execute()
  return found.toReversed().map(({ data }) => JSON.parse(data) as Rows[T])
}
