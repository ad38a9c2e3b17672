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
import { fromMs } from '../domain/time.ts'
import { blobsIn, sha256Of, sweepBlobs, syncFolder, type Blobs } from './blobs.ts'
import { commitTo } from './commit.ts'
import { readEvents, readLastGlobalSeq } from './events.ts'
import { guarded } from './fault.ts'
import { checkWritable, makeHomeFolder } from './home-folder.ts'
import { readMessageByKey } from './inbox.ts'
import { readLive } from './live.ts'
import { createPrivate, readOwner, takeOwnership } from './owner.ts'
import { LedgerFault, type Change, type Ledger, type LedgerReads } from './port.ts'
import { readRoundsAbout, readRoundsOfTurn } from './rounds.ts'
import { readAgents, readIdsLike, readList, readRow } from './rows.ts'
import { schemaVersion, type Database } from './schema.ts'
import { readStats } from './stats.ts'
import { kyselyOver, openDatabase, schemaOf, setDurability } from './sqlite.ts'
import { verifyStore } from './verify.ts'

export type LedgerOptions = {
  /** The wall clock, in milliseconds since 1970. */
  clock_now: () => number
  /** Fresh ids, `<prefix>_<UUIDv7>`. */
  mint: (prefix: 'evt' | 'home') => string
  fault?: FaultSeam
}

/**
 * Where a test may end the process: a hook that throws is a death at that point. The ledger lets go
 * of everything, as the kernel would, and every later call throws the same. `n` counts the commits,
 * or the blobs, of this ledger from 1; a conflict counts, and has no `after`.
 */
export interface FaultSeam {
  before_commit(n: number, change: Change): void
  after_commit(n: number, change: Change): void
  before_blob?(n: number, sha256: string): void
  after_blob?(n: number, sha256: string): void
  /** Pages the database may have, asked before each commit: a disk that is full, or is no more. */
  max_pages?(): number
}

const databasePath = (home: string): string => join(home, 'ledger', 'ledger.sqlite')

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
      database = openDatabase(databasePath(at), 'write')
      await reachSchema(database, at, before !== null)
      const db = kyselyOver(database, 'write')
      const boot_epoch = await beginEpoch(db, options)
      await Promise.all([syncFolder(folder), syncFolder(at)])
      await sweepBlobs(folder)
      await lock.announce({
        pid: process.pid,
        process_started_at: fromMs(Math.round(performance.timeOrigin)),
        owner_since: fromMs(options.clock_now()),
        boot_epoch,
      })
      return ownedLedger({
        home: at,
        db,
        database,
        boot_epoch,
        options,
        release: () => lock.release(),
      })
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
      if (schema < schemaVersion) throw noHome(at)
      const state: State = { ended: null }
      return readsOf(at, kyselyOver(database, 'read'), state)
    } catch (error) {
      database.close()
      throw error
    }
  })
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
async function reachSchema(database: DatabaseSync, home: string, hadOwner: boolean): Promise<void> {
  const schema = schemaOf(database)
  if (schema > schemaVersion) throw newerSchema(schema)
  if (schema === 0 && hadOwner) throw emptied(home)
  setDurability(database)
  if (schema === schemaVersion) return
  const { migrate } = await import('./migrations/migrate.ts')
  migrate(database, schema)
}

async function beginEpoch(db: Kysely<Database>, { mint }: LedgerOptions): Promise<number> {
  const meta = await db
    .insertInto('meta')
    .values({ id: 1, home_id: mint('home'), boot_epoch: 1 })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ boot_epoch: eb('meta.boot_epoch', '+', 1) })),
    )
    .returning('boot_epoch')
    .executeTakeFirstOrThrow()
  return meta.boot_epoch
}

/** Set once, when the object may not be used any more; every later call throws it. */
type State = { ended: Error | null }

type Owned = {
  home: string
  db: Kysely<Database>
  database: DatabaseSync
  boot_epoch: number
  options: LedgerOptions
  release: () => void
}

function ownedLedger({ home, db, database, boot_epoch, options, release }: Owned): Ledger {
  const state: State = { ended: null }
  const blobs = blobsIn(join(home, 'ledger'))
  const write = commitTo(db, { boot_epoch, mint: options.mint })
  const seam = options.fault
  let commits = 0
  let puts = 0

  const letGo = async () => {
    await db.destroy()
    release()
  }
  const writing = async <T>(doing: string, body: () => Promise<T>): Promise<T> => {
    throwIfEnded(state)
    try {
      return await guarded(doing, body)
    } catch (error) {
      // Lost ownership and failed writes are final: only a fresh start knows what is on the disk.
      if (error instanceof LedgerFault && error.retry === 'never') state.ended ??= error
      throwIfEnded(state)
      throw error
    }
  }
  const dieIfToldTo = async (hook: () => void) => {
    try {
      hook()
    } catch (error) {
      state.ended ??=
        error instanceof Error ? error : new Error('ended by a test', { cause: error })
      await letGo()
      throw state.ended
    }
  }

  return {
    ...readsOf(home, db, state),
    commit: (change) =>
      writing('Committing', async () => {
        const n = ++commits
        if (!seam) return write(change)
        await dieIfToldTo(() => seam.before_commit(n, change))
        if (seam.max_pages) database.exec(`pragma max_page_count = ${seam.max_pages()}`)
        const committed = await write(change)
        if (committed.ok) await dieIfToldTo(() => seam.after_commit(n, change))
        return committed
      }),
    putBlob: (bytes) =>
      writing('Storing a blob', async () => {
        const n = ++puts
        if (!seam) return blobs.put(bytes)
        await dieIfToldTo(() => seam.before_blob?.(n, sha256Of(bytes)))
        const sha256 = await blobs.put(bytes)
        await dieIfToldTo(() => seam.after_blob?.(n, sha256))
        return sha256
      }),
    close: () =>
      guarded('Closing the ledger', async () => {
        state.ended ??= new Error('the ledger is closed')
        await letGo()
      }),
  }
}

/** The reads of the port over one connection. */
function readsOf(home: string, db: Kysely<Database>, state: State): LedgerReads {
  const blobs = blobsIn(join(home, 'ledger'))
  const reading = async <T>(body: () => Promise<T>): Promise<T> => {
    throwIfEnded(state)
    try {
      return await guarded('Reading the ledger', body)
    } catch (error) {
      // A read in flight when the ledger ended fails for that reason and no other.
      throwIfEnded(state)
      throw error
    }
  }
  return {
    agents: () => reading(() => readAgents(db)),
    live: (agent_id) => reading(() => readLive(db, agent_id)),
    row: (table, id) => reading(() => readRow(db, table, id)),
    idsLike: (table, short) => reading(() => readIdsLike(db, table, short)),
    list: (table, filter) => reading(() => readList(db, table, filter)),
    events: (filter) => reading(() => readEvents(db, filter)),
    lastGlobalSeq: () => reading(() => readLastGlobalSeq(db)),
    messageByKey: (agent_id, key, since) =>
      reading(() => readMessageByKey(db, agent_id, key, since)),
    roundsAbout: (work_item_id, limit) => reading(() => readRoundsAbout(db, work_item_id, limit)),
    roundsOfTurn: (turn_id) => reading(() => readRoundsOfTurn(db, turn_id)),
    blob: (sha256) => reading(() => blobs.get(sha256)),
    blobPath: (sha256) => blobs.path(sha256),
    verify: () => reading(() => verifyOnItsOwn(home, blobs)),
    stats: () => reading(() => readStats(db)),
    close: () =>
      guarded('Closing the ledger', async () => {
        state.ended ??= new Error('the ledger is closed')
        await db.destroy()
      }),
  }
}

function throwIfEnded(state: State): void {
  if (state.ended !== null) throw state.ended
}

/** On a connection of its own: a long look must not hold up commits. */
async function verifyOnItsOwn(home: string, blobs: Blobs) {
  const db = kyselyOver(openDatabase(databasePath(home), 'read'), 'read')
  try {
    return await verifyStore(db, (sha256) => blobs.check(sha256))
  } finally {
    await db.destroy()
  }
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
    `the ledger of ${home} is gone although the home was in use: restore a snapshot, ` +
      'or choose another home with --home',
    'never',
  )
}
