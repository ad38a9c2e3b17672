/**
 * The system's clock and ids: the only timers, wall-clock reads and random ids of the program.
 * Long waits are re-armed every minute, because Node fires a timer beyond 2^31 − 1 ms at once and a
 * suspended machine makes one long timer late.
 */
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { TIMER_HINT_MS } from './limits.ts'
import type { Clock, Ids } from './ports.ts'

export function systemClock(): Clock {
  const monotonic = () => performance.now()

  function after(ms: number, fn: () => void): () => void {
    const due = monotonic() + Math.max(0, ms)
    let timer: NodeJS.Timeout
    const arm = () => {
      const left = due - monotonic()
      timer = setTimeout(fire, Math.min(Math.max(0, Math.ceil(left)), TIMER_HINT_MS))
    }
    const fire = () => (monotonic() < due ? arm() : fn())
    arm()
    return () => clearTimeout(timer)
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = after(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  return { now: () => Date.now(), monotonic, after, sleep }
}

export function systemIds(): Ids {
  return {
    mint: (prefix) => `${prefix}_${randomUUIDv7()}`,
    token: (bytes) => randomBytes(bytes).toString('base64url'),
    random: () => Math.random(),
  }
}
