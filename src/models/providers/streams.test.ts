/**
 * What can go wrong between the request and the last byte, over every wire format: errors before
 * and inside the stream, silence, broken connections, aborts, and bytes in any pieces.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { ServerAnswer, ServerFault } from '../../testing/model-server/server.ts'
import { startModelServer, wires } from '../../testing/model-server/server.ts'
import { adapters, asks, handClock, hear, openAdapter } from '../../testing/model-server/client.ts'
import { defaultUsage } from '../../testing/model-server/wire.ts'
import type { FetchFunction } from '../transport/fetch.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import { PlainHeaders, PlainResponse } from '../transport/fetch-response.ts'
import { modelLimits } from '../limits.ts'
import type { ModelEvent, ModelFault, ModelOutcome } from '../model.ts'

type Adapter = (typeof adapters)[number]

async function scene(t: TestContext, adapter: Adapter, answer: ServerAnswer, key?: string) {
  const server = await startModelServer(() => answer)
  const client = keptAliveFetch()
  const clock = handClock()
  t.after(async () => {
    client.close()
    await server.close()
  })
  const opening = { ...server, fetch: client.fetch, clock, ...(key !== undefined && { key }) }
  return { server, clock, ...(await openAdapter(adapter, opening)) }
}

const faultIn = (outcome: ModelOutcome): Omit<ModelFault, 'message'> | 'a round' => {
  if (outcome.ok) return 'a round'
  const { message: _, ...fault } = outcome.fault
  return fault
}

const world = (code: ModelFault['code'], more: Partial<ModelFault> = {}) => ({
  kind: 'world',
  code,
  status: null,
  retry_after_ms: null,
  retryable: true,
  ...more,
})
const setup = (code: ModelFault['code'], status: number) => ({
  ...world(code, { status, retryable: false }),
  kind: 'setup',
})
const refused = (code: ModelFault['code'], status: number) => ({
  ...world(code, { status, retryable: false }),
  kind: 'refused',
})

const status = (
  code: number,
  more: Partial<Extract<ServerFault, { kind: 'status' }>> = {},
): ServerFault => ({
  kind: 'status',
  status: code,
  ...more,
})

const httpDate = 'Sat, 21 Nov 2026 00:00:30 GMT'

/** What comes back for what the server does, the same on every wire. */
const table: readonly (readonly [string, ServerFault, object])[] = [
  ['400', status(400), refused('bad_request', 400)],
  ['401', status(401), setup('unauthorized', 401)],
  ['402', status(402), world('quota', { status: 402, retryable: false })],
  ['403', status(403), setup('unauthorized', 403)],
  ['404', status(404), setup('unknown_model', 404)],
  ['307', status(307), setup('redirected', 307)],
  ['408', status(408), world('timeout', { status: 408 })],
  ['409', status(409), world('conflict', { status: 409 })],
  ['413', status(413), refused('context_length', 413)],
  ['425', status(425), world('timeout', { status: 425 })],
  ['422', status(422), refused('bad_request', 422)],
  ['429', status(429), world('rate_limited', { status: 429 })],
  [
    '429 with seconds',
    status(429, { retry_after: '7' }),
    world('rate_limited', { status: 429, retry_after_ms: 7_000 }),
  ],
  [
    '429 with a date',
    status(429, { retry_after: httpDate }),
    world('rate_limited', { status: 429, retry_after_ms: 30_000 }),
  ],
  [
    '429 without credit',
    status(429, { code: 'insufficient_quota' }),
    world('quota', { status: 429, retryable: false }),
  ],
  [
    '400 without credit',
    status(400, { message: 'Your credit balance is too low.' }),
    world('quota', { status: 400, retryable: false }),
  ],
  [
    '400 too long',
    status(400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' }),
    refused('context_length', 400),
  ],
  ['400 by policy', status(400, { code: 'content_policy_violation' }), refused('policy', 400)],
  ['500', status(500), world('server_error', { status: 500 })],
  ['502', status(502), world('server_error', { status: 502 })],
  ['503', status(503), world('overloaded', { status: 503 })],
  ['529', status(529), world('overloaded', { status: 529 })],
  ['a clean end in the middle', 'truncate', world('stream_broken')],
  ['a broken connection', 'reset', world('stream_broken')],
  ['a frame that is no JSON', 'garbage', world('stream_broken')],
]

for (const adapter of adapters) {
  test(`${adapter.kind}: each failure has its kind, code and patience`, async (t) => {
    for (const [name, fault, expected] of table) {
      const { model, id, server } = await scene(t, adapter, { text: 'Half an answer.', fault })
      const { outcome } = await hear(model, asks(id))
      assert.deepEqual(faultIn(outcome), expected, `${adapter.kind}: ${name}`)
      assert.equal(server.requests.length, 1, 'the library must not repeat by itself')
    }
  })

  test(`${adapter.kind}: an error inside a stream is a fault, never half a round`, async (t) => {
    const answer: ServerAnswer = { text: 'Half an answer.', fault: 'error_in_stream' }
    const { model, id } = await scene(t, adapter, answer)
    const { outcome } = await hear(model, asks(id))
    assert(!outcome.ok)
    const { kind, code, retryable } = outcome.fault
    assert.deepEqual(
      { kind, code, retryable },
      { kind: 'world', code: 'overloaded', retryable: true },
    )
  })

  test(`${adapter.kind}: a wrong key is named as such and never quoted`, async (t) => {
    const { model, id } = await scene(t, adapter, {}, 'wrong-secret-key')
    const { outcome } = await hear(model, asks(id))
    assert.deepEqual(faultIn(outcome), setup('unauthorized', 401))
    assert(!outcome.ok)
    assert(!outcome.fault.message.includes('wrong-secret'), outcome.fault.message)
  })

  test(`${adapter.kind}: nobody listening is the world's fault`, async (t) => {
    const { server, model, id } = await scene(t, adapter, {})
    await server.close()
    const { outcome } = await hear(model, asks(id))
    assert.deepEqual(faultIn(outcome), world('network'))
  })

  test(`${adapter.kind}: an abort before sending sends nothing`, async (t) => {
    const { model, id, server } = await scene(t, adapter, { text: 'Hello.' })
    const { outcome, events } = await hear(model, asks(id), AbortSignal.abort())
    assert.equal(!outcome.ok && outcome.fault.kind, 'aborted')
    assert.deepEqual(events, [])
    assert.equal(server.requests.length, 0)
  })

  for (const fault of ['hang', 'hang_before_answer'] as const) {
    test(`${adapter.kind}: an abort ends a request at once (${fault})`, async (t) => {
      const { model, id, server, clock } = await scene(t, adapter, { text: 'Half.', fault })
      const abort = new AbortController()
      const events: ModelEvent[] = []
      const on_event = (event: ModelEvent) => events.push(event)
      const request = model.request(asks(id), { signal: abort.signal, on_event })
      await until(() => server.requests.length === 1 && (fault !== 'hang' || events.length > 0))
      abort.abort()
      const outcome = await request
      assert.equal(!outcome.ok && outcome.fault.code, 'aborted')
      assert.equal(clock.pending(), 0)
      const heard = events.length
      await new Promise(setImmediate)
      assert.equal(events.length, heard, 'no event after the outcome')
    })

    test(`${adapter.kind}: silence ends as a hung stream (${fault})`, async (t) => {
      const { model, id, server, clock } = await scene(t, adapter, { text: 'Half.', fault })
      const events: ModelEvent[] = []
      const { signal } = new AbortController()
      const on_event = (event: ModelEvent) => events.push(event)
      const heard = model.request(asks(id), { signal, on_event })
      await until(() => server.requests.length === 1)
      const before = fault === 'hang_before_answer'
      if (!before) await until(() => events.length > 1)
      const patience = before ? modelLimits.first_event_local : modelLimits.stream_idle
      clock.advance(patience.value - 1)
      assert.equal(clock.pending(), 1, 'not yet')
      clock.advance(1)
      const outcome = await heard
      assert.deepEqual(faultIn(outcome), world('stream_hung'))
      assert.equal(clock.pending(), 0)
    })
  }
}

test('an open thought may be silent for longer, but not for ever', async (t) => {
  const adapter = adapters.find(({ kind }) => kind === 'anthropic')
  assert(adapter)
  // Half of this answer's frames end inside the thought.
  const answer: ServerAnswer = { reasoning: 'A long thought.', fault: 'hang' }
  const { model, id, clock } = await scene(t, adapter, answer)
  const events: ModelEvent[] = []
  const { signal } = new AbortController()
  let ended = false
  const request = model.request(asks(id), { signal, on_event: (event) => events.push(event) })
  const heard = request.finally(() => (ended = true))
  await until(() => events.some(({ type }) => type === 'reasoning_delta'))

  clock.advance(modelLimits.thinking_idle.value - 1)
  await new Promise(setImmediate)
  assert.equal(ended, false)
  clock.advance(1)
  assert.deepEqual(faultIn(await heard), world('stream_hung'))
})

test('a slow stream that keeps talking never counts as hung', async (t) => {
  const [adapter] = adapters
  assert(adapter)
  const { model, id, clock } = await scene(t, adapter, { text: 'A long word. '.repeat(20) })
  const { signal } = new AbortController()
  const outcome = await model.request(asks(id), {
    signal,
    on_event: ({ type }) => {
      if (type === 'text_delta') clock.advance(modelLimits.stream_idle.value - 1)
    },
  })
  assert.equal(outcome.ok, true)
})

function framesOf(adapter: Adapter, answer: ServerAnswer): readonly string[] {
  const wire = wires.find(({ endpoint }) => endpoint === adapter.endpoint)
  assert(wire)
  return wire.frames({ n: 1, model: 'm', answer, usage: defaultUsage })
}

/** The whole answer of a wire as bytes, handed out in the pieces that `cut` makes of it. */
const replay = (
  adapter: Adapter,
  answer: ServerAnswer,
  cut: (bytes: Buffer) => Buffer[],
): FetchFunction => handOut(cut(Buffer.from(framesOf(adapter, answer).join(''))))

function handOut(pieces: readonly Buffer[]): FetchFunction {
  const headers = new PlainHeaders({ 'content-type': 'text/event-stream' })
  const fetch = async () => {
    const rest = pieces.values()
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = rest.next()
        if (next.done) controller.close()
        else controller.enqueue(new Uint8Array(next.value))
      },
    })
    return new PlainResponse({
      url: 'http://replay',
      status: 200,
      status_text: 'OK',
      headers,
      body,
    })
  }
  return fetch as unknown as FetchFunction
}

const piecesOf = (size: number) => (bytes: Buffer) => {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

for (const adapter of adapters) {
  test(`${adapter.kind}: bytes in any pieces make the same round`, async () => {
    const answer: ServerAnswer = {
      text: 'Grüße an 世界 🌍.',
      calls: [{ name: 'Say', input: { words: 'naïve 🌍' } }],
      ...(adapter.kind !== 'openai-compatible' && { reasoning: 'Überlegt.' }),
    }
    const sent = async (cut: (bytes: Buffer) => Buffer[]) => {
      const fetch = replay(adapter, answer, cut)
      const { model, id } = await openAdapter(adapter, { base_url: 'http://replay/v1', fetch })
      const { outcome } = await hear(model, asks(id))
      return outcome
    }
    const whole = await sent((bytes) => [bytes])
    assert(whole.ok)
    for (let size = 1; size <= 24; size++) {
      assert.deepEqual(await sent(piecesOf(size)), whole, `pieces of ${size}`)
    }
  })
}

const charsIn = (events: readonly ModelEvent[]): number =>
  events.reduce((sum, event) => {
    switch (event.type) {
      case 'text_delta':
      case 'reasoning_delta':
        return sum + event.text.length
      case 'tool_call_started':
        return sum + event.tool_name.length
      case 'alive':
        return sum
    }
  }, 0)

for (const adapter of adapters) {
  test(`${adapter.kind}: an answer cut after any frame says how much had come`, async () => {
    const input = { words: 'to be said in full' }
    const answer: ServerAnswer = {
      text: 'A text that is streamed in some pieces.',
      calls: [{ name: 'Say', input }],
      ...(adapter.kind !== 'openai-compatible' && { reasoning: 'A thought.' }),
    }
    const frames = framesOf(adapter, answer)
    let [cuts, most] = [0, 0]
    for (let upTo = 0; upTo <= frames.length; upTo++) {
      const fetch = handOut([Buffer.from(frames.slice(0, upTo).join(''))])
      const { model, id } = await openAdapter(adapter, { base_url: 'http://replay/v1', fetch })
      const { outcome, events } = await hear(model, asks(id))
      if (outcome.ok) continue
      const heard = charsIn(events)
      const about = `after ${upTo} of ${frames.length} frames`
      if (heard > 0) assert.ok(outcome.cut, `${about} ${heard} characters are forgotten`)
      if (outcome.cut === undefined) continue
      cuts += 1
      assert.ok(outcome.cut.chars >= heard, `${about}: ${outcome.cut.chars} of ${heard}`)
      assert.ok(outcome.cut.chars >= most, `${about} it is less than before`)
      most = outcome.cut.chars
    }
    assert.ok(cuts > 2, `${cuts} answers were cut`)
    const whole = `${answer.reasoning ?? ''}${answer.text}Say${JSON.stringify(input)}`
    assert.ok(most <= whole.length, `${most} of ${whole.length}`)
    assert.ok(most >= (answer.text ?? '').length, `${most} of ${whole.length}`)
  })
}

/** Waits for the event loop, not for a time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}
