/**
 * The rows as a fold: folds every event again, from the baseline where retention took the first
 * ones, and compares whole rows with what is stored, and the blobs that they name with their names.
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
} from '../../domain/state/event.ts'
import { canonical } from '../../domain/canonical.ts'
import { columnsOf } from '../sqlite/columns.ts'
import type { FileDiff } from '../../domain/state/file-diff.ts'
import { imageOf, type ToolResult } from '../../domain/state/call.ts'
import { baselineOf } from '../../domain/state/upcast.ts'
import { storedEvent } from '../reads/events.ts'
import type { Database } from '../sqlite/schema.ts'
import type { Report } from './report.ts'

/** Events read with one query. */
const page = 1_000
/** Rows compared with one query. */
const batch = 50

/** Says whether a blob is there with the bytes of its name. */
export type BlobCheck = (sha256: string) => Promise<'whole' | 'missing' | 'damaged'>

type Subject = { agent_id: string; table: Table; id: string }
/** A row as the events make it, and the first and the last of them. */
type Folded = Subject & { born: number; changed: number; row: Rows[Table] | null }

/**
 * Folds all events, row by row. The order is made in a temporary table, which may spill to a file;
 * it holds numbers only, and the events are read page by page along it. A baseline comes before
 * the events of its row.
 */
export async function checkRows(
  db: Kysely<Database>,
  blob: BlobCheck,
  report: Report,
): Promise<void> {
  await sql`create temp table fold_order
    (place integer primary key, global_seq integer, baseline integer)`.execute(db)
  await sql`insert into temp.fold_order (global_seq, baseline)
    select global_seq, baseline from (
      select agent_id, subject_table, subject_id, seq, global_seq, null as baseline from events
      union all
      select agent_id, subject_table, subject_id, 0, null, born from baselines
    ) order by agent_id, subject_table, subject_id, seq`.execute(db)
  let folded: Folded | null = null
  let done: Folded[] = []
  for (let from = 0; ; from += page) {
    const steps = await stepsAfter(db, from, report)
    for (const step of steps) {
      if (step === null) continue
      if (!folded || !sameSubject(folded, step)) {
        if (folded) done.push(folded)
        folded = { ...step.base }
      }
      if (step.event) fold(folded, step.event, report)
    }
    await compareAll(db, done, blob, report)
    done = []
    if (steps.length === 0) break
  }
  if (folded) await compareAll(db, [folded], blob, report)
}

/** An event, or the baseline before the first kept one: `base` counts where a row begins. */
type Step = Subject & { base: Folded; event: StoredEvent | null }
type BaselineCells = { [C in keyof Database['baselines'] as `base_${C}`]: Database['baselines'][C] }

/** The steps of one page; null: something unreadable, which is reported. */
async function stepsAfter(
  db: Kysely<Database>,
  from: number,
  report: Report,
): Promise<(Step | null)[]> {
  const { rows } = await sql<Database['events'] & BaselineCells>`
    select events.*, b.born as base_born, b.changed as base_changed, b.agent_id as base_agent_id,
      b.subject_table as base_subject_table, b.subject_id as base_subject_id, b.data as base_data
    from temp.fold_order as fold
      left join events on events.global_seq = fold.global_seq
      left join baselines as b on b.born = fold.baseline
    where fold.place > ${from} and fold.place <= ${from + page} order by fold.place`.execute(db)
  return rows.map((row) =>
    row.base_born === null ? stepOf(readable(row, report)) : baseOf(row, report),
  )
}

function stepOf(event: StoredEvent | null): Step | null {
  if (event === null) return null
  const of = subjectOf(event)
  return { ...of, event, base: { ...of, born: event.global_seq, changed: 0, row: null } }
}

function baseOf(cells: BaselineCells, report: Report): Step | null {
  const of = {
    agent_id: cells.base_agent_id,
    table: cells.base_subject_table as Table,
    id: cells.base_subject_id,
  }
  if (!tables.includes(of.table)) {
    report.add(`baselines ${cells.base_born}: there is no table ${of.table}`)
    return null
  }
  try {
    const row = baselineOf(of.table, cells.base_data)
    const { base_born: born, base_changed: changed } = cells
    return { ...of, event: null, base: { ...of, born, changed, row } }
  } catch (error) {
    report.add(`${of.table} ${of.id}: its baseline cannot be read: ${String(error)}`)
    return null
  }
}

const subjectOf = ({ agent_id, event }: StoredEvent): Subject => ({
  agent_id,
  table: tableOf[event.type],
  id: event.id,
})

const sameSubject = (a: Subject, b: Subject): boolean =>
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
  folded.changed = stored.global_seq
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
    const { differing, blobs } = lookedAt(folded, row, report)
    if (differing.length > 0) {
      report.add(`${table} ${folded.id}: differs from the fold of its events in ${differing}`)
    }
    for (const sha256 of blobs) {
      const state = await blob(sha256)
      if (state !== 'whole') report.add(`${table} ${folded.id}: its blob ${sha256} is ${state}`)
    }
  }
}

/** What a damaged event folds to may have any shape: that it cannot be looked at is a finding. */
function lookedAt(folded: Folded, stored: Record<string, unknown>, report: Report) {
  try {
    return { differing: differences(folded, stored), blobs: blobsOf(folded.table, folded.row) }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    report.add(`${folded.table} ${folded.id}: its events make no row of it: ${problem}`)
    return { differing: '', blobs: [] }
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
    ...difference('column changed', stored['changed'], folded.changed),
  ].join(', ')
}

function difference(name: string, stored: unknown, folded: unknown): string[] {
  const [a, b] = [canonical(stored), canonical(folded)]
  return a === b ? [] : [`${name} (stored ${clip(a)}, folded ${clip(b)})`]
}

const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

function blobsOf(table: Table, row: Rows[Table] | null): string[] {
  const named = row === null ? [] : namedIn(table, row)
  return named.filter((sha256) => sha256 !== null)
}

function ofResult(result: ToolResult | null): (string | null)[] {
  const diffs = result?.status === 'success' ? (result.diffs ?? []) : []
  return [imageOf(result)?.sha256 ?? null, ...ofDiffs(diffs)]
}

const ofTask = ({ changes }: Rows['tasks']): (string | null)[] =>
  changes && 'diffs' in changes ? ofDiffs(changes.diffs) : []

function ofDiffs(diffs: readonly FileDiff[]): (string | null)[] {
  const ends = diffs.flatMap(({ ends: of }) => (of && 'before' in of ? [of.before, of.after] : []))
  return ends.map((end) => (end.kind === 'none' ? null : end.kept_sha256))
}

function namedIn(table: Table, row: Rows[Table]): (string | null)[] {
  if (table === 'rounds') return [(row as Rows['rounds']).opening_sha256]
  if (table === 'deliveries') return [(row as Rows['deliveries']).body_sha256]
  if (table === 'calls') return ofResult((row as Rows['calls']).result)
  if (table === 'messages') {
    return ((row as Rows['messages']).images ?? []).map(({ sha256 }) => sha256)
  }
  if (table === 'tasks') return ofTask(row as Rows['tasks'])
  if (table === 'agents') return [(row as Rows['agents']).inherited_sha256]
  if (table !== 'work_items') return []
  const { plan_artifact, imported } = row as Rows['work_items']
  return [plan_artifact.good_sha256, imported?.file_sha256 ?? null]
}
