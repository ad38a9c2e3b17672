/**
 * When a provider takes requests again, read from its answer: `retry-after-ms`, `retry-after` as
 * seconds or a date, the reset of an exhausted rate limit, or Google's retry detail. Pure; returns
 * milliseconds from `now`, at least 0 and at most `modelLimits.longest_wait`, or null when the
 * provider did not say.
 */
import { modelLimits } from './limits.ts'

export type AnswerHead = { headers: Readonly<Record<string, string>>; body: string | null }

export function retryAfterMs(answer: AnswerHead, now: number): number | null {
  const { headers } = answer
  const said =
    milliseconds(headers['retry-after-ms']) ??
    secondsOrDate(headers['retry-after'], now) ??
    exhaustedReset(headers, now) ??
    retryDetail(answer.body)
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
    const ms = duration(reset.trim()) ?? untilDate(reset.trim(), now)
    if (ms !== null) latest = Math.max(latest ?? 0, ms)
  }
  return latest
}

function resetName(name: string): string | null {
  const anthropic = /^(anthropic-ratelimit-.+)-remaining$/.exec(name)
  if (anthropic) return `${anthropic[1]}-reset`
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
