/** What a provider says it took for an answer: a sum of dollars, or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModelServer } from '../testing/model-server/server.ts'
import { asks, handClock, hear } from '../testing/model-server/client.ts'
import { keptAliveFetch } from './transport/fetch.ts'
import type { Json } from '../ports/json.ts'
import { openModel } from './catalogue/open-model.ts'

test('a sum of dollars beside the usage is told with the round, and anything else is not', async (t) => {
  const table: [Json | undefined, number | undefined][] = [
    [0.0123, 0.0123],
    [0, 0],
    [1e-7, 1e-7],
    [undefined, undefined],
    [null, undefined],
    [-0.01, undefined],
    [1e308, undefined],
    ['0.0123', undefined],
    [{ total_cost: 0.0123 }, undefined],
    [true, undefined],
  ]
  const costs = table.map(([cost]) => cost)
  const server = await startModelServer(
    ({ n }) => {
      const cost = costs[n - 1]
      return { text: 'Hello.', ...(cost === undefined ? {} : { cost }) }
    },
    { key: null },
  )
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const providers = { router: { kind: 'openai-compatible', base_url: server.base_url } } as const
  const settings = { providers, env: {}, read_file: () => Promise.reject(new Error('ENOENT')) }
  const opened = await openModel('router/any', settings, {
    clock: handClock(),
    fetch: client.fetch,
  })
  assert.ok(opened.ok)
  for (const [cost, told] of table) {
    const { outcome } = await hear(opened.model, asks('router/any'))
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.equal(outcome.round.told_usd, told, JSON.stringify(cost))
    assert.equal('told_usd' in outcome.round, told !== undefined)
    assert.deepEqual(outcome.round.usage, {
      input_tokens: 100,
      output_tokens: 20,
      reasoning_tokens: 5,
      cached_input_tokens: 40,
      cache_write_tokens: null,
    })
  }
})
