/**
 * The ledger of a home in memory, for tests: the real schema, commit, reads, retention and proof
 * over SQLite without a file, and the large blobs in a map. It passes the conformance suite, and
 * outlives the process that wrote it as a disk does: each owner begins the next epoch.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { backupHome, databaseName } from '../../ledger/backup/backup.ts'
import { blobGrace, mustMatch, sha256Of, type Blobs } from '../../ledger/blobs/blobs.ts'
import { migrate } from '../../ledger/migrations/migrate.ts'
import { ownedLedger, type LedgerOptions } from '../../ledger/store/open.ts'
import { LedgerFault, type Ledger, type LedgerReads } from '../../ledger/port.ts'
import type { HomeStore } from '../../ledger/reads/home-store.ts'
import { readsOf, type State } from '../../ledger/store/reads.ts'
import type { Database } from '../../ledger/sqlite/schema.ts'
import { kyselyOver } from '../../ledger/sqlite/sqlite.ts'

/** The large blobs of a home, with the time each was stored. */
export type MemoryBlobs = Blobs & { stored: Map<string, { bytes: Uint8Array; at: number }> }

/** An empty ledger of today's schema, made once. */
let empty: Uint8Array | null = null

function emptyLedger(): Uint8Array {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  database.exec(
    `insert into meta (id, home_id, boot_epoch, pruned_global_seq) values (1, 'home_1', 0, 0)`,
  )
  const bytes = database.serialize()
  database.close()
  return bytes
}

function databaseOf(bytes: Uint8Array): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.deserialize(bytes)
  return database
}

export class MemoryLedger {
  /** Where the home would be; only what has to be a file is written there. */
  readonly home: string
  readonly files: MemoryBlobs
  readonly database: DatabaseSync
  readonly #db: Kysely<Database>
  #isOwned = false

  constructor(home: string, database = databaseOf((empty ??= emptyLedger()))) {
    this.home = home
    this.files = blobsInMemory(home)
    this.database = database
    this.#db = kyselyOver(database, 'write')
  }

  /** The ledger of a home in files, as after a restore. */
  static read(home: string): MemoryLedger {
    const memory = new MemoryLedger(home, databaseOf(readFileSync(join(home, databaseName))))
    for (const path of readdirSync(join(home, 'ledger/blobs'), { recursive: true })) {
      const [, sha256] = String(path).split('/')
      if (sha256 === undefined) continue
      const bytes = readFileSync(join(home, 'ledger/blobs', String(path)))
      memory.files.stored.set(sha256, { bytes, at: Date.now() })
    }
    return memory
  }

  get isOwned(): boolean {
    return this.#isOwned
  }

  open(options: Pick<LedgerOptions, 'clock_now' | 'mint' | 'fault'>): Ledger {
    if (this.#isOwned) {
      const message = `the home belongs to process ${process.pid} already`
      throw new LedgerFault('owned', message, 'never')
    }
    this.#isOwned = true
    return this.takeOver(options)
  }

  /** Opens it as the next owner, although the last one did not close it: that one is fenced. */
  takeOver(options: Pick<LedgerOptions, 'clock_now' | 'mint' | 'fault'>): Ledger {
    const letGo = async () => void (this.#isOwned = false)
    const ledger = ownedLedger({ ...this.#store(), letGo }, this.beginEpoch(), options)
    return { ...ledger, ...this.#inFiles(ledger) }
  }

  read(): LedgerReads {
    const state: State = { ended: null }
    const reads = readsOf({ ...this.#store(), mode: 'read', state })
    return { ...reads, ...this.#inFiles(reads) }
  }

  /** What the start of an owner does to everyone before it. */
  beginEpoch(): number {
    const begun = this.database.prepare(
      'update meta set boot_epoch = boot_epoch + 1 returning boot_epoch',
    )
    return Number(begun.get()?.['boot_epoch'])
  }

  /** Frees the memory; nothing is open any more. */
  async destroy(): Promise<void> {
    await this.#db.destroy()
  }

  #store(): HomeStore {
    const { home, files, database } = this
    return {
      home,
      files,
      database,
      db: this.#db,
      beside: () => this.#copy(),
      letGo: async () => {},
    }
  }

  /** As of the last commit: a transaction that is not over has the connection. */
  #copy(): Promise<DatabaseSync> {
    return this.#db.connection().execute(async () => databaseOf(this.database.serialize()))
  }

  /** What the port promises as files is written when it is asked for. */
  #inFiles(reads: LedgerReads): Pick<LedgerReads, 'blobFile' | 'backup'> {
    const write = (sha256: string, bytes: Uint8Array): string => {
      const path = this.files.path(sha256)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
      return path
    }
    return {
      blobFile: async (sha256) => {
        const bytes = await reads.blob(sha256)
        return bytes === null ? null : write(sha256, bytes)
      },
      backup: async (options) => {
        const database = await this.#copy()
        try {
          for (const [sha256, { bytes }] of this.files.stored) write(sha256, bytes)
          return await backupHome({ home: this.home, database, mode: 'write' }, options)
        } finally {
          database.close()
        }
      },
    }
  }
}

function blobsInMemory(home: string): MemoryBlobs {
  const stored: MemoryBlobs['stored'] = new Map()
  const path = (sha256: string) => {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`not a sha256: ${sha256}`)
    return join(home, 'ledger/blobs', sha256.slice(0, 2), sha256)
  }
  return {
    stored,
    path,
    put: async (bytes) => {
      const sha256 = sha256Of(bytes)
      stored.set(sha256, { bytes: bytes.slice(), at: Date.now() })
      return sha256
    },
    get: async (sha256) => {
      path(sha256)
      const bytes = stored.get(sha256)?.bytes.slice() ?? null
      if (bytes !== null) mustMatch(sha256, bytes)
      return bytes
    },
    check: async (sha256) => {
      const bytes = stored.get(sha256)?.bytes
      if (bytes === undefined) return 'missing'
      return sha256Of(bytes) === sha256 ? 'whole' : 'damaged'
    },
    eachOld: async (found) => {
      const grown = Date.now() - blobGrace
      for (const [sha256, { bytes, at }] of [...stored]) {
        if (at < grown) found(sha256, bytes.length, () => stored.delete(sha256))
      }
    },
  }
}
