/**
 * The real ledger of a simulated home: its own schema, commit, reads and proof over SQLite in
 * memory, with the blobs that are files in a map. It survives the process that wrote it, as a disk
 * does: each life opens it anew, in the next epoch.
 */
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { readBlob } from '../../src/ledger/blob-rows.ts'
import { isInline, type Blobs } from '../../src/ledger/blobs.ts'
import { commitTo } from '../../src/ledger/commit.ts'
import { migrate } from '../../src/ledger/migrations/migrate.ts'
import {
  LedgerFault,
  type Change,
  type Committed,
  type Ledger,
  type LedgerReads,
  type VerifyReport,
} from '../../src/ledger/port.ts'
import { readsOf } from '../../src/ledger/reads.ts'
import type { Database } from '../../src/ledger/schema.ts'
import { kyselyOver } from '../../src/ledger/sqlite.ts'
import { verifyStore } from '../../src/ledger/verify.ts'
import type { Agenda, Life } from './agenda.ts'
import { home } from './disk.ts'

/** An empty ledger of today's schema, made once. */
let empty: Uint8Array | null = null

function emptyLedger(): Uint8Array {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  database.exec(
    `insert into meta (id, home_id, boot_epoch, pruned_global_seq) values (1, 'home_sim', 0, 0)`,
  )
  const bytes = database.serialize()
  database.close()
  return bytes
}

export type StoreWatch = {
  /** Before a commit is carried out; what it throws is what the world did. */
  writing(changes: readonly Change[]): void
  /** After it landed. */
  landed(changes: readonly Change[], committed: Committed): void
}

export class SimStore {
  readonly #database: DatabaseSync
  readonly #db: Kysely<Database>
  readonly #files = new Map<string, Uint8Array>()
  readonly #reads: LedgerReads
  #epoch = 0

  constructor() {
    empty ??= emptyLedger()
    this.#database = new DatabaseSync(':memory:')
    this.#database.deserialize(empty)
    this.#db = kyselyOver(this.#database, 'write')
    const state = { ended: null }
    const [db, database] = [this.#db, this.#database]
    this.#reads = readsOf({ home, db, database, mode: 'write', state })
  }

  /** Straight reads, for what watches the run. */
  get reads(): LedgerReads {
    return this.#reads
  }

  /** The database and the rows as the proof sees them: over a copy, as over its own connection. */
  async verify(): Promise<VerifyReport> {
    const copy = new DatabaseSync(':memory:')
    copy.deserialize(this.#database.serialize())
    const db = kyselyOver(copy, 'read')
    try {
      return await verifyStore(db, async (sha256) => {
        const bytes = this.#files.get(sha256)
        return bytes === undefined ? 'missing' : hashOf(bytes) === sha256 ? 'whole' : 'damaged'
      })
    } finally {
      await db.destroy()
    }
  }

  /** One statement, at once. */
  one(sql: string, ...parameters: readonly string[]): Record<string, unknown> | undefined {
    return this.#database.prepare(sql).get(...parameters)
  }

  async close(): Promise<void> {
    await this.#db.destroy()
  }

  /** The ledger as the process of this life has it. */
  open(life: Life, agenda: Agenda, mint: (prefix: string) => string, watch: StoreWatch): Ledger {
    this.#epoch += 1
    this.#database.exec(`update meta set boot_epoch = ${this.#epoch}`)
    const commit = commitTo(this.#db, { boot_epoch: this.#epoch, mint })
    const busy = new Set<string>()
    const reads = this.#readsOver(life, agenda)
    return {
      ...reads,
      commit: async (change, ...more) => {
        const changes = [change, ...more]
        for (const { agent_id } of changes) {
          if (busy.has(agent_id)) throw new Error(`two commits of ${agent_id} at once`)
        }
        for (const { agent_id } of changes) busy.add(agent_id)
        const types = changes.flatMap((one) => one.events.map(({ event }) => event.type))
        const blobs = changes.flatMap((one) => one.blobs ?? [])
        try {
          for (const { sha256, bytes } of blobs.filter((blob) => !isInline(blob))) {
            await agenda.perform(life, 'blob', 'put', () => {
              watch.writing(changes)
              this.#files.set(sha256, bytes)
            })
          }
          return await agenda.perform(life, 'commit', types.join(' '), async () => {
            watch.writing(changes)
            const committed = await commit(change, ...more)
            watch.landed(changes, committed)
            return committed
          })
        } finally {
          for (const { agent_id } of changes) busy.delete(agent_id)
        }
      },
      retain: () => Promise.reject(new Error('a simulated home keeps everything')),
    }
  }

  #blob(sha256: string): Promise<Uint8Array | null> {
    const files: Pick<Blobs, 'get'> = { get: async (name) => this.#files.get(name) ?? null }
    return readBlob(this.#db, files, sha256)
  }

  #readsOver(life: Life, agenda: Agenda): LedgerReads {
    const reads = this.#reads
    const read = <T>(label: string, body: () => Promise<T>) =>
      agenda.perform(life, 'read', label, body)
    /** The read of that name, as a step of its own. */
    const later = <K extends Later>(name: K): LedgerReads[K] => {
      const body = reads[name].bind(reads) as (...given: unknown[]) => Promise<unknown>
      return ((...given: unknown[]) => read(name, () => body(...given))) as LedgerReads[K]
    }
    return {
      agents: later('agents'),
      agentsAtWork: later('agentsAtWork'),
      requestsSinceWord: later('requestsSinceWord'),
      live: later('live'),
      row: (table, id) => agenda.perform(life, 'read', `row ${table}`, () => reads.row(table, id)),
      idsLike: later('idsLike'),
      shortIds: later('shortIds'),
      idOfShort: later('idOfShort'),
      list: (table, filter) =>
        agenda.perform(life, 'read', `list ${table}`, () => reads.list(table, filter)),
      page: (table, filter) =>
        agenda.perform(life, 'read', `page ${table}`, () => reads.page(table, filter)),
      events: later('events'),
      eventPage: later('eventPage'),
      eventRange: later('eventRange'),
      lastGlobalSeq: later('lastGlobalSeq'),
      messageByKey: later('messageByKey'),
      triggerByToken: later('triggerByToken'),
      deliveryBySender: later('deliveryBySender'),
      counts: later('counts'),
      spend: later('spend'),
      roundsAbout: later('roundsAbout'),
      roundsOfTurn: later('roundsOfTurn'),
      wordsAbout: later('wordsAbout'),
      noteEvents: later('noteEvents'),
      blob: (sha256) => read('blob', () => this.#blob(sha256)),
      // A simulated disk has no ledger on it: the path is said, and nobody may read there.
      blobFile: async (sha256) => `${home}/ledger/blobs/${sha256.slice(0, 2)}/${sha256}`,
      verify: () => this.verify(),
      stats: later('stats'),
      backup: () => Promise.reject(new Error('a simulated home has no backup')),
      close: async () => {},
    }
  }
}

/** Reads that are one step each, told by their name. */
type Later =
  | 'agents'
  | 'agentsAtWork'
  | 'requestsSinceWord'
  | 'live'
  | 'idsLike'
  | 'shortIds'
  | 'idOfShort'
  | 'events'
  | 'eventPage'
  | 'eventRange'
  | 'lastGlobalSeq'
  | 'messageByKey'
  | 'triggerByToken'
  | 'deliveryBySender'
  | 'counts'
  | 'spend'
  | 'roundsAbout'
  | 'roundsOfTurn'
  | 'wordsAbout'
  | 'noteEvents'
  | 'stats'

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What a full disk says. */
export const diskFull = (): LedgerFault =>
  new LedgerFault('disk_full', 'injected: the disk is full', 'later')
