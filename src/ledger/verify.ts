/**
 * Proof that the rows are what the events say: folds every event again and compares whole rows,
 * checks both sequences, the blobs that rows point at, and the file itself.
 *
 * Holds a page of events at a time, however long the history is: they are read in the order of the
 * rows they change, so a row is folded, compared and forgotten. Works on a snapshot of its own, so
 * the owner may go on committing beside it.
 */
import { sql, type Kysely } from 'kysely'
import {
  evolve,
  tableOf,
  tables,
  type Event,
  type Rows,
  type StoredEvent,
  type Table,
} from '../domain/event.ts'
import { columnsOf } from './columns.ts'
import { storedEvent } from './events.ts'
import { LedgerFault, type VerifyReport } from './port.ts'
import type { Database } from './schema.ts'

/** Sentences kept; more say nothing new about what to do. */
const mostProblems = 100
/** Events read with one query. */
const page = 1_000
/** Rows compared with one query. */
const batch = 50

/** Says whether a blob is there with the bytes of its name. */
export type BlobCheck = (sha256: string) => Promise<'whole' | 'missing' | 'damaged'>

export async function verifyStore(db: Kysely<Database>, blob: BlobCheck): Promise<VerifyReport> {
  const report = new Report()
  try {
    await db
      .transaction()
      .setAccessMode('read only')
      .execute(async (trx) => {
        await integrity(trx, report)
        await globalOrder(trx, report)
        const agents = await trx.selectFrom('events').select('agent_id').distinct().execute()
        for (const { agent_id } of agents) await agentOrder(trx, agent_id, report)
        await refold(trx, blob, report)
        for (const table of tables) await strayRows(trx, table, report)
      })
  } catch (error) {
    // A page that cannot be read ends the work; what was found until then is still worth saying.
    if (!isCorruption(error)) throw error
    report.add(`the file cannot be read to its end: ${error.message}`)
  }
  return report.finish()
}

class Report {
  events = 0
  rows = 0
  readonly #problems: string[] = []
  #more = 0

  add(problem: string): void {
    if (this.#problems.length < mostProblems) this.#problems.push(problem)
    else this.#more++
  }

  finish(): VerifyReport {
    const problems = [...this.#problems]
    if (this.#more > 0) problems.push(`and ${this.#more} more`)
    return { ok: problems.length === 0, events: this.events, rows: this.rows, problems }
  }
}

const isCorruption = (error: unknown): error is Error =>
  (error instanceof LedgerFault && error.code === 'corrupt') ||
  (error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    [11, 26].includes(error.errcode & 0xff))

async function integrity(db: Kysely<Database>, report: Report): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(db)
  for (const { integrity_check: line } of rows) {
    if (line !== 'ok') report.add(`the file is damaged: ${line}`)
  }
}

async function globalOrder(db: Kysely<Database>, report: Report): Promise<void> {
  const gaps = await sql<{ global_seq: number; before: number }>`
    select global_seq, before from (
      select global_seq, lag(global_seq, 1, 0) over (order by global_seq) as before from events
    ) where global_seq <> before + 1 limit ${mostProblems}`.execute(db)
  for (const { global_seq, before } of gaps.rows) {
    report.add(`events: global_seq ${global_seq} follows ${before}, so something is missing`)
  }
}

/** Seqs dense from 1, times that never decrease, and the same order as the global one. */
async function agentOrder(db: Kysely<Database>, agent_id: string, report: Report): Promise<void> {
  let before = { global_seq: 0, seq: 0, at: '', id: '' }
  for (;;) {
    const events = await db
      .selectFrom('events')
      .select(['global_seq', 'seq', 'at', 'id'])
      .where('agent_id', '=', agent_id)
      .where('seq', '>', before.seq)
      .orderBy('seq')
      .limit(page)
      .execute()
    for (const event of events) {
      report.events++
      const where = `events ${event.id}: seq ${event.seq} of ${agent_id}`
      if (event.seq !== before.seq + 1) report.add(`${where} follows seq ${before.seq}`)
      if (event.at < before.at) report.add(`${where} is earlier than the one before it`)
      if (event.global_seq < before.global_seq) {
        report.add(`${where} has a lower global_seq than the one before it`)
      }
      before = event
    }
    if (events.length < page) return
  }
}

/** A row as the events make it, and the first of them. */
type Folded = { agent_id: string; table: Table; id: string; born: number; row: Rows[Table] | null }

/**
 * Folds all events, row by row. The order is made in a temporary table, which may spill to a file;
 * it holds numbers only, and the events are read page by page along it.
 */
async function refold(db: Kysely<Database>, blob: BlobCheck, report: Report): Promise<void> {
  await sql`create temp table fold_order (place integer primary key, global_seq integer)`.execute(
    db,
  )
  await sql`insert into temp.fold_order (global_seq) select global_seq from events
    order by agent_id, subject_table, subject_id, seq`.execute(db)
  let folded: Folded | null = null
  let done: Folded[] = []
  for (let from = 0; ; from += page) {
    const { rows } = await sql<Database['events']>`
      select events.* from temp.fold_order as fold join events using (global_seq)
      where fold.place > ${from} and fold.place <= ${from + page} order by fold.place`.execute(db)
    for (const row of rows) {
      const stored = readable(row, report)
      if (stored === null) continue
      const of = subjectOf(stored)
      if (!folded || !sameSubject(folded, of)) {
        if (folded) done.push(folded)
        folded = { ...of, born: stored.global_seq, row: null }
      }
      fold(folded, stored, report)
    }
    await compareAll(db, done, blob, report)
    done = []
    if (rows.length === 0) break
  }
  if (folded) await compareAll(db, [folded], blob, report)
}

const subjectOf = ({ agent_id, event }: StoredEvent) => ({
  agent_id,
  table: tableOf[event.type],
  id: event.id,
})

const sameSubject = (a: ReturnType<typeof subjectOf>, b: ReturnType<typeof subjectOf>): boolean =>
  a.id === b.id && a.table === b.table && a.agent_id === b.agent_id

/** The event in a row of `events`, when its columns and its JSON agree. */
function readable(row: Database['events'], report: Report): StoredEvent | null {
  const where = `events ${row.id} (seq ${row.seq} of ${row.agent_id})`
  let stored: StoredEvent
  try {
    stored = storedEvent(row)
  } catch (error) {
    report.add(`${where}: the JSON cannot be read: ${String(error)}`)
    return null
  }
  const { type, id }: Event = stored.event
  if (tableOf[type] === undefined) {
    report.add(`${where}: no such event as ${type}`)
    return null
  }
  if (type !== row.type || id !== row.subject_id || tableOf[type] !== row.subject_table) {
    report.add(`${where}: the columns name another event than the JSON`)
    return null
  }
  return stored
}

function fold(folded: Folded, stored: StoredEvent, report: Report): void {
  try {
    folded.row = evolve(folded.row, stored.event, stored)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    report.add(`${folded.table} ${folded.id}: seq ${stored.seq} does not fold: ${problem}`)
  }
}

async function compareAll(
  db: Kysely<Database>,
  all: readonly Folded[],
  blob: BlobCheck,
  report: Report,
): Promise<void> {
  for (const table of tables) {
    const ofTable = all.filter((one) => one.table === table)
    for (let from = 0; from < ofTable.length; from += batch) {
      await compare(db, table, ofTable.slice(from, from + batch), blob, report)
    }
  }
}

async function compare(
  db: Kysely<Database>,
  table: Table,
  all: readonly Folded[],
  blob: BlobCheck,
  report: Report,
): Promise<void> {
  // Always as many ids, so that it is one statement a table and not one a number of rows.
  const ids = Array.from({ length: batch }, (_, i) => all[i]?.id ?? '')
  const found = await db
    .selectFrom(table as 'work_items')
    .selectAll()
    .where('id', 'in', ids)
    .execute()
  const stored = new Map(found.map((row) => [row.id, row as Record<string, unknown>]))
  for (const folded of all) {
    const row = stored.get(folded.id)
    if (!row) {
      report.add(`${table} ${folded.id}: has events but no row`)
      continue
    }
    report.rows++
    const differing = differences(folded, row)
    if (differing.length > 0) {
      report.add(`${table} ${folded.id}: differs from the fold of its events in ${differing}`)
    }
    for (const sha256 of blobsOf(table, folded.row)) {
      const state = await blob(sha256)
      if (state !== 'whole') report.add(`${table} ${folded.id}: its blob ${sha256} is ${state}`)
    }
  }
}

/** Names of the fields and columns that are not what the fold says, with both values. */
function differences(folded: Folded, stored: Record<string, unknown>): string {
  if (folded.row === null) return ''
  const expected = JSON.parse(JSON.stringify(folded.row)) as Record<string, unknown>
  const columns = columnsOf(folded.table, folded.row)
  let data: Record<string, unknown>
  try {
    data = JSON.parse(String(stored['data'])) as Record<string, unknown>
  } catch {
    return 'data, which is not JSON'
  }
  const fields = [...new Set([...Object.keys(expected), ...Object.keys(data)])]
  return [
    ...fields.flatMap((name) => difference(name, data[name], expected[name])),
    ...Object.keys(columns).flatMap((name) =>
      difference(`column ${name}`, stored[name], columns[name]),
    ),
    ...difference('column born', stored['born'], folded.born),
  ].join(', ')
}

function difference(name: string, stored: unknown, folded: unknown): string[] {
  const [a, b] = [canonical(stored), canonical(folded)]
  return a === b ? [] : [`${name} (stored ${clip(a)}, folded ${clip(b)})`]
}

const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** JSON with sorted keys: equal values have equal text. */
export function canonical(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

function blobsOf(table: Table, row: Rows[Table] | null): string[] {
  if (row === null) return []
  const found =
    table === 'rounds'
      ? (row as Rows['rounds']).opening_sha256
      : table === 'work_items'
        ? (row as Rows['work_items']).plan_artifact.good_sha256
        : null
  return found === null ? [] : [found]
}

/** Rows that no event made. A row's `born` names its first event, so one look is enough. */
async function strayRows(db: Kysely<Database>, table: Table, report: Report): Promise<void> {
  const stray = await db
    .selectFrom(`${table as 'work_items'} as row`)
    .leftJoin('events', 'events.global_seq', 'row.born')
    .select('row.id')
    .where((eb) =>
      eb.or([
        eb('events.subject_id', 'is distinct from', eb.ref('row.id')),
        eb('events.subject_table', 'is distinct from', table),
      ]),
    )
    .limit(mostProblems)
    .execute()
  for (const { id } of stray) report.add(`${table} ${id}: a row that no event made`)
}
