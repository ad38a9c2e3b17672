/**
 * Small pieces of prose: one line of any text, a shortened one, a span of time. Nothing that comes
 * out of `oneLine` can start a line of its own.
 */
import { between, day, hour, minute, second, type Timestamp } from '../domain/time.ts'

/** Everything that some reader takes for the end of a line. */
const breaks = /[\r\n\v\f\u0085\u2028\u2029]+/g

export const hasBreak = (text: string): boolean => text.search(breaks) >= 0

export const oneLine = (text: string): string => text.trim().replace(breaks, ' ').toWellFormed()

/** At most `max` characters on one line, an ellipsis standing for the rest. */
export function clip(text: string, max: number): string {
  const line = oneLine(text)
  return line.length <= max
    ? line
    : `${line
        .slice(0, max - 1)
        .toWellFormed()
        .trimEnd()}…`
}

/** A foreign name in quotes, on one line. */
export const quoted = (text: string, max = 200): string => `"${clip(text, max)}"`

export const thousands = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${thousands(n)} ${n === 1 ? one : many}`

/** A time of day to the second: what a model reads is never measured finer. */
export const clock = (at: Timestamp): string => at.replace(/\.\d+(?=Z$)/, '')

/** A span in its two largest units: `850 ms`, `42 s`, `5 min`, `3 h 20 min`, `2 days 4 h`. */
export function span(ms: number): string {
  const of = Math.max(0, Math.round(ms))
  if (of < second) return `${of} ms`
  if (of < minute) return `${Math.floor(of / second)} s`
  if (of < hour) return `${Math.floor(of / minute)} min`
  if (of < day) return two(Math.floor(of / hour), 'h', Math.floor((of % hour) / minute), 'min')
  const days = Math.floor(of / day)
  return two(days, days === 1 ? 'day' : 'days', Math.floor((of % day) / hour), 'h')
}

const two = (a: number, big: string, b: number, small: string): string =>
  b === 0 ? `${a} ${big}` : `${a} ${big} ${b} ${small}`

/** `5 min ago`; what is under a second old, or not yet, is `just now`. */
export const ago = (at: Timestamp, now: Timestamp): string => {
  const ms = between(at, now)
  return ms < second ? 'just now' : `${span(ms)} ago`
}
