/**
 * The facts of each model that this program ships, one a line: window, longest answer, effort, dollars
 * per million tokens of input, output, cached input and written cache, and those of long input. Who
 * changes a number changes it here too, and the date and the sources in the data with it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import data from './model-data.json' with { type: 'json' }
import { modelFacts, type Price } from './model-data.ts'

const facts = `
anthropic/claude-opus-5-5 1000000 128000 medium 4/20/0.2/5
anthropic/claude-sonnet-5-5 200000 128000 high 2/10/0.1/2.5
anthropic/claude-haiku-5-5 200000 128000 medium 0.1/0.5/-/- above 100000 0.5/2.5/0.05/0.625
anthropic/claude-fable-5-1 1000000 128000 high 10/50/0.25/12.5
anthropic/claude-fable-5 1000000 128000 high 10/50/1/12.5
anthropic/claude-opus-5 1000000 128000 high 5/25/0.5/6.25
anthropic/claude-sonnet-5 1000000 128000 high 2/10/0.2/2.5
anthropic/claude-opus-4-8 1000000 128000 high 5/25/0.5/6.25
anthropic/claude-opus-4-7 1000000 128000 high 5/25/0.5/6.25
anthropic/claude-opus-4-6 1000000 128000 high 5/25/0.5/6.25
anthropic/claude-sonnet-4-6 1000000 64000 high 3/15/0.3/3.75
anthropic/claude-opus-4-5 200000 64000 - 5/25/0.5/6.25
anthropic/claude-sonnet-4-5 200000 64000 - 3/15/0.3/3.75 above 200000 6/22.5/0.6/7.5
anthropic/claude-haiku-4-5 200000 64000 - 1/5/0.1/1.25
openai/gpt-6-astra 922000 128000 medium 10/50/1/12.5 above 271999 20/75/2/25
openai/gpt-6-sol 922000 128000 medium 2/10/0.2/2.5 above 272000 4/15/0.4/5
openai/gpt-6-luna 922000 128000 medium 0.1/0.5/0.01/0.125 above 272000 0.2/0.75/0.02/0.25
openai/gpt-5.6-sol 922000 128000 medium 4/20/0.4/5 above 271999 8/30/0.8/10
openai/gpt-5.6-terra 922000 128000 medium 2/12/0.2/2.5 above 271999 4/18/0.4/5
openai/gpt-5.6-luna 922000 128000 medium 0.2/1.2/0.02/0.25 above 271999 0.4/1.8/0.04/0.5
openai/gpt-5.5 872000 128000 medium 5/30/0.5/- above 271999 10/45/1/-
openai/gpt-5.4 922000 128000 medium 2.5/15/0.25/- above 271999 5/22.5/0.5/-
openai/gpt-5.4-mini 272000 128000 medium 0.75/4.5/0.075/-
openai/gpt-5.4-nano 272000 128000 medium 0.2/1.25/0.02/-
openai/gpt-5.3-codex 272000 128000 medium 1.75/14/0.175/-
openai/gpt-5.2 272000 128000 medium 1.75/14/0.175/-
openai/gpt-5.1 272000 128000 medium 1.25/10/0.125/-
openai/gpt-5 272000 128000 - 1.25/10/0.125/-
openai/gpt-5-mini 272000 128000 - 0.25/2/0.025/-
openai/gpt-5-nano 272000 128000 - 0.05/0.4/0.005/-
google/gemini-3.8-flash 1000000 65536 - 0.75/3.75/0.075/-
google/gemini-3.7-flash 1000000 65536 - 0.75/3.75/0.075/-
google/gemini-3.6-flash 1000000 65536 - 0.75/3.75/0.075/-
google/gemini-3.5-flash 1000000 65536 - 1.5/9/0.15/-
google/gemini-3.5-flash-lite 1000000 65536 - 0.3/2.5/0.03/-
google/gemini-3.1-pro-preview 1000000 65536 - 2/12/0.2/- above 200000 4/18/0.4/-
google/gemini-3-pro-preview 1000000 65536 - 2/12/0.2/- above 200000 4/18/0.4/-
google/gemini-3-flash-preview 1000000 65536 - 0.5/3/0.05/-
google/gemini-2.5-pro 1048576 65536 - 1.25/10/0.125/- above 200000 2.5/15/0.25/-
google/gemini-2.5-flash 1048576 65536 - 0.3/2.5/0.03/-
google/gemini-2.5-flash-lite 1048576 65536 - 0.1/0.4/0.01/-
`

const known = (value: string | number | null): string => (value === null ? '-' : `${value}`)
const rates = ({ input, output, cached_input, cache_write }: Price): string =>
  [input, output, cached_input, cache_write].map(known).join('/')

function lineOf(model: string): string {
  const { context_window, max_output, effort, price, long_price } = modelFacts(model)
  const long =
    long_price === null ? [] : ['above', long_price.above_input_tokens, rates(long_price)]
  const own = [model, context_window, max_output, effort, price && rates(price)].map(known)
  return [...own, ...long].join(' ')
}

test('window, longest answer, effort and prices of every model are those that were looked up', () => {
  assert.deepEqual(Object.keys(data.models).map(lineOf), facts.trim().split('\n'))
})

test('the data says of which day it is, and where its numbers are from', () => {
  assert.equal(data.as_of, '2026-10-07')
  assert.ok(data.note.includes('up to 2026-10-07'), 'the newest source is dated in the note')
  assert.match(data.note, /published list @pydantic\/genai-prices 0\.1\.8 of 2026-09-23/)
  assert.match(data.note, /None was read from the providers' own pages/)
})
