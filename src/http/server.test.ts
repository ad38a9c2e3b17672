import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { EventSource } from 'eventsource'
import { agentRow, controlToken, fakeHome, machineClock } from '../testing/http/http-home.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { buildApp } from './app.ts'
import { securityHeaders } from './request/security-headers.ts'
import { httpLimits } from './request/limits.ts'
import type { HttpClock } from './request/ports.ts'
import { listen, ListenFault, type ListenOptions } from './server.ts'

const clock = machineClock

function served(t: TestContext, more: Partial<ListenOptions> = {}, beat: HttpClock = clock) {
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  const home = { ...fake.home, clock: beat }
  const opening = listen(
    (port) =>
      buildApp(
        home,
        { clock, control_token: () => Promise.resolve(controlToken), port, hosts: [] },
        {
          version: '0.0.0',
          webhooks: { find: () => Promise.resolve(null), now_ms: () => clock.now() },
          on_error: (error, request) => void fake.errors.push([request, error]),
        },
      ),
    { port: 0, has_token: true, clock, ...more },
  )
  t.after(async () => (await opening.catch(() => null))?.close())
  return { fake, opening }
}

type Asked = {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
  socketPath?: string
}

/** By hand, for what `fetch` would not send. */
async function ask(port: number, asked: Asked, host = '127.0.0.1') {
  const { path, method = 'GET', headers = {}, body, ...over } = asked
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    headers: Record<string, unknown>
    body: string
  }>()
  const outgoing = request(
    {
      host,
      port,
      path,
      method,
      agent: false,
      headers: { authorization: `Bearer ${controlToken}`, ...headers },
      ...over,
    },
    (incoming) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const { statusCode: status = 0, headers } = incoming
      incoming.on('end', () => resolve({ status, headers, body: text }))
    },
  )
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

/** What a server answers to bytes that are no request Node's client would make. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.write(bytes)
  await once(socket, 'close')
  return text
}

async function holding(t: TestContext): Promise<number> {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  return (other.address() as AddressInfo).port
}

describe('where it listens', () => {
  test('is the loopback of both kinds, on one port', async (t) => {
    const { opening } = served(t)
    const { port, addresses } = await opening
    const answers = await Promise.all(
      addresses.map(async (address) => {
        const name = address === '::1' ? `[::1]:${port}` : `127.0.0.1:${port}`
        return (await ask(port, { path: '/healthz', headers: { host: name } }, address)).status
      }),
    )
    assert.deepEqual([addresses[0], new Set(answers)], ['127.0.0.1', new Set([200])])
  })

  const others = [
    '0.0.0.0',
    '::',
    '192.0.2.1',
    'localhost',
    '127.0.0.2',
    '127.1',
    '::ffff:127.0.0.1',
    '',
  ]
  for (const address of others) {
    test(`is refused at ${address || 'nothing'} without the flag, and without a token with it`, async (t) => {
      const found: unknown[] = []
      for (const more of [{}, { allow_remote: true, has_token: false }]) {
        const { opening } = served(t, { addresses: ['127.0.0.1', address], ...more })
        await assert.rejects(opening, (fault) => {
          found.push(fault instanceof ListenFault && [fault.code, fault.retry])
          return true
        })
      }
      const refusal = ['address_refused', 'never']
      assert.deepEqual(found, [refusal, refusal])
    })
  }

  test('may be elsewhere with the flag and a token', async (t) => {
    const { opening } = served(t, { addresses: ['127.0.0.2'], allow_remote: true })
    const { port, addresses } = await opening
    const headers = { host: `127.0.0.2:${port}` }
    const answer = await ask(port, { path: '/healthz', headers }, '127.0.0.2')
    assert.deepEqual([addresses, answer.status], [['127.0.0.2'], 421])
  })

  test('a port in use is a fault that names the port and what to do', async (t) => {
    const port = await holding(t)
    await assert.rejects(served(t, { port }).opening, {
      name: 'ListenFault',
      code: 'port_in_use',
      message: `Port ${port} is in use: another program listens on 127.0.0.1:${port}.`,
      hint: 'Stop that program, or choose another port: holon start --port <n>.',
    })
  })

  test('a port that is free after many tries is listened on, without a word of warning', async (t) => {
    const warned: string[] = []
    const onWarning = ({ message }: Error) => void warned.push(message)
    process.on('warning', onWarning)
    t.after(() => void process.off('warning', onWarning))
    const held = createServer().listen(0, '127.0.0.1')
    await once(held, 'listening')
    const { port } = held.address() as AddressInfo
    let tries = 0
    const lingers = async () => {
      tries += 1
      if (tries === 30) await new Promise<void>((ended) => void held.close(() => ended()))
      return true
    }
    const soon: HttpClock = { ...clock, monotonic: () => 0, after: (_ms, fn) => clock.after(0, fn) }
    const { opening } = served(t, { port, lingers, clock: soon })
    assert.deepEqual([(await opening).port, tries >= 30, warned], [port, true, []])
  })

  test('an address of no machine is a fault, and nothing is left listening', async (t) => {
    const more = { addresses: ['127.0.0.1', '192.0.2.1'], allow_remote: true }
    await assert.rejects(served(t, more).opening, { code: 'address_unknown' })
  })
})

describe('the server', () => {
  test('answers requests, with the peer and its own port', async (t) => {
    const { fake, opening } = served(t)
    const { port } = await opening
    const body = JSON.stringify({ do: 'start_agent', agent_id: 'main' })
    const headers = { 'content-type': 'application/json' }
    const right = await ask(port, { path: '/operator', method: 'POST', headers, body })
    const wrong = await ask(port, { path: '/operator', headers: { host: 'evil.example' } })
    assert.deepEqual([right.status, wrong.status, fake.acts.length], [200, 421, 1])
    for (const [name, value] of Object.entries(securityHeaders)) {
      assert.equal(right.headers[name], value)
    }
  })

  const malformed: [name: string, bytes: string, status: number][] = [
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a NUL in the address', 'GET /\0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n', 400],
    ['no Host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['an unparsable Host', 'GET /healthz HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400],
    [
      'an absolute address of another host',
      'GET http://evil.example/healthz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
      421,
    ],
    ['too long headers', `GET /healthz HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ]
  for (const [name, bytes, status] of malformed) {
    test(`answers ${name} with ${status}, as a problem with every header`, async (t) => {
      const { opening } = served(t)
      const text = await raw((await opening).port, bytes)
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
      const [head = '', body = ''] = text.split('\r\n\r\n')
      assert.match(head, /content-type: application\/problem\+json/i)
      assert.match(head, /x-content-type-options: nosniff/i)
      assert.match(body, new RegExp(`"status":${status}`))
    })
  }

  test('a body that is longer than allowed is refused before it was sent', async (t) => {
    const { opening } = served(t)
    const { port } = await opening
    const head = [
      'POST /operator HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      `content-length: ${httpLimits.import_body.value + 1}`,
      'connection: close',
    ]
    assert.match(await raw(port, `${head.join('\r\n')}\r\n\r\n`), /^HTTP\/1\.1 413 /)
  })

  test('closing ends streams and idle connections at once', async (t) => {
    const { fake, opening } = served(t)
    const listening = await opening
    const answer = await fetch(`http://127.0.0.1:${listening.port}/events`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${controlToken}` },
    })
    const text = answer.text()
    const from = clock.monotonic()
    await listening.close()
    const took = clock.monotonic() - from
    assert.match(await text, /^retry: 1000\n/)
    assert.ok(took < httpLimits.close_grace.value, `it took ${took} ms`)
    assert.deepEqual([fake.listeners(), fake.errors], [0, []])
    await listening.close()
    await assert.rejects(ask(listening.port, { path: '/healthz' }), { code: 'ECONNREFUSED' })
  })

  test('a client that goes away leaves nothing behind', async (t) => {
    const { fake, opening } = served(t)
    const { port } = await opening
    const left = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${controlToken}` }
    const answer = await fetch(`http://127.0.0.1:${port}/events`, {
      headers,
      signal: leaving.signal,
    })
    assert.deepEqual([answer.status, fake.listeners()], [200, 1])
    const poll = () => (fake.listeners() === 0 ? left.resolve() : void clock.after(5, poll))
    leaving.abort()
    poll()
    await left.promise
    assert.deepEqual([fake.listeners(), fake.errors], [0, []])
  })

  test('a client that stops reading is cut off, and another resumes where it was', async (t) => {
    const beat = virtualClock()
    const { fake, opening } = served(t, {}, beat)
    const { port } = await opening
    const text = 'x'.repeat(65_536)
    // Far more than the machine's own buffers for a socket hold.
    for (let n = 0; n < 400; n += 1) {
      fake.commit('main', { type: 'agent_started', id: 'main', text })
    }
    const slow = connect({ port, host: '127.0.0.1' })
    slow.write(
      `GET /events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n` +
        `authorization: Bearer ${controlToken}\r\n\r\n`,
    )
    const [first] = (await once(slow, 'data')) as [Buffer]
    slow.pause()
    assert.match(first.toString(), /^HTTP\/1\.1 200 /)
    // As long as the machine's buffers take something, the client is not slow.
    for (let n = 0; n < 50 && fake.listeners() > 0; n += 1) {
      await beat.advance(httpLimits.heartbeat.value)
    }
    assert.equal(fake.listeners(), 0)
    slow.destroy()
    const again = new EventSource(`http://127.0.0.1:${port}/events?after=398`, {
      fetch: (url, init) => {
        const headers = { ...init.headers, authorization: `Bearer ${controlToken}` }
        return fetch(url, { ...init, headers })
      },
    })
    t.after(() => again.close())
    const ids: string[] = []
    const both = Promise.withResolvers<void>()
    again.addEventListener('agent_started', ({ lastEventId }) => {
      if (ids.push(lastEventId) === 2) both.resolve()
    })
    await both.promise
    assert.deepEqual(ids, ['399', '400'])
  })
})

describe('strangers and the operator', () => {
  /** A connection that says `bytes` and no more; resolves once the server has taken it. */
  const held = async (t: TestContext, port: number, bytes: string) => {
    const socket = connect({ port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    const ended = once(
      socket.on('error', () => {}),
      'close',
    )
    await once(socket, 'connect')
    socket.write(bytes)
    socket.resume()
    return { socket, ended }
  }
  const unfinished = 'GET /state HTTP/1.1\r\n'

  test('hundreds of held connections keep nobody with a token out, by no address', async (t) => {
    const { opening } = served(t)
    const { port } = await opening
    const stream = await fetch(`http://127.0.0.1:${port}/events`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${controlToken}` },
    })
    const reader = (stream.body ?? assert.fail()).getReader()
    await reader.read()
    const first = await held(t, port, unfinished)
    await Promise.all(Array.from({ length: 3 * 64 }, () => held(t, port, unfinished)))
    await first.ended
    for (let n = 0; n < 3; n += 1) {
      assert.equal((await ask(port, { path: '/openapi.json' })).status, 200)
    }
    const late = reader.read().then(({ done }) => done)
    const stillOpen = Symbol('still open')
    assert.equal(await Promise.race([late, Promise.resolve(stillOpen)]), stillOpen)
    await reader.cancel()
  })

  test('who listens at a path serves the same, whatever is held at the port', async (t) => {
    const { opening } = served(t)
    const listening = await opening
    const folder = await mkdtemp(join(tmpdir(), 'holon-'))
    t.after(() => rm(folder, { recursive: true }))
    const path = join(folder, 'control.sock')
    await listening.listenAt(path)
    const { port } = listening
    const asked = { path: '/openapi.json', socketPath: path }
    const right = await ask(port, asked)
    const wrong = await ask(port, { ...asked, headers: { authorization: '' } })
    assert.deepEqual([right.status, wrong.status], [200, 401])
    await assert.rejects(listening.listenAt(path), { name: 'ListenFault', code: 'listen' })
    await assert.rejects(listening.listenAt(join(folder, 'x'.repeat(200))), { code: 'listen' })
    await listening.close()
    await assert.rejects(ask(port, asked), { code: 'ENOENT' })
  })
})

test('a port is taken before the application is made, and what fails in making it is told', async () => {
  let built = 0
  const listening = await listen(
    () => {
      built += 1
      return Promise.reject(new Error('no routes'))
    },
    { port: 0, has_token: true, clock },
  )
  assert.equal(built, 0)
  await assert.rejects(listening.answers(), /no routes/)
  await assert.rejects(ask(listening.port, { path: '/healthz' }))
  assert.equal(built, 1)
  await listening.close()
})
