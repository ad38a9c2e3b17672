/**
 * Looking after the tasks that run: answers who waits for an end, keeps output under its cap, and
 * finds a reader for output that has lost its own.
 * One timer for all of them, none while nothing is watched. A notice (`look`) only shortens it.
 *
 * A task is watched from `add` until it was seen ended, lost or absent; `add` again is nothing.
 */
import { ADOPTED_CHECK_MS } from '../limits.ts'
import { isUnread, observeTask, type ObservePorts } from './observe.ts'
import { keepUnderCap } from './output.ts'
import type { TaskProcess } from '../ports.ts'
import { processFault, ProcessFault } from './process-fault.ts'
import type { TaskFolder } from './task-folder.ts'

type Waiter = { resolve(end: TaskProcess): void; reject(error: unknown): void }

export class Watch {
  readonly #watched = new Map<string, Set<Waiter>>()
  /** Begun here, and their runner has not yet said that they ended: no need to look. */
  readonly #expected = new Set<string>()
  readonly #folderOf: (task_id: string) => TaskFolder
  readonly #machine: ObservePorts
  readonly #readAgain: (task_id: string) => void
  #cancelTick: (() => void) | null = null
  #closed = false

  /** `readAgain` gives the output of a task to another reader: the one it had is gone. */
  constructor(
    folderOf: (task_id: string) => TaskFolder,
    machine: ObservePorts,
    readAgain: (task_id: string) => void,
  ) {
    this.#folderOf = folderOf
    this.#machine = machine
    this.#readAgain = readAgain
  }

  /** A runner of our own spawner has begun it, and will say when it ends. */
  begun(task_id: string): void {
    this.#expected.add(task_id)
  }

  /** Its runner says that it ended. */
  told(task_id: string): void {
    this.#expected.delete(task_id)
    void this.look(task_id)
  }

  add(task_id: string): Set<Waiter> {
    if (this.#closed) throw new Error('a task was started or awaited after close')
    const waiters = this.#watched.get(task_id) ?? new Set<Waiter>()
    this.#watched.set(task_id, waiters)
    this.#arm()
    return waiters
  }

  ended(task_id: string, signal: AbortSignal): Promise<TaskProcess> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const waiters = this.add(task_id)
      const onAbort = () => waiter.reject(signal.reason)
      const done = () => {
        waiters.delete(waiter)
        signal.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        resolve: (end) => (done(), resolve(end)),
        reject: (error) => (done(), reject(error)),
      }
      waiters.add(waiter)
      signal.addEventListener('abort', onAbort, { once: true })
      if (!this.#expected.has(task_id)) void this.look(task_id)
    })
  }

  /** Looks at one task now. Never rejects: what goes wrong is its waiters' to hear. */
  async look(task_id: string): Promise<void> {
    const waiters = this.#watched.get(task_id)
    if (!waiters) return
    try {
      const folder = this.#folderOf(task_id)
      const dropped = keepUnderCap(folder.stdout) + keepUnderCap(folder.stderr)
      const seen = await observeTask(folder, this.#machine)
      switch (seen.state) {
        case 'running':
          if (await isUnread(folder, this.#machine)) this.#readAgain(task_id)
          return
        case 'absent': {
          const fault = new ProcessFault('not_started', `nobody started ${task_id}`, 'never')
          return this.#answer(task_id, waiters, (waiter) => waiter.reject(fault))
        }
        case 'ended':
        case 'lost':
          // It may have ended while its output was being cut, and the sizes changed with it.
          if (dropped > 0) return await this.look(task_id)
          return this.#answer(task_id, waiters, (waiter) => waiter.resolve(seen))
      }
    } catch (error) {
      const fault = processFault(error, `cannot look after ${task_id}`)
      this.#answer(task_id, waiters, (waiter) => waiter.reject(fault))
    }
  }

  close(): void {
    this.#closed = true
    this.#cancelTick?.()
    const fault = new ProcessFault('closed', 'this daemon no longer follows its tasks', 'later')
    for (const [task_id, waiters] of this.#watched) {
      this.#answer(task_id, waiters, (waiter) => waiter.reject(fault))
    }
  }

  #answer(task_id: string, waiters: Set<Waiter>, tell: (waiter: Waiter) => void): void {
    if (this.#watched.get(task_id) === waiters) this.#watched.delete(task_id)
    this.#expected.delete(task_id)
    for (const waiter of waiters) tell(waiter)
  }

  #arm(): void {
    if (this.#closed || this.#cancelTick || this.#watched.size === 0) return
    this.#cancelTick = this.#machine.clock.after(ADOPTED_CHECK_MS, () => void this.#tick())
  }

  async #tick(): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((task_id) => this.look(task_id)))
    this.#cancelTick = null
    this.#arm()
  }
}
