/**
 * What an upgrade does to what is stored: chains the events, and folds every row again, because a
 * row is what this program's `evolve` makes of its events and not what an older one made of them.
 * Runs inside the step's transaction; a history that does not fold ends the upgrade and changes
 * nothing.
 */
import type { DatabaseSync } from 'node:sqlite'
import { evolve, tableOf, type Rows, type Table } from '../../domain/state/event.ts'
import { baselineOf, eventOf } from '../../domain/state/upcast.ts'
import { chainStart, hashOf } from '../sqlite/chain.ts'
import { shortKinds, shortTail, tableOfShort } from '../../domain/state/short-id.ts'
import { columnsOf, derivedColumns } from '../sqlite/columns.ts'
import { LedgerFault } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

type Stored = Database['events']
type Baseline = Database['baselines']
/** What a row is stored with: its newest event, or the baseline if there is none above it. */
type Last = Pick<Stored, 'global_seq' | 'subject_table' | 'subject_id'>

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

/** Writes every row, and every baseline that rows are folded on, as today's fold makes it. */
export function foldAll(database: DatabaseSync): void {
  const write = writersOf(database)
  const baselines = writeBaselines(database, write)
  database.exec(`
    create temp table refold (place integer primary key, global_seq integer);
    insert into temp.refold (global_seq) select global_seq from events
      order by subject_table, subject_id, seq;`)
  const page = database.prepare(`
    select events.*, place from temp.refold join events using (global_seq)
    where place > ? order by place limit 1000`)
  let row: Rows[Table] | null = null
  let of: Stored | null = null
  for (let after = 0; ;) {
    const events = page.all(after) as (Stored & { place: number })[]
    for (const event of events) {
      const goesOn = of?.subject_id === event.subject_id && of.subject_table === event.subject_table
      if (of && row && !goesOn) write(row, of)
      row = foldOne(goesOn ? row : baselines(event), event)
      of = event
      after = event.place
    }
    if (events.length === 0) break
  }
  if (of && row) write(row, of)
  database.exec('drop table temp.refold')
}

/** Gives every id that has a short form the one it would have got when it was minted. */
export function mintShortIds(database: DatabaseSync): void {
  const taken = database.prepare(
    'select 1 from short_ids where agent_id = ? and kind = ? and short = ?',
  )
  const write = database.prepare('insert into short_ids values (?, ?, ?, ?)')
  for (const kind of shortKinds) {
    const page = database.prepare(pageOf(tableOfShort[kind]))
    for (let after = 0; ;) {
      const found = page.all(after) as { born: number; agent_id: string; id: string }[]
      for (const { born, agent_id, id } of found) {
        const short = shortTail(id, (tail) => taken.get(agent_id, kind, tail) !== undefined)
        write.run(agent_id, kind, short, id)
        after = born
      }
      if (found.length === 0) break
    }
  }
}

const pageOf = (table: Table): string =>
  `select born, agent_id, id from ${table} where born > ? order by born limit 1000`

/** Upcasts the baselines; writes the rows that no event is above; returns what finds a baseline. */
function writeBaselines(database: DatabaseSync, write: (row: Rows[Table], last: Last) => void) {
  const page = database.prepare('select * from baselines where born > ? order by born limit 1000')
  const keep = database.prepare('update baselines set data = ? where born = ?')
  const find = database.prepare(
    'select * from baselines where subject_table = ? and subject_id = ?',
  )
  const rowOf = (one: Baseline) => baselineOf(one.subject_table as Table, one.data)
  const isNewest = ({ subject_table, subject_id, changed }: Baseline) =>
    database.prepare(`select changed from ${subject_table} where id = ?`).get(subject_id)?.[
      'changed'
    ] === changed
  for (let after = 0; ;) {
    const found = page.all(after) as Baseline[]
    for (const one of found) {
      const row = rowOf(one)
      keep.run(JSON.stringify(row), one.born)
      if (isNewest(one)) write(row, { ...one, global_seq: one.changed })
      after = one.born
    }
    if (found.length === 0) break
  }
  return ({ subject_table, subject_id }: Stored): Rows[Table] | null => {
    const one = find.get(subject_table, subject_id) as Baseline | undefined
    return one ? rowOf(one) : null
  }
}

function foldOne(row: Rows[Table] | null, stored: Stored): Rows[Table] {
  try {
    return evolve(row, eventOf(stored.data), stored)
  } catch (error) {
    throw broken(`${stored.id} (seq ${stored.seq} of ${stored.agent_id}) does not fold`, error)
  }
}

function writersOf(database: DatabaseSync): (row: Rows[Table], last: Last) => void {
  const writers = new Map<Table, ReturnType<typeof writerOf>>()
  const known = new Set(Object.values(tableOf))
  return (row, last) => {
    const table = last.subject_table as Table
    if (!known.has(table)) throw broken(`an event is about ${table}, which is no table`)
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
  // A schema of then has not all the columns of now.
  const there = new Set(
    database
      .prepare(`pragma table_info(${table})`)
      .all()
      .map(({ name }) => name),
  )
  const names = derivedColumns[table].filter((name) => name !== 'id' && there.has(name))
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
