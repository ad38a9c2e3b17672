/**
 * Bounded repetition of one request, and the choice of who is asked next
 * (docs/spec/turn.md#faults-of-a-provider, Provider errors). Short trouble is slept through here;
 * long trouble is handed up as a fault, because a held agent costs nothing and survives a restart,
 * and a sleeping promise does neither.
 */
import { aborted, tooSlowAgain } from './fault.ts'
import { modelLimits } from './limits.ts'
import type { Model, ModelFault } from './model.ts'

export type RetryInfo = {
  /** The attempt that failed, from 1. What it streamed so far is void. */
  attempt: number
  attempts: number
  delay_ms: number
  fault: ModelFault
}

/**
 * *Contract.* `sleep` resolves after `ms` milliseconds, or settles either way as soon as the signal
 * aborts. `random` is in [0, 1). `on_retry` is called before each sleep and must not throw.
 */
export type RetryPorts = {
  /** Requests in all, the first included; default `modelLimits.retry`. */
  attempts?: number
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  random: () => number
  on_retry?: (info: RetryInfo) => void
}

/** The same model with patience: its outcome is the first round, or the last fault. */
export function withRetry(model: Model, ports: RetryPorts): Model {
  const { attempts = modelLimits.retry.value, sleep, random, on_retry } = ports
  return {
    async request(request, options) {
      let slow = 0
      for (let attempt = 1; ; attempt++) {
        const outcome = await model.request(request, options)
        if (!outcome.ok && outcome.fault.code === 'too_slow') {
          slow += 1
          if (slow > 1) return { ok: false, fault: tooSlowAgain(outcome.fault, request.model) }
        }
        if (outcome.ok || attempt >= attempts) return outcome

        const { fault } = outcome
        const delay = delayMs(fault, attempt, random())
        if (delay === null) return outcome

        on_retry?.({ attempt, attempts, delay_ms: delay, fault })
        await sleep(delay, options.signal).catch((error: unknown) => {
          if (!options.signal.aborted) throw error
        })
        if (options.signal.aborted) return { ok: false, fault: aborted() }
      }
    },
  }
}

/**
 * Milliseconds before attempt `attempt + 1`, or null when it must not follow from here.
 * `random` in [0, 1) spreads it: over the whole back-off, or thinly after a `retry-after`.
 */
export function delayMs(fault: ModelFault, attempt: number, random: number): number | null {
  if (!fault.retryable) return null
  const told = fault.retry_after_ms
  if (told === null) {
    return Math.floor(
      random *
        Math.min(
          modelLimits.backoff_cap.value,
          modelLimits.backoff_base.value * 2 ** (attempt - 1),
        ),
    )
  }
  if (told > modelLimits.retry_after.value) return null
  return told + Math.floor(random * modelLimits.retry_spread.value)
}

export type Tried = { model: string; fault: ModelFault }

export type NextModel =
  /** Ask this one; its prompt is a fresh projection without provider-own parts. */
  | { next: 'request'; model: string }
  /** All failed for the world's reasons: hold the agent, at least so long when it is known. */
  | { next: 'hold'; retry_after_ms: number | null; fault: ModelFault }
  /** Nobody can be asked until someone changes the setup. */
  | { next: 'hold_for_setup'; fault: ModelFault }
  /** The request itself was refused: the turn ends `failed`. */
  | { next: 'fail'; fault: ModelFault }
  | { next: 'abort'; fault: ModelFault }

/**
 * Who is asked after `tried` (in order, at least one), out of `models` (the first model, then its
 * fallback). Flat, first match wins. A refusal by the first model is final; one by a fallback is
 * not when the first model only had the world against it, because it may still answer later.
 */
export function nextModel(models: readonly string[], tried: readonly Tried[]): NextModel {
  const first = tried[0]
  if (first === undefined) throw new Error('Nothing was tried yet: ask the first model.')

  const stopped = tried.find(({ fault }) => fault.kind === 'aborted')
  if (stopped) return { next: 'abort', fault: stopped.fault }
  if (first.fault.kind === 'refused') return { next: 'fail', fault: first.fault }

  const left = models.find((model) => !tried.some((attempt) => attempt.model === model))
  if (left !== undefined) return { next: 'request', model: left }

  const ofWorld = tried.filter(({ fault }) => fault.kind === 'world').map(({ fault }) => fault)
  const soonest = ofWorld.reduce((a, b) => (wait(b) < wait(a) ? b : a), ofWorld[0] ?? first.fault)
  if (ofWorld.length > 0) {
    return { next: 'hold', retry_after_ms: soonest.retry_after_ms, fault: soonest }
  }
  const refusal = tried.find(({ fault }) => fault.kind === 'refused')
  if (refusal) return { next: 'fail', fault: refusal.fault }
  return { next: 'hold_for_setup', fault: first.fault }
}

const wait = (fault: ModelFault): number => fault.retry_after_ms ?? Number.POSITIVE_INFINITY
