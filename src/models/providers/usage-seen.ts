/**
 * What a provider says of its tokens while it answers: some count what they read with the first
 * event, and what they wrote as they go. A whole answer has its usage from the library; this is for
 * one that breaks off before, and takes the four dialects by their own words.
 */
import { modelLimits } from '../limits.ts'
import type { TokenUsage } from '../model.ts'

/** A count of tokens as a provider says it, from `least` up; null: that is no count. */
export function countOf(said: unknown, least: 0 | 1 = 0): number | null {
  if (typeof said !== 'number' || !Number.isSafeInteger(said)) return null
  return said >= least && said <= modelLimits.counted_tokens.value ? said : null
}

/** A sum of dollars in the same way. */
export const dollarsOf = (said: unknown): number | null =>
  typeof said === 'number' && said >= 0 && said <= modelLimits.told_usd.value ? said : null

/** Null: not said. `output_tokens` counts up to that event, and more may come. */
export type PartialUsage = Pick<TokenUsage, 'input_tokens' | 'output_tokens'>

/** The counts in one event as it came; null: it has none. */
export function usageSeen(event: unknown): PartialUsage | null {
  const { usage, usageMetadata, message, response } = fieldsOf(event)
  const found = usage ?? usageMetadata ?? fieldsOf(message)['usage'] ?? fieldsOf(response)['usage']
  const counts = fieldsOf(found)
  // Messages counts what its cache had apart; the others count all that was read.
  const apart = ['cache_read_input_tokens', 'cache_creation_input_tokens']
  const seen = {
    input_tokens: sum(counts, ['input_tokens', 'prompt_tokens', 'promptTokenCount', ...apart]),
    output_tokens: sum(counts, [
      'output_tokens',
      'completion_tokens',
      'candidatesTokenCount',
      'thoughtsTokenCount',
    ]),
  }
  return seen.input_tokens === null && seen.output_tokens === null ? null : seen
}

function sum(counts: Readonly<Record<string, unknown>>, names: readonly string[]): number | null {
  const said = names.flatMap((name) => countOf(counts[name]) ?? [])
  return said.length === 0 ? null : said.reduce((all, count) => all + count, 0)
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
