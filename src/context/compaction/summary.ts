/**
 * The summary that a model may write at a compaction (docs/spec/context.md#compaction): what it is
 * given to read, what of its answer is taken, and how that stands beneath the recap, quoted and
 * marked as no authority. Pure; whether it is asked at all, and what it costs, is decided by the
 * runtime.
 */
import type { Call } from '../../domain/state/call.ts'
import { withShortIds, type Short } from '../../domain/state/short-id.ts'
import type { AssistantPart, Finish } from '../../domain/state/turn.ts'
import { roundText } from '../../domain/state/turn.ts'
import { openingOf, type Compacted, type CompactionView } from './compact.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block, outsideBlocks } from '../fence.ts'
import { callLine } from '../sections/history.ts'
import { contextLimits } from '../limits.ts'
import type { Projected } from '../message.ts'
import { counted } from '../phrase.ts'
import { maskedFor } from '../sections/recap.ts'
import { renderResult } from '../result.ts'
import { fenceOf } from '../sections/rounds.ts'
import type { RoundView } from '../sections/situation.ts'
import { template } from '../template.ts'

/** What became of it; `why` goes on in "no summary: …". */
export type Summary =
  | { kind: 'written'; model: string; text: string }
  | { kind: 'none'; why: string }

/** Tokens of a summary in a request of this window. */
export const summaryTokens = (window: number): number =>
  Math.min(contextLimits.summary.value, Math.floor(window * contextLimits.summary_share.value))

/** What the model is told. A word is a token and a third, and some room is left. */
export const summarySystem = (max_tokens: number): string =>
  template('summary', 'system', { words: String(Math.floor(max_tokens / 2)) })

export type SourceView = {
  tokens: TokenEstimator
  max_tokens: number
  fence: string
  /** Ids as they are shown; without it whole. */
  short?: Short
}

/** The rounds as one quoted block of at most `max_tokens`, oldest first; the newest are kept. */
export function summarySource(
  rounds: readonly RoundView[],
  { tokens, max_tokens, fence, short = (id) => id }: SourceView,
): string {
  const texts: string[] = []
  let left = max_tokens - markTokens
  for (const round of rounds.toReversed()) {
    const text = sourceOf(round, tokens, short)
    const cost = tokens(text) + 1
    if (cost > left) break
    left -= cost
    texts.unshift(text)
  }
  const missing = rounds.length - texts.length
  const older = missing === 0 ? '' : `, without ${counted(missing, 'older round')}`
  const label = `record of ${counted(texts.length, 'round')}, oldest first${older}`
  return block(fence, label, texts.join('\n\n'))
}

/** The marks around the record. */
const markTokens = 80

function sourceOf({ round, calls }: RoundView, tokens: TokenEstimator, short: Short): string {
  const told = (line: string): string => withShortIds(line, short)
  const text = roundText(round)
  return [
    `Round ${round.n}`,
    ...round.notes.map((note) => `It was told: ${outsideBlocks(note, told)}`),
    ...(text === '' ? [] : [`It said: ${text}`]),
    ...calls.flatMap((call) => [
      told(`It called ${callLine(call, contextLimits.arguments.value)}`),
      resultText(call, tokens, short),
    ]),
  ].join('\n')
}

const resultText = (call: Call, estimate: TokenEstimator, short: Short): string =>
  call.result === null
    ? 'No result was recorded.'
    : renderResult(call.result, {
        max_tokens: contextLimits.summary_part.value,
        full_path: null,
        estimate,
        fence: fenceOf(call),
        short,
      })

/** An answer, judged: whole words within the limit, or why it is not taken. Nothing is cut. */
export function summaryOf(
  answer: { parts: readonly AssistantPart[]; finish: Finish; model: string },
  { tokens, max_tokens }: { tokens: TokenEstimator; max_tokens: number },
): Summary {
  const text = roundText(answer)
  const none = (why: string): Summary => ({ kind: 'none', why })
  if (answer.parts.some(({ type }) => type === 'tool_call')) return none('it called a tool')
  switch (answer.finish) {
    case 'length':
      return none('it was cut off at the output limit')
    case 'content_filter':
      return none('the provider withheld it')
    case 'unreadable_call':
      return none('it called a tool')
    case 'tool_calls':
    case 'stop':
    case 'other':
  }
  if (text === '') return none('it was empty')
  if (tokens(text) > max_tokens) return none(`it was longer than ${max_tokens} tokens`)
  return { kind: 'written', model: answer.model, text }
}

/** The opening of a compaction with the summary beneath its recap, or with why there is none. */
export function withSummary(
  made: Compacted,
  rounds: readonly RoundView[],
  view: CompactionView,
  summary: Summary,
): Projected {
  const gone = rounds.slice(0, made.recapped)
  const sections = made.sections.map((one) => {
    if (one.section !== 'recap') return one
    if (summary.kind === 'none') return { ...one, why: `${one.why}; no summary: ${summary.why}` }
    const { model } = summary
    const said = maskedFor(gone, summary.text, view.short ?? ((id) => id))
    const label = `summary of rounds 1 to ${made.recapped}`
    const quoted = block(`${view.random_fence}s`, label, said)
    const text = `${one.text}\n\n${template('summary', 'beneath', { model })}\n\n${quoted}`
    return { ...one, text, why: `${one.why}; a summary by ${model} beneath` }
  })
  return openingOf(view, sections, made.opening)
}
