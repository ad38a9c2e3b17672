import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { JsonObject } from '../../ports/json.ts'
import { keptAliveFetch } from '../../models/transport/fetch.ts'
import { gifOf, jpegOf, pngOf } from '../images.ts'
import { startModelServer } from './server.ts'
import published from './wire-schemas.json' with { type: 'json' }
import manifest from '../../../package.json' with { type: 'json' }

const project: { devDependencies: Record<string, string> } = manifest

async function start(t: TestContext) {
  const server = await startModelServer(({ n }) => ({ text: `Answer ${n}.` }), { refuses: true })
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const post = async (path: string, body: JsonObject, headers: Record<string, string>) => {
    const given = { model: 'a-model', stream: true, ...body }
    const init = { method: 'POST', body: JSON.stringify(given), headers }
    const response = await client.fetch(`${server.base_url}${path}`, init)
    return { status: response.status, text: await response.text() }
  }
  return { server, post }
}

const bearer = { authorization: 'Bearer test-key' }
const user = { role: 'user', content: 'Hello.' }
const call = { id: 'call_1', type: 'function', function: { name: 'Go', arguments: '{}' } }
const calling = { role: 'assistant', content: null, tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'call_1', content: 'ok' }
const tool = (name: string, parameters: JsonObject) => ({
  type: 'function',
  function: { name, parameters },
})

/** A message of the user that is an image, by its data URL. */
const seeing = (url: string) => ({
  role: 'user',
  content: [{ type: 'image_url', image_url: { url } }],
})
const urlOf = (media_type: string, bytes: Uint8Array) =>
  `data:${media_type};base64,${Buffer.from(bytes).toString('base64')}`

test('an image is refused where a provider refuses it', async (t) => {
  const { server, post } = await start(t)
  const heavy = new Uint8Array(3_932_161)
  heavy.set(pngOf(8, 8))
  const table: readonly (readonly [string, string])[] = [
    [urlOf('image/png', pngOf(8, 8)), ''],
    [urlOf('image/png', heavy.subarray(1)), 'an image that is none'],
    [urlOf('image/png', jpegOf(8, 8)), 'image/png, but it is image/jpeg'],
    [urlOf('image/png', pngOf(8_001, 8)), 'an image of too many pixels'],
    [urlOf('image/png', heavy), 'an image of 5242884 bytes'],
  ]
  for (const [url, expected] of table) {
    const { status } = await post('/chat/completions', { messages: [seeing(url)] }, bearer)
    assert.equal(status, expected === '' ? 200 : 400, expected)
    assert.equal(server.requests.at(-1)?.violations.join('; '), expected)
  }
  const [{ content }] = [seeing(urlOf('image/png', pngOf(8, 8)))]
  const inResult = { messages: [user, calling, { ...result, content }] }
  assert.equal((await post('/chat/completions', inResult, bearer)).status, 400)
  const inlineData = { mimeType: 'image/gif', data: Buffer.from(gifOf(8, 8)).toString('base64') }
  const contents = [{ role: 'user', parts: [{ inlineData }] }]
  await post('/models/m:streamGenerateContent', { contents }, { 'x-goog-api-key': 'test-key' })
  assert.ok(server.requests.at(-1)?.violations.includes('a GIF'))
})

test('Chat Completions: what a provider would refuse is refused', async (t) => {
  const { server, post } = await start(t)
  const table: readonly (readonly [JsonObject, string])[] = [
    [{ messages: [user] }, ''],
    [{ messages: [user, calling, result] }, ''],
    [
      { messages: [user, calling] },
      'no result for call_1 before the answer; the last message is of assistant',
    ],
    [{ messages: [user, calling, user] }, 'no result for call_1 before the next user message'],
    [{ messages: [user, calling, result, result] }, 'a result for call_1, which is not open'],
    [{ messages: [user], stream: false }, '/stream must be equal to constant'],
    [{ messages: [user], effort: 'high' }, 'the body must NOT have additional properties (effort)'],
    [{ messages: [user], tools: [tool('Go', { type: 'object' })] }, ''],
    [
      { messages: [user], tools: [tool('Go', { type: 'object', anyOf: [] })] },
      'the schema of Go is no object',
    ],
    [{ messages: [user], tools: [tool('Go!', { type: 'object' })] }, 'bad tool name Go!'],
  ]
  for (const [body, expected] of table) {
    const { status } = await post('/chat/completions', body, bearer)
    assert.equal(status, expected === '' ? 200 : 400, expected)
    assert.equal(server.requests.at(-1)?.violations.join('; '), expected)
  }
  assert.equal(server.violations.length, 8)
})

test('Responses and Messages: what a provider would refuse is refused', async (t) => {
  const { server, post } = await start(t)
  const item = { type: 'function_call', call_id: 'call_1', name: 'Go', arguments: '{}' }
  await post('/responses', { input: [user, item, user] }, bearer)
  assert.deepEqual(server.requests.at(-1)?.violations, [
    'no result for call_1 before the next user message',
    'the answer would be stored',
  ])
  const key = { 'x-api-key': 'test-key' }
  const text = (words: string) => [{ type: 'text', text: words }]
  const messages = [
    { role: 'user', content: text('Hello.') },
    { role: 'user', content: text(' ') },
  ]
  await post('/messages', { messages, max_tokens: 5 }, key)
  assert.deepEqual(server.requests.at(-1)?.violations, [
    'two user messages in a row',
    'a blank text',
  ])
})

test('a wrong key and an unknown path are refused', async (t) => {
  const { server, post } = await start(t)
  assert.equal((await post('/chat/completions', { messages: [user] }, {})).status, 401)
  assert.equal((await post('/elsewhere', {}, bearer)).status, 404)
  assert.deepEqual(server.requests, [])
})

test('the schemas are those of the versions that are depended on', () => {
  const { versions } = published
  const wanted = Object.keys(versions).map((name) => [name, project.devDependencies[name]])
  assert.deepEqual(versions, Object.fromEntries(wanted), 'run npm run wire-schemas')
})
