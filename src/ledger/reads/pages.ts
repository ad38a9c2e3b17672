/**
 * Lists of any table, a page at a time. The place of a row is `born`, so a page costs what it
 * shows, however much there is before and after it: each filter that is common has an index that
 * ends in that order, and several values of one column are several walks, merged.
 */
import { sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../../domain/state/event.ts'
import type { ListFilter, RowFilter } from '../../ports/ledger-filters.ts'
import type { Page, PageFilter } from '../port.ts'
import { schema, type Database } from '../sqlite/schema.ts'

/** All row tables share the columns of this one that these queries use; see sqlite/schema.ts. */
type Any = 'work_items'
type Found = { born: number; data: string }

export async function readPage<T extends Table>(
  db: Kysely<Database>,
  table: T,
  filter: PageFilter,
): Promise<Page<T>> {
  const found = await walk(db, table, { ...filter, limit: filter.limit + 1 })
  return {
    entries: found.slice(0, filter.limit).map(({ born, data }) => ({
      born,
      row: JSON.parse(data) as Rows[T],
    })),
    more: found.length > filter.limit,
  }
}

/** The `limit` newest rows that pass the filter, oldest first. */
export async function readList<T extends Table>(
  db: Kysely<Database>,
  table: T,
  { before, ...filter }: ListFilter,
): Promise<Rows[T][]> {
  const newest = { ...filter, order: 'newest' } as const
  const found =
    before === undefined
      ? await walk(db, table, newest)
      : await walk(db, table, { ...newest, before: await bornOf(db, table, before) })
  return found.toReversed().map(({ data }) => JSON.parse(data) as Rows[T])
}

/** 0, before which there is nothing, when there is no such row. */
async function bornOf(db: Kysely<Database>, table: Table, id: string): Promise<number> {
  const found = await db
    .selectFrom(table as Any)
    .select('born')
    .where('id', '=', id)
    .executeTakeFirst()
  return found?.born ?? 0
}

/** One walk for each wanted value of a column that has an index, and the first rows of all. */
async function walk(db: Kysely<Database>, table: Table, filter: PageFilter): Promise<Found[]> {
  const { status, kind, order, limit } = filter
  const found: Found[] = []
  for (const one of status ?? [undefined]) {
    for (const other of kind ?? [undefined]) {
      found.push(...(await query(db, table, filter, { status: one, kind: other })))
    }
  }
  if ((status?.length ?? 1) * (kind?.length ?? 1) === 1) return found
  const sign = order === 'oldest' ? 1 : -1
  return found.sort((a, b) => sign * (a.born - b.born)).slice(0, limit)
}

type Wanted = { status: string | undefined; kind: string | undefined }

async function query(
  db: Kysely<Database>,
  table: Table,
  filter: PageFilter,
  { status, kind }: Wanted,
): Promise<Found[]> {
  let rows = db
    .selectFrom(table as Any)
    .select(['born', 'data'])
    .orderBy('born', filter.order === 'oldest' ? 'asc' : 'desc')
    .limit(filter.limit)
  for (const [column, value] of conditions(table, filter)) {
    rows = rows.where(sql.ref<string>(column), '=', value)
  }
  if (filter.before !== undefined) rows = rows.where('born', '<', filter.before)
  if (filter.after !== undefined) rows = rows.where('born', '>', filter.after)
  if (status !== undefined) {
    rows = rows.where(columnOf(table, 'state', 'status'), '=', rare(table, status))
  }
  if (kind !== undefined) rows = rows.where(columnOf(table, 'kind'), '=', kind)
  return rows.execute()
}

/**
 * SQLite walks an index of some rows only when the query names them in its text: these are the
 * ones that are few among many. The words are this table's own, never a caller's.
 */
function rare(table: Table, status: string) {
  const few: Partial<Record<Table, readonly string[]>> = {
    turns: ['open'],
    waits: ['active'],
    deliveries: ['dead'],
  }
  const word = few[table]?.find((one) => one === status)
  return word === undefined ? sql.val(status) : sql.lit(word)
}

function* conditions(
  table: Table,
  { agent_id, work_item_id, turn_id, schedule_id }: RowFilter,
): Iterable<[column: string, value: string]> {
  if (agent_id !== undefined) yield [own(table, 'agents', 'agent_id'), agent_id]
  if (work_item_id !== undefined) {
    const named = table === 'pacing' || table === 'meters'
    yield [named ? 'id' : own(table, 'work_items', 'work_item_id'), work_item_id]
  }
  if (turn_id !== undefined) yield [own(table, 'turns', 'turn_id'), turn_id]
  if (schedule_id !== undefined) yield [own(table, 'schedules', 'schedule_id'), schedule_id]
}

/** The column that names a thing: its id in its own table. */
function own(table: Table, home: Table, column: string): string {
  if (table === home) return 'id'
  assertColumn(table, [column])
  return column
}

const columnOf = (table: Table, ...names: string[]) => sql.ref<string>(assertColumn(table, names))

function assertColumn(table: Table, names: readonly string[]): string {
  const found = names.find((name) => name in schema[table].columns)
  // A filter that means nothing is a caller's mistake; an answer to it would look like one.
  if (found === undefined) throw new Error(`${table} have no ${names.join(' or ')}`)
  return found
}
