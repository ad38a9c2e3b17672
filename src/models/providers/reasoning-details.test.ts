/** Thoughts that a router wants back: put together, kept, and sent again as they were. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JSONObject, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { startModelServer, type ServerAnswer } from '../../testing/model-server/server.ts'
import { adapters, asks, hear, openAdapter } from '../../testing/model-server/client.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import { modelLimits } from '../limits.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { ModelRound } from '../model.ts'
import { withDetails } from './reasoning-details.ts'

const finish = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: {}, outputTokens: {} },
} as LanguageModelV4StreamPart

const chunk = (delta: unknown): LanguageModelV4StreamPart => ({
  type: 'raw',
  rawValue: { choices: [{ index: 0, delta }] },
})

/** What an answer with these pieces, one a chunk, keeps of them. */
function kept(pieces: readonly unknown[]): unknown {
  const touch = withDetails()
  for (const piece of pieces) touch(chunk({ reasoning_details: [piece] }))
  const [start] = touch(finish)
  if (start?.type !== 'reasoning-start') return []
  return start.providerMetadata?.['openaiCompatible']?.['reasoning_details']
}

const text = (more: JSONObject) => ({ type: 'reasoning.text', ...more })
const summary = (more: JSONObject) => ({ type: 'reasoning.summary', ...more })
const encrypted = (more: JSONObject) => ({ type: 'reasoning.encrypted', ...more })
const format = 'anthropic-claude-v1'

const table: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
  ['nothing', [], []],
  ['no objects', ['a', null, [], 3], []],
  [
    'a text in pieces, signed at its end',
    [
      text({ text: 'A', signature: null, format, index: 0 }),
      text({ text: 'B', index: 0 }),
      text({ text: '', signature: 'sig', format, index: 0 }),
    ],
    [text({ text: 'AB', signature: 'sig', format, index: 0 })],
  ],
  [
    'a signature alone, and what takes nothing back',
    [
      text({ text: 'A', index: 0 }),
      text({ signature: 'sig', format: null, index: 0 }),
      text({ text: null, signature: '', index: 0 }),
    ],
    [text({ text: 'A', index: 0, signature: 'sig', format: null })],
  ],
  [
    'two thoughts, their pieces mixed',
    [
      text({ text: 'A', index: 0 }),
      text({ text: 'C', index: 1 }),
      text({ text: 'B', index: 0 }),
      text({ text: 'D', index: 1 }),
    ],
    [text({ text: 'AB', index: 0 }), text({ text: 'CD', index: 1 })],
  ],
  [
    'a summary and its cipher under one index',
    [
      summary({ summary: 'A', index: 0 }),
      summary({ summary: 'B', index: 0 }),
      encrypted({ data: 'x', id: 'rs_1', index: 0 }),
      encrypted({ data: 'y', index: 0 }),
    ],
    [summary({ summary: 'AB', index: 0 }), encrypted({ data: 'xy', id: 'rs_1', index: 0 })],
  ],
  [
    'ciphers of two calls under one index',
    [
      encrypted({ data: 'x', id: 'call_1', index: 0 }),
      encrypted({ data: 'y', id: 'call_2', index: 0 }),
    ],
    [
      encrypted({ data: 'x', id: 'call_1', index: 0 }),
      encrypted({ data: 'y', id: 'call_2', index: 0 }),
    ],
  ],
  [
    'no index: a thought goes on until it is signed',
    [
      text({ text: 'A' }),
      text({ text: 'B' }),
      text({ signature: 'one' }),
      text({ text: 'C' }),
      encrypted({ data: 'x' }),
      encrypted({ data: 'y' }),
      text({ text: 'D' }),
    ],
    [
      text({ text: 'AB', signature: 'one' }),
      text({ text: 'C' }),
      encrypted({ data: 'x' }),
      encrypted({ data: 'y' }),
      text({ text: 'D' }),
    ],
  ],
  [
    'a type and fields that nobody knows',
    [{ type: 'reasoning.new', index: 0, deep: { of: [1, null] } }],
    [{ type: 'reasoning.new', index: 0, deep: { of: [1, null] } }],
  ],
]

test('the pieces of a detail are one again, in the order in which they began', () => {
  for (const [name, pieces, expected] of table) assert.deepEqual(kept(pieces), expected, name)
})

test('a chunk of another shape is no detail', () => {
  const touch = withDetails()
  const odd = [null, 'a', { choices: {} }, { choices: [null] }, { choices: [{ delta: [] }] }]
  for (const rawValue of odd) touch({ type: 'raw', rawValue })
  for (const reasoning_details of [null, 'a', {}]) touch(chunk({ reasoning_details }))
  assert.deepEqual(touch(finish), [finish])
})

test('more than the limit is not kept, and nothing of it', () => {
  const { value } = modelLimits.reasoning_details
  const empty = JSON.stringify(text({ text: '', index: 0 })).length
  const most = text({ text: 'x'.repeat(value - empty), index: 0 })
  assert.deepEqual(kept([most]), [most])
  const more = text({ text: 'x', index: 0 })
  assert.deepEqual(kept([most, more]), [])
  assert.deepEqual(kept([most, more, more]), [], 'nor what comes after')
})

const [adapter] = adapters
assert.ok(adapter)
const chat = adapter
assert.equal(chat.endpoint, 'chat_completions')
const tools = [{ name: 'Look', description: 'Looks.', input_schema: { type: 'object' } }]
const look = { name: 'Look', input: {} }

/** A first answer, recorded and read again, and the body of the request that has it. */
async function back(t: TestContext, first: ServerAnswer) {
  const server = await startModelServer(({ n }) => (n === 1 ? first : { text: 'Done.' }))
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const { model, id } = await openAdapter(chat, { ...server, fetch: client.fetch })
  const { outcome } = await hear(model, asks(id, { tools }))
  assert(outcome.ok, JSON.stringify(outcome))
  const { parts } = JSON.parse(JSON.stringify(outcome.round)) as ModelRound
  const results = parts.flatMap((part) =>
    part.type !== 'tool_call'
      ? []
      : { ...part, call_id: 'c', text: 'seen', is_error: false, type: undefined },
  )
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', parts },
    results.length > 0 ? { role: 'tool', results } : { role: 'user', content: 'Go on.' },
  ]
  const second = await hear(model, asks(id, { tools, messages }))
  assert(second.outcome.ok, JSON.stringify(second.outcome))
  const sent = server.requests[1]?.body['messages']
  assert(Array.isArray(sent))
  return { parts, sent: sent[2] as Record<string, unknown> }
}

const all = [
  { reasoning: 'One.' },
  { reasoning: 'Two.', summary: true },
  { reasoning: 'Three.', hidden: true },
] as const

for (const [what, more] of [
  ['with calls', [{ text: 'So.' }, look, look]],
  ['without calls', [{ text: 'So.' }]],
  ['with a call alone', [look]],
] as const) {
  test(`details of every type go back byte by byte, ${what}`, async (t) => {
    const { sent } = await back(t, { routed: true, parts: [...all, ...more] })
    assert.equal(
      JSON.stringify(sent['reasoning_details']),
      JSON.stringify([
        text({ text: 'One.', signature: 'sig_1_1', format, index: 0 }),
        summary({ summary: 'Two.', format, index: 1 }),
        encrypted({ data: 'sig_1_3', id: 'rs_1', format, index: 2 }),
      ]),
    )
    assert.equal(sent['reasoning_content'], undefined, 'no thought goes back twice')
  })
}

test('a cipher alone goes back too, with no thought to show', async (t) => {
  const parts = [{ reasoning: 'Hm.', hidden: true } as const, look]
  const { parts: recorded, sent } = await back(t, { routed: true, parts })
  const thoughts = recorded.flatMap((part) => (part.type === 'reasoning' ? part.text : []))
  assert.deepEqual(thoughts, [''])
  assert.match(JSON.stringify(sent['reasoning_details']), /^\[\{"type":"reasoning.encrypted"/)
})

test('without details the plain thoughts go back', async (t) => {
  const { sent } = await back(t, { parts: [{ reasoning: 'One.' }, look] })
  assert.deepEqual([sent['reasoning_details'], sent['reasoning_content']], [undefined, 'One.'])
})

test('details past the limit: the plain thoughts go back in their place', async (t) => {
  const reasoning = 'x'.repeat(modelLimits.reasoning_details.value)
  const { sent } = await back(t, { routed: true, parts: [{ reasoning }, look] })
  assert.equal(sent['reasoning_details'], undefined)
  assert.equal(sent['reasoning_content'], reasoning)
})
