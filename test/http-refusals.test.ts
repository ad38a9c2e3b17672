/**
 * Who and what is refused, over the whole API: by what a request comes with (in memory, on a home
 * that records every read and act), and by what is wrong with it or with the home (a real daemon).
 */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { doorOf } from '../src/http/gate/gate.ts'
import { problemSchema } from '../src/protocol/problem-schema.ts'
import { openApi } from '../src/testing/http/api.ts'
import {
  agentRow,
  controlToken,
  fakeHome,
  port,
  triggerRow,
} from '../src/testing/http/http-home.ts'
import type { FakeHome } from '../src/testing/http/http-home.ts'
import {
  configureWebhooks,
  githubHeaders,
  post,
  standardHeaders,
  typedClient,
} from './support/http/daemon.ts'
import { hostForms } from './support/http/hosts.ts'
import { apiOf, type Document, type Operation } from './support/http/operations.ts'
import { ServedHome } from './support/served-home.ts'

/** Names that stand in the home, and may not stand in any refusal. */
const names = ['canary-agent', 'trig_0001', '/srv/work', 'holon.example']
const oldToken = 'a-token-that-was-the-one-before-0123456789abcdef'

async function canaryHome(): Promise<{ fake: FakeHome; operations: readonly Operation[] }> {
  const fake = fakeHome()
  fake.put('agents', agentRow('canary-agent'))
  fake.put('triggers', triggerRow('canary-agent', 'canary'.repeat(7)))
  const document = (await (await fake.ask('/openapi.json')).json()) as Document
  const { operations } = apiOf(document)
  assert.ok(operations.length > 50, 'the document has lost its operations')
  return { fake, operations }
}

/** With names that are there, or with others of the same form. */
const pathOf = ({ path }: Operation, is: 'there' | 'not there'): string =>
  path
    .replace('{agent}', is === 'there' ? 'canary-agent' : 'nobody')
    .replaceAll(/\{[^}]+\}/g, is === 'there' ? 'trig_0001' : 'trig_ffff')

type Sent = { path?: (path: string) => string; headers: Record<string, string> }

/** The answer of every operation, which must have read and done nothing and said no name. */
async function refusalsOf(
  { fake, operations }: Awaited<ReturnType<typeof canaryHome>>,
  { path: changed = (path) => path, headers }: Sent,
): Promise<[status: number, code: string][]> {
  const found = new Map<string, [number, string]>()
  for (const operation of operations) {
    const texts: string[] = []
    for (const is of ['there', 'not there'] as const) {
      const { method } = operation
      const body = method === 'GET' ? {} : { body: '{"text":"canary"}' }
      const sent = { 'content-type': 'application/json', ...headers }
      // Each from a peer of its own, or wrong tokens would lock out the next one.
      const remote = `192.0.2.${texts.length} ${operation.name} ${found.size} ${headers['host']}`
      const init = { method, ...body, headers: sent, remote }
      const answer = await fake.ask(changed(pathOf(operation, is)), init)
      const text = await answer.text()
      assert.equal(answer.headers.get('content-type'), 'application/problem+json', operation.name)
      const { status, code } = problemSchema.parse(JSON.parse(text))
      assert.equal(answer.status, status)
      for (const name of [...names, controlToken, oldToken]) {
        assert.ok(!text.includes(name), `${operation.name} tells of ${name}`)
      }
      texts.push(text)
      found.set(`${status} ${code}`, [status, code])
    }
    assert.equal(texts[0], texts[1], `${operation.name} tells what is there`)
  }
  assert.deepEqual([fake.reads, fake.acts, fake.errors], [[], [], []])
  return [...found.values()]
}

describe('every operation of the document refuses', () => {
  const guarded = async () => {
    const { fake, operations } = await canaryHome()
    return { fake, operations: operations.filter(({ path }) => doorOf(path).kind === 'api') }
  }
  const tokens: [name: string, sent: Sent][] = [
    ['no token', { headers: { authorization: '' } }],
    ['a wrong token', { headers: { authorization: `Bearer ${'x'.repeat(43)}` } }],
    ['the token in the query', inQuery('token')],
    ['the token in the query, by the name of OAuth', inQuery('access_token')],
    ['the token as a password', basic(`:${controlToken}`)],
    [
      'the token in a header of its own',
      { headers: { authorization: '', 'x-token': controlToken } },
    ],
    ['the token in a cookie', { headers: { authorization: '', cookie: `token=${controlToken}` } }],
    [
      'two tokens, one of them right',
      { headers: { authorization: `Bearer x, Bearer ${controlToken}` } },
    ],
  ]
  for (const [name, sent] of tokens) {
    test(`${name}, alike for what is there and what is not`, async () => {
      assert.deepEqual(await refusalsOf(await guarded(), sent), [[401, 'unauthorized']])
    })
  }

  test('a token that was rotated away, though it was right a moment ago', async () => {
    const home = await guarded()
    home.fake.state.token = oldToken
    const headers = { authorization: `Bearer ${oldToken}` }
    assert.equal((await home.fake.ask('/openapi.json', { headers })).status, 200)
    home.fake.state.token = controlToken
    assert.deepEqual(await refusalsOf(home, { headers }), [[401, 'unauthorized']])
  })

  test(`each of ${hostForms.length} names in Host that are not its own`, async () => {
    assert.ok(hostForms.length >= 60)
    const home = await canaryHome()
    for (const host of hostForms) {
      assert.deepEqual(await refusalsOf(home, { headers: { host } }), [[421, 'wrong_host']], host)
    }
  })

  const origins: [name: string, headers: Record<string, string>][] = [
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['an Origin that begins like ours', { origin: `http://127.0.0.1:${port}.evil.example` }],
    ['an Origin that ends like ours', { origin: `http://evil.example/127.0.0.1:${port}` }],
    ['the Origin of another port', { origin: 'http://127.0.0.1:8080' }],
    ['the Origin of a file', { origin: 'file://' }],
    ['an opaque Origin', { origin: 'null' }],
    ['two Origins, one of them ours', { origin: `http://127.0.0.1:${port}, https://evil.example` }],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }],
    [
      'our Origin, but cross-site',
      { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'cross-site' },
    ],
  ]
  for (const [name, headers] of origins) {
    test(name, async () => {
      assert.deepEqual(await refusalsOf(await canaryHome(), { headers }), [[403, 'foreign_origin']])
    })
  }
})

function inQuery(name: string): Sent {
  return { path: (path) => `${path}?${name}=${controlToken}`, headers: { authorization: '' } }
}
function basic(text: string): Sent {
  return { headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } }
}

test('an agent that was deleted refuses every act, and none fails inside', async (t) => {
  const agent_id = 'gone'
  const api = await openApi(t, { agents: ['main', agent_id] })
  const { host } = api.box
  await host.open()
  await api.ask('DELETE', '/agents/gone')
  const text = 'hello'
  const acts: [act: Parameters<typeof host.act>[0], code: string][] = [
    [{ do: 'delete_agent', agent_id }, 'agent_deleted'],
    [{ do: 'configure_agent', agent_id, model: 'a/b' }, 'agent_deleted'],
    [{ do: 'start_agent', agent_id }, 'agent_deleted'],
    [{ do: 'stop_agent', agent_id }, 'agent_deleted'],
    [{ do: 'abort', agent_id, run_id: 'turn_0000' }, 'run_stale'],
    [{ do: 'send', agent_id, text, start: true }, 'agent_deleted'],
    [{ do: 'create_item', agent_id, objective: text }, 'agent_deleted'],
    [{ do: 'create_trigger', agent_id, label: text }, 'agent_deleted'],
    [{ do: 'start_task', agent_id, cmd: 'true' }, 'agent_deleted'],
  ]
  const found: string[] = []
  for (const [act] of acts) {
    const reply = await host.act(act)
    found.push(`${act.do} ${reply.ok ? 'done' : reply.code}`)
  }
  const expected = acts.map(([act, code]) => `${act.do} ${code}`)
  assert.deepEqual([found, api.errors], [expected, []])
  const asked = ['DELETE ', 'POST /start', 'POST /stop', 'GET ', 'GET /work-items', 'GET /waits']
  for (const one of asked) {
    const [method = '', path = ''] = one.split(' ')
    const { code } = await api.refused(method, `/agents/gone${path}`)
    assert.ok(['agent_not_found', 'agent_deleted'].includes(code), `${one}: ${code}`)
  }
})

const options = { timeout: 120_000 }

describe('a daemon says what is wrong, and what to do', options, () => {
  test('of a request: the right status, a code, and a hint', async (t) => {
    const at = new ServedHome(t)
    configureWebhooks(at)
    const { url, child, ended } = await at.serve()
    const { ask } = typedClient(t, at, url)
    await ask('POST /agents', { body: { id: 'main', model: 'runbook' } })
    await ask('POST /agents/{agent}/stop', { agent: 'main' })
    const { last_seq } = await ask('GET /state', {})
    const token = { authorization: `Bearer ${at.token}` }
    const json = { ...token, 'content-type': 'application/json' }
    const deep = `{"text":${'['.repeat(100)}${']'.repeat(100)}}`
    const big = JSON.stringify({ text: 'x'.repeat(1_100_000) })
    const paid = '{"type":"paid","data":{"id":"in_7"}}'
    const longAgo = new Date(Date.now() - 6 * 60_000)
    const messages = '/agents/main/messages'
    const hello = '{"text":"hello"}'
    const run = '{"run_id":"turn_00000000-0000-7000-8000-000000000000"}'
    const hub = githubHeaders('ping', paid)
    const table: [
      name: string,
      path: string,
      body: string,
      Record<string, string>,
      number,
      string,
    ][] = [
      ['an unknown agent', '/agents/nobody/messages', hello, json, 404, 'agent_not_found'],
      ['a stopped agent', messages, hello, json, 409, 'agent_stopped'],
      ['a run that is over', '/agents/main/abort', run, json, 409, 'run_stale'],
      ['an oversized body', '/agents/main/abort', big, json, 413, 'too_large'],
      ['a body that is deep', messages, deep, json, 400, 'too_deep'],
      ['no JSON', messages, '{"text":', json, 400, 'not_json'],
      ['a field that is unknown', messages, '{"text":"a","txet":1}', json, 422, 'invalid_request'],
      ['a form', messages, 'text=hello', token, 415, 'unsupported_media_type'],
      [
        ...(['a forged signature', '/webhooks/main/billing', `${paid} `] as const),
        ...([standardHeaders('a', paid), 401, 'signature_invalid'] as const),
      ],
      [
        ...(['a signature of six minutes ago', '/webhooks/main/billing', paid] as const),
        ...([standardHeaders('b', paid, longAgo), 401, 'signature_invalid'] as const),
      ],
      [
        ...(['a forged GitHub signature', '/webhooks/main/hub', `${paid} `] as const),
        ...([hub, 401, 'signature_invalid'] as const),
      ],
      ['a webhook that is none', '/webhooks/main/other', paid, hub, 404, 'not_found'],
      ['a trigger that is none', `/callbacks/${'t'.repeat(43)}`, '{}', {}, 404, 'not_found'],
      ['no route', '/agents/main/nothing', '{}', json, 404, 'not_found'],
      [
        'another method',
        '/agents/main/work-items/work_0000',
        '{}',
        json,
        405,
        'method_not_allowed',
      ],
    ]
    for (const [name, path, body, headers, status, code] of table) {
      const answer = await post(url + path, body, headers)
      const problem = problemSchema.parse(answer.body)
      assert.deepEqual([name, answer.status, problem.code], [name, status, code])
      assert.ok(problem.detail.endsWith('.') || problem.errors, `${name}: ${problem.detail}`)
      assert.ok((problem.hint ?? '').length > 10, name)
    }
    assert.match(await unmeasured(url, at.token), /^HTTP\/1\.1 413 [^]*"code":"too_large"/)
    assert.match(await twoHosts(url), /^HTTP\/1\.1 4\d\d /)
    // None of it was stored, and the daemon is as well as before.
    assert.equal((await ask('GET /state', {})).last_seq, last_seq)
    child.kill('SIGTERM')
    const { exit, err } = await ended
    assert.deepEqual([exit, err.includes(at.token), err.includes('whsec_')], [0, false, false])
  })

  const asRoot = process.getuid?.() === 0
  const homes: [name: string, spoil: (at: ServedHome) => void, says: RegExp, skip?: boolean][] = [
    [
      'a home that others can read',
      (at) => mkdirSync(at.home, { mode: 0o755 }),
      /can be read by others \(0755\).*chmod 700 /,
    ],
    [
      'a home of another user',
      (at) => {
        mkdirSync(at.home, { mode: 0o700 })
        chownSync(at.home, 65_534, 65_534)
      },
      /belongs to another user .*run it as that user/,
      !asRoot,
    ],
    [
      'a secret of a webhook that others can read',
      (at) => {
        configureWebhooks(at)
        chmodSync(`${at.folder}/billing.secret`, 0o644)
      },
      /billing\.secret can be read by others \(0644\).*chmod 600 /,
    ],
  ]
  for (const [name, spoil, says, skip = false] of homes) {
    test(
      `${name} is not served`,
      { skip: skip && 'only root can give a folder away' },
      async (t) => {
        const at = new ServedHome(t)
        spoil(at)
        const { exit, err } = await at.holon('serve', '--port', '0')
        assert.equal(exit, 1, err)
        assert.match(err, says)
        assert.deepEqual([at.file('door.json'), at.file('daemon.pid')], [null, null])
      },
    )
  }
})

/** A body without a length, which does not end where the cap is: it is not waited for. */
async function unmeasured(url: string, token: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const head = [
    'POST /agents/main/abort HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'transfer-encoding: chunked',
  ]
  const chunks = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)
  return answerTo(socket, `${head.join('\r\n')}\r\n\r\n${chunks}`)
}

function twoHosts(url: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const hosts = `host: 127.0.0.1:${port}\r\nhost: evil.example\r\n`
  return answerTo(socket, `GET /healthz HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`)
}

/** All that is said until the other side closes. */
function answerTo(socket: Socket, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  socket.setEncoding('utf8').on('data', (text: string) => (said += text))
  // A side that is refused in the middle may find its connection broken instead of closed.
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(said))
  socket.write(bytes)
  return promise
}
