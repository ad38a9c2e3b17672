/**
 * Time as data: RFC 3339 UTC strings with milliseconds, which sort as text. Nothing here reads a
 * clock; "now" always comes in with the facts.
 */

export type Timestamp = string

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

export const toMs = (at: Timestamp): number => Date.parse(at)

export const fromMs = (ms: number): Timestamp => new Date(ms).toISOString()

/** `at` moved by `ms` milliseconds (negative: earlier). */
export const plus = (at: Timestamp, ms: number): Timestamp => fromMs(toMs(at) + ms)

/** Milliseconds from `from` to `to`; negative when `to` is earlier. */
export const between = (from: Timestamp, to: Timestamp): number => toMs(to) - toMs(from)

/** A commit's time is the later of the clock and the agent's last commit: time never decreases. */
export const later = (a: Timestamp, b: Timestamp): Timestamp => (a > b ? a : b)

/** The earliest of the given times, or null when there is none. */
export function earliest(times: Iterable<Timestamp | null>): Timestamp | null {
  let first: Timestamp | null = null
  for (const at of times) if (at !== null && (first === null || at < first)) first = at
  return first
}

/** Whether `text` is a timestamp with a zone that this system can keep. */
export const isTimestamp = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
  Number.isFinite(Date.parse(text))
