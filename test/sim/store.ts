/**
 * The ledger of a simulated home: the one in memory, with each read and commit a step that the run
 * picks. It survives the process that wrote it: each life opens it anew, in the next epoch.
 */
import { isInline } from '../../src/ledger/blobs/blobs.ts'
import {
  LedgerFault,
  type Change,
  type Committed,
  type Ledger,
  type LedgerReads,
  type VerifyReport,
} from '../../src/ledger/port.ts'
import { MemoryLedger } from '../../src/testing/world/memory-ledger.ts'
import type { Agenda, Life } from './agenda.ts'
import { home } from './disk.ts'

export type StoreWatch = {
  /** Before a commit is carried out; what it throws is what the world did. */
  writing(changes: readonly Change[]): void
  /** After it landed. */
  landed(changes: readonly Change[], committed: Committed): void
}

export class SimStore {
  readonly #memory = new MemoryLedger(home)
  /** Straight reads, for what watches the run. */
  readonly reads: LedgerReads = this.#memory.read()

  verify(): Promise<VerifyReport> {
    return this.reads.verify()
  }

  /** One statement, at once. */
  one(sql: string, ...parameters: readonly string[]): Record<string, unknown> | undefined {
    return this.#memory.database.prepare(sql).get(...parameters)
  }

  close(): Promise<void> {
    return this.#memory.destroy()
  }

  /** The ledger as the process of this life has it. */
  open(life: Life, agenda: Agenda, mint: (prefix: string) => string, watch: StoreWatch): Ledger {
    const ledger = this.#memory.takeOver({ clock_now: () => agenda.now(), mint })
    const busy = new Set<string>()
    return {
      ...stepwise(ledger, life, agenda),
      commit: async (change, ...more) => {
        const changes = [change, ...more]
        for (const { agent_id } of changes) {
          if (busy.has(agent_id)) throw new Error(`two commits of ${agent_id} at once`)
        }
        for (const { agent_id } of changes) busy.add(agent_id)
        const types = changes.flatMap((one) => one.events.map(({ event }) => event.type))
        const blobs = changes.flatMap((one) => one.blobs ?? [])
        try {
          for (const blob of blobs.filter((one) => !isInline(one))) {
            await agenda.perform(life, 'blob', 'put', async () => {
              watch.writing(changes)
              await this.#memory.files.put(blob.bytes)
            })
          }
          return await agenda.perform(life, 'commit', types.join(' '), async () => {
            watch.writing(changes)
            const committed = await ledger.commit(change, ...more)
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
}

/** Reads of rows say of which table they are. */
const ofTable: ReadonlySet<string> = new Set(['row', 'list', 'page'])

/** Each read as a step of its own, which its name tells. */
function stepwise(reads: LedgerReads, life: Life, agenda: Agenda): LedgerReads {
  const steps = Object.entries(reads).map(([name, read]) => {
    const step = (...given: unknown[]) => {
      const label = ofTable.has(name) ? `${name} ${String(given[0])}` : name
      const body = read as (...given: unknown[]) => Promise<unknown>
      return agenda.perform(life, 'read', label, () => body(...given))
    }
    return [name, step]
  })
  return {
    ...(Object.fromEntries(steps) as LedgerReads),
    // A simulated disk has no ledger on it: the path is said, and nobody may read there.
    blobFile: async (sha256) => `${home}/ledger/blobs/${sha256.slice(0, 2)}/${sha256}`,
    verify: () => reads.verify(),
    backup: () => Promise.reject(new Error('a simulated home has no backup')),
    close: async () => {},
  }
}

/** What a full disk says. */
export const diskFull = (): LedgerFault =>
  new LedgerFault('disk_full', 'injected: the disk is full', 'later')
