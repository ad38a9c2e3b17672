/** Moments and spans as people write them on a command line; a wrong one names its flag. */
import { usage } from './failure.ts'

/** Milliseconds since 1970. Without a zone it is the time of this machine. */
export function momentOf(flag: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  const hint = 'write it like 2030-12-01T09:00 or with +01:00'
  throw usage('bad_time', `${flag} ${text} is no time`, hint)
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds. */
export function spanOf(flag: string, text: string): number {
  const parts = [...text.matchAll(/(\d{1,6})([smhd])/g)]
  const whole = parts.map(([part]) => part).join('')
  if (whole === '' || whole !== text) {
    throw usage('bad_span', `${flag} ${text} is no duration`, 'write it like 90s, 30m, 2h or 1d12h')
  }
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0)
}
