/**
 * Token buckets per route class and capability, and the lock after too many wrong tokens. Memory is
 * bounded: a bucket that would be full again is forgotten. Time comes from the monotonic clock.
 */
import { lockout, rates, rememberedKeys, type RateClass } from '../request/limits.ts'

/** Zero: go on. Else the milliseconds after which it is worth trying again. */
export type WaitMs = number

type Bucket = { tokens: number; at: number }

export class RateLimit {
  readonly #monotonic: () => number
  readonly #buckets = new Map<string, Bucket>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** Takes one token of the bucket of `key` in this class. */
  take(rateClass: RateClass, key: string): WaitMs {
    const { burst, per_second } = rates[rateClass]
    const name = `${rateClass} ${key}`
    const now = this.#monotonic()
    const before = this.#buckets.get(name) ?? { tokens: burst, at: now }
    const tokens = Math.min(burst, before.tokens + ((now - before.at) / 1_000) * per_second)
    const ok = tokens >= 1
    remember(this.#buckets, name, { tokens: ok ? tokens - 1 : tokens, at: now })
    return ok ? 0 : Math.ceil(((1 - tokens) / per_second) * 1_000)
  }
}

type Failures = { count: number; since: number; locked_until: number }

/** Counts the wrong control tokens of each peer (docs/spec/http.md#limits-of-strangers). */
export class Lockout {
  readonly #monotonic: () => number
  readonly #peers = new Map<string, Failures>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** While a peer is locked out its wrong tokens are not counted, and refused for being many. */
  locked(peer: string): WaitMs {
    const found = this.#peers.get(peer)
    return found === undefined ? 0 : Math.max(0, Math.ceil(found.locked_until - this.#monotonic()))
  }

  /** One more wrong token; the tenth within a minute locks. */
  failed(peer: string): void {
    const now = this.#monotonic()
    const before = this.#peers.get(peer)
    const fresh = before === undefined || now - before.since >= lockout.window_ms
    const count = fresh ? 1 : before.count + 1
    const locked_until = count >= lockout.failures ? now + lockout.lock_ms : 0
    const since = fresh ? now : before.since
    remember(this.#peers, peer, { count: locked_until > 0 ? 0 : count, since, locked_until })
  }
}

/** Keeps the newest keys; a `Map` is in the order of its insertions. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= rememberedKeys) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
