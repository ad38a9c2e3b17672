/**
 * The seeded order of everything that is not plain computing: each call of a port waits here until
 * the run picks it. Between two picks all promises settle, so the picks are the whole order; time
 * stands still but where the run moves it.
 */
import type { Clock } from '../../src/exec/ports.ts'

/** One process from its start to its death: what belongs to a dead one never happens. */
export type Life = { readonly n: number; ended: boolean }

export type EffectKind =
  | 'commit'
  | 'blob'
  | 'read'
  | 'file'
  | 'process'
  | 'model'
  | 'timer'
  | 'outside'

export type Effect = {
  kind: EffectKind
  label: string
  life: Life
  /**
   * `dies`: the process ends when it is done, and nobody is told. `meanwhile` happens when it is
   * done, before anybody is told.
   */
  run(dies: boolean, meanwhile?: () => Promise<void>): Promise<void>
}

type Timer = { due: number; effect: Effect }

/** The first moment of every run. */
const start = Date.UTC(2026, 0, 5, 9)

export class Agenda {
  #ready: Effect[] = []
  #timers: Timer[] = []
  #elapsed = 0
  #wall = start
  #furthest = start

  get ready(): readonly Effect[] {
    return this.#ready
  }

  /** Milliseconds since the first moment, on the clock that never jumps. */
  get elapsed(): number {
    return this.#elapsed
  }

  now(): number {
    return this.#wall + this.#elapsed
  }

  /** Moves the wall clock alone. */
  jump(ms: number): void {
    this.#wall += ms
    this.#furthest = Math.max(this.#furthest, this.#wall)
  }

  /** The clock is right again: as far on as it ever was, so that what was dated by it is past. */
  mendClock(): void {
    this.#wall = this.#furthest
  }

  /** Milliseconds to the next timer of somebody alive, or null. */
  nextTimer(): number | null {
    let first: number | null = null
    for (const { due } of this.#timers) if (first === null || due < first) first = due
    return first === null ? null : Math.max(0, first - this.#elapsed)
  }

  /** Whether the process sleeps over something it means to try again. */
  isAsleep(life: Life): boolean {
    return this.#timers.some(({ effect }) => effect.life === life && effect.label === 'sleep')
  }

  /** Lets time pass; what comes due on the way may be picked from now on. */
  pass(ms: number): void {
    this.#elapsed += ms
    const due = this.#timers.filter((timer) => timer.due <= this.#elapsed)
    if (due.length === 0) return
    this.#timers = this.#timers.filter((timer) => timer.due > this.#elapsed)
    for (const { effect } of due.toSorted((a, b) => a.due - b.due)) this.#ready.push(effect)
  }

  take(index: number): Effect {
    const [effect] = this.#ready.splice(index, 1)
    if (!effect) throw new Error(`nothing is at ${index}`)
    return effect
  }

  /** Drops what belongs to a process that is over. */
  bury(life: Life): void {
    this.#ready = this.#ready.filter((effect) => effect.life !== life)
    this.#timers = this.#timers.filter(({ effect }) => effect.life !== life)
  }

  /** The result of `body`, which runs when it is picked; never, once the process is over. */
  perform<T>(life: Life, kind: EffectKind, label: string, body: () => T | Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (life.ended) return promise
    const run: Effect['run'] = async (dies, meanwhile) => {
      try {
        const value = await body()
        await meanwhile?.()
        if (dies) life.ended = true
        if (!life.ended) resolve(value)
      } catch (error) {
        if (dies) life.ended = true
        if (!life.ended) reject(error)
      }
    }
    this.#ready.push({ kind, label, life, run })
    return promise
  }

  /** Calls `fn` when `ms` have passed and it is picked; the function it returns cancels. */
  after(life: Life, label: string, ms: number, fn: () => void): () => void {
    if (life.ended) return () => {}
    const run = async (dies: boolean): Promise<void> => {
      if (dies) life.ended = true
      else fn()
    }
    const effect: Effect = { kind: 'timer', label, life, run }
    // Never in the same tick, as the clock's contract says: a due one is only ready to be picked.
    if (ms <= 0) this.#ready.push(effect)
    else this.#timers.push({ due: this.#elapsed + ms, effect })
    return () => {
      this.#timers = this.#timers.filter((timer) => timer.effect !== effect)
      this.#ready = this.#ready.filter((one) => one !== effect)
    }
  }

  /** The clock of one process. */
  clockOf(life: Life): Clock {
    return {
      now: () => this.now(),
      monotonic: () => this.#elapsed,
      after: (ms, fn) => this.after(life, 'timer', ms, fn),
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason as Error)
          const abort = () => {
            cancel()
            reject(signal?.reason as Error)
          }
          const cancel = this.after(life, 'sleep', ms, () => {
            signal?.removeEventListener('abort', abort)
            resolve()
          })
          signal?.addEventListener('abort', abort, { once: true })
        }),
    }
  }
}

/** Lets every promise that needs nobody settle; a host that opens lets others go first, once. */
export async function settled(agenda: Agenda): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  if (agenda.ready.length === 0) await new Promise((resolve) => setImmediate(resolve))
}
