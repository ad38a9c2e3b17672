/**
 * What waits to be committed. All that comes in one turn of the event loop is written by one
 * transaction, with one sync for all of them: an agent that is alone waits for nobody, and sixteen
 * do not wait for sixteen syncs.
 *
 * Promises: each commit is told in the order in which it was asked for, after the sync that holds
 * it. One that throws or meets a conflict takes nobody with it: the others are then written each by
 * itself. What waits when the ledger ends is rejected, and nothing of it is kept.
 */
import type { StatementSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Change, Committed } from '../port.ts'
import { faultOf } from '../sqlite/fault.ts'
import type { Database } from '../sqlite/schema.ts'
import { checkedChange, type Checked } from './checked-change.ts'
import { RowTaken, writerOf, type CommitEnvironment, type WriteChanges } from './commit.ts'

/**
 * What is asked around each commit, which `n` counts from 1. `before` is inside the transaction,
 * once; `room` at each try; `after` when it has landed, before anybody is told. What `before` and
 * `after` throw ends the ledger: they say so by `isOver`.
 */
export type CommitHooks = {
  before(n: number, change: Change): void
  room(): void
  after(n: number, change: Change): void
  /** Why nothing may be written any more; null: it may. */
  isOver(): Error | null
}

export type CommitQueue = {
  commit(change: Change, ...more: readonly Change[]): Promise<Committed>
  /** Rejects all that waits. */
  end(because: Error): void
}

type Waiting = {
  changes: readonly Checked[]
  first: Change
  /** Its number, from the moment it is first tried; null before. */
  n: number | null
  resolve(committed: Committed): void
  reject(error: unknown): void
}

export function commitQueue(env: CommitEnvironment, hooks: CommitHooks): CommitQueue {
  const group = new Group(env, hooks)
  let waiting: Waiting[] = []

  /** In line with everybody else who has a transaction on this connection. */
  const flush = async (db: Kysely<Database>): Promise<void> => {
    try {
      await db.connection().execute(async () => group.write(taken()))
    } catch (error) {
      for (const one of taken()) one.reject(hooks.isOver() ?? error)
    }
  }
  const taken = (): Waiting[] => {
    const all = waiting
    waiting = []
    return all
  }
  return {
    commit(first, ...more) {
      const changes = [first, ...more].map(checkedChange)
      if (new Set(changes.map(({ change }) => change.agent_id)).size !== changes.length) {
        throw new Error('two changes of one agent in one commit')
      }
      const { promise, resolve, reject } = Promise.withResolvers<Committed>()
      waiting.push({ changes, first, n: null, resolve, reject })
      if (waiting.length === 1) setImmediate(() => void flush(env.db))
      return promise
    },
    end(because) {
      for (const one of taken()) one.reject(because)
    },
  }
}

/** Writes what came together; everything in here is done at once. */
class Group {
  readonly #env: CommitEnvironment
  readonly #hooks: CommitHooks
  readonly #write: WriteChanges
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #count = 0

  constructor(env: CommitEnvironment, hooks: CommitHooks) {
    this.#env = env
    this.#hooks = hooks
    this.#write = writerOf(env)
    this.#begin = env.database.prepare('begin immediate')
    this.#commit = env.database.prepare('commit')
  }

  write(all: readonly Waiting[]): void {
    const failed = this.#together(all)
    if (failed === null) return
    const parts = all.length > 1 && this.#mayGoOn(failed.because) ? all.map((one) => [one]) : [all]
    let { because } = failed
    for (const part of parts) {
      if (parts.length > 1 && this.#mayGoOn(because)) {
        const again = this.#together(part)
        if (again === null) continue
        because = again.because
      }
      for (const one of part) this.#refuse(one, because)
    }
  }

  /** Null: all were written and told. What is not null has left nothing behind. */
  #together(all: readonly Waiting[]): { because: unknown } | null {
    try {
      const done = this.#transaction(all)
      for (const [i, one] of all.entries()) this.#tell(one, done[i])
      return null
    } catch (because) {
      return { because }
    }
  }

  #transaction(all: readonly Waiting[]): Committed[] {
    if (all.length === 0) return []
    this.#begin.run()
    try {
      const done = all.map((one) => this.#one(one))
      this.#commit.run()
      return done
    } catch (error) {
      // After a full disk SQLite has rolled back by itself.
      const { database } = this.#env
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
  }

  #one(one: Waiting): Committed {
    if (one.n === null) {
      one.n = ++this.#count
      this.#hooks.before(one.n, one.first)
    }
    this.#hooks.room()
    return this.#write(one.changes)
  }

  #tell(one: Waiting, committed: Committed | undefined): void {
    try {
      if (committed === undefined) throw new Error('a commit that nothing became of')
      const over = this.#hooks.isOver()
      if (over !== null) throw over
      if (committed.ok) this.#hooks.after(one.n ?? 0, one.first)
      one.resolve(committed)
    } catch (error) {
      one.reject(error)
    }
  }

  #refuse(one: Waiting, error: unknown): void {
    const over = this.#hooks.isOver()
    if (over === null && error instanceof RowTaken) one.resolve(error.conflict)
    else one.reject(over ?? error)
  }

  /**
   * Whether what befell the group may have been one's own doing. Not where the home is lost or the
   * disk broken, nor where nobody got as far as to write: each would wait for the lock as long.
   */
  #mayGoOn(error: unknown): boolean {
    if (this.#hooks.isOver() !== null) return false
    const fault = faultOf(error, 'Committing')
    return fault === null || (fault.retry !== 'never' && fault.code !== 'io')
  }
}
