import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import type { OperatorCommand } from '../protocol/acts/operator.ts'
import { machineClock } from '../testing/http/http-home.ts'
import type { Answering } from './answering.ts'
import { openDoor } from './control-endpoint.ts'
import { checkAgainst } from './gate/token.ts'
import type { LateApp } from './late-app.ts'

const token = 'k'.repeat(43)
const command = { do: 'start_agent', agent_id: 'main' }
const reply = {
  ok: true as const,
  message_id: null,
  resolved: [],
  triggered: [],
  id: null,
  said: 'main is started.',
  warnings: [],
}

async function opened(t: TestContext, current: () => string | null = () => token) {
  const acts: OperatorCommand[] = []
  const made: string[] = []
  const answering: Answering = {
    answer(incoming, outgoing, proved) {
      proved()
      outgoing.end(`the API at ${incoming.url}`)
    },
    refuse: (_error, socket) => void socket.destroy(),
  }
  const api: LateApp = {
    answering() {
      made.push('asked')
      return Promise.resolve(answering)
    },
    close: () => Promise.resolve(),
  }
  const door = await openDoor({
    act(given) {
      acts.push(given)
      return Promise.resolve(
        given.do === 'stop_agent'
          ? { ok: false, code: 'agent_not_found', message: 'No.', hint: 'Look.' }
          : reply,
      )
    },
    token_is_valid: checkAgainst(() => Promise.resolve(current())),
    clock: machineClock,
    api,
  })
  t.after(() => door.close())
  return { door, acts, made }
}

type Asked = {
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string
}

function ask(port: number, { method = 'POST', path = '/operator', headers = {}, body }: Asked) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const outgoing = request(
    {
      host: '127.0.0.1',
      port,
      path,
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
    },
    (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => (text += chunk))
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }))
    },
  )
  outgoing.on('error', reject)
  outgoing.end(body ?? JSON.stringify(command))
  return promise
}

describe('the door of a home', () => {
  /** In the order in which they are refused. */
  const refused: [name: string, asked: Asked, status: number, code: string][] = [
    ['a foreign host name', { headers: { host: 'evil.example' } }, 421, 'wrong_host'],
    [
      'a host that begins like ours',
      { headers: { host: '127.0.0.1.evil.example' } },
      421,
      'wrong_host',
    ],
    ['an origin', { headers: { origin: 'http://127.0.0.1' } }, 403, 'no_browsers'],
    [
      'a request of a browser',
      { headers: { 'sec-fetch-site': 'same-origin' } },
      403,
      'no_browsers',
    ],
    ['no token', { headers: { authorization: '' } }, 401, 'unauthorized'],
    [
      'a wrong token',
      { headers: { authorization: `Bearer ${'x'.repeat(43)}` } },
      401,
      'unauthorized',
    ],
    [
      'a token too short to be one',
      { headers: { authorization: 'Bearer k' } },
      401,
      'unauthorized',
    ],
    ['another scheme', { headers: { authorization: `Basic ${token}` } }, 401, 'unauthorized'],
    [
      'a token in the address',
      { path: `/operator?token=${token}`, headers: { authorization: '' } },
      401,
      'unauthorized',
    ],
    [
      'another path without a token',
      { path: '/state', headers: { authorization: '' } },
      401,
      'unauthorized',
    ],
    ['another method', { method: 'GET', body: '' }, 405, 'method_not_allowed'],
    [
      'a type that only begins like JSON',
      { headers: { 'content-type': 'application/jsonp' } },
      415,
      'not_json',
    ],
    ['a form', { headers: { 'content-type': 'text/plain' } }, 415, 'not_json'],
    ['no JSON', { body: '{' }, 400, 'not_json'],
    ['an unknown command', { body: '{"do":"dance"}' }, 422, 'invalid_command'],
    [
      'an unknown field',
      { body: '{"do":"start_agent","agent_id":"a","x":1}' },
      422,
      'invalid_command',
    ],
  ]
  for (const [name, asked, status, code] of refused) {
    test(`${name} is refused with ${status}, and nothing is done`, async (t) => {
      const { door, acts } = await opened(t)
      const answer = await ask(door.port, asked)
      const problem = JSON.parse(answer.body) as { code: string; type: string }
      assert.deepEqual(
        { status: answer.status, code: problem.code, type: problem.type, acts },
        { status, code, type: `urn:holon:problem:${code}`, acts: [] },
      )
    })
  }

  test('a body of exactly 9 MiB is read, said beforehand or not; one byte more is not', async (t) => {
    const { door, acts } = await opened(t)
    const said = JSON.stringify(command)
    const most = said.padEnd(9 * 1024 * 1024)
    const chunked = { 'transfer-encoding': 'chunked' }
    const answers = await Promise.all([
      ask(door.port, { body: most }),
      ask(door.port, { body: most, headers: chunked }),
      ask(door.port, { body: `${most} `, headers: chunked }),
    ])
    assert.deepEqual([answers.map(({ status }) => status), acts.length], [[200, 200, 413], 2])
  })

  test('a length over 9 MiB is refused before any of the body has come', async (t) => {
    const { door } = await opened(t)
    const answered = Promise.withResolvers<number>()
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: door.port,
        path: '/operator',
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json; charset=utf-8',
          'content-length': String(9 * 1024 * 1024 + 1),
        },
      },
      ({ statusCode }) => answered.resolve(statusCode ?? 0),
    )
    outgoing.on('error', answered.reject)
    outgoing.flushHeaders()
    assert.equal(await answered.promise, 413)
    outgoing.destroy()
  })

  test('a body of more than 9 MiB is refused by its length alone', async (t) => {
    const { door, acts } = await opened(t)
    const answer = await ask(door.port, { body: ' '.repeat(9 * 1024 * 1024 + 1) })
    assert.deepEqual([answer.status, acts], [413, []])
  })

  test('a command is carried out and its reply comes back', async (t) => {
    const { door, acts } = await opened(t)
    const answer = await ask(door.port, {})
    assert.deepEqual([answer.status, JSON.parse(answer.body), acts], [200, reply, [command]])
  })

  test('another path is answered by the API of the home, which no command loads', async (t) => {
    const { door, acts, made } = await opened(t)
    await ask(door.port, {})
    assert.deepEqual(made, [])
    const answer = await ask(door.port, { method: 'GET', path: '/state', body: '' })
    assert.deepEqual(
      [answer, acts, made],
      [{ status: 200, body: 'the API at /state' }, [command], ['asked']],
    )
  })

  test('a refusal has the status of its code', async (t) => {
    const { door } = await opened(t)
    const answer = await ask(door.port, { body: '{"do":"stop_agent","agent_id":"a"}' })
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [404, { ok: false, code: 'agent_not_found', message: 'No.', hint: 'Look.' }],
    )
  })

  test('a new token holds at once, and the old one no longer', async (t) => {
    let current: string | null = 'z'.repeat(43)
    const { door } = await opened(t, () => current)
    const before = await ask(door.port, {})
    current = token
    const after = await ask(door.port, {})
    current = null
    const without = await ask(door.port, {})
    assert.deepEqual([before.status, after.status, without.status], [401, 200, 401])
  })
})
