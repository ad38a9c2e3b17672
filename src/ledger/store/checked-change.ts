/**
 * A change as it will be written: looked at for what makes it one, and made into text, before it
 * waits for its transaction. What contradicts itself is a bug, thrown where it was asked for.
 */
import { tableOf, type Rows, type Table } from '../../domain/state/event.ts'
import { isInline, sha256Of } from '../blobs/blobs.ts'
import type { Change, NewBlob } from '../port.ts'
import { columnsOf, derivedColumns, type Cell } from '../sqlite/columns.ts'

export type Checked = {
  change: Change
  /** The JSON of each event, in order: what is hashed is what is stored. */
  events: readonly string[]
  rows: readonly CheckedRow[]
  /** Those that are rows of the commit; the larger ones are files by now. */
  blobs: readonly NewBlob[]
}

export type CheckedRow = {
  table: Table
  /** Within the change: the index of its first event and of its last. */
  first: number
  last: number
  /** Whether one of its events names a work item: no other changes which one it belongs to. */
  names_item: boolean
  /** As the statement of its table takes them, behind `born` and `changed`. */
  cells: readonly Cell[]
}

type Place = Pick<CheckedRow, 'first' | 'last' | 'names_item'>

const keyOf = (table: Table, id: string): string => `${table} ${id}`

/** Asserts dense seqs, one time, exactly the rows that the events name, and blobs they name. */
export function checkedChange(change: Change): Checked {
  const places = placesOf(change)
  const rows = change.rows.map(([table, row]): CheckedRow => {
    const place = places.get(keyOf(table, row.id))
    if (place === undefined) throw new Error(`${table} ${row.id} without its event`)
    return { table, ...place, cells: cellsOf(table, row) }
  })
  if (rows.length !== places.size) {
    throw new Error(`${places.size} rows have events, ${rows.length} are in the change`)
  }
  const events = change.events.map(({ event }) => JSON.stringify(event))
  const { blobs = [] } = change
  if (blobs.length > 0) checkBlobs(blobs, events.join('\n'))
  return { change, events, rows, blobs: blobs.filter(isInline) }
}

/** Which events are the first and the last of each row, and what they say of its item. */
function placesOf(change: Change): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const [i, { event, meta }] of change.events.entries()) {
    if (meta.seq !== change.expect_seq + 1 + i) {
      throw new Error(`event ${i} of a change on seq ${change.expect_seq} has seq ${meta.seq}`)
    }
    if (meta.at !== change.at) throw new Error(`${event.type} at ${meta.at}, not ${change.at}`)
    const key = keyOf(tableOf[event.type], event.id)
    const known = places.get(key)
    const names_item = known?.names_item === true || 'work_item_id' in event
    places.set(key, { first: known?.first ?? i, last: i, names_item })
  }
  return places
}

function cellsOf<T extends Table>(table: T, row: Rows[T]): Cell[] {
  const columns = columnsOf(table, row)
  const derived = derivedColumns[table].map((name) => columns[name] ?? null)
  return [...derived, JSON.stringify(row)]
}

function checkBlobs(blobs: readonly NewBlob[], said: string): void {
  for (const { sha256, bytes } of blobs) {
    if (!said.includes(`"${sha256}"`)) throw new Error(`no event of the change names ${sha256}`)
    if (sha256Of(bytes) !== sha256) throw new Error(`a blob with other bytes than ${sha256}`)
  }
}
