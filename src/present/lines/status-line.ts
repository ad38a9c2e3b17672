/**
 * The one line that is redrawn while a run works: `turn 7, 2:41 - npm test 1:12, last output 3 s
 * ago - 18.2k tokens, $0.31 - nothing needs you`. Pure.
 */
import type { Usage } from '../../protocol/records/records.ts'
import { safeLine, type Safe } from '../text/safe.ts'
import { clockSpan, span } from '../text/span.ts'
import { cut } from '../text/width.ts'
import { dollars, thousandths, tokensOf } from './state-cell.ts'

/** Cells of what runs: the line must keep room for what it costs and whom it needs. */
const subjectCells = 36

export type Doing =
  | { kind: 'command'; subject: string; for_ms: number; quiet_ms: number | null }
  | { kind: 'model'; for_ms: number; quiet_ms: number | null }
  | { kind: 'waiting'; subject: string; for_ms: number }
  | { kind: 'nothing' }

export type Status = {
  turn: { number: number; for_ms: number } | null
  doing: Doing
  usage: Usage | null
  questions: number
}

export function statusLine(status: Status): Safe {
  const parts = [
    status.turn === null ? '' : `turn ${status.turn.number}, ${clockSpan(status.turn.for_ms)}`,
    doingText(status.doing),
    usageText(status.usage),
    status.questions === 0
      ? 'nothing needs you'
      : `${status.questions} question${status.questions === 1 ? '' : 's'} for you`,
  ]
  return safeLine(parts.filter((part) => part !== '').join(' - '))
}

function doingText(doing: Doing): string {
  switch (doing.kind) {
    case 'command':
      return (
        `${cut(safeLine(doing.subject), subjectCells)} ${clockSpan(doing.for_ms)}` +
        quiet('output', doing.quiet_ms)
      )
    case 'model':
      return `the model answers ${clockSpan(doing.for_ms)}${quiet('word', doing.quiet_ms)}`
    case 'waiting':
      return `waits for ${doing.subject}, ${clockSpan(doing.for_ms)}`
    case 'nothing':
      return ''
  }
}

/** Silence is told in words, and only once it lasts. */
const quiet = (what: string, ms: number | null): string =>
  ms === null || ms < 2_000 ? '' : `, last ${what} ${span(ms)} ago`

/** `18.2k tokens, $0.31`; a part that is not known is left out, never zero. */
export function usageText(usage: Usage | null): string {
  if (usage === null) return ''
  const tokens = tokensOf(usage)
  const parts = [
    tokens === null || tokens === 0 ? '' : `${thousandths(tokens)} tokens`,
    usage.usd === null || usage.usd === 0 ? '' : dollars(usage.usd),
  ]
  return parts.filter((part) => part !== '').join(', ')
}
