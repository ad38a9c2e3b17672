/**
 * A clock that only moves when a test says so. `advance` fires every timer that comes due on the
 * way, in order, and lets the work each one starts settle before the next.
 */
import type { Clock } from '../exec/ports.ts'

export type VirtualClock = Clock & {
  /** Moves time by `ms`, firing what comes due. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock alone, as an operator or NTP would; timers keep their pace. */
  setWallClock(ms: number): void
  /** Milliseconds to the next timer, or null. */
  nextDue(): number | null
}

type Timer = { due: number; order: number; fn: () => void }

export function virtualClock(start = Date.UTC(2026, 0, 5, 9)): VirtualClock {
  let elapsed = 0
  let wall = start
  let order = 0
  const timers = new Set<Timer>()

  function after(ms: number, fn: () => void): () => void {
    const timer = { due: elapsed + Math.max(0, ms), order: (order += 1), fn }
    timers.add(timer)
    return () => void timers.delete(timer)
  }

  const first = (): Timer | null =>
    [...timers].sort((a, b) => a.due - b.due || a.order - b.order)[0] ?? null

  return {
    now: () => wall + elapsed,
    monotonic: () => elapsed,
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const cancel = after(ms, resolve)
        signal?.addEventListener('abort', () => (cancel(), reject(signal.reason)), { once: true })
      }),
    async advance(ms) {
      const end = elapsed + ms
      for (let timer = first(); timer !== null && timer.due <= end; timer = first()) {
        timers.delete(timer)
        elapsed = Math.max(elapsed, timer.due)
        timer.fn()
        await settle()
      }
      elapsed = end
      await settle()
    },
    setWallClock: (ms) => {
      wall = ms - elapsed
    },
    nextDue: () => {
      const timer = first()
      return timer === null ? null : timer.due - elapsed
    },
  }
}

/** Lets everything that needs no further time come to rest: some turns of the event loop. */
export async function settle(turns = 40): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((done) => setImmediate(done))
}
