/**
 * The only writer of durable state.
 *
 * A change is everything one decision made true. It lands whole or not at all: events appended,
 * rows rewritten, small blobs stored, in one transaction, and only while the agent stands where the
 * decision saw it and this process is still the home's owner. Effects belong to the caller and
 * start after it returned. What is here is done at once, inside a transaction that is open:
 * commit-queue.ts opens it, and says what shares it.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { sql, type CompiledQuery, type Kysely } from 'kysely'
import { evolve, tableOf, type Table } from '../../domain/state/event.ts'
import { blobCells, blobStatement } from '../blobs/blob-rows.ts'
import { LedgerFault, type Change, type Committed } from '../port.ts'
import { shortIdStatement, writeShortId } from '../reads/short-ids.ts'
import { isFleeting } from '../retention/rules.ts'
import { chained, chainHash, chainStart } from '../sqlite/chain.ts'
import { changingColumns, derivedColumns } from '../sqlite/columns.ts'
import type { Database } from '../sqlite/schema.ts'
import type { Checked } from './checked-change.ts'

export type CommitEnvironment = {
  /** The connection that writes, and Kysely over it, which builds statements and has the line. */
  database: DatabaseSync
  db: Kysely<Database>
  /** The epoch this owner began; the store has a later one when somebody took the home over. */
  boot_epoch: number
  mint: (prefix: 'evt') => string
}

/** Retention was faster: a row that the decision had read, and changes, is not there any more. */
export class RowTaken extends Error {
  readonly conflict: Committed

  constructor({ agent_id, expect_seq }: Change) {
    super(`a row that ${agent_id} changes is gone`)
    this.conflict = { ok: false, agent_id, seq: expect_seq }
  }
}

/**
 * Writes changes that land together, each of another agent, into the open transaction. A conflict
 * has written nothing; after what it throws the transaction has to be rolled back: `RowTaken` is a
 * conflict too.
 */
export type WriteChanges = (changes: readonly Checked[]) => Committed

/**
 * Its statements are made once; those of a table when its first row is written, because a start
 * writes few tables and would wait for all of them.
 */
export function writerOf(env: CommitEnvironment): WriteChanges {
  const { database, db } = env
  const prepared = ({ sql }: CompiledQuery): StatementSync => database.prepare(sql)
  const head = prepared(headStatement(db))
  const append = prepared(appendStatement(db))
  const keep = prepared(blobStatement(db))
  const shorten = prepared(shortIdStatement(db))
  const writeRow = new Map<string, StatementSync>()

  return (changes) => {
    // All are looked at before any is written: a conflict leaves nothing to take back.
    const heads: Head[] = []
    for (const { change: one } of changes) {
      const now = readHead(head, one.agent_id)
      if (now.boot_epoch !== env.boot_epoch) throw fenced(env.boot_epoch, now.boot_epoch)
      if (now.seq !== one.expect_seq) return { ok: false, agent_id: one.agent_id, seq: now.seq }
      if (one.at < now.at) throw new Error(`commit at ${one.at}, before ${now.at}`)
      heads.push(now)
    }
    let global_seq = heads[0]?.global_seq ?? 0
    for (const [i, one] of changes.entries()) {
      write(one, { global_seq, hash: heads[i]?.hash ?? chainStart })
      global_seq += one.events.length
    }
    const [first] = changes
    return { ok: true, seq: (heads[0]?.seq ?? 0) + (first?.events.length ?? 0), global_seq }
  }

  /** Appends the events after `global_seq`, chained to `hash`, and writes their rows. */
  function write({ change, events, rows, blobs }: Checked, from: From): void {
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
        events[i] ?? '',
      ]
      hash = chainHash(hash, cells)
      append.run(...cells, hash)
      writeShortId(shorten, change.agent_id, event)
    }
    for (const { table, first, last, names_item, cells } of rows) {
      const born = first_seq + first
      const key = `${table} ${names_item}`
      const known = writeRow.get(key) ?? prepared(writeStatement(db, table, names_item))
      writeRow.set(key, known)
      const written = known.get(born, first_seq + last, ...cells)
      if (written?.['born'] === born && isFleeting(table)) assertBegins(change, first)
    }
    for (const blob of blobs) keep.run(...blobCells(blob))
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

type From = Pick<Head, 'global_seq' | 'hash'>

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

function readHead(statement: StatementSync, agent_id: string): Head {
  const head = statement.get(agent_id, agent_id, agent_id) as Stored | undefined
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

function appendStatement(db: Kysely<Database>): CompiledQuery {
  return db
    .insertInto('events')
    .values(Object.fromEntries([...chained, 'hash'].map((name) => [name, ''])) as never)
    .compile()
}

/** Inserts a row of `table`, or rewrites all of it that can have changed. */
function writeStatement(db: Kysely<Database>, table: Table, names_item: boolean): CompiledQuery {
  const names = ['born', 'changed', ...derivedColumns[table], 'data']
  const changing = ['changed', ...changingColumns(table, names_item), 'data']
  return db
    .insertInto(table as 'agents')
    .values(Object.fromEntries(names.map((name) => [name, ''])) as never)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) =>
          Object.fromEntries(
            changing.map((name) => [name, eb.ref(`excluded.${name}` as 'excluded.data')]),
          ),
        ),
    )
    .returning('born' as never)
    .compile()
}
