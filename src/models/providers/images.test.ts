/**
 * An image in the result of a call, or sent with words, over each wire: where the format takes it
 * there it stands there, else it follows. The model server refuses what the provider would.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { imageHead, type Image } from '../../domain/image.ts'
import type { ModelMessage, ToolResultMessage } from '../../ports/model-message.ts'
import { gifOf, pngOf } from '../../testing/images.ts'
import { adapters, asks, hear, openAdapter } from '../../testing/model-server/client.ts'
import { startModelServer } from '../../testing/model-server/server.ts'
import type { ImageSeen } from '../../testing/model-server/wire.ts'
import { keptAliveFetch } from '../transport/fetch.ts'

function imageIn(bytes: Uint8Array): Image {
  const head = imageHead(bytes) ?? assert.fail('no image')
  return { ...head, sha256: 'ab'.repeat(32), bytes: bytes.length }
}

const called = (id: string, tool_name: string) => ({
  type: 'tool_call' as const,
  provider_call_id: id,
  tool_name,
  input_json: '{"path":"a"}',
})
const resultOf = (id: string, tool_name: string, image?: Image): ToolResultMessage => ({
  call_id: id,
  provider_call_id: id,
  tool_name,
  text: `${tool_name}: done`,
  is_error: false,
  ...(image === undefined ? {} : { image }),
})

/** A round that looked at an image and read a file, and a note of the runtime. */
const looked = (image: Image): ModelMessage[] => [
  { role: 'user', content: 'Hello.' },
  {
    role: 'assistant',
    parts: [called('call_1', 'ViewImage'), called('call_2', 'ReadFile')],
  },
  {
    role: 'tool',
    results: [resultOf('call_1', 'ViewImage', image), resultOf('call_2', 'ReadFile')],
  },
]
const note: ModelMessage = { role: 'user', content: 'A note of the runtime.' }

/** What the server was sent and saw, where `bytes` is in the request, or is missing. */
async function sent(
  t: TestContext,
  adapter: Pick<(typeof adapters)[number], 'kind' | 'name'>,
  given: { image: Uint8Array; messages: (image: Image) => ModelMessage[]; missing?: true },
) {
  const seen: (readonly ImageSeen[])[] = []
  const server = await startModelServer(({ images }) => {
    seen.push(images)
    return { text: 'Seen.' }
  })
  const client = keptAliveFetch()
  t.after(async () => {
    client.close()
    await server.close()
  })
  const { model, id } = await openAdapter(adapter, { ...server, fetch: client.fetch })
  const image = imageIn(given.image)
  const images = new Map(given.missing ? [] : [[image.sha256, given.image]])
  const { outcome } = await hear(model, asks(id, { messages: given.messages(image), images }))
  assert.ok(outcome.ok, JSON.stringify(outcome))
  const { messages, input, contents } = server.requests[0]?.body ?? {}
  return { seen: seen[0], messages: messages ?? input ?? contents }
}

const wires = [...adapters, { kind: 'google', name: 'gemini-3.8-flash' } as const]

for (const adapter of wires) {
  const says = `${adapter.kind} (${adapter.name})`
  test(`${says}: a PNG reaches the wire, beside the other results and a note`, async (t) => {
    const image = pngOf(8, 6)
    const messages = (one: Image) => [...looked(one), note]
    const { seen, messages: body } = await sent(t, adapter, { image, messages })
    assert.deepEqual(seen, [{ media_type: 'image/png', bytes: image.length }])
    t.assert.snapshot(body)
  })

  test(`${says}: a PNG that came with words stands behind them, under its name`, async (t) => {
    const image = pngOf(8, 6)
    const messages = (one: Image): ModelMessage[] => [
      { role: 'user', content: 'Look.', images: [{ label: 'Image 1 of msg_1:', image: one }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'A square.' }] },
      note,
    ]
    const { seen, messages: body } = await sent(t, adapter, { image, messages })
    assert.deepEqual(seen, [{ media_type: 'image/png', bytes: image.length }])
    t.assert.snapshot(body)
  })

  test(`${says}: a GIF with words goes where GIFs are taken, and is a sentence elsewhere`, async (t) => {
    const messages = (one: Image): ModelMessage[] => [
      { role: 'user', content: 'Look.', images: [{ label: 'Image 1 of msg_1:', image: one }] },
    ]
    const { seen, messages: body } = await sent(t, adapter, { image: gifOf(8, 6), messages })
    const isTaken = adapter.kind !== 'google'
    assert.equal(seen?.length, isTaken ? 1 : 0)
    assert.equal(JSON.stringify(body).includes('this provider takes no GIF'), !isTaken)
    const lost = await sent(t, adapter, { image: pngOf(8, 6), messages, missing: true })
    assert.deepEqual(lost.seen, [])
    assert.match(JSON.stringify(lost.messages), /Image 1 of msg_1: The image itself is not shown/)
  })

  test(`${says}: the newest result may be an image, and a GIF where GIFs are taken`, async (t) => {
    const image = gifOf(8, 6)
    const { seen, messages } = await sent(t, adapter, { image, messages: looked })
    const isTaken = adapter.kind !== 'google'
    assert.deepEqual(seen, isTaken ? [{ media_type: 'image/gif', bytes: image.length }] : [])
    assert.equal(JSON.stringify(messages).includes('this provider takes no GIF'), !isTaken)
  })

  test(`${says}: an image that the ledger has lost is a sentence`, async (t) => {
    const given = { image: pngOf(8, 6), messages: looked, missing: true as const }
    const { seen, messages } = await sent(t, adapter, given)
    assert.deepEqual(seen, [])
    assert.match(JSON.stringify(messages), /not shown: it is missing from the ledger\./)
  })
}

test('openai-compatible: images of two rounds each follow their own results', async (t) => {
  const [adapter] = adapters
  assert.ok(adapter)
  const again = (image: Image): ModelMessage[] => {
    const [, call, result] = looked(image)
    assert.ok(call && result)
    return [...looked(image), call, result]
  }
  const { messages } = await sent(t, adapter, { image: pngOf(8, 6), messages: again })
  const roles = (messages as { role: string }[]).map(({ role }) => role)
  const round = ['assistant', 'tool', 'tool', 'user']
  assert.deepEqual(roles, ['system', 'user', ...round, ...round])
})
