/**
 * Opening a home's ledger: as its one owner, who writes, or as a reader beside the owner or without
 * one. Wires the store, the lock, the blobs and the reads to the port.
 *
 * Start-up is recovery: nothing here depends on how the last owner ended.
 */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { fromMs } from '../../domain/time.ts'
import { blobsIn, isInline, sweepBlobs, syncFolder } from '../blobs/blobs.ts'
import { commitQueue } from './commit-queue.ts'
import { guarded } from '../sqlite/fault.ts'
import { checkWritable, makeHomeFolder } from '../home-folder.ts'
import { checkWhole } from '../sqlite/integrity.ts'
import { createPrivate, readOwner, takeOwnership } from '../sqlite/owner.ts'
import { checkLog } from '../sqlite/log-check.ts'
import { LedgerFault, type Change, type Ledger, type LedgerReads, type NewBlob } from '../port.ts'
import type { HomeStore } from '../reads/home-store.ts'
import { closedFault, readsOf, throwIfEnded, type State } from './reads.ts'
import { retain } from '../retention/retention.ts'
import { schemaVersion, type Database } from '../sqlite/schema.ts'
import {
  databasePath,
  kyselyOver,
  openDatabase,
  schemaOf,
  setDurability,
} from '../sqlite/sqlite.ts'
import type { OpenMode } from '../sqlite/sqlite.ts'

/** An upgrade that is about to begin: which schemas, and where the ledger as it was is kept. */
export type Upgrade = { from: number; to: number; copy: string }

export type LedgerOptions = {
  /** The wall clock, in milliseconds since 1970. */
  clock_now: () => number
  /** Fresh ids, `<prefix>_<UUIDv7>`. */
  mint: (prefix: 'evt' | 'home') => string
  /** Called once before anything is written to a ledger of an earlier schema. */
  before_upgrade?: (upgrade: Upgrade) => void
  fault?: FaultSeam
}

/**
 * Where a test may end the process: a hook that throws is a death at that point. The ledger lets go
 * of everything, as the kernel would, and every later call throws the same. `n` counts the commits,
 * or the blobs that become files, of this ledger from 1; a conflict counts, and has no `after`.
 * Commits that came together share a transaction: `before_commit` is inside it, when all that came
 * before it is written and nothing is kept yet; `after_commit` when all are, and it is not told.
 */
export interface FaultSeam {
  before_commit(n: number, change: Change): void
  after_commit(n: number, change: Change): void
  before_blob?(n: number, sha256: string): void
  after_blob?(n: number, sha256: string): void
  /** What the system says instead of storing the blob; null: nothing. */
  refuse_blob?(n: number): Error | null
  /**
   * Before and after each transaction of a retention, which `n` counts from 1 in each run and which
   * waits for what it promises.
   */
  around_batch?(n: number, when: 'before' | 'after'): void | Promise<void>
  /** Around the transaction that upgrades an earlier schema; `within` is before its end. */
  around_upgrade?(when: 'before' | 'within' | 'after'): void
  /** Pages the database may have, asked before each commit: a disk that is full, or is no more. */
  max_pages?(): number
}

/**
 * Takes the home and opens its ledger, making both when there is none.
 * Faults: `owned` (the message has the pid), `newer_schema`, `old_sqlite`, `corrupt`, `denied`,
 * `read_only`, `disk_full`, `io`. Nothing stays open when it rejects.
 */
export function openLedger(home: string, options: LedgerOptions): Promise<Ledger> {
  return guarded(`Opening the home ${home}`, async () => {
    const at = resolve(home)
    const folder = join(at, 'ledger')
    makeHomeFolder(join(folder, 'blobs'))
    const lock = await takeOwnership(folder)
    let database: DatabaseSync | null = null
    try {
      const before = await readOwner(folder)
      createPrivate(databasePath(at))
      checkLog(databasePath(at))
      database = openDatabase(databasePath(at), 'write')
      await reachSchema(database, at, before !== null, options)
      const store = storeIn(at, database, 'write')
      const boot_epoch = await beginEpoch(store.db, options)
      await Promise.all([syncFolder(folder), syncFolder(at)])
      await sweepBlobs(folder)
      await lock.announce({
        pid: process.pid,
        process_started_at: fromMs(Math.round(performance.timeOrigin)),
        owner_since: fromMs(options.clock_now()),
        boot_epoch,
      })
      const letGo = async () => {
        await store.letGo()
        lock.release()
      }
      return ownedLedger({ ...store, letGo }, boot_epoch, options)
    } catch (error) {
      database?.close()
      lock.release()
      throw error
    }
  })
}

/**
 * Opens a home's ledger read-only, beside its owner or without one.
 * Faults: `no_home` when there is no ledger yet; else as `openLedger`, never `owned`.
 */
export function openReader(home: string): Promise<LedgerReads> {
  return guarded(`Reading the home ${home}`, async () => {
    const at = resolve(home)
    if (!statSync(databasePath(at), { throwIfNoEntry: false })) throw noHome(at)
    const database = openToRead(at)
    try {
      const schema = schemaOf(database)
      if (schema > schemaVersion) throw newerSchema(schema)
      if (schema === 0) throw noHome(at)
      if (schema < schemaVersion) throw olderSchema(schema)
      return readsOf({ ...storeIn(at, database, 'read'), mode: 'read', state: { ended: null } })
    } catch (error) {
      database.close()
      throw error
    }
  })
}

function storeIn(home: string, database: DatabaseSync, mode: OpenMode): HomeStore {
  const db = kyselyOver(database, mode)
  return {
    home,
    db,
    database,
    files: blobsIn(join(home, 'ledger')),
    beside: async () => openDatabase(databasePath(home), 'read'),
    letGo: () => db.destroy(),
  }
}

/** A reader writes too, beside the database: where that fails, the folder says why. */
function openToRead(home: string): DatabaseSync {
  try {
    return openDatabase(databasePath(home), 'read')
  } catch (error) {
    checkWritable(join(home, 'ledger'))
    throw error
  }
}

/** Compares the schema of the file with the program's; loads the migrations only if they differ. */
async function reachSchema(
  database: DatabaseSync,
  home: string,
  hadOwner: boolean,
  { before_upgrade, fault }: LedgerOptions,
): Promise<void> {
  const schema = schemaOf(database)
  if (schema > schemaVersion) throw newerSchema(schema)
  if (schema === 0 && hadOwner) throw emptied(home)
  setDurability(database)
  if (schema === schemaVersion) {
    checkWhole(database, databasePath(home))
    return
  }
  const [{ migrate }, { copyFor }] = await Promise.all([
    import('../migrations/migrate.ts'),
    import('../sqlite/older-copy.ts'),
  ])
  if (schema > 0) {
    const copy = copyFor(database, home)
    before_upgrade?.({ from: schema, to: schemaVersion, copy: copy.path })
    copy.keep()
  }
  fault?.around_upgrade?.('before')
  migrate(database, schema, () => fault?.around_upgrade?.('within'))
  fault?.around_upgrade?.('after')
}

async function beginEpoch(db: Kysely<Database>, { mint }: LedgerOptions): Promise<number> {
  const meta = await db
    .insertInto('meta')
    .values({
      id: 1,
      home_id: mint('home'),
      boot_epoch: 1,
      pruned_global_seq: 0,
      made_at_schema: schemaVersion,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ boot_epoch: eb('meta.boot_epoch', '+', 1) })),
    )
    .returning('boot_epoch')
    .executeTakeFirstOrThrow()
  return meta.boot_epoch
}

/** The ledger over a store that nobody else writes to, in the epoch that its owner began. */
export function ownedLedger(
  store: HomeStore,
  boot_epoch: number,
  options: Pick<LedgerOptions, 'clock_now' | 'mint' | 'fault'>,
): Ledger {
  const state: State = { ended: null }
  const { db, database, files, letGo } = store
  const seam = options.fault
  const deaths = new Deaths(state, (because) => queue.end(because))
  const queue = commitQueue(
    { db, database, boot_epoch, mint: options.mint },
    {
      before: (n, change) => deaths.at(() => seam?.before_commit(n, change)),
      room: () => {
        if (seam?.max_pages) database.exec(`pragma max_page_count = ${seam.max_pages()}`)
      },
      after: (n, change) => deaths.at(() => seam?.after_commit(n, change)),
      isOver: () => state.ended,
    },
  )
  const putFile = filePutter(files, seam, deaths)

  const writing = async <T>(doing: string, body: () => Promise<T>): Promise<T> => {
    throwIfEnded(state)
    try {
      return await guarded(doing, body)
    } catch (error) {
      // Lost ownership and failed writes are final: only a fresh start knows what is on the disk.
      if (error instanceof LedgerFault && error.retry === 'never') state.ended ??= error
      if (deaths.happened) await letGo()
      throwIfEnded(state)
      throw error
    }
  }
  const around = async (n: number, when: 'before' | 'after') => {
    await deaths.at(() => seam?.around_batch?.(n, when))
  }

  return {
    ...readsOf({ ...store, mode: 'write', state }),
    commit: (change, ...more) =>
      writing('Committing', async () => {
        const blobs = [change, ...more].flatMap((one) => one.blobs ?? [])
        for (const blob of blobs) if (!isInline(blob)) await putFile(blob)
        throwIfEnded(state)
        return queue.commit(change, ...more)
      }),
    retain: (asked) =>
      writing('Clearing out what is old', () =>
        retain({ ...store, boot_epoch, now: options.clock_now(), around }, asked),
      ),
    close: () =>
      guarded('Closing the ledger', async () => {
        state.ended ??= closedFault()
        queue.end(state.ended)
        await letGo()
      }),
  }
}

/** Ends the ledger where a hook of the seam throws: who waits for anything then gets to know. */
class Deaths {
  readonly #state: State
  readonly #end: (because: Error) => void
  happened = false

  constructor(state: State, end: (because: Error) => void) {
    this.#state = state
    this.#end = end
  }

  at<T>(hook: () => T): T {
    try {
      return hook()
    } catch (error) {
      this.happened = true
      const because =
        error instanceof Error ? error : new Error('ended by a test', { cause: error })
      this.#end((this.#state.ended ??= because))
      throw this.#state.ended
    }
  }
}

/** Stores what is too large for the commit that names it: a file is part of no transaction. */
function filePutter(files: HomeStore['files'], seam: FaultSeam | undefined, deaths: Deaths) {
  let puts = 0
  return async ({ sha256, bytes }: NewBlob): Promise<void> => {
    const n = ++puts
    deaths.at(() => seam?.before_blob?.(n, sha256))
    const refusal = seam?.refuse_blob?.(n) ?? null
    if (refusal !== null) throw refusal
    await files.put(bytes)
    deaths.at(() => seam?.after_blob?.(n, sha256))
  }
}

function olderSchema(found: number): LedgerFault {
  return new LedgerFault(
    'older_schema',
    `the ledger has schema ${found} and this holon reads ${schemaVersion}: open the home once ` +
      'with `holon serve` or `holon run`, which keeps a copy and brings it up to date',
    'never',
  )
}

function newerSchema(found: number): LedgerFault {
  return new LedgerFault(
    'newer_schema',
    `the ledger has schema ${found} and this holon knows ${schemaVersion}: ` +
      'run the newer holon that wrote it, or choose another home with --home',
    'never',
  )
}

function noHome(home: string): LedgerFault {
  return new LedgerFault(
    'no_home',
    `there is no ledger in ${home} yet: \`holon run\` or \`holon init\` makes one`,
    'never',
  )
}

/** Never recreate empty: an empty ledger in a used home is a loss that somebody must see. */
function emptied(home: string): LedgerFault {
  return new LedgerFault(
    'corrupt',
    `the ledger ${databasePath(home)} is gone although the home was in use: bring back a backup ` +
      'into a new home with `holon restore`, or choose another home with --home',
    'never',
  )
}
