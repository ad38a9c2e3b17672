import assert from 'node:assert/strict'
import { test } from 'node:test'
import data from './model-data.json' with { type: 'json' }
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
    effort: null,
    request_minutes: null,
    vision: false,
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
  assert.equal(modelFacts('openai/gpt-5', overrides).context_window, 272_000)
  assert.equal(modelFacts('acme/any', overrides).context_window, 8_000)
})

test('what is told of each model fits together', () => {
  for (const model of Object.keys(data.models)) {
    const { context_window, max_output, price, long_price } = modelFacts(model)
    assert.ok(max_output !== null && max_output < context_window, model)
    assert.ok(price !== null && price.output > price.input && price.input > 0, model)
    assert.ok(price.cached_input === null || price.cached_input < price.input, model)
    assert.ok(price.cache_write === null || price.cache_write > price.input, model)
    if (long_price === null) continue
    assert.ok(long_price.above_input_tokens <= context_window, model)
    assert.ok(long_price.input > price.input && long_price.output > price.output, model)
  }
})

test('a model that would not think unless it is asked to is asked to', () => {
  const silent = /opus-4-[678]|sonnet-4-6|gpt-5\.[1-4]/
  for (const model of Object.keys(data.models).filter((id) => silent.test(id))) {
    const { effort } = modelFacts(model)
    assert.ok(effort === 'medium' || effort === 'high', model)
  }
})
