/**
 * Pages of lists (docs/spec/http.md#reads). Every list is in the order of making, and every page
 * has its entries oldest first; the first page holds the newest, and `next_cursor` leads to what is
 * older, until it is null. So a page is never shifted by what is added meanwhile.
 */
import type { Rows } from '../../protocol/records/records.ts'
import { byMaking, type Made } from './making.ts'
import { rowNamed, refused, type Lookup, type OwnedTable } from './named.ts'
import type { RowFilter } from '../../ports/ledger-filters.ts'
import type { HomePort } from './ports.ts'
import type { PageQuery } from './query.ts'

export type CursorPage<T> = { entries: T[]; next_cursor: string | null }

/** Where a page ends: it holds what is older than this entry. */
type Place = { id: string } | null

export const cursorOf = (list: string, id: string): string =>
  Buffer.from(JSON.stringify([list, id])).toString('base64url')

/** The id in a cursor of this very list; null when it is no such cursor. */
export function idInCursor(list: string, cursor: string): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (!Array.isArray(value) || value.length !== 2 || value[0] !== list) return null
    return typeof value[1] === 'string' ? value[1] : null
  } catch {
    return null
  }
}

const badCursor = () => refused('invalid_cursor', 'The cursor is not one of this list.')
const twoPlaces = () => refused('invalid_request', '`cursor` and `before` exclude each other.')

/** The row before which the page ends, as it is named by a cursor or an id. */
async function placeOf<T extends OwnedTable>(
  home: HomePort,
  table: T,
  agent_id: string | null,
  { cursor, before }: PageQuery,
): Promise<Lookup<Rows[T] | null>> {
  if (cursor !== undefined && before !== undefined) return twoPlaces()
  if (before !== undefined) return rowNamed(home, table, agent_id, before)
  if (cursor === undefined) return { ok: true, value: null }
  const id = idInCursor(table, cursor)
  const row = id === null ? null : await home.reads.row(table, id)
  return row === null ? badCursor() : { ok: true, value: row }
}

/** A page of what the ledger has. */
export async function pageOfRows<T extends OwnedTable>(
  home: HomePort,
  table: T,
  filter: Omit<RowFilter, 'limit' | 'before'>,
  query: PageQuery,
): Promise<Lookup<CursorPage<Rows[T]>>> {
  const place = await placeOf(home, table, filter.agent_id ?? null, query)
  if (!place.ok) return place
  const rows = await home.reads.list(table, {
    ...filter,
    ...(place.value === null ? {} : { before: place.value.id }),
    limit: query.limit + 1,
  })
  const entries = rows.slice(-query.limit)
  const [oldest] = entries
  const more = rows.length > query.limit && oldest !== undefined
  return { ok: true, value: { entries, next_cursor: more ? cursorOf(table, oldest.id) : null } }
}

/** A page of rows in memory, which are sorted `byMaking`. */
export async function pageOfFacts<T extends 'work_items' | 'waits' | 'triggers' | 'schedules'>(
  home: HomePort,
  table: T,
  agent_id: string,
  sorted: readonly Rows[T][],
  query: PageQuery,
): Promise<Lookup<CursorPage<Rows[T]>>> {
  const place = await placeOf(home, table, agent_id, query)
  if (!place.ok) return place
  return { ok: true, value: pageBefore(table, sorted, place.value, query.limit) }
}

/** The `limit` entries that come before `place`, which itself need not be among them. */
export function pageBefore<T extends Made>(
  list: string,
  sorted: readonly T[],
  place: (Place & Made) | null,
  limit: number,
): CursorPage<T> {
  const end = place === null ? sorted.length : sorted.findIndex((one) => byMaking(one, place) > 0)
  const to = end === -1 ? sorted.length : end
  const older = place !== null && sorted[to - 1]?.id === place.id ? to - 1 : to
  const entries = sorted.slice(Math.max(0, older - limit), older)
  const [oldest] = entries
  const more = older > limit && oldest !== undefined
  return { entries, next_cursor: more ? cursorOf(list, oldest.id) : null }
}
