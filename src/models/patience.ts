/**
 * How long one request may be silent, slow, or open. Until an answer begins, a model may think or a
 * server read the prompt, and whatever arrives shows that somebody is there; then tokens count,
 * unless a thought or a call is open, of which nothing may be shown for long. Keeps time only by
 * what it is told; milliseconds throughout.
 */
import { modelLimits } from './limits.ts'

export type PatienceLimits = {
  /** Until the first part of an answer. */
  first_ms: number
  /** For fewer than `slow_tokens` of an answer. */
  idle_ms: number
  /** Without an event while a thought or a call is open. */
  open_ms: number
  /** For the whole request. */
  total_ms: number
}

export type PatienceVerdict =
  | { is: 'patient'; left_ms: number }
  | { is: 'silent' | 'slow' | 'too_long'; after_ms: number }

export const usualPatience: PatienceLimits = {
  first_ms: modelLimits.first_event.value,
  idle_ms: modelLimits.stream_idle.value,
  open_ms: modelLimits.thinking_idle.value,
  total_ms: modelLimits.request_time.value,
}

export class Patience {
  readonly #limits: PatienceLimits
  readonly #started: number
  #begun = false
  /** Whether a thought or a call was open at the last part: counting begins behind it. */
  #wasOpen = true
  /** The last byte before the answer began, the last event after. */
  #sign: number
  /** Since when the tokens are counted. */
  #counted: number
  #tokens = 0

  constructor(limits: PatienceLimits, now: number) {
    this.#limits = limits
    this.#started = now
    this.#sign = now
    this.#counted = now
  }

  /** Something arrived: also a comment or a ping. */
  bytes(now: number): void {
    if (!this.#begun) this.#sign = now
  }

  /** A part of the answer, with so many characters. */
  part(now: number, characters: number, isOpen: boolean): void {
    this.#begun = true
    this.#sign = now
    this.#tokens += characters === 0 ? 0 : Math.max(1, characters / 4)
    const goesOn = !isOpen && !this.#wasOpen
    this.#wasOpen = isOpen
    if (goesOn && this.#tokens < modelLimits.slow_tokens.value) return
    this.#tokens = 0
    this.#counted = now
  }

  look(now: number, isOpen: boolean): PatienceVerdict {
    const { first_ms, idle_ms, open_ms, total_ms } = this.#limits
    const whole = this.#started + total_ms - now
    if (whole <= 0) return { is: 'too_long', after_ms: total_ms }
    const slow = this.#begun && !isOpen
    const allowed = !this.#begun ? first_ms : isOpen ? Math.max(open_ms, idle_ms) : idle_ms
    const left = (slow ? this.#counted : this.#sign) + allowed - now
    if (left > 0) return { is: 'patient', left_ms: Math.min(left, whole) }
    return { is: slow && this.#tokens > 0 ? 'slow' : 'silent', after_ms: allowed }
  }
}
