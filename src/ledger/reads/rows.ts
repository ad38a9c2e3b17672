/**
 * Reading rows of any table: one by its id, or by the beginning or end of that. Lists are in
 * pages.ts.
 */
import { sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../../domain/state/event.ts'
import type { IdOf } from '../../domain/ids.ts'
import type { Database } from '../sqlite/schema.ts'

/** Matches of a part of an id: more than a few are one answer, "not unique". */
const mostMatches = 5
/** Characters of it after its noun, at least; the tail indexes hold as many. */
const partLength = 4

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

/** All row tables share the columns of this one that these queries use; see sqlite/schema.ts. */
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
 * Ids of `table` that `text` may mean: those that begin so, and those that end so behind its noun,
 * if it has one. Agents, rounds, pacing, slots, receipts, snoozes and meters have names, not minted
 * ids: there only the whole name matches.
 */
export async function readIdsLike(
  db: Kysely<Database>,
  table: Table,
  text: string,
  agent_id: string | null = null,
): Promise<IdOf[]> {
  const cut = text.indexOf('_') + 1
  const [noun, rest] = [text.slice(0, cut), text.slice(cut)]
  const owner = table === 'agents' ? sql<string>`id` : sql<string>`agent_id`
  let ids = db
    .selectFrom(table as Any)
    .select(['id', 'born', owner.as('agent_id')])
    .limit(mostMatches)
  // The sign keeps the agent's own index out of it: an agent may have a million rows.
  if (agent_id !== null) ids = ids.where(sql`+${owner}`, '=', agent_id)
  if (named.has(table)) return (await ids.where('id', '=', text).execute()).map(idOf)
  if (rest.length < partLength) return []
  const ends = ids
    .where(sql`substr(id, -4)`, '=', rest.slice(-partLength))
    .where(sql`substr(id, ${-rest.length})`, '=', rest)
    .where(sql`substr(id, 1, ${noun.length})`, '=', noun)
    .orderBy('born')
  const begins = ids.where('id', '>=', text).where('id', '<', `${text}~`).orderBy('id')
  const found = [...(await ends.execute()), ...(noun === '' ? [] : await begins.execute())]
  return [...new Map(found.map((one) => [one.id, one])).values()]
    .sort((a, b) => a.born - b.born)
    .slice(0, mostMatches)
    .map(idOf)
}

const idOf = ({ id, agent_id }: IdOf): IdOf => ({ id, agent_id })
