/**
 * The open items and live waits of an agent that has very many, a page at a time: one query each,
 * whose rows come as one text. Put together at once, ten thousand rows would be copied several
 * times on their way, and a look at them from another table would read them again.
 *
 * A page goes on behind the row it was asked for, oldest first, in the transaction of its caller.
 */
import { CompiledQuery, type Kysely } from 'kysely'
import type { Rows, Table } from '../../domain/state/event.ts'
import type { AgentId } from '../../domain/ids.ts'
import type { Database } from '../sqlite/schema.ts'

/** Rows of a page: enough that a query is little beside them, few enough to stay in the caches. */
export const pageRows = 512

/** `isLiveWait` as a condition on columns; as its partial index says, and a little wider. */
export const isLiveByColumns = `(status = 'active'
  or (status = 'resolved' and focus_settled = 0
    and (released_focus = 1 or (work_item_id is null and wake in ('timer', 'task_result')))))`

/** A row beside those of a page, with its place among the others of its table. */
export type RowPosition = readonly [place: number, row: Rows[Table]]

/** Every agent's rows of these tables which lie behind `born`. */
export type Behind = { agent: AgentId; born: number }

type Page = { last: number | null; count: number; rows: string | null }
type ItemPage = Page & { pacing: string | null; meters: string | null }

/** Of each item its counters too: what is null is no part of a text. */
const itemQuery = `
  select max(born) as last, count(*) as count, group_concat(data) as rows,
    group_concat(pacing) as pacing, group_concat(meter) as meters
  from (
    select born, data,
      (select '[' || born || ',' || data || ']' from pacing where id = work_items.id) as pacing,
      (select '[' || born || ',' || data || ']' from meters where id = work_items.id) as meter
    from work_items
    where agent_id = ? and state = 'open' and born > ? order by born limit ${pageRows})`

const waitQuery = `
  select max(born) as last, count(*) as count, group_concat(data) as rows
  from (
    select born, data from waits
    where agent_id = ? and ${isLiveByColumns} and born > ? order by born limit ${pageRows})`

export type OpenItems = {
  items: Rows['work_items'][]
  pacing: RowPosition[]
  meters: RowPosition[]
}

/** Open items behind one, with what is counted of each. */
export async function openItemsBehind(db: Kysely<Database>, behind: Behind): Promise<OpenItems> {
  const found: OpenItems = { items: [], pacing: [], meters: [] }
  for await (const page of pagesOf<ItemPage>(db, itemQuery, behind)) {
    add(found.items, page.rows)
    add(found.pacing, page.pacing)
    add(found.meters, page.meters)
  }
  return found
}

/** Waits behind one that are live as far as columns say. */
export async function waitsBehind(db: Kysely<Database>, behind: Behind): Promise<Rows['waits'][]> {
  const found: Rows['waits'][] = []
  for await (const page of pagesOf<Page>(db, waitQuery, behind)) add(found, page.rows)
  return found
}

async function* pagesOf<P extends Page>(db: Kysely<Database>, query: string, from: Behind) {
  let after = from.born
  for (;;) {
    const { rows } = await db.executeQuery<P>(CompiledQuery.raw(query, [from.agent, after]))
    const page = rows[0]
    if (page === undefined || page.last === null) return
    yield page
    if (page.count < pageRows) return
    after = page.last
  }
}

function add(to: unknown[], text: string | null): void {
  if (text === null) return
  for (const one of JSON.parse(`[${text}]`) as unknown[]) to.push(one)
}
