/**
 * What a provider says of its tokens while it answers: some count what they read with the first
 * event, and what they wrote as they go. A whole answer has its usage from the library; this is for
 * one that breaks off before, and takes the four dialects by their own words.
 */
import type { Usage } from './model.ts'

/** Null: not said. `output_tokens` counts up to that event, and more may come. */
export type Seen = Pick<Usage, 'input_tokens' | 'output_tokens'>

/** The counts in one event as it came; null: it has none. */
export function usageSeen(event: unknown): Seen | null {
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
  const said = names.map((name) => counts[name]).filter((count) => typeof count === 'number')
  return said.length === 0 ? null : said.reduce((all, count) => all + count, 0)
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
