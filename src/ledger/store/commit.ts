/**
 * The only writer of durable state.
 *
 * A change is everything one decision made true. It lands whole or not at all: events appended,
 * rows rewritten, small blobs stored, in one transaction, and only while the agent stands where the
 * decision saw it and this process is still the home's owner. Effects belong to the caller and
 * start after it returned.
 */
import { sql, type CompiledQuery, type Kysely, type Transaction } from 'kysely'
import { evolve, tableOf, type Rows, type Table } from '../../domain/state/event.ts'
import { chained, chainHash, chainStart } from '../sqlite/chain.ts'
import { columnsOf, derivedColumns, type Cell } from '../sqlite/columns.ts'
import { blobCells, blobStatement } from '../blobs/blob-rows.ts'
import { isInline, sha256Of } from '../blobs/blobs.ts'
import { LedgerFault, type Change, type Committed } from '../port.ts'
import { isFleeting } from '../retention/rules.ts'
import type { Database } from '../sqlite/schema.ts'
import { shortIdStatement, writeShortId } from '../reads/short-ids.ts'

export type CommitEnvironment = {
  /** The epoch this owner began; the store has a later one when somebody took the home over. */
  boot_epoch: number
  mint: (prefix: 'evt') => string
}

export type Commit = (change: Change, ...more: readonly Change[]) => Promise<Committed>

/**
 * Makes the writer of one store. Its statements are compiled once; those of a table when its first
 * row is written, because a start writes few tables and would wait for all of them.
 */
export function commitTo(db: Kysely<Database>, env: CommitEnvironment): Commit {
  const head = headStatement(db)
  const append = appendStatement(db)
  const keep = blobStatement(db)
  const shorten = shortIdStatement(db)
  const writeRow = new Map<Table, CompiledQuery>()

  return (change, ...more) => {
    const changes = [change, ...more].map((one) => ({ change: one, places: check(one) }))
    if (new Set(changes.map((one) => one.change.agent_id)).size !== changes.length) {
      throw new Error('two changes of one agent in one commit')
    }
    const landed = db.transaction().execute<Committed>(async (trx) => {
      // All are looked at before any is written: a conflict leaves nothing to take back.
      const heads: Head[] = []
      for (const { change: one } of changes) {
        const now = await readHead(trx, head, one.agent_id)
        if (now.boot_epoch !== env.boot_epoch) throw fenced(env.boot_epoch, now.boot_epoch)
        if (now.seq !== one.expect_seq) return { ok: false, agent_id: one.agent_id, seq: now.seq }
        if (one.at < now.at) throw new Error(`commit at ${one.at}, before ${now.at}`)
        heads.push(now)
      }
      let global_seq = heads[0]?.global_seq ?? 0
      for (const [i, one] of changes.entries()) {
        await write(trx, one, { global_seq, hash: heads[i]?.hash ?? chainStart })
        global_seq += one.change.events.length
      }
      return { ok: true, seq: change.expect_seq + change.events.length, global_seq }
    })
    return landed.catch((error: unknown) => {
      if (error instanceof RowTaken) return { ok: false, ...error.where }
      throw error
    })
  }

  /** Appends the events after `global_seq`, chained to `hash`, and writes their rows. */
  async function write(trx: Transaction<Database>, { change, places }: Checked, from: From) {
    let { hash } = from
    const first_seq = from.global_seq + 1
    for (const [i, { event, meta }] of change.events.entries()) {
      // In the order of `chained`.
      const cells = [
        first_seq + i,
        env.mint('evt'),
        change.agent_id,
        meta.seq,
        meta.at,
        event.type,
        1,
        tableOf[event.type],
        event.id,
        meta.work_item_id,
        meta.turn_id,
        meta.causation_id,
        JSON.stringify(event),
      ]
      hash = chainHash(hash, cells)
      await trx.executeQuery(bind(append, [...cells, hash]))
      await writeShortId(trx, shorten, change.agent_id, event)
    }
    for (const [table, row] of change.rows) {
      const { first, last } = places.get(keyOf(table, row.id)) ?? { first: 0, last: 0 }
      const born = first_seq + first
      const cells = cellsOf(table, row, [born, first_seq + last])
      const known = writeRow.get(table) ?? writeStatement(db, table)
      writeRow.set(table, known)
      const written = await trx.executeQuery<{ born: number }>(bind(known, cells))
      if (written.rows[0]?.born === born && isFleeting(table)) assertBegins(change, first)
    }
    for (const blob of change.blobs ?? []) {
      if (isInline(blob)) await trx.executeQuery({ ...keep, parameters: blobCells(blob) })
    }
  }
}

/** Retention was faster: a row that the decision had read, and changes, is not there any more. */
class RowTaken extends Error {
  readonly where: { agent_id: string; seq: number }

  constructor({ agent_id, expect_seq }: Change) {
    super(`a row that ${agent_id} changes is gone`)
    this.where = { agent_id, seq: expect_seq }
  }
}

/** Of a row that was not there: its first event makes one. The fold refuses one that does not. */
function assertBegins(change: Change, first: number): void {
  const emitted = change.events[first]
  if (!emitted) throw new Error(`a change without its event ${first}`)
  const { event, meta } = emitted
  try {
    evolve(null, event, { ...meta, agent_id: change.agent_id })
  } catch {
    throw new RowTaken(change)
  }
}

type Checked = { change: Change; places: Map<string, Place> }
type From = Pick<Head, 'global_seq' | 'hash'>

/** Of a row within a change: the index of its first event and of its last. */
type Place = { first: number; last: number }

const keyOf = (table: Table, id: string): string => `${table} ${id}`

/**
 * Asserts what makes a change one: dense seqs, one time, and exactly the rows its events name.
 * Answers which events are the first and the last of each row.
 */
function check(change: Change): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const [i, { event, meta }] of change.events.entries()) {
    if (meta.seq !== change.expect_seq + 1 + i) {
      throw new Error(`event ${i} of a change on seq ${change.expect_seq} has seq ${meta.seq}`)
    }
    if (meta.at !== change.at) throw new Error(`${event.type} at ${meta.at}, not ${change.at}`)
    const key = keyOf(tableOf[event.type], event.id)
    places.set(key, { first: places.get(key)?.first ?? i, last: i })
  }
  for (const [table, row] of change.rows) {
    if (!places.has(keyOf(table, row.id))) throw new Error(`${table} ${row.id} without its event`)
  }
  if (change.rows.length !== places.size) {
    throw new Error(`${places.size} rows have events, ${change.rows.length} are in the change`)
  }
  checkBlobs(change)
  return places
}

function checkBlobs({ blobs = [], events }: Change): void {
  if (blobs.length === 0) return
  const said = events.map(({ event }) => JSON.stringify(event)).join('\n')
  for (const { sha256, bytes } of blobs) {
    if (!said.includes(`"${sha256}"`)) throw new Error(`no event of the change names ${sha256}`)
    if (sha256Of(bytes) !== sha256) throw new Error(`a blob with other bytes than ${sha256}`)
  }
}

/** What is null while nothing was committed, by the agent or at all. */
type Stored = { [K in keyof Head]: Head[K] | null }
type Head = { boot_epoch: number; global_seq: number; seq: number; at: string; hash: string }

/** Where the home and the agent stand, in one question; the agent is asked for thrice. */
function headStatement(db: Kysely<Database>): CompiledQuery {
  return db
    .selectFrom('meta')
    .select((eb) => {
      const last = eb.selectFrom('events').where('agent_id', '=', '').orderBy('seq', 'desc')
      return [
        'boot_epoch',
        eb
          .selectFrom('events')
          .select(({ fn }) => fn.max('global_seq').as('max'))
          .as('global_seq'),
        last.select('seq').limit(sql.lit(1)).as('seq'),
        last.select('at').limit(sql.lit(1)).as('at'),
        last.select('hash').limit(sql.lit(1)).as('hash'),
      ]
    })
    .compile()
}

async function readHead(
  trx: Transaction<Database>,
  statement: CompiledQuery,
  agent_id: string,
): Promise<Head> {
  const { rows } = await trx.executeQuery<Stored>({
    ...statement,
    parameters: [agent_id, agent_id, agent_id],
  })
  const head = rows[0]
  if (!head || head.boot_epoch === null) throw new Error('the ledger has no meta row')
  return {
    boot_epoch: head.boot_epoch,
    global_seq: head.global_seq ?? 0,
    seq: head.seq ?? 0,
    at: head.at ?? '',
    hash: head.hash ?? chainStart,
  }
}

function fenced(own: number, current: number): LedgerFault {
  return new LedgerFault(
    'fenced',
    `this process began epoch ${own} of the home, which is now in epoch ${current}: ` +
      'another process has taken it over; this one must stop',
    'never',
  )
}

/** A row as the statement of its table takes it: `born` counts only when the row is new. */
function cellsOf<T extends Table>(
  table: T,
  row: Rows[T],
  [born, changed]: readonly [born: number, changed: number],
): Cell[] {
  const columns = columnsOf(table, row)
  const derived = derivedColumns[table].map((name) => columns[name] ?? null)
  return [born, changed, ...derived, JSON.stringify(row)]
}

function appendStatement(db: Kysely<Database>): CompiledQuery {
  return db
    .insertInto('events')
    .values(Object.fromEntries([...chained, 'hash'].map((name) => [name, ''])) as never)
    .compile()
}

/** Inserts a row of `table`, or rewrites all of it but its place. */
function writeStatement(db: Kysely<Database>, table: Table): CompiledQuery {
  const names = ['changed', ...derivedColumns[table], 'data']
  const values = Object.fromEntries(['born', ...names].map((name) => [name, '']))
  return db
    .insertInto(table as 'agents')
    .values(values as never)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => {
        const given = names
          .filter((name) => name !== 'id')
          .map((name) => [name, eb.ref(`excluded.${name}` as 'excluded.data')])
        return Object.fromEntries(given)
      }),
    )
    .returning('born' as never)
    .compile()
}

const bind = (query: CompiledQuery, parameters: readonly Cell[]): CompiledQuery => ({
  ...query,
  parameters,
})
