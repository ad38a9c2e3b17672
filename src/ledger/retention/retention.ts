/**
 * Retention: takes events from the old end of the home, and with the last event of a row the row.
 *
 * A batch moves the floor up over the next events in one transaction: it folds them, deletes the
 * rows that are over with them, and keeps the fold of every other row as its baseline. So after
 * each batch the ledger is whole: rows are the fold of baseline and kept events, the chain of each
 * agent goes on from the hash in its floor, and no event above the floor is missing. The last event
 * of an agent always stays. A second pass looks at baselines of rows that were held by something
 * open and are not any more.
 *
 * Nothing goes that does not verify: a broken chain, or a row that is not its fold, ends the run.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { sweepFiles, sweepRows } from './blob-sweep.ts'
import { readLastGlobalSeq } from '../reads/events.ts'
import { LedgerFault, type Retained, type RetainOptions } from '../port.ts'
import { Open } from './rules.ts'
import { liftFloor, sweepBaselines, type RetentionCursor } from './step.ts'
import { survey } from './survey.ts'
import type { HomeStore } from '../reads/home-store.ts'
import { sweepFolders } from './folder-sweep.ts'
import { Tally } from './tally.ts'

export type RetentionEnvironment = HomeStore & {
  boot_epoch: number
  /** Milliseconds since 1970. */
  now: number
  /** Called around each transaction; it may end the process. */
  around: (n: number, when: 'before' | 'after') => Promise<void>
}

/** Events of a batch: at first, at most, at least. More at a time is no quicker over all. */
const firstBatch = 100
const largestBatch = 300
const smallestBatch = 20
/** Milliseconds one transaction should take, with its sync: commits of agents wait for it. */
const longEnough = 10
const tooLong = 20

export async function retain(env: RetentionEnvironment, options: RetainOptions): Promise<Retained> {
  const { before, dry_run } = options
  const tally = new Tally()
  if (dry_run) {
    const global_seq = await survey(env, before, tally)
    return tally.report({ dry_run, before, global_seq })
  }
  const batches = new Batches(env, options.batch ?? null)
  await batches.walk((database, open, from, size) =>
    liftFloor(database, { open, before, from, size }, tally),
  )
  await batches.walk((database, open, from, size) =>
    sweepBaselines(database, { open, from, size }, tally),
  )
  const marked = await sweepFiles(env, await readLastGlobalSeq(env.db), tally)
  await batches.walk((database, _open, from, size) =>
    sweepRows(database, marked, { from, size }, tally),
  )
  await sweepFolders(env.home, env.database)
  const meta = env.database.prepare('select pruned_global_seq as floor from meta').get()
  return tally.report({ dry_run, before, global_seq: Number(meta?.['floor'] ?? 0) })
}

type Body = (database: DatabaseSync, open: Open, from: number, size: number) => RetentionCursor

/** Runs a pass in transactions of a size that fits the machine, and lets others in between. */
class Batches {
  readonly #env: RetentionEnvironment
  readonly #fixed: number | null
  #size: number
  #count = 0

  constructor(env: RetentionEnvironment, fixed: number | null) {
    this.#env = env
    this.#fixed = fixed
    this.#size = fixed ?? firstBatch
  }

  async walk(body: Body): Promise<void> {
    for (let from: number | null = 0; from !== null; await breathe()) {
      const start: number = from
      const n = ++this.#count
      await this.#env.around(n, 'before')
      let began = 0
      const step = await this.#env.db.transaction().execute(async () => {
        began = performance.now()
        this.#assertOwner()
        return body(this.#env.database, this.#open(), start, this.#size)
      })
      this.#learn(performance.now() - began)
      from = step.next
      await this.#env.around(n, 'after')
    }
  }

  #open(): Open {
    return new Open(this.#env.database, this.#env.now)
  }

  #learn(ms: number): void {
    if (this.#fixed !== null) return
    if (ms > tooLong) this.#size = Math.max(smallestBatch, Math.floor(this.#size / 2))
    else if (ms < longEnough) this.#size = Math.min(largestBatch, this.#size + 50)
  }

  #assertOwner(): void {
    const meta = this.#env.database.prepare('select boot_epoch from meta').get()
    if (meta?.['boot_epoch'] === this.#env.boot_epoch) return
    throw new LedgerFault('fenced', 'another process has taken the home over', 'never')
  }
}
