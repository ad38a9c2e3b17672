/**
 * The checks of an item as lines: what it comes to, each check with its outcome, and of one that
 * did not pass the last of its output. A claim is never shown as verified. Pure.
 */
import {
  endLine,
  verificationOf,
  type Check,
  type VerificationState,
  type WorkItem,
} from '../../protocol/records/records.ts'
import { glyph, painted, type Ink, type Mark } from '../text/marks.ts'
import { safeLine, safeLines } from '../text/safe.ts'
import type { ShortIds } from '../text/short-id.ts'
import { clock, type Zone } from '../text/span.ts'

export type CheckStyle = { ids: ShortIds; zone: Zone; ink: Ink }

const markOf = { passed: 'done', failed: 'failed', unknown: 'unknown' } as const

/** Empty for an item without checks. */
export function checkLines(item: WorkItem, style: CheckStyle): string[] {
  if (item.checks.length === 0) return []
  const { state, says } = verificationOf(item)
  const head = `${claimWords[state]}: ${says}`
  return [safeLine(head), ...item.checks.flatMap((check) => linesOf(check, style))]
}

/** The agent's word, and how far the checks go along with it. */
const claimWords: Readonly<Record<VerificationState, string>> = {
  none: 'claimed',
  asked: 'checks',
  pending: 'claimed, not verified yet',
  failed: 'claimed, not verified',
  unknown: 'claimed, not verified',
  changed: 'claimed, not verified',
  verified: 'verified',
}

/** The word of a list, and of a line about a completed item. */
export const stateWords: Readonly<Record<VerificationState, string>> = {
  none: 'claimed',
  asked: 'asked for',
  pending: 'claimed, checks pending',
  failed: 'claimed, checks failed',
  unknown: 'claimed, checks unknown',
  changed: 'claimed, files changed',
  verified: 'verified',
}

function linesOf(check: Check, { ids, zone, ink }: CheckStyle): string[] {
  const { run } = check
  const mark: Mark = run?.state === 'finished' ? markOf[run.outcome] : 'next'
  const when = run?.state === 'finished' ? `, ${clock(run.finished_at, zone)}` : ''
  const line = `  ${glyph(mark, ink)} ${safeLine(endLine(check))}${when}`
  const output =
    run?.state === 'finished' && run.outcome !== 'passed' && run.tail.trim() !== ''
      ? safeLines(run.tail.trim()).map((text) => `      ${text}`.trimEnd())
      : []
  const task = run === null || run.state === 'owed' ? null : run.task_id
  const more = task === null ? [] : [`      all of it: holon tasks output ${ids.short(task)}`]
  return [painted(line, mark, ink), ...output, ...(output.length > 0 ? more : [])]
}
