/**
 * When a schedule is due: cron expressions of five fields in an IANA time zone, over croner. A pure
 * function of its arguments. A time of day that the clocks skip in spring falls due when they have
 * moved on, one that they repeat in autumn falls due once.
 */
import { Cron } from 'croner'
import type { Timetable } from '../domain/timers/schedules.ts'
import type { ScheduleSpec } from '../domain/state/schedule.ts'

const cronOf = (spec: ScheduleSpec & { kind: 'cron' }): Cron =>
  // Paused: it is asked for times and starts no timer of its own.
  new Cron(spec.expression, { paused: true, timezone: spec.time_zone, mode: '5-part' })

const text = (at: Date): string => at.toISOString()

export const timetable: Timetable = {
  occurrences(spec, after, limit) {
    if (spec.kind === 'once') return spec.at > after ? [spec.at].slice(0, limit) : []
    return cronOf(spec).nextRuns(limit, new Date(after)).map(text)
  },

  occurred(spec, before, limit) {
    if (spec.kind === 'once') return spec.at < before ? [spec.at].slice(0, limit) : []
    return cronOf(spec).previousRuns(limit, new Date(before)).map(text).toReversed()
  },

  problem(spec) {
    const fields = spec.expression.trim().split(/\s+/)
    // croner would take a date or seconds, too; a schedule has no moment finer than a minute.
    const isNickname = fields.length === 1 && /^@[a-z]+$/i.test(fields[0] ?? '')
    if (fields.length !== 5 && !isNickname) {
      return `"${spec.expression}" has ${fields.length} fields; five are wanted.`
    }
    if (!isZone(spec.time_zone)) return `"${spec.time_zone}" is not an IANA time zone.`
    try {
      cronOf(spec)
      return null
    } catch (error) {
      const { message } = error as Error
      return `"${spec.expression}" cannot be read: ${message.replace(/^CronPattern: /, '')}`
    }
  },
}

/** An IANA name, not an offset: an offset knows no summer. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
