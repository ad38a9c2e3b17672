/**
 * Times as a person reads them: spans (`2 h 1 m`, `1:12`, `0.2 s`), clock times today and dates
 * before, `in 30 m`. Pure: "now" and the zone come in.
 */
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Where a clock time is read: the viewer's own zone, or UTC when asked for. */
export type Zone = { now: string; utc: boolean }

/** A stretch in its two largest units: `850 ms`, `42 s`, `9 m`, `2 h 1 m`, `3 d 2 h`. */
export function span(ms: number): string {
  const of = Math.max(0, Math.round(ms))
  if (of < second) return `${of} ms`
  if (of < minute - 500) return `${Math.round(of / second)} s`
  if (of < hour) return `${Math.max(1, Math.floor(of / minute))} m`
  if (of < day) return two(Math.floor(of / hour), 'h', Math.floor((of % hour) / minute), 'm')
  return two(Math.floor(of / day), 'd', Math.floor((of % day) / hour), 'h')
}

const two = (a: number, big: string, b: number, small: string): string =>
  b === 0 ? `${a} ${big}` : `${a} ${big} ${b} ${small}`

/** How long something took: `0.2 s` below ten seconds, then `12 s`, then `1:12`, then `2 h 1 m`. */
export function took(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / second).toFixed(1)} s`
  if (ms < minute - 500) return `${Math.round(ms / second)} s`
  return ms < hour ? clockSpan(ms) : span(ms)
}

/** `2:41`, and `1:02:41` from an hour on: a stretch that is still running. */
export function clockSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second))
  const two = (n: number) => String(n).padStart(2, '0')
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

type Parts = { date: string; year: number; month: number; day: number; time: string; full: string }

function partsOf(at: string, utc: boolean): Parts {
  const d = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  const [year, month, dayOf] = utc
    ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()]
    : [d.getFullYear(), d.getMonth(), d.getDate()]
  const [h, m, s] = utc
    ? [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()]
    : [d.getHours(), d.getMinutes(), d.getSeconds()]
  return {
    date: `${year}-${two(month + 1)}-${two(dayOf)}`,
    year,
    month,
    day: dayOf,
    time: `${two(h)}:${two(m)}`,
    full: `${two(h)}:${two(m)}:${two(s)}`,
  }
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `14:02` today, `12 Nov 14:02` this year, `2025-11-12 14:02` before. */
export function clock(at: string, zone: Zone): string {
  const now = partsOf(zone.now, zone.utc)
  const then = partsOf(at, zone.utc)
  if (now.date === then.date) return then.time
  if (now.year === then.year) return `${then.day} ${months[then.month]} ${then.time}`
  return `${then.date} ${then.time}`
}

/** `14:02:11`: the time of a line that is printed as it happens. */
export const clockSeconds = (at: string, zone: Zone): string => partsOf(at, zone.utc).full

/** `14:35, in 30 m`, or `14:35, due` once it has passed. */
export function due(at: string, zone: Zone): string {
  const ms = Date.parse(at) - Date.parse(zone.now)
  return ms <= 0 ? `${clock(at, zone)}, due` : `${clock(at, zone)}, in ${span(ms)}`
}

/** How long ago: `2 h 1 m`. */
export const since = (at: string, zone: Zone): string =>
  span(Math.max(second, Date.parse(zone.now) - Date.parse(at)))

/** A timestamp inside a text, as the source of an expression. */
export const instant = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

/** Times inside a sentence of the runtime are whole timestamps: a person reads a clock. */
export const clockTimes = (text: string, zone: Zone): string =>
  text.replace(new RegExp(instant, 'g'), (at) => clock(at, zone))
