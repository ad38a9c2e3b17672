import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDataAsOf, modelFacts, priceOf } from './model-data.ts'

const usage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  reasoning_tokens: 50_000,
  cached_input_tokens: null,
  cache_write_tokens: null,
}

test('an unknown model has the default window and no price', () => {
  assert.deepEqual(modelFacts('acme/any'), {
    context_window: 128_000,
    max_output: null,
    price: null,
    long_price: null,
  })
  assert.deepEqual(modelFacts('constructor'), modelFacts('acme/any'))
  assert.match(modelDataAsOf, /^\d{4}-\d\d-\d\d$/)
})

test('what a round costs, in dollars, or null when something is not known', () => {
  const sonnet = 'anthropic/claude-sonnet-4-6'
  const mixed = { ...usage, cached_input_tokens: 600_000, cache_write_tokens: 200_000 }
  const table: readonly (readonly [string, typeof usage | typeof mixed, string, number | null])[] =
    [
      ['plain', usage, sonnet, 3 + 1.5],
      ['cached and written', mixed, sonnet, 0.6 + 0.18 + 0.75 + 1.5],
      ['no write price: as input', mixed, 'openai/gpt-5', 0.25 + 0.075 + 0.25 + 1],
      ['long input', usage, 'google/gemini-2.5-pro', 2.5 + 1.5],
      ['short input', { ...usage, input_tokens: 200_000 }, 'google/gemini-2.5-pro', 0.25 + 1],
      ['nothing', { ...usage, input_tokens: 0, output_tokens: 0 }, sonnet, 0],
      ['unknown model', usage, 'acme/any', null],
    ]
  for (const [name, spent, model, expected] of table) {
    const dollars = priceOf(spent, model)
    assert.equal(dollars?.toFixed(9) ?? null, expected?.toFixed(9) ?? null, name)
  }
  assert.equal(priceOf({ ...usage, output_tokens: null }, sonnet), null)
  assert.equal(priceOf({ ...usage, input_tokens: null }, sonnet), null)
})

test("a user's own entry replaces ours field by field", () => {
  const price = { input: 1, output: 1, cached_input: null, cache_write: null }
  const overrides = { 'openai/gpt-5': { price }, 'acme/any': { context_window: 8_000, price } }
  assert.equal(priceOf(usage, 'openai/gpt-5', overrides), 1.1)
  assert.equal(modelFacts('openai/gpt-5', overrides).context_window, 400_000)
  assert.equal(modelFacts('acme/any', overrides).context_window, 8_000)
})
