import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  agentRow,
  type HomeRequest,
  controlToken,
  fakeHome,
  goodHeaders,
  port,
  problemIn,
  triggerRow,
} from '../../testing/http/http-home.ts'
import { settle } from '../../testing/virtual-clock.ts'
import { doorOf } from './gate.ts'
import { ownHosts } from './own-hosts.ts'
import { securityHeaders } from '../request/security-headers.ts'
import { httpLimits } from '../request/limits.ts'

const json = { 'content-type': 'application/json' }
const command = JSON.stringify({ do: 'start_agent', agent_id: 'main' })
const act = { method: 'POST', headers: json, body: command }

/** Every route the application has, with something in the place of each parameter. */
function routesOf(app: ReturnType<typeof fakeHome>['app']): { method: string; path: string }[] {
  const found = app.app.routes.filter(({ method }) => method !== 'ALL')
  const named = found.map(({ method, path }) => ({
    method,
    path: path
      .replaceAll(':agent', 'main')
      .replace(/^\/callbacks\/:token/, `/callbacks/${'t'.repeat(43)}`)
      .replaceAll(/:[^/]+/g, 'work_0001'),
  }))
  return [...new Map(named.map((one) => [`${one.method} ${one.path}`, one])).values()]
}

const isPublic = (path: string) => doorOf(path).kind !== 'api'

describe('every route', () => {
  const refusals: [name: string, headers: Record<string, string>, status: number, code: string][] =
    [
      ['a wrong Host', { host: 'evil.example' }, 421, 'wrong_host'],
      [
        'a Host that begins like ours',
        { host: `127.0.0.1:${port}.evil.example` },
        421,
        'wrong_host',
      ],
      ['another port', { host: '127.0.0.1:7778' }, 421, 'wrong_host'],
      ['no port', { host: 'localhost' }, 421, 'wrong_host'],
      ['user information', { host: `me@127.0.0.1:${port}` }, 421, 'wrong_host'],
      ['a foreign Origin', { origin: 'http://evil.example' }, 403, 'foreign_origin'],
      ['the Origin of another port', { origin: 'http://127.0.0.1:8080' }, 403, 'foreign_origin'],
      ['an opaque Origin', { origin: 'null' }, 403, 'foreign_origin'],
      ['a cross-site request', { 'sec-fetch-site': 'cross-site' }, 403, 'foreign_origin'],
      ['a same-site request', { 'sec-fetch-site': 'same-site' }, 403, 'foreign_origin'],
    ]
  for (const [name, headers, status, code] of refusals) {
    test(`refuses ${name} before anything is read or done, whatever else is right`, async () => {
      const fake = fakeHome()
      for (const { method, path } of routesOf(fake.app)) {
        const body = method === 'GET' ? {} : { body: '{}', headers: json }
        const answer = await fake.ask(path, { method, ...body, headers: { ...json, ...headers } })
        assert.deepEqual([path, ...(await problemIn(answer))], [path, status, code])
      }
      assert.deepEqual([fake.reads, fake.acts], [[], []])
    })
  }

  const tokens: [name: string, path: (p: string) => string, headers: Record<string, string>][] = [
    ['no token', (p) => p, { authorization: '' }],
    ['a wrong token', (p) => p, { authorization: `Bearer ${'x'.repeat(43)}` }],
    ['the beginning of the token', (p) => p, { authorization: `Bearer ${controlToken.slice(1)}` }],
    ['another scheme', (p) => p, { authorization: `Basic ${controlToken}` }],
    ['the token in the query', (p) => `${p}?token=${controlToken}`, { authorization: '' }],
    [
      'access_token in the query',
      (p) => `${p}?access_token=${controlToken}`,
      { authorization: '' },
    ],
    ['the token in a cookie', (p) => p, { authorization: '', cookie: `token=${controlToken}` }],
  ]
  for (const [name, at, headers] of tokens) {
    test(`refuses ${name} on all but the public ones, and nothing is read or done`, async () => {
      const probe = fakeHome()
      for (const { method, path } of routesOf(probe.app).filter(({ path }) => !isPublic(path))) {
        const fake = fakeHome()
        const body = method === 'GET' ? {} : { body: '{}' }
        const answer = await fake.ask(at(path), {
          method,
          ...body,
          headers: { ...json, ...headers },
        })
        assert.deepEqual(
          [path, ...(await problemIn(answer)), fake.reads, fake.acts],
          [path, 401, 'unauthorized', [], []],
        )
      }
    })
  }

  test('takes a new token at once, and the old one no longer', async () => {
    const fake = fakeHome()
    const before = await fake.ask('/openapi.json')
    fake.state.token = 'another-token-of-the-home-0123456789abcdefgh'
    const after = await fake.ask('/openapi.json')
    fake.state.token = null
    const none = await fake.ask('/openapi.json')
    assert.deepEqual([before.status, after.status, none.status], [200, 401, 401])
  })

  test('is public only as a probe, a callback or a webhook', () => {
    const fake = fakeHome()
    const open = routesOf(fake.app).filter(({ path }) => isPublic(path))
    assert.deepEqual(
      open.map(({ method, path }) => `${method} ${path}`),
      [
        'GET /healthz',
        'GET /readyz',
        `POST /callbacks/${'t'.repeat(43)}`,
        'POST /webhooks/main/work_0001',
      ],
    )
  })

  test('answers with headers that keep a browser from using what it got', async () => {
    const fake = fakeHome()
    for (const path of ['/healthz', '/nowhere', '/openapi.json', '/callbacks/x']) {
      const { headers } = await fake.ask(path)
      const found = Object.keys(securityHeaders).map((name) => [name, headers.get(name)])
      assert.deepEqual(Object.fromEntries(found), securityHeaders)
      const cors = [...headers.keys()].filter((name) => name.startsWith('access-control'))
      assert.deepEqual(cors, [])
    }
  })
})

describe('the gate', () => {
  test('takes exact hosts only, in any letter case', async () => {
    const right = [`127.0.0.1:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, 'holon.example']
    const statuses = await Promise.all(
      right.map(async (host) => (await fakeHome().ask('/healthz', { headers: { host } })).status),
    )
    assert.deepEqual(statuses, [200, 200, 200, 200])
    assert.deepEqual([...ownHosts(null, ['A.example:1'])], ['a.example:1'])
    assert.ok(ownHosts(80, []).has('localhost'))
  })

  test('takes its own pages: the same origin, and an address typed in', async () => {
    const own = { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' }
    const typed = { 'sec-fetch-site': 'none' }
    for (const headers of [own, typed]) {
      assert.equal((await fakeHome().ask('/openapi.json', { headers })).status, 200)
    }
  })

  /** Each is wrong in all that follows as well: the first wrong thing is the answer. */
  const order: [name: string, init: RequestInit, headers: Record<string, string>, code: string][] =
    [
      [
        'method',
        { method: 'OPTIONS' },
        { host: 'x', origin: 'x', authorization: '' },
        'method_not_allowed',
      ],
      ['host', { method: 'POST' }, { host: 'x', origin: 'x', authorization: '' }, 'wrong_host'],
      [
        'origin',
        { method: 'POST' },
        { origin: 'x', authorization: '', 'content-length': '9999999' },
        'foreign_origin',
      ],
      [
        'length',
        { method: 'POST' },
        { authorization: '', 'content-length': '9999999' },
        'too_large',
      ],
      [
        'capability',
        { method: 'POST' },
        { authorization: '', 'content-type': 'text/plain' },
        'unauthorized',
      ],
      [
        'type',
        { method: 'POST', body: '{' },
        { 'content-type': 'text/plain' },
        'unsupported_media_type',
      ],
      ['depth', { method: 'POST', body: '['.repeat(65) }, json, 'too_deep'],
      ['values', { method: 'POST', body: `[${'1,'.repeat(20_001)}` }, json, 'too_large'],
      ['JSON', { method: 'POST', body: '{' }, json, 'not_json'],
      ['schema', { method: 'POST', body: '{}' }, json, 'invalid_request'],
    ]
  for (const [name, init, headers, code] of order) {
    test(`looks at the ${name} before what follows it`, async () => {
      const fake = fakeHome()
      const [, found] = await problemIn(await fake.ask('/operator', { ...init, headers }))
      assert.deepEqual([found, fake.acts], [code, []])
    })
  }

  test('a body without a length is cut off at the cap, not read to its end', async () => {
    const fake = fakeHome()
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as HomeRequest
    const answer = await fake.ask('/operator', init)
    assert.deepEqual(await problemIn(answer), [413, 'too_large'])
    assert.ok(pulled <= httpLimits.import_body.value + 4 * 65_536, `${pulled} bytes were read`)
  })

  test('a body that does not come is given up at the deadline', async () => {
    const fake = fakeHome()
    const body = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(new Uint8Array(1)) })
    const init = { method: 'POST', headers: json, body, duplex: 'half' } as HomeRequest
    const answer = fake.ask('/operator', init)
    await settle()
    await fake.clock.advance(httpLimits.body_deadline.value)
    assert.deepEqual(await problemIn(await answer), [408, 'body_timeout'])
    assert.equal(fake.clock.nextDue(), null)
  })

  test('a callback may be 256 KiB long, the API 1 MiB', async () => {
    const fake = fakeHome()
    const token = 't'.repeat(43)
    fake.put('agents', agentRow('main'))
    fake.put('triggers', triggerRow('main', token))
    const length = String(httpLimits.ingress_body.value + 1)
    const headers = { 'content-length': length, ...json }
    const callback = await fake.ask(`/callbacks/${token}`, { method: 'POST', headers })
    const api = await fake.ask('/operator', { method: 'POST', headers, body: command })
    assert.deepEqual([callback.status, api.status, fake.reads], [413, 200, []])
  })

  test('encoded and non-UTF-8 bodies are refused', async () => {
    const fake = fakeHome()
    const gzip = { ...act, headers: { ...json, 'content-encoding': 'gzip' } }
    const latin = { ...act, body: Uint8Array.of(0x22, 0xe9, 0x22) }
    assert.deepEqual(await problemIn(await fake.ask('/operator', gzip)), [
      415,
      'unsupported_media_type',
    ])
    assert.deepEqual(await problemIn(await fake.ask('/operator', latin)), [400, 'not_json'])
    assert.deepEqual(fake.acts, [])
  })
})

describe('limits', () => {
  const guess = { headers: { authorization: `Bearer ${'x'.repeat(43)}` } }

  test('wrong tokens of a peer are slowed after ten in a minute, and the right one is served', async () => {
    const fake = fakeHome()
    const statuses: number[] = []
    for (let n = 0; n < 12; n += 1) statuses.push((await fake.ask('/openapi.json', guess)).status)
    assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429])
    const locked = await fake.ask('/openapi.json', guess)
    assert.deepEqual(
      [locked.headers.get('retry-after'), await problemIn(locked)],
      ['60', [429, 'locked_out']],
    )
    assert.equal((await fake.ask('/openapi.json')).status, 200)
    const elsewhere = await fake.ask('/openapi.json', { ...guess, remote: '192.0.2.7' })
    await fake.clock.advance(60_000)
    const later = await fake.ask('/openapi.json', guess)
    assert.deepEqual([elsewhere.status, later.status], [401, 401])
  })

  test('a token of the home that cannot be read now makes no given one wrong', async () => {
    const fake = fakeHome()
    const fault = Object.assign(new Error('no file'), { code: 'scarce', retry: 'later' })
    fake.gate.control_token = () => Promise.reject<null>(fault)
    for (let n = 0; n < 20; n += 1) {
      const answer = await fake.ask('/openapi.json')
      const again = answer.headers.get('retry-after')
      assert.deepEqual([...(await problemIn(answer)), again], [503, 'degraded', '30'])
    }
    fake.gate.control_token = () => Promise.resolve(controlToken)
    assert.equal((await fake.ask('/openapi.json')).status, 200)
  })

  test('ten wrong tokens in more than a minute lock nobody out', async () => {
    const fake = fakeHome()
    for (let n = 0; n < 9; n += 1) await fake.ask('/openapi.json', guess)
    await fake.clock.advance(60_000)
    for (let n = 0; n < 9; n += 1) await fake.ask('/openapi.json', guess)
    assert.equal((await fake.ask('/openapi.json')).status, 200)
  })

  test('a capability that is used too fast is told when to come again', async () => {
    const fake = fakeHome()
    let answer = await fake.ask('/operator', act)
    let taken = 1
    for (; answer.status === 200; taken += 1) answer = await fake.ask('/operator', act)
    assert.deepEqual(
      [taken, fake.acts.length, answer.headers.get('retry-after'), await problemIn(answer)],
      [2_001, 2_000, '1', [429, 'rate_limited']],
    )
    const read = await fake.ask('/openapi.json')
    await fake.clock.advance(1_000)
    const later = await fake.ask('/operator', act)
    assert.deepEqual([read.status, later.status], [200, 200])
  })

  test('unknown callbacks of one peer are slowed down; a known one is not', async () => {
    const fake = fakeHome()
    const token = 't'.repeat(43)
    fake.put('agents', agentRow('main'))
    fake.put('triggers', triggerRow('main', token))
    const statuses: number[] = []
    for (let n = 0; n < 22; n += 1) {
      statuses.push((await fake.ask(`/callbacks/${n}`, { method: 'POST' })).status)
    }
    const known = await fake.ask(`/callbacks/${token}`, { method: 'POST' })
    assert.deepEqual(statuses, [...Array<number>(20).fill(404), 429, 429])
    assert.equal(known.status, 202)
  })
})

describe('answers', () => {
  test('an unknown path is 404 and a wrong method 405 with those that are allowed', async () => {
    const fake = fakeHome()
    const nowhere = await fake.ask('/nowhere')
    const wrong = await fake.ask('/events', { method: 'DELETE' })
    const callback = await fake.ask('/operator')
    assert.deepEqual(await problemIn(nowhere), [404, 'not_found'])
    assert.deepEqual(
      [wrong.headers.get('allow'), await problemIn(wrong)],
      ['GET, HEAD', [405, 'method_not_allowed']],
    )
    assert.deepEqual(
      [callback.headers.get('allow'), await problemIn(callback)],
      ['POST', [405, 'method_not_allowed']],
    )
  })

  test('what fails inside is 500 without a word of it, and is told to the log', async () => {
    const fake = fakeHome()
    const error = new Error('the secret is 42')
    fake.state.reply = () => Promise.reject(error)
    const answer = await fake.ask('/operator', act)
    const text = await answer.clone().text()
    assert.deepEqual(await problemIn(answer), [500, 'internal'])
    assert.doesNotMatch(text, /secret|42|stack/)
    assert.deepEqual(fake.errors, [['POST /operator', error]])
  })

  const faults: [code: string, status: number, said: string][] = [
    ['disk_full', 503, 'degraded'],
    ['read_only', 503, 'degraded'],
    ['scarce', 503, 'degraded'],
    ['io', 503, 'fault'],
  ]
  for (const [code, status, said] of faults) {
    test(`a fault ${code} of the ledger is ${status} ${said}, with a time to come again`, async () => {
      const fake = fakeHome()
      const fault = Object.assign(new Error('/srv/holon/ledger.db'), { code, retry: 'later' })
      fake.state.reply = () => Promise.reject(fault)
      const answer = await fake.ask('/operator', act)
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      assert.doesNotMatch(await answer.clone().text(), /ledger\.db/)
      assert.deepEqual(await problemIn(answer), [status, said])
    })
  }

  test('a part that cannot be loaded for want of descriptors is 503 degraded', async () => {
    const fake = fakeHome()
    const error = Object.assign(new Error('open /srv/x.ts'), { code: 'EMFILE', syscall: 'open' })
    fake.state.reply = () => Promise.reject(error)
    assert.deepEqual(await problemIn(await fake.ask('/operator', act)), [503, 'degraded'])
  })

  test('what is told of an answer names the route, never a capability', async () => {
    const fake = fakeHome()
    await fake.ask('/callbacks/a-token-of-somebody', { method: 'POST' })
    await fake.ask('/nowhere/a-token-of-somebody')
    assert.deepEqual(
      fake.answered.map(({ method, route, status }) => [method, route, status]),
      [
        ['POST', '/callbacks/:token', 404],
        ['GET', '?', 404],
      ],
    )
  })

  test('HEAD is GET without the body', async () => {
    const fake = fakeHome()
    const headers = { ...goodHeaders, accept: 'text/event-stream' }
    const stream = await fake.ask('/events', { method: 'HEAD', headers })
    assert.deepEqual([stream.status, await stream.text(), fake.listeners()], [200, '', 0])
  })
})

test('three forms of path need no control token; all that is longer, shorter or like them does', () => {
  const api = { kind: 'api', takes_files: false }
  const files = { kind: 'api', takes_files: true }
  for (const [path, door] of [
    ['/healthz', { kind: 'probe' }],
    ['/readyz', { kind: 'probe' }],
    ['/healthz/', api],
    ['/healthz/x', api],
    ['/callbacks/t', { kind: 'callback', token: 't' }],
    ['/callbacks', api],
    ['/callbacks/', api],
    ['/callbacks/t/', api],
    ['/callbacks/t/x', api],
    ['/webhooks/ada/ci', { kind: 'webhook' }],
    ['/webhooks/ada', api],
    ['/webhooks/ada/', api],
    ['/webhooks//ci', api],
    ['/webhooks/ada/ci/', api],
    ['/webhooks/ada/ci/x', api],
    ['/other/t', api],
    ['/other/t/x', api],
    ['/', api],
    ['/operator', files],
    ['/agents/ada/messages', files],
    ['/operator/', api],
    ['/agents/ada/imports', files],
    ['/agents/ada/imports/', api],
    ['/agents/ada/x/imports', api],
    ['/agents//imports', api],
  ] as const) {
    assert.deepEqual(doorOf(path), door, path)
  }
})
