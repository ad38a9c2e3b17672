/** The common path over a library's model: what counts as a sign of life. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { asks, handClock } from '../../testing/model-server/client.ts'
import { adaptedModel } from './ai-sdk.ts'
import { modelLimits } from '../limits.ts'

/** A provider that begins to answer, and then is only kept open by what stands in between. */
function keptOpenBy(part: LanguageModelV4StreamPart) {
  const clock = handClock()
  const begins: LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Half a sen' },
  ]
  let frames = 0
  const doStream = async () => ({
    stream: new ReadableStream<LanguageModelV4StreamPart>({
      pull(controller) {
        const next = begins.shift()
        if (next) return controller.enqueue(next)
        if (frames === 100) return controller.close()
        frames += 1
        clock.advance(modelLimits.stream_idle.value / 10)
        controller.enqueue(part)
      },
    }),
  })
  const language_model = { doStream } as unknown as LanguageModelV4
  const model = adaptedModel({ provider: 'test', language_model, secrets: [] }, { clock })
  const { signal } = new AbortController()
  return model.request(asks('test/model'), { signal })
}

for (const part of [
  { type: 'raw', rawValue: ': keep-alive' },
  { type: 'ping' },
] as LanguageModelV4StreamPart[]) {
  test(`a provider that sends nothing but ${part.type} frames has gone silent`, async () => {
    const outcome = await keptOpenBy(part)
    assert.deepEqual([outcome.ok, !outcome.ok && outcome.fault.code], [false, 'stream_hung'])
  })
}

test('an answer of a word every twelve seconds has fewer than 20 tokens in two minutes', async () => {
  const outcome = await keptOpenBy({ type: 'text-delta', id: 't', delta: '.' })
  assert.ok(!outcome.ok)
  assert.equal(outcome.fault.code, 'stream_hung')
  assert.equal(outcome.fault.message, 'test sent fewer than 20 tokens in 120 seconds.')
})

test('an answer that goes on slowly is alive, and is judged by its end', async () => {
  const outcome = await keptOpenBy({ type: 'text-delta', id: 't', delta: 'some words of it ' })
  assert.deepEqual([outcome.ok, !outcome.ok && outcome.fault.code], [false, 'stream_broken'])
})

test('a request without tools names none, and no choice among them', async () => {
  const fields = async (more: Parameters<typeof asks>[1]) => {
    let sent: object = {}
    const doStream = async (call: object) => {
      sent = call
      return { stream: new ReadableStream({ start: (it) => it.close() }) }
    }
    const language_model = { doStream } as unknown as LanguageModelV4
    const ports = { clock: handClock() }
    const model = adaptedModel({ provider: 'test', language_model, secrets: [] }, ports)
    await model.request(asks('test/model', more), { signal: new AbortController().signal })
    return ['tools', 'toolChoice'].filter((name) => name in sent)
  }
  const tool = { name: 'Look', description: 'Looks.', input_schema: { type: 'object' } } as const
  assert.deepEqual(
    [await fields({ tools: [] }), await fields({ tools: [tool] })],
    [[], ['tools', 'toolChoice']],
  )
})
