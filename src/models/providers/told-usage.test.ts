/**
 * What a provider says of its tokens is a count, or is nothing: on each wire, whole and broken off.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModelServer } from '../../testing/model-server/server.ts'
import { adapters, asks, hear, openAdapter } from '../../testing/model-server/client.ts'
import type { ServerUsage } from '../../testing/model-server/wire.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import { modelLimits } from '../limits.ts'
import type { Json } from '../../ports/json.ts'
import type { TokenUsage } from '../model.ts'
import { RoundBuilder } from './round.ts'

const least = modelLimits.counted_tokens.value
const noCounts = [-1, -1e15, 0.5, -0.5, 1e300, 2 ** 53, least + 1]

const told: ServerUsage = {
  input_tokens: 100,
  output_tokens: 20,
  reasoning_tokens: 5,
  cached_input_tokens: 40,
}

/** Whole, not below nothing, and small enough to be summed. */
function isCounted(usage: TokenUsage, what: string): void {
  for (const [name, count] of Object.entries(usage)) {
    const is = count === null || (Number.isInteger(count) && count >= 0 && count <= 3 * least)
    assert.ok(is, `${what}: ${name} is ${count}`)
  }
}

test('what no count can be is none, in each place of each wire, whole and broken off', async (t) => {
  const client = keptAliveFetch()
  t.after(() => client.close())
  const names = Object.keys(told) as (keyof ServerUsage)[]
  const cases = noCounts.flatMap((count) =>
    [...names.map((name) => [name]), names].map((set) => ({
      usage: { ...told, ...Object.fromEntries(set.map((name) => [name, count])) },
      what: `${set.join(', ')} ${count}`,
    })),
  )
  for (const adapter of adapters) {
    for (const cut of [null, 1, 2, 3, 4, 5, 6, 7]) {
      const server = await startModelServer(({ n }) => ({
        text: 'Hello.',
        usage: cases[n - 1]?.usage ?? told,
        ...(cut === null ? {} : { fault: { kind: 'cut', events: cut } as const }),
      }))
      const { base_url } = server
      const { model, id } = await openAdapter(adapter, { base_url, fetch: client.fetch })
      for (const { what } of cases) {
        const { outcome } = await hear(model, asks(id))
        const where = `${adapter.endpoint}, ${cut ?? 'whole'}, ${what}`
        if (cut === null) assert.ok(outcome.ok, where)
        const usage = outcome.ok ? outcome.round.usage : (outcome.cut?.usage ?? null)
        if (usage !== null) isCounted(usage, where)
        if (!outcome.ok) assert.ok(Number.isInteger(outcome.cut?.output_so_far ?? 0), where)
      }
      await server.close()
    }
  }
})

test('what was written to a cache is told by Chat Completions, too, where it is a count', async (t) => {
  const table: [Json | undefined, number | null][] = [
    [30, 30],
    [0, 0],
    [undefined, null],
    [null, null],
    [-1, null],
    [0.5, null],
    ['30', null],
    [{}, null],
  ]
  const server = await startModelServer(({ n }) => {
    const written = table[n - 1]?.[0]
    return { text: 'Hello.', ...(written === undefined ? {} : { cache_write: written }) }
  })
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const chat = adapters.find(({ endpoint }) => endpoint === 'chat_completions')
  assert.ok(chat)
  const { model, id } = await openAdapter(chat, { base_url: server.base_url, fetch: client.fetch })
  for (const [said, told] of table) {
    const { outcome } = await hear(model, asks(id))
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.equal(outcome.round.usage.cache_write_tokens, told, JSON.stringify(said))
  }
})

test('a provider that says it read nothing, or infinitely much, has not counted', () => {
  for (const total of [0, -0, Infinity, -Infinity, NaN, undefined]) {
    const builder = new RoundBuilder('any')
    const none = { noCache: undefined, cacheRead: total, cacheWrite: total }
    builder.take({
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total, ...none },
        outputTokens: { total: 0, text: undefined, reasoning: total },
      },
    })
    const ending = builder.end()
    assert.ok(ending.ok)
    const { input_tokens, output_tokens } = ending.round.usage
    assert.deepEqual([input_tokens, output_tokens], [null, 0], `${total}`)
    isCounted(ending.round.usage, `${total}`)
  }
})
