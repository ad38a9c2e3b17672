/**
 * One transaction of retention. Synchronous, on a connection that is inside the transaction, so
 * nothing comes between its steps.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { evolve, type Rows, type Table } from '../../domain/state/event.ts'
import { baselineOf, eventOf } from '../../domain/state/upcast.ts'
import type { Timestamp } from '../../domain/time.ts'
import { canonical } from '../../domain/canonical.ts'
import { chainStart, hashOf } from '../sqlite/chain.ts'
import { LedgerFault } from '../port.ts'
import { isFleeting, type Open } from './rules.ts'
import type { Database } from '../sqlite/schema.ts'
import { addSpent } from './kept-spend.ts'
import type { Tally } from './tally.ts'

type Stored = Database['events']
type Baseline = Database['baselines']

/** Where the next transaction goes on; null: the pass is over. */
export type RetentionCursor = { next: number | null }

export type Lift = {
  open: Open
  /** Only events before this go. */
  before: Timestamp
  /** Global seq after which to look. */
  from: number
  /** Events to look at. */
  size: number
}

/** Takes the next events below the horizon, and the rows that are over with them. */
export function liftFloor(database: DatabaseSync, lift: Lift, tally: Tally): RetentionCursor {
  const page = database
    .prepare('select * from events where global_seq > ? order by global_seq limit ?')
    .all(lift.from, lift.size) as Stored[]
  const horizon = page.findIndex((event) => event.at >= lift.before)
  const old = horizon === -1 ? page : page.slice(0, horizon)
  const last = lastSeqs(database, old)
  const going = old.filter((event) => event.seq !== last.get(event.agent_id))
  if (going.length > 0) {
    checkChain(database, going)
    const folded = foldOnto(database, going)
    moveFloor(database, going)
    const take = database.prepare('delete from events where global_seq = ?')
    for (const event of going) {
      take.run(event.global_seq)
      tally.event(sizeOf(event))
    }
    for (const one of folded) {
      if (!takeIfOver(database, one, lift.open, tally)) keepBaseline(database, one)
    }
  }
  const end = old.at(-1)
  const isOver = end === undefined || horizon !== -1 || page.length < lift.size
  return { next: isOver ? null : end.global_seq }
}

/** Takes rows whose events are all gone and that nothing holds any more. */
export function sweepBaselines(
  database: DatabaseSync,
  { open, from, size }: { open: Open; from: number; size: number },
  tally: Tally,
): RetentionCursor {
  const page = database
    .prepare('select * from baselines where born > ? order by born limit ?')
    .all(from, size) as Baseline[]
  for (const baseline of page) {
    const table = baseline.subject_table as Table
    if (!isFleeting(table)) continue
    const row = baselineOf(table, baseline.data)
    takeIfOver(database, { ...baseline, table, row }, open, tally)
  }
  const end = page.at(-1)
  return { next: end === undefined || page.length < size ? null : end.born }
}

/** The newest seq of each agent in the page: that event stays. */
function lastSeqs(database: DatabaseSync, page: readonly Stored[]): Map<string, number> {
  const newest = database.prepare('select max(seq) as seq from events where agent_id = ?')
  const agents = new Set(page.map(({ agent_id }) => agent_id))
  return new Map([...agents].map((agent) => [agent, Number(newest.get(agent)?.['seq'])]))
}

/** Of each agent the events are the next after its floor, unchanged. */
function checkChain(database: DatabaseSync, going: readonly Stored[]): void {
  const floor = database.prepare('select seq, hash from floors where agent_id = ?')
  const before = new Map<string, { seq: number; hash: string }>()
  for (const event of going) {
    const { agent_id } = event
    const found = before.get(agent_id) ?? (floor.get(agent_id) as Database['floors'] | undefined)
    const previous = found ?? { seq: 0, hash: chainStart }
    if (event.seq !== previous.seq + 1 || event.hash !== hashOf(previous.hash, event)) {
      throw unsound(`event ${event.id} (seq ${event.seq} of ${agent_id}) is not as it was written`)
    }
    before.set(agent_id, event)
  }
}

/** A row as it was at the new floor. */
type Folded = Omit<Baseline, 'data'> & { table: Table; row: Rows[Table] }

function foldOnto(database: DatabaseSync, going: readonly Stored[]): Folded[] {
  const find = database.prepare(
    'select * from baselines where subject_table = ? and subject_id = ?',
  )
  const folded = new Map<string, Folded>()
  for (const event of going) {
    const { subject_table, subject_id, agent_id, global_seq: changed } = event
    const key = `${subject_table} ${subject_id}`
    const base = find.get(subject_table, subject_id) as Baseline | undefined
    const before = folded.get(key)
    const row =
      before?.row ?? (base === undefined ? null : baselineOf(subject_table as Table, base.data))
    folded.set(key, {
      born: before?.born ?? base?.born ?? changed,
      changed,
      agent_id,
      subject_table,
      subject_id,
      table: subject_table as Table,
      row: evolve(row, eventOf(event.data), event),
    })
  }
  return [...folded.values()]
}

function moveFloor(database: DatabaseSync, going: readonly Stored[]): void {
  database
    .prepare('update meta set pruned_global_seq = max(pruned_global_seq, ?)')
    .run(going.at(-1)?.global_seq ?? 0)
  const write = database.prepare(`
    insert into floors (agent_id, seq, global_seq, at, hash) values (?, ?, ?, ?, ?)
    on conflict (agent_id) do update set seq = excluded.seq, global_seq = excluded.global_seq,
      at = excluded.at, hash = excluded.hash`)
  const last = new Map(going.map((event) => [event.agent_id, event]))
  for (const { agent_id, seq, global_seq, at, hash } of last.values()) {
    write.run(agent_id, seq, global_seq, at, hash)
  }
}

/** Deletes the row with its baseline when it is over and all its events are gone. */
function takeIfOver(database: DatabaseSync, one: Folded, open: Open, tally: Tally): boolean {
  const { table, subject_id: id } = one
  const stored = prepared(database, `select changed, data from ${table} where id = ?`).get(id)
  if (!stored) throw unsound(`${table} ${id} has events but no row`)
  const data = String(stored['data'])
  if (stored['changed'] !== one.changed) return false
  if (canonical(JSON.parse(data)) !== canonical(one.row)) {
    throw unsound(`${table} ${id} is not the fold of its events`)
  }
  if (!isFleeting(table) || !open.isOver(table, one.row as never)) return false
  if (table === 'rounds') addSpent(database, one.row as Rows['rounds'])
  prepared(database, `delete from ${table} where id = ?`).run(id)
  prepared(database, 'delete from baselines where born = ?').run(one.born)
  tally.row(table, data.length)
  return true
}

function keepBaseline(database: DatabaseSync, one: Folded): void {
  prepared(
    database,
    `insert into baselines (born, changed, agent_id, subject_table, subject_id, data)
    values (?, ?, ?, ?, ?, ?)
    on conflict (born) do update set changed = excluded.changed, data = excluded.data`,
  ).run(
    one.born,
    one.changed,
    one.agent_id,
    one.subject_table,
    one.subject_id,
    JSON.stringify(one.row),
  )
}

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** Compiled once a connection: a batch asks the same few things of hundreds of rows. */
function prepared(database: DatabaseSync, query: string): StatementSync {
  const known = statements.get(database) ?? new Map<string, StatementSync>()
  statements.set(database, known)
  const statement = known.get(query) ?? database.prepare(query)
  known.set(query, statement)
  return statement
}

/** What an event takes up, in bytes of its text. */
export const sizeOf = (event: Pick<Stored, 'data'>): number => event.data.length

/** Retention stops, and the home goes on: only what is old is in doubt. */
const unsound = (what: string): LedgerFault =>
  new LedgerFault(
    'corrupt',
    `nothing more was cleared out: ${what}. See what \`holon doctor --verify\` says`,
    'later',
  )
