/**
 * What is asked for beside the messages, on each wire: effort, the length of an answer, calls as
 * they are written. The server holds each body against the provider's published types.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { startModelServer } from '../../testing/model-server/server.ts'
import { asks, hear } from '../../testing/model-server/client.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import type { Json, JsonObject } from '../../ports/json.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { Effort, ModelRequest, ToolSpec } from '../model.ts'
import { openModel, type ProviderSetting } from '../catalogue/open-model.ts'

const tools: readonly ToolSpec[] = [
  { name: 'Look', description: 'Looks.', input_schema: { type: 'object', properties: {} } },
]
const clock = { now: () => 0, after: () => () => {} }

async function bodyOf(
  t: TestContext,
  id: string,
  more: Partial<ModelRequest>,
  setting: Partial<ProviderSetting> = {},
): Promise<JsonObject> {
  const server = await startModelServer(() => ({ text: 'Yes.' }))
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const kind = id.split('/')[0] as ProviderSetting['kind']
  const providers = { [kind]: { kind, base_url: server.base_url, api_key_env: 'K', ...setting } }
  const settings = {
    providers,
    env: { K: 'test-key' },
    read_file: () => Promise.reject(new Error()),
  }
  const opened = await openModel(id, settings, { clock, fetch: client.fetch })
  assert.ok(opened.ok)
  const { outcome } = await hear(opened.model, asks(id, { tools, ...more }))
  assert.ok(outcome.ok, JSON.stringify(outcome))
  assert.deepEqual(server.violations, [])
  return server.requests[0]?.body ?? {}
}

const picked = (body: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (name in body ? [[name, body[name] as Json]] : [])))

const dropping = {
  type: 'adaptive',
  display: 'summarized',
  block_binding: { prefix_mismatch_behavior: 'drop_block' },
}
const adaptive = { type: 'adaptive', display: 'summarized' }

test('effort is asked for in the words of each model', async (t) => {
  const table: readonly (readonly [string, Effort | null, JsonObject])[] = [
    ['anthropic/claude-opus-5-5', null, { thinking: dropping }],
    [
      'anthropic/claude-opus-5-5',
      'medium',
      { thinking: dropping, output_config: { effort: 'medium' } },
    ],
    [
      'anthropic/claude-sonnet-5-5',
      'none',
      { thinking: dropping, output_config: { effort: 'low' } },
    ],
    [
      'anthropic/claude-opus-4-8',
      'high',
      { thinking: adaptive, output_config: { effort: 'high' } },
    ],
    ['anthropic/claude-opus-4-8', null, {}],
    ['anthropic/claude-haiku-4-5', null, {}],
    ['openai/gpt-5.2', 'medium', { reasoning: { effort: 'medium' } }],
    ['openai/gpt-5.2', null, {}],
    ['openai-compatible/any', 'low', { reasoning_effort: 'low' }],
    ['openai-compatible/any', null, {}],
  ]
  const fields = ['thinking', 'output_config', 'reasoning', 'reasoning_effort']
  for (const [id, effort, expected] of table) {
    const body = await bodyOf(t, id, effort === null ? {} : { effort })
    assert.deepEqual(picked(body, ...fields), expected, `${id} ${effort}`)
    const plain = await bodyOf(t, id, { ...(effort === null ? {} : { effort }), plain: true })
    assert.deepEqual(picked(plain, ...fields), {}, `${id} ${effort}, after a refusal`)
  }
})

test('Google: effort is a level or a budget, and thoughts are shown', async (t) => {
  const table: readonly (readonly [string, Effort | null, Json])[] = [
    ['google/gemini-3-pro-preview', 'low', { thinkingLevel: 'low', includeThoughts: true }],
    ['google/gemini-3-pro-preview', null, { includeThoughts: true }],
    ['google/gemini-2.5-pro', null, { includeThoughts: true }],
    ['google/gemini-2.0-flash', null, null],
  ]
  for (const [id, effort, expected] of table) {
    const body = await bodyOf(t, id, effort === null ? {} : { effort })
    const { thinkingConfig = null } = (body['generationConfig'] ?? {}) as JsonObject
    assert.deepEqual(thinkingConfig, expected, id)
  }
  const budget = await bodyOf(t, 'google/gemini-2.5-flash', { effort: 'high' })
  assert.match(JSON.stringify(budget['generationConfig']), /"thinkingBudget":[1-9]/)
})

test('a model with a budget thinks only where each answer with calls began with a thought', async (t) => {
  const id = 'anthropic/claude-haiku-4-5'
  const call = {
    type: 'tool_call',
    provider_call_id: 'a',
    tool_name: 'Look',
    input_json: '{}',
  } as const
  const provider_metadata = { anthropic: { signature: 'sig' } }
  const thought = { type: 'reasoning', text: 'Hm.', provider_metadata } as const
  const result = {
    call_id: 'a',
    provider_call_id: 'a',
    tool_name: 'Look',
    text: '',
    is_error: false,
  }
  const after = (parts: ModelMessage & { role: 'assistant' }): ModelMessage[] => [
    { role: 'user', content: 'Go.' },
    parts,
    { role: 'tool', results: [{ ...result, text: 'Seen.' }] },
  ]
  const own = after({ role: 'assistant', parts: [thought, call] })
  const foreign = after({ role: 'assistant', parts: [call] })
  const thinks = await bodyOf(t, id, { effort: 'low', messages: own })
  assert.equal((thinks['thinking'] as JsonObject | undefined)?.['type'], 'enabled')
  const silent = await bodyOf(t, id, { effort: 'low', messages: foreign })
  assert.equal(silent['thinking'], undefined)
})

test('the length of an answer is said where it has to be, and where it limits something', async (t) => {
  const table: readonly (readonly [string, number | null, JsonObject])[] = [
    ['anthropic/kimi-k2.5', null, { max_tokens: 32_000 }],
    ['anthropic/kimi-k2.5', 8_000, { max_tokens: 8_000 }],
    ['anthropic/claude-sonnet-4-6', 64_000, { max_tokens: 64_000 }],
    ['openai/gpt-5', 128_000, {}],
    ['openai/gpt-5', 5_000, { max_output_tokens: 5_000 }],
    ['openai/gpt-99', 128_000, { max_output_tokens: 128_000 }],
    ['openai-compatible/any', null, {}],
    ['openai-compatible/any', 8_000, { max_tokens: 8_000 }],
  ]
  for (const [id, max_output_tokens, expected] of table) {
    const body = await bodyOf(t, id, { max_output_tokens })
    assert.deepEqual(picked(body, 'max_tokens', 'max_output_tokens'), expected, id)
  }
})

test('calls as they are written are asked for only where they are known to be taken', async (t) => {
  const id = 'anthropic/claude-opus-4-8'
  const elsewhere = await bodyOf(t, id, {})
  assert.doesNotMatch(JSON.stringify(elsewhere), /eager_input_streaming/)
  const wanted = await bodyOf(t, id, {}, { tool_streaming: true })
  assert.match(JSON.stringify(wanted), /"eager_input_streaming":true/)
})
