/**
 * What an upgrade does to what is stored: chains the events, and folds every row again, because a
 * row is what this program's `evolve` makes of its events and not what an older one made of them.
 * Runs inside the step's transaction; a history that does not fold ends the upgrade and changes
 * nothing.
 */
import type { DatabaseSync } from 'node:sqlite'
import { evolve, tableOf, type Event, type Rows, type Table } from '../../domain/event.ts'
import { chainStart, hashOf } from '../chain.ts'
import { columnsOf, derivedColumns } from '../columns.ts'
import { LedgerFault } from '../port.ts'
import type { Database } from '../schema.ts'

type Stored = Database['events']

/** Gives each event its hash. */
export function chainAll(database: DatabaseSync): void {
  const last = new Map<string, string>()
  const write = database.prepare('update events set hash = ? where global_seq = ?')
  const page = database.prepare(
    'select * from events where global_seq > ? order by global_seq limit 1000',
  )
  for (let after = 0; ;) {
    const events = page.all(after) as Stored[]
    for (const event of events) {
      const hash = hashOf(last.get(event.agent_id) ?? chainStart, event)
      write.run(hash, event.global_seq)
      last.set(event.agent_id, hash)
      after = event.global_seq
    }
    if (events.length === 0) return
  }
}

/** Writes every row as its events make it. There are no baselines yet in the schemas it is for. */
export function foldAll(database: DatabaseSync): void {
  database.exec(`
    create temp table refold (place integer primary key, global_seq integer);
    insert into temp.refold (global_seq) select global_seq from events
      order by subject_table, subject_id, seq;`)
  const page = database.prepare(`
    select events.*, place from temp.refold join events using (global_seq)
    where place > ? order by place limit 1000`)
  const write = writersOf(database)
  let row: Rows[Table] | null = null
  let of: Stored | null = null
  for (let after = 0; ;) {
    const events = page.all(after) as (Stored & { place: number })[]
    for (const event of events) {
      const goesOn = of?.subject_id === event.subject_id && of.subject_table === event.subject_table
      if (of && row && !goesOn) write(row, of)
      row = foldOne(goesOn ? row : null, event)
      of = event
      after = event.place
    }
    if (events.length === 0) break
  }
  if (of && row) write(row, of)
  database.exec('drop table temp.refold')
}

function foldOne(row: Rows[Table] | null, stored: Stored): Rows[Table] {
  try {
    return evolve(row, JSON.parse(stored.data) as Event, stored)
  } catch (error) {
    throw broken(`${stored.id} (seq ${stored.seq} of ${stored.agent_id}) does not fold`, error)
  }
}

function writersOf(database: DatabaseSync): (row: Rows[Table], last: Stored) => void {
  const writers = new Map<Table, ReturnType<typeof writerOf>>()
  const known = new Set(Object.values(tableOf))
  return (row, last) => {
    const table = last.subject_table as Table
    if (!known.has(table)) throw broken(`event ${last.id} is about ${table}, which is no table`)
    // Made when it is needed: a schema of then has not all the tables of now.
    const writer = writers.get(table) ?? writerOf(database, table)
    writers.set(table, writer)
    const columns = columnsOf(table, row)
    const cells = writer.names.map((name) => columns[name] ?? null)
    const { changes } = writer.statement.run(
      last.global_seq,
      ...cells,
      JSON.stringify(row),
      last.subject_id,
    )
    if (changes !== 1) throw broken(`${table} ${last.subject_id} has events but no row`)
  }
}

function writerOf(database: DatabaseSync, table: Table) {
  const names = derivedColumns[table].filter((name) => name !== 'id')
  const sets = ['changed', ...names, 'data'].map((name) => `${name} = ?`).join(', ')
  return { names, statement: database.prepare(updateOf(table, sets)) }
}

const updateOf = (table: Table, sets: string): string => `update ${table} set ${sets} where id = ?`

const broken = (what: string, cause?: unknown): LedgerFault =>
  new LedgerFault(
    'corrupt',
    `the ledger cannot be upgraded: ${what}. Nothing was changed; run the holon that wrote it ` +
      'with `doctor --verify`, or bring back a backup with `holon restore`',
    'never',
    { cause },
  )
