/**
 * When a provider takes requests again, read from its answer: `retry-after-ms`, `retry-after` as
 * seconds or a date, the reset of an exhausted rate limit, Google's retry detail, or the words "try
 * again in 20s" and "regain access on 2026-12-01". Pure; returns milliseconds from `now`, at least
 * 0 and at most `modelLimits.longest_wait`, or null when the provider did not say.
 */
import { modelLimits } from './limits.ts'

export type AnswerHead = {
  headers: Readonly<Record<string, string>>
  body: string | null
  words?: string
}

export function retryAfterMs(answer: AnswerHead, now: number): number | null {
  const { headers } = answer
  const said =
    milliseconds(headers['retry-after-ms']) ??
    secondsOrDate(headers['retry-after'], now) ??
    exhaustedReset(headers, now) ??
    retryDetail(answer.body) ??
    inWords(answer.words ?? '', now)
  return said === null ? null : Math.min(said, modelLimits.longest_wait.value)
}

function milliseconds(value: string | undefined): number | null {
  if (value === undefined || !/^\d+(\.\d+)?$/.test(value.trim())) return null
  return Math.ceil(Number(value))
}

function secondsOrDate(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  const text = value.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  return untilDate(text, now)
}

function untilDate(text: string, now: number): number | null {
  // Dates have a letter (a month or the T); a bare negative number is none.
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Limits that say `remaining: 0` name their reset; the last of them is the one that counts. */
function exhaustedReset(headers: AnswerHead['headers'], now: number): number | null {
  let latest: number | null = null
  for (const [name, remaining] of Object.entries(headers)) {
    if (remaining.trim() !== '0') continue
    const reset = headers[resetName(name) ?? '']
    if (reset === undefined) continue
    const ms = duration(reset.trim()) ?? moment(reset.trim(), now) ?? untilDate(reset.trim(), now)
    if (ms !== null) latest = Math.max(latest ?? 0, ms)
  }
  return latest
}

function resetName(name: string): string | null {
  const anthropic = /^(anthropic-ratelimit-.+)-remaining$/.exec(name)
  if (anthropic) return `${anthropic[1]}-reset`
  if (name === 'x-ratelimit-remaining') return 'x-ratelimit-reset'
  const openai = /^x-ratelimit-remaining-(.+)$/.exec(name)
  return openai ? `x-ratelimit-reset-${openai[1]}` : null
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** `6m0s`, `1.5s`, `20ms`. */
function duration(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null
  let total = 0
  for (const [, amount = '0', unit = 'ms'] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit] ?? 0)
  }
  return Math.ceil(total)
}

/** Google: `"retryDelay": "34s"` among the details of the error. */
function retryDetail(body: string | null): number | null {
  const delay = /"retryDelay"\s*:\s*"([^"]{1,20})"/.exec(body ?? '')?.[1]
  return delay === undefined ? null : duration(delay)
}

/** A moment as seconds or milliseconds since 1970, told apart by its digits; fewer are seconds. */
function moment(text: string, now: number): number | null {
  if (!/^\d{1,13}(\.\d+)?$/.test(text)) return null
  const value = Number(text)
  if (value >= 1e12) return Math.max(0, value - now)
  return value >= 1e9 ? Math.max(0, value * 1000 - now) : Math.ceil(value * 1000)
}

/** "Please try again in 6m0s", "retry in 26.5s", "regain access on 2026-12-01 at 00:00 UTC". */
function inWords(words: string, now: number): number | null {
  const span = /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)\b/i.exec(words)
  if (span?.[1] !== undefined) return duration(span[1].toLowerCase())
  const seconds = /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) seconds?/i.exec(words)
  if (seconds?.[1] !== undefined) return Math.ceil(Number(seconds[1]) * 1000)
  const dated = /access on (\d{4}-\d{2}-\d{2})(?: at (\d{2}:\d{2}))?(?: UTC)?/i.exec(words)
  if (dated?.[1] === undefined) return null
  return untilDate(`${dated[1]}T${dated[2] ?? '00:00'}:00Z`, now)
}
