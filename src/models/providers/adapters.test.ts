/**
 * Every adapter against the model server, end to end: the same scenario over four wire formats.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { ServerScript } from '../../testing/model-server/server.ts'
import { startModelServer } from '../../testing/model-server/server.ts'
import { adapters, asks, hear, openAdapter } from '../../testing/model-server/client.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { ModelRound, ToolSpec } from '../model.ts'

const tools: readonly ToolSpec[] = [
  {
    name: 'ReadFile',
    description: 'Reads a file.',
    input_schema: {
      type: 'object',
      properties: { path: { type: 'string' }, lines: { type: 'integer' } },
      required: ['path'],
      additionalProperties: false,
    },
  },
]

async function scene(t: TestContext, adapter: (typeof adapters)[number], script: ServerScript) {
  const server = await startModelServer(script)
  const client = keptAliveFetch()
  t.after(async () => {
    client.close()
    await server.close()
  })
  return { server, ...(await openAdapter(adapter, { ...server, fetch: client.fetch })) }
}

const withoutMetadata = (round: ModelRound) =>
  round.parts.map(({ provider_metadata: _, ...part }) => part)

/** The messages after a round whose calls all answered `done <n>`. */
const answered = (round: ModelRound): ModelMessage[] => [
  { role: 'assistant', parts: round.parts },
  {
    role: 'tool',
    results: round.parts
      .filter((part) => part.type === 'tool_call')
      .map((part, at) => ({
        call_id: `call_ours_${at + 1}`,
        provider_call_id: part.provider_call_id,
        tool_name: part.tool_name,
        text: `done ${at + 1}`,
        is_error: at === 1,
      })),
  },
]

for (const adapter of adapters) {
  test(`${adapter.kind}: text arrives whole, with its deltas and its usage`, async (t) => {
    const { model, id, server } = await scene(t, adapter, () => ({ text: 'Grüße, 世界.' }))
    const { outcome, events } = await hear(model, asks(id, { max_output_tokens: 500 }))

    assert(outcome.ok)
    assert.deepEqual(withoutMetadata(outcome.round), [{ type: 'text', text: 'Grüße, 世界.' }])
    assert.equal(outcome.round.finish, 'stop')
    assert.equal(outcome.round.model, id)
    assert.match(outcome.round.response_id ?? '', /_1$/)
    const { cache_write_tokens: _, reasoning_tokens, ...usage } = outcome.round.usage
    assert.deepEqual(usage, { input_tokens: 100, output_tokens: 20, cached_input_tokens: 40 })
    assert.equal(reasoning_tokens, adapter.kind === 'anthropic' ? null : 5)
    const text = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
    assert.equal(text, 'Grüße, 世界.')
    assert.deepEqual(server.violations, [])
  })

  test(`${adapter.kind}: several calls and their results make a second round`, async (t) => {
    const { model, id, server } = await scene(t, adapter, ({ n, last_tool_results }) =>
      n === 1
        ? {
            text: 'Reading.',
            calls: [
              { name: 'ReadFile', input: { path: 'a', lines: 2 } },
              { name: 'ReadFile', input: { path: 'b' } },
            ],
          }
        : { text: last_tool_results.map(({ text }) => text).join(' and ') },
    )
    const first = await hear(model, asks(id, { tools }))
    assert(first.outcome.ok)
    const { round } = first.outcome
    assert.equal(round.finish, 'tool_calls')
    const prefix = adapter.kind === 'anthropic' ? 'toolu' : 'call'
    const call = { type: 'tool_call', tool_name: 'ReadFile' }
    assert.deepEqual(withoutMetadata(round), [
      { type: 'text', text: 'Reading.' },
      { ...call, provider_call_id: `${prefix}_1_1`, input_json: '{"path":"a","lines":2}' },
      { ...call, provider_call_id: `${prefix}_1_2`, input_json: '{"path":"b"}' },
    ])
    const started = first.events.filter((event) => event.type === 'tool_call_started')
    assert.equal(started.length, 2)

    const messages: ModelMessage[] = [{ role: 'user', content: 'Hello.' }, ...answered(round)]
    const second = await hear(model, asks(id, { tools, messages }))
    assert(second.outcome.ok)
    const text = second.outcome.round.parts.map((part) => ('text' in part ? part.text : ''))
    assert.equal(text.join(''), 'done 1 and done 2')
    assert.deepEqual(server.violations, [])
  })

  test(`${adapter.kind}: a thought goes back as it came, with its call`, async (t) => {
    const { model, id, server } = await scene(t, adapter, ({ n }) =>
      n === 1
        ? { reasoning: 'First a.', calls: [{ name: 'ReadFile', input: { path: 'a' } }] }
        : { text: 'Read.' },
    )
    const first = await hear(model, asks(id, { tools }))
    assert(first.outcome.ok)
    const thought = first.outcome.round.parts.find((part) => part.type === 'reasoning')
    assert.equal(thought?.text, 'First a.')
    const deltas = first.events.flatMap((event) =>
      event.type === 'reasoning_delta' ? [event.text] : [],
    )
    assert.equal(deltas.join(''), 'First a.')

    // As after a restart: what was recorded is all there is.
    const recorded = JSON.parse(JSON.stringify(answered(first.outcome.round))) as ModelMessage[]
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hello.' }, ...recorded]
    const second = await hear(model, asks(id, { tools, messages }))
    assert(second.outcome.ok, JSON.stringify(second.outcome))
    assert.deepEqual(server.violations, [])
    const signed = {
      messages: 'sig_1',
      responses: 'enc_1',
      google: 'sig_1',
      chat_completions: 'First a.',
    }
    assert(JSON.stringify(server.requests[1]?.body).includes(signed[adapter.endpoint]))
  })

  test(`${adapter.kind}: an answer cut by length or by policy says so`, async (t) => {
    const finishes = ['length', 'content_filter'] as const
    const { model, id } = await scene(t, adapter, ({ n }) => ({
      text: 'Half',
      finish: finishes[n - 1] ?? 'length',
    }))
    for (const finish of finishes) {
      const { outcome } = await hear(model, asks(id))
      assert(outcome.ok, JSON.stringify(outcome))
      assert.equal(outcome.round.finish, finish)
    }
  })

  test(`${adapter.kind}: an empty answer is a round without parts`, async (t) => {
    const { model, id } = await scene(t, adapter, () => ({}))
    const { outcome } = await hear(model, asks(id))
    assert(outcome.ok, JSON.stringify(outcome))
    assert.deepEqual(outcome.round.parts, [])
  })

  // Google sends arguments as an object, so they cannot be malformed on its wire.
  if (adapter.kind !== 'google') {
    test(`${adapter.kind}: malformed arguments stay verbatim and can be answered`, async (t) => {
      const { model, id, server } = await scene(t, adapter, ({ n }) =>
        n === 1
          ? { calls: [{ name: 'ReadFile', input: { path: 'a' } }], fault: 'broken_json' }
          : { text: 'Sorry.' },
      )
      const first = await hear(model, asks(id, { tools }))
      assert(first.outcome.ok, JSON.stringify(first.outcome))
      const [part] = first.outcome.round.parts
      assert.equal(part?.type === 'tool_call' && part.input_json, '{"path":"a')

      const messages: ModelMessage[] = [
        { role: 'user', content: 'Hello.' },
        ...answered(first.outcome.round),
      ]
      const second = await hear(model, asks(id, { tools, messages }))
      assert(second.outcome.ok, JSON.stringify(second.outcome))
      assert.deepEqual(server.violations, [])
    })
  }

  test(`${adapter.kind}: tool choice none and the request's shape`, async (t) => {
    const { model, id, server } = await scene(t, adapter, () => ({ text: 'Report.' }))
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Hello.' },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Reading.' },
          { type: 'text', text: '  ' },
          {
            type: 'tool_call',
            provider_call_id: 'call_7',
            tool_name: 'ReadFile',
            input_json: '{ "path": "a" }',
          },
        ],
      },
      {
        role: 'tool',
        results: [
          {
            call_id: 'call_ours',
            provider_call_id: 'call_7',
            tool_name: 'ReadFile',
            text: 'no such file',
            is_error: true,
          },
        ],
      },
      { role: 'user', content: 'A note of the runtime.' },
    ]
    const cache_key = 'holon-7f3a9c2e01b4d586'
    const more = {
      tools,
      tool_choice: 'none',
      messages,
      max_output_tokens: 500,
      cache_key,
    } as const
    const request = asks(id, more)
    const { outcome } = await hear(model, request)
    assert(outcome.ok, JSON.stringify(outcome))
    assert.deepEqual(server.violations, [])
    t.assert.snapshot({ path: server.requests[0]?.path, body: server.requests[0]?.body })
  })
}

test('ids that a provider repeats or leaves out do not break a round', async (t) => {
  for (const fault of ['duplicate_ids', 'missing_ids'] as const) {
    for (const adapter of adapters) {
      const { model, id } = await scene(t, adapter, () => ({
        calls: [
          { name: 'ReadFile', input: { path: 'a' } },
          { name: 'ReadFile', input: { path: 'b' } },
        ],
        fault,
      }))
      const { outcome } = await hear(model, asks(id, { tools }))
      assert(outcome.ok, `${adapter.kind} ${fault} ${JSON.stringify(outcome)}`)
      const inputs = outcome.round.parts.map((part) => part.type === 'tool_call' && part.input_json)
      assert.deepEqual(inputs, ['{"path":"a"}', '{"path":"b"}'], `${adapter.kind} ${fault}`)
    }
  }
})

test('a tool schema that is no object at its root is a bug of the caller', async (t) => {
  const [adapter] = adapters
  assert(adapter)
  const { model, id } = await scene(t, adapter, () => ({}))
  for (const input_schema of [{ type: 'string' }, { type: 'object', anyOf: [] }, {}]) {
    const wrong = [{ name: 'Wrong', description: '', input_schema }]
    await assert.rejects(hear(model, asks(id, { tools: wrong })), /must be an object at its root/)
  }
})
