/**
 * Rules of the attention list's one act that changes no work: putting an entry away (
 * docs/spec/http.md#attention). Whether the entry stands there is its caller's to check, who
 * computes the list.
 */
import type { Draft } from '../facts/facts.ts'
import { limits } from '../limits.ts'
import { between, fromMs, isTimestamp, toMs } from '../time.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'

export type SnoozeKey = {
  /** The id of the entry. */
  attention_id: string
  /** Of the entry as it was shown: another one of the same id stands there again. */
  fingerprint: string
}

export function snooze(d: Draft, entry: SnoozeKey & { until: string }): { ok: true } | Rejection {
  const wrong = checkEntry(entry)
  if (wrong) return wrong
  if (!isTimestamp(entry.until)) return no('time_invalid', `"${entry.until}" is not a time.`)
  const until = fromMs(toMs(entry.until))
  if (until <= d.now) return no('time_invalid', `${until} has passed.`, 'Name a later moment.')
  if (between(d.now, until) > limits.wait_max.value) {
    return no('time_too_far', `${until} is more than 366 days ahead.`)
  }
  const { attention_id: id, fingerprint } = entry
  d.emit({ type: 'attention_snoozed', id, until, fingerprint })
  return { ok: true }
}

export function dismiss(d: Draft, entry: SnoozeKey): { ok: true } | Rejection {
  const wrong = checkEntry(entry)
  if (wrong) return wrong
  const { attention_id: id, fingerprint } = entry
  d.emit({ type: 'attention_dismissed', id, fingerprint })
  return { ok: true }
}

function checkEntry({ attention_id, fingerprint }: SnoozeKey): Rejection | null {
  const longest = limits.fingerprint
  for (const text of [attention_id, fingerprint]) {
    if (text === '') return no('attention_not_found', 'The entry is not named.')
    if (text.length > longest.value) return overLimit(longest, text.length)
  }
  return null
}
