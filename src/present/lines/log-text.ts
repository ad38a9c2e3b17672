/** A line of the daemon's log for a person: when, what happened, and what it names. Pure. */
import type { ShortIds } from '../text/short-id.ts'
import { safeLine, type Safe } from '../text/safe.ts'
import { clockSeconds, type Zone } from '../text/span.ts'

/** What most lines are; the others stand out by their word. */
const usual = 'info'

/** A line that is no record of ours is shown as it is. */
export function logText(line: string, ids: ShortIds, zone: Zone): Safe {
  const record = recordIn(line)
  if (record === null) return safeLine(line)
  const { time, level, msg, ...rest } = record
  const named = Object.entries(rest).map(([name, value]) => `${name} ${said(value)}`)
  const at = typeof time === 'string' ? clockSeconds(time, zone) : '-'
  const how = level === usual ? '' : `${said(level)}: `
  const left = `${at} ${how}${said(msg)}`
  return safeLine(ids.within(named.length === 0 ? left : `${left} (${named.join(', ')})`))
}

const said = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function recordIn(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isRecord && 'msg' in value ? { ...value } : null
  } catch {
    return null
  }
}
