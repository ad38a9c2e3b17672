/**
 * What becomes of a log line before it is written: every text goes through the redactor, and no
 * line is longer than LOG_LINE_BYTES. Pure; whatever comes in, one whole JSON line goes out.
 */
import { LOG_CUT_CHARACTERS, LOG_LINE_BYTES } from './limits.ts'

/** Replaces every registered secret in a text. Contract: pure as far as the caller sees, total. */
export type Redact = (text: string) => string

/** `undefined` is left out. Times are RFC 3339, durations are in `ms`, names are snake_case. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>> & {
  readonly time?: never
  readonly level?: never
  readonly msg?: never
}

/** The fields without secrets, in names as well as in values, and without those left out. */
export function redactFields(fields: LogFields, redact: Redact): Record<string, unknown> {
  const clean: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    clean[redact(name)] = typeof value === 'string' ? redact(value) : value
  }
  return clean
}

const byteLength = (text: string): number => Buffer.byteLength(text)

/**
 * A line, ended by a newline, that may be written: without what only shows as a secret once the
 * line is whole, and short enough.
 */
export function finishLine(line: string, redact: Redact): string {
  const redacted = escaped(redact(line))
  const whole = redacted === line || isLine(redacted) ? redacted : withheld(line, redact)
  return byteLength(whole) <= LOG_LINE_BYTES ? whole : cut(whole)
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** What a terminal would obey or hide, as the JSON escapes of the same text. */
const unsafe = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
const escaped = (line: string): string =>
  line.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const isLine = (line: string): boolean => line.endsWith('\n') && parsed(line) !== null

const asLine = (fields: Record<string, unknown>): string => escaped(`${JSON.stringify(fields)}\n`)

/** Redaction broke the JSON: the line would mislead, so only its head is kept. */
function withheld(line: string, redact: Redact): string {
  const { level, time } = parsed(line) ?? {}
  const msg = 'a line was withheld: it could not be redacted'
  const head = asLine({ level, time, msg })
  return redact(head) === head ? head : asLine({ level, msg: 'withheld' })
}

/** Shortens every text; if that is not enough, keeps what every line has. */
function cut(line: string): string {
  const fields = parsed(line) ?? {}
  const short = Object.entries(fields).map(([name, value]) => [name, shortened(value)])
  const cutLine = asLine({ ...Object.fromEntries(short), is_cut: true })
  if (byteLength(cutLine) <= LOG_LINE_BYTES) return cutLine
  const { level, time, msg } = fields
  return asLine({ level, time, msg: shortened(msg), is_cut: true })
}

const shortened = (value: unknown): unknown =>
  typeof value === 'string' && value.length > LOG_CUT_CHARACTERS
    ? `${value.slice(0, LOG_CUT_CHARACTERS).toWellFormed()}…`
    : value
