/** `POST …/messages` with images over a real host: what is kept, what is refused, and once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import type { MessageRecord } from '../../protocol/records/message-record.ts'
import { openApi } from '../../testing/http/api.ts'
import { pngOf } from '../../testing/images.ts'
import { createRedactor } from '../../domain/secrets/redact.ts'
import { says, scriptedModel } from '../../testing/scripted-model.ts'
import { httpLimits } from '../request/limits.ts'

const inbox = '/agents/main/messages'
type Accepted = { message_id: string }

const image = (bytes: Uint8Array) => ({ base64: Buffer.from(bytes).toString('base64') })

function heavy(bytes: number): Uint8Array {
  const padded = new Uint8Array(bytes)
  padded.set(pngOf(640, 480))
  return padded
}

test('images come with the words in one request, and are named by the message', async (t) => {
  const api = await openApi(t, { models: { default: scriptedModel(() => says('Seen.')) } })
  const half = limits.message_images_bytes.value / 2
  const body = { text: 'Look.', images: [image(heavy(half)), image(heavy(half))] }
  const size = JSON.stringify(body).length
  assert.ok(size > httpLimits.api_body.value && size < httpLimits.import_body.value, `${size}`)
  const { message_id } = await api.post<Accepted>(inbox, body)
  const { images } = await api.get<MessageRecord>(`${inbox}/${message_id}`)
  const [one] = images
  assert.deepEqual(
    images.map(({ sha256: _, ...head }) => head),
    Array.from({ length: 2 }, () => ({
      media_type: 'image/png',
      width: 640,
      height: 480,
      bytes: half,
    })),
  )
  assert.equal((await api.box.ledger.blob(one?.sha256 ?? ''))?.length, half)
  const words = await api.post<Accepted>(inbox, { text: 'Only words.' })
  assert.deepEqual((await api.get<MessageRecord>(`${inbox}/${words.message_id}`)).images, [])
})

test('the same request again is the same message, and another image another request', async (t) => {
  const api = await openApi(t, { models: { default: scriptedModel(() => says('Seen.')) } })
  const key = { 'idempotency-key': 'k1' }
  const body = { text: 'Look.', images: [image(pngOf(8, 8))] }
  const first = await api.post<Accepted>(inbox, body, key)
  assert.deepEqual(await api.post<Accepted>(inbox, body, key), first)
  const other = { text: 'Look.', images: [image(pngOf(9, 8))] }
  const { body: problem } = await api.ask('POST', inbox, other, key)
  assert.equal(problem['code'], 'idempotency_mismatch')
})

test('an image that no model takes is refused with the message, which is not kept', async (t) => {
  const api = await openApi(t)
  const pdf = image(Buffer.from('%PDF-1.7'))
  const { status, body } = await api.ask('POST', inbox, { text: 'Look.', images: [pdf] })
  assert.deepEqual([status, body['code']], [422, 'image_unknown'])
  assert.deepEqual((await api.get<{ messages: unknown[] }>(inbox)).messages, [])
})

test('an image with a secret in its bytes is refused, and nothing of it is in the home', async (t) => {
  const { redactor } = createRedactor([{ name: 'key', value: 'sk-0123456789' }])
  const api = await openApi(t, { redactor })
  for (const head of [pngOf(8, 8), Buffer.from('GIF89a\x08\x00\x08\x00')]) {
    const images = [image(Buffer.concat([head, Buffer.from('by sk-0123456789')]))]
    const { status, body } = await api.ask('POST', inbox, { text: 'Look.', images })
    assert.deepEqual([status, body['code']], [422, 'image_secret'])
  }
  assert.deepEqual((await api.get<{ messages: unknown[] }>(inbox)).messages, [])
})
