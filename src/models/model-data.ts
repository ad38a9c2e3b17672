/**
 * What is known about models beforehand: window, output limit and price, from our own dated file.
 * Nothing is fetched. Unknown is null, except the window, which needs a number to plan with.
 */
import data from './model-data.json' with { type: 'json' }
import { modelLimits } from './limits.ts'
import type { TokenUsage } from './model.ts'
import type { Effort } from './model.ts'

/** US dollars per million tokens; null cached rates are charged as ordinary input. */
export type Price = {
  input: number
  output: number
  cached_input: number | null
  cache_write: number | null
}

export type LongPrice = Price & { above_input_tokens: number }

export type ModelFacts = {
  /** Tokens. */
  context_window: number
  /** Tokens of one answer. */
  max_output: number | null
  price: Price | null
  /** Instead of `price` for a request with more input than its bound. */
  long_price: LongPrice | null
  /** Minutes of one request; null is the usual limit. */
  request_minutes: number | null
  /** Whether it takes images; of an unknown one nobody knows, so it gets none. */
  vision: boolean
  /** What is asked for; null leaves it to the model. */
  effort: Effort | null
}

/** A user's own entries, by `provider/model`; they replace ours field by field. */
export type ModelOverrides = Readonly<Record<string, Partial<ModelFacts>>>

type Entry = {
  context_window: number
  max_output: number
  price: Price | null
  long_price?: LongPrice
  effort?: Effort
  vision: boolean
}

/** The newest day our data describes, as `YYYY-MM-DD`; how it was collected is in its note. */
export const modelDataAsOf: string = data.as_of

const entries = data.models as Readonly<Record<string, Entry>>

export function modelFacts(model: string, overrides: ModelOverrides = {}): ModelFacts {
  const known = Object.hasOwn(entries, model) ? entries[model] : undefined
  const own = Object.hasOwn(overrides, model) ? overrides[model] : undefined
  return {
    context_window: known?.context_window ?? modelLimits.context_window.value,
    max_output: known?.max_output ?? null,
    price: known?.price ?? null,
    long_price: known?.long_price ?? null,
    effort: known?.effort ?? null,
    request_minutes: null,
    vision: known?.vision ?? false,
    ...own,
  }
}

/**
 * US dollars for one round, or null when the price or a count is not known: never zero for
 * "unknown". Uncached, cached and cache-written input are priced apart; reasoning is output.
 */
export function priceOf(
  usage: TokenUsage,
  model: string,
  overrides: ModelOverrides = {},
): number | null {
  const { price, long_price } = modelFacts(model, overrides)
  const { input_tokens, output_tokens } = usage
  if (input_tokens === null || output_tokens === null) return null
  const rate = long_price && input_tokens > long_price.above_input_tokens ? long_price : price
  if (rate === null) return null

  const cached = usage.cached_input_tokens ?? 0
  const written = usage.cache_write_tokens ?? 0
  const plain = Math.max(0, input_tokens - cached - written)
  const perMillion =
    plain * rate.input +
    cached * (rate.cached_input ?? rate.input) +
    written * (rate.cache_write ?? rate.input) +
    output_tokens * rate.output
  return perMillion / 1_000_000
}
