import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelMessage } from '../ports/model-message.ts'
import { asks, hear } from './model-server/client.ts'
import { calls, fails, says, scriptedModel } from './scripted-model.ts'

test('a script answers request by request, and every request is kept as it was sent', async () => {
  const fault = fails({ kind: 'world', code: 'overloaded' })
  const model = scriptedModel((_, n) => (n === 1 ? says('One.') : fault))
  const messages: ModelMessage[] = [{ role: 'user', content: 'Hello.' }]
  const request = asks('scripted/model', { messages })
  const first = await hear(model, request)
  messages.push({ role: 'user', content: 'More.' })
  const second = await hear(model, request)
  assert(first.outcome.ok)
  assert.deepEqual(first.outcome.round, { ...says('One.'), model: 'scripted/model' })
  assert.deepEqual(first.events, [{ type: 'text_delta', text: 'One.' }])
  assert.deepEqual(second, { outcome: { ok: false, fault }, events: [] })
  assert.deepEqual(
    model.requests.map((kept) => kept.messages.length),
    [1, 2],
  )
})

test('call ids are made up per request, kept when given, and empty when asked for', async () => {
  const round = calls(
    'Going.',
    { name: 'Go', input: { to: 'a' } },
    { name: 'Go', id: 'mine', input: {} },
    { name: 'Go', id: '', input_json: '{"to' },
  )
  const model = scriptedModel(() => round)
  await hear(model, asks('scripted/model'))
  const { outcome } = await hear(model, asks('scripted/model'))
  assert(outcome.ok)
  const call = { type: 'tool_call', tool_name: 'Go' }
  assert.deepEqual(outcome.round.parts, [
    { type: 'text', text: 'Going.' },
    { ...call, provider_call_id: 'call_2_2', input_json: '{"to":"a"}' },
    { ...call, provider_call_id: 'mine', input_json: '{}' },
    { ...call, provider_call_id: '', input_json: '{"to' },
  ])
})

test('a hanging answer ends with the abort', async () => {
  const abort = new AbortController()
  const heard = hear(
    scriptedModel(() => 'hang'),
    asks('scripted/model'),
    abort.signal,
  )
  abort.abort()
  const { outcome } = await heard
  assert.equal(!outcome.ok && outcome.fault.kind, 'aborted')
})
