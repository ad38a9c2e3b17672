/**
 * Reading rows of any table: one by its id, or by the beginning or end of that. Lists are in
 * pages.ts.
 */
import { sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../../domain/state/event.ts'
import { tableOfNoun } from '../../domain/state/short-id.ts'
import type { IdOf } from '../../domain/ids.ts'
import type { Database } from '../sqlite/schema.ts'
import { readShortIds } from './short-ids.ts'

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

/** The noun in front of a table's ids; a table of names has none. */
const nounOf: ReadonlyMap<Table, string> = new Map(
  Object.entries(tableOfNoun).map(([noun, table]) => [table, `${noun}_`]),
)

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
 * Ids of `table` that `text` may mean: those that begin or end so behind their noun, which `text`
 * may leave out; only those of which it is the short form, where there is one. Agents, rounds,
 * pacing, slots, receipts, snoozes and meters have names, not minted ids: there only the whole name
 * matches.
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
  const ended = await ends.execute()
  const exact = await calledSo(db, ended, rest)
  if (exact.length > 0) return exact.map(idOf)
  const from = noun === '' ? `${nounOf.get(table) ?? ''}${rest}` : text
  const begins = ids.where('id', '>=', from).where('id', '<', `${from}~`).orderBy('id')
  return [...new Map([...ended, ...(await begins.execute())].map((one) => [one.id, one])).values()]
    .sort((a, b) => a.born - b.born)
    .slice(0, mostMatches)
    .map(idOf)
}

/** Those with this short form. Whoever has it is the oldest of its agent's ids that end so. */
async function calledSo<I extends IdOf>(
  db: Kysely<Database>,
  ids: readonly I[],
  tail: string,
): Promise<I[]> {
  if (ids.length < 2) return []
  const agents = [...new Set(ids.map(({ agent_id }) => agent_id))]
  const named = (id: string) => ids.flatMap((one) => (one.agent_id === id ? [one.id] : []))
  const short = await Promise.all(agents.map((agent) => readShortIds(db, agent, named(agent))))
  const isCalledSo = ({ id }: I) =>
    short.some((of) => of.get(id) === `${id.slice(0, id.indexOf('_'))}_${tail}`)
  return ids.filter(isCalledSo)
}

const idOf = ({ id, agent_id }: IdOf): IdOf => ({ id, agent_id })
