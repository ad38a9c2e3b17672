/** Requests through a proxy: which ones, over which wires, and what is said when it says no. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startModelServer } from '../../testing/model-server/server.ts'
import { adapters, asks, hear, openAdapter } from '../../testing/model-server/client.ts'
import { providerCertificate, startProxy, type ProxyOptions } from '../../testing/http/proxy.ts'
import { keptAliveFetch } from './fetch.ts'
import { listModels } from '../catalogue/list-models.ts'
import { proxyOf, type ProxyEnv } from './proxy.ts'

setDefaultCACertificates([...getCACertificates(), providerCertificate])

const password = 's%40cret-pass'
const at = (port: number): string => `http://me:${password}@127.0.0.1:${port}`
const variables = { http: 'HTTP_PROXY', https: 'HTTPS_PROXY' } as const
type Scheme = keyof typeof variables
type Adapter = (typeof adapters)[number]

/** A port where nobody listens. */
async function deadPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => void server.close(() => resolve()))
  return port
}

async function scene(t: TestContext, options: Omit<ProxyOptions, 'to'> = {}) {
  const server = await startModelServer(() => ({ text: 'Hello.' }), { models: ['one'] })
  const proxy = await startProxy({ ...options, to: server.port })
  t.after(async () => {
    await proxy.close()
    await server.close()
  })
  return { server, proxy }
}

/** One request of `adapter` to a provider that only the proxy finds. */
async function asking(t: TestContext, adapter: Adapter, scheme: Scheme, env: ProxyEnv) {
  const client = keptAliveFetch(null, env)
  t.after(() => client.close())
  const base_url = `${scheme}://api.provider.test/v1`
  const { model, id } = await openAdapter(adapter, { base_url, fetch: client.fetch })
  const two = [await hear(model, asks(id)), await hear(model, asks(id))]
  return two.map(({ outcome }) => outcome)
}

const path = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  google: '/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
}

for (const adapter of adapters) {
  test(`${adapter.kind}: requests go through the proxy of their scheme, with its credential`, async (t) => {
    const { proxy, server } = await scene(t, { credential: 'me:s@cret-pass' })
    const https = await asking(t, adapter, 'https', { HTTPS_PROXY: at(proxy.port) })
    assert.deepEqual(
      https.map(({ ok }) => ok),
      [true, true],
      JSON.stringify(https),
    )
    assert.deepEqual(proxy.asked, ['CONNECT api.provider.test:443'], 'one tunnel for both')
    const secret = proxy.headers.filter((name) =>
      /^(authorization|x-(api|goog-api)-key)$/.test(name),
    )
    assert.deepEqual(secret, [], 'the key is in the tunnel alone')

    const http = await asking(t, adapter, 'http', { HTTP_PROXY: at(proxy.port) })
    assert.deepEqual(
      http.map(({ ok }) => ok),
      [true, true],
      JSON.stringify(http),
    )
    const whole = `POST http://api.provider.test${path[adapter.endpoint]}`
    assert.deepEqual(proxy.asked.slice(1), [whole, whole])
    assert.equal(server.requests.length, 4)
  })

  test(`${adapter.kind}: a server on this machine is never asked through a proxy`, async (t) => {
    const { proxy, server } = await scene(t)
    const env = { HTTP_PROXY: at(proxy.port), HTTPS_PROXY: at(proxy.port) }
    const client = keptAliveFetch(null, env)
    t.after(() => client.close())
    const { model, id } = await openAdapter(adapter, { ...server, fetch: client.fetch })
    const { outcome } = await hear(model, asks(id))
    assert.equal(outcome.ok, true)
    assert.deepEqual(proxy.asked, [])
  })

  test(`${adapter.kind}: a proxy that lets nothing through is named, without its password`, async (t) => {
    const { proxy } = await scene(t, { credential: 'you:other' })
    const closed = await scene(t, { refuses_with: 403 })
    const failing = await scene(t, { refuses_with: 502 })
    const dead = await deadPort()
    const unset = 'is not reached through the proxy that is set: Cannot connect to API:'
    const off = 'could not be reached: Cannot connect to API:'
    const user = 'refuses its user or password (407)'
    type Expected = [code: string, kind: string, message: string]
    const of = (port: number, scheme: Scheme) =>
      `the proxy http://127.0.0.1:${port} (${variables[scheme]})`
    const table: readonly (readonly [Scheme, string, Expected])[] = [
      ['https', at(proxy.port), ['proxy', 'setup', `${unset} ${of(proxy.port, 'https')} ${user}`]],
      ['http', at(proxy.port), ['proxy', 'setup', `${unset} ${of(proxy.port, 'http')} ${user}`]],
      [
        'https',
        at(closed.proxy.port),
        ['proxy', 'setup', `${unset} ${of(closed.proxy.port, 'https')} refuses to connect (403)`],
      ],
      [
        'https',
        at(failing.proxy.port),
        ['network', 'world', `${off} ${of(failing.proxy.port, 'https')} cannot connect (502)`],
      ],
      ...(['http', 'https'] as const).flatMap((scheme): (readonly [Scheme, string, Expected])[] => [
        [
          scheme,
          at(dead),
          ['network', 'world', `${off} ${of(dead, scheme)} does not answer (ECONNREFUSED)`],
        ],
        ...['socks5://me:pw@127.0.0.1:1', '127.0.0.1:1', 'http://%zz:%zz@127.0.0.1:1'].map(
          (given): readonly [Scheme, string, Expected] => {
            const what = `the proxy of ${variables[scheme]} is no http:// or https:// address`
            return [scheme, given, ['proxy', 'setup', `${unset} ${what}`]]
          },
        ),
      ]),
    ]
    for (const [scheme, given, [code, kind, message]] of table) {
      const [outcome] = await asking(t, adapter, scheme, { [variables[scheme]]: given })
      assert(outcome && !outcome.ok)
      const { fault } = outcome
      const expected = [code, kind, `${adapter.kind} ${message}`]
      assert.deepEqual([fault.code, fault.kind, fault.message], expected, given)
      assert.equal(fault.retryable, kind === 'world')
    }
  })
}

test('a list of models is asked for through the proxy too', async (t) => {
  const { proxy } = await scene(t)
  const client = keptAliveFetch(null, { https_proxy: at(proxy.port) })
  t.after(() => client.close())
  const where = {
    kind: 'openai',
    base_url: 'https://api.provider.test/v1',
    key: 'test-key',
  } as const
  const { signal } = new AbortController()
  assert.deepEqual(await listModels(where, client.fetch, signal), { ok: true, models: ['one'] })

  const dead = await deadPort()
  const none = keptAliveFetch(null, { https_proxy: at(dead) })
  t.after(() => none.close())
  const message =
    'https://api.provider.test/v1/models does not answer: ' +
    `the proxy http://127.0.0.1:${dead} (HTTPS_PROXY) does not answer (ECONNREFUSED)`
  const refused = { ok: false, refused_key: false, message }
  assert.deepEqual(await listModels(where, none.fetch, signal), refused)
})

test('which proxy, by the variables and what they leave out', () => {
  const a = 'http://a.test:1'
  const table: readonly (readonly [url: string, env: ProxyEnv, proxy: string | null])[] = [
    ['https://api.test', {}, null],
    ['https://api.test', { HTTPS_PROXY: a }, a],
    ['https://api.test', { HTTPS_PROXY: ` ${a} ` }, a],
    ['https://api.test', { HTTPS_PROXY: ' ' }, null],
    ['https://api.test', { HTTP_PROXY: a }, null],
    ['http://api.test', { HTTP_PROXY: a }, a],
    ['http://api.test', { HTTPS_PROXY: a }, null],
    ['https://api.test', { HTTPS_PROXY: 'http://b.test:1', https_proxy: a }, a],
    ['https://api.test', { HTTPS_PROXY: a, https_proxy: '' }, null],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: '*' }, null],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: 'b.test, API.test' }, null],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: '.test' }, null],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: '*.test' }, null],
    ['https://x.api.test', { HTTPS_PROXY: a, NO_PROXY: 'api.test' }, null],
    ['https://xapi.test', { HTTPS_PROXY: a, NO_PROXY: 'api.test' }, a],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: 'api.test:443' }, null],
    ['https://api.test:8443', { HTTPS_PROXY: a, NO_PROXY: 'api.test:443' }, a],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: ',, ' }, a],
    ['https://api.test', { HTTPS_PROXY: a, NO_PROXY: '*', no_proxy: 'b.test' }, a],
    ['https://10.0.0.1', { HTTPS_PROXY: a, NO_PROXY: '10.0.0.1' }, null],
    ['https://[2001:db8::1]', { HTTPS_PROXY: a, NO_PROXY: '2001:db8::1' }, null],
    ['https://[2001:db8::1]', { HTTPS_PROXY: a, NO_PROXY: '[2001:db8::1]:443' }, null],
    ['https://[2001:db8::1]', { HTTPS_PROXY: a, NO_PROXY: '[2001:db8::1]:80' }, a],
    ['https://localhost', { HTTPS_PROXY: a }, null],
    ['https://127.0.0.2', { HTTPS_PROXY: a }, null],
    ['https://[::1]', { HTTPS_PROXY: a }, null],
    ['https://127.0.0.1.evil.test', { HTTPS_PROXY: a }, a],
  ]
  for (const [url, env, expected] of table) {
    const proxy = proxyOf(new URL(url), env)
    assert.equal(proxy?.href.replace(/\/$/, '') ?? null, expected, `${url} ${JSON.stringify(env)}`)
  }
  const { name } = proxyOf(new URL('https://api.test'), { HTTPS_PROXY: at(8080) }) ?? {}
  assert.equal(name, 'http://127.0.0.1:8080 (HTTPS_PROXY)')
})
