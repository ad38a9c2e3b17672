/**
 * `holon init` as a person has it: the real program in a terminal, against a provider on the
 * loopback. What it asks, what it leaves on the disk, and that leaving leaves nothing.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  startModelServer,
  TEST_KEY,
  type ServerScript,
} from '../src/testing/model-server/server.ts'
import type { Config } from '../src/protocol/config.ts'
import { ServedHome, terminal } from './support/served-home.ts'

/** A question that never comes is a failure of its test, not of the whole run. */
const limit = { timeout: 60_000 }
const models = ['qwen3-coder', 'gpt-oss-20b']

/** Calls the tool that it is asked to call, once; later it says its text. */
const able: ServerScript = ({ tools }) =>
  tools.includes('Ready') ? { calls: [{ name: 'Ready', input: {} }] } : { text: 'ready' }

async function provider(t: TestContext, script: ServerScript = able) {
  const server = await startModelServer(script, { models })
  t.after(() => server.close())
  return server
}

test('a person sets up a home with an address, a key, a model and an agent', limit, async (t) => {
  const server = await provider(t)
  const at = new ServedHome(t)
  const screen = terminal(t, at, ['init', '--no-start'])
  await screen.says(/2 model [^>]*> /, '4\r')
  await screen.says(/address, like .*: /, `${server.base_url}\r`)
  await screen.says(/key, not shown.*: /, `${TEST_KEY}\r`)
  await screen.sees(/models there: 1 qwen3-coder {2}2 gpt-oss-20b/)
  await screen.says(/number or name: /, '2\r')
  await screen.sees(/3 test {5}answered in [\d.]+ s, 120 tokens, no price known/)
  await screen.sees(/4 agent {4}main, works in ~\r/)
  await screen.sees(/elsewhere: holon agents configure main --workspace/)
  await screen.sees(/5 commands of an agent with a model are confined, with an open network/)
  await screen.sees(/Ready\./)
  assert.equal(await screen.ended, 0)

  assert.ok(!screen.screen().includes(TEST_KEY), 'the key is not on the screen')
  const key_file = join(at.folder, '.config', 'holon', 'keys', 'local')
  assert.deepEqual(
    [readFileSync(key_file, 'utf8'), statSync(key_file).mode & 0o777],
    [`${TEST_KEY}\n`, 0o600],
  )
  assert.equal(statSync(join(at.folder, '.config', 'holon', 'keys')).mode & 0o777, 0o700)
  assert.equal(statSync(at.home).mode & 0o777, 0o700)
  assert.deepEqual(JSON.parse(at.file('config.json') ?? ''), {
    model: 'local/gpt-oss-20b',
    providers: {
      local: { kind: 'openai-compatible', base_url: server.base_url, api_key_file: key_file },
    },
  })
  const { agents } = await at.json<{ agents: Record<string, unknown>[] }>('agents')
  assert.deepEqual(
    agents.map(({ id, model, workspace }) => ({ id, model, workspace })),
    [
      {
        id: 'main',
        model: 'local/gpt-oss-20b',
        workspace: { mode: 'explicit_root', root: at.folder },
      },
    ],
  )
  const run = await at.holon('run', 'Say hello.')
  assert.equal(run.exit, 0, run.err)
  for (const file of readdirSync(at.home, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const text = readFileSync(join(file.parentPath, file.name), 'latin1')
    assert.ok(!text.includes(TEST_KEY), `the key is in ${file.name}`)
  }
})

const questions: [name: string, at: RegExp, answers: (base_url: string) => [RegExp, string][]][] = [
  ['the provider', /2 model [^>]*> /, () => []],
  ['the address', /address, like .*: /, () => [[/> /, '4\r']]],
  [
    'the key',
    /key, not shown.*: /,
    (url) => [
      [/> /, '4\r'],
      [/address, like .*: /, `${url}\r`],
    ],
  ],
  [
    'the model',
    /number or name: /,
    (url) => [
      [/> /, '4\r'],
      [/address, like .*: /, `${url}\r`],
      [/key, not shown.*: /, `${TEST_KEY}\r`],
    ],
  ],
]

test('ctrl+c at any question leaves nothing behind', limit, async (t) => {
  const server = await provider(t)
  for (const [name, here, answers] of questions) {
    const at = new ServedHome(t)
    const screen = terminal(t, at, ['init'])
    for (const [question, answer] of answers(server.base_url)) await screen.says(question, answer)
    await screen.says(here, '\x03')
    assert.equal(await screen.ended, 130, `${name}: ${screen.screen()}`)
    assert.match(screen.screen(), /nothing was written/, name)
    assert.deepEqual(readdirSync(at.folder), [], name)
  }
})

test(
  'from the screen 2 leads through all questions, and leaving them back to it',
  limit,
  async (t) => {
    const server = await provider(t)
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    writeFileSync(join(at.home, 'config.json'), '{"http":{"port":0}}', { mode: 0o600 })
    const screen = terminal(t, at, [])
    const upToTheModel = async (answer: string) => {
      await screen.says(/2 {2}Add a model/, '2')
      await screen.says(/2 model [^>]*> /, '4\r')
      await screen.says(/address, like .*: /, `${server.base_url}\r`)
      await screen.says(/key, not shown.*: /, `${TEST_KEY}\r`)
      await screen.says(/number or name: /, answer)
    }
    await upToTheModel('\x03')
    await screen.sees(/connecting/)
    await upToTheModel('2\r')
    await screen.sees(/model {3}local\/gpt-oss-20b/)
    // The box for the first words has the keys until it is left.
    await screen.says(/to main [\s\S]*commands (run as you|are confined)/, 'q\u001b')
    await screen.says(/find {2}: commands/, 'q')
    assert.equal(await screen.ended, 0)
    assert.deepEqual(JSON.parse(at.file('drafts.json') ?? ''), { '@main': 'q' })
  },
)

/** From the key that was pasted to the first answer; the words that are typed count as one. */
const mostKeys = 5
/** A question as it is drawn at the foot, its cursor behind it. */
const asks = /\[K[^\r\n]*[:>)] $/
for (const [cols, rows] of [
  [80, 24],
  [120, 40],
  [200, 50],
  [40, 24],
] as const) {
  test(`in ${cols}x${rows} few keys lead from an empty home to an answer`, limit, async (t) => {
    const script: ServerScript = (view) =>
      view.tools.includes('Ready') ? able(view) : { text: 'Nothing is slow.' }
    const server = await provider(t, script)
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    writeFileSync(join(at.home, 'config.json'), '{"http":{"port":0}}', { mode: 0o600 })
    const screen = terminal(t, at, [], { cols, rows })
    await screen.says(/2 {2}Add a model/, '2')
    await screen.says(asks, '4\r')
    await screen.says(asks, `${server.base_url}\r`)
    await screen.says(/\(enter for none\): /, TEST_KEY)
    const keys: string[] = []
    const press = (key: string): void => {
      keys.push(key)
      assert.ok(keys.length <= mostKeys, `${JSON.stringify(keys)} lead to no answer`)
      screen.pty.write(key)
    }
    press('\r')
    const isAsked = async (): Promise<boolean> => {
      await screen.sees(new RegExp(`${asks.source}|to main `))
      return !screen.seen().endsWith('to main ')
    }
    while (await isAsked()) press('\r')
    press('what is slow?')
    await screen.sees(/slow\?/)
    press('\r')
    await screen.sees(/Nothing is slow\./)
  })
}

test('without a terminal the first flag that is missing is named, and nothing is written', async (t) => {
  const server = await provider(t)
  const at = new ServedHome(t)
  const given = ['--provider', 'openai-compatible', '--base-url', server.base_url]
  writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
  writeFileSync(join(at.folder, 'wrong'), 'wrong', { mode: 0o600 })
  const key = ['--key-file', 'key', '--model', 'qwen3-coder']
  const rows: [args: readonly string[], exit: number, says: RegExp][] = [
    [[], 2, /--provider is not given, and nobody can be asked/],
    [['--provider', 'openai-compatible'], 2, /--base-url is not given/],
    [['--provider', 'anthropic'], 2, /--key-file or --key-env is not given/],
    [[...given, '--key-file', 'key'], 2, /--model is not given/],
    [[...given, ...key], 2, /--start or --no-start is not given/],
    [['--provider', 'nobody'], 2, /--provider nobody is none/],
    [[...given, '--key-file', 'gone'], 2, /gone cannot be read \(not_found\)/],
    [[...given, '--key-env', 'NO_SUCH_KEY'], 2, /NO_SUCH_KEY is not set/],
    [[...given, ...key, '--workspace', 'gone'], 2, /there is no folder .*gone/],
    [[...given, ...key, '--agent', ''], 2, /--agent is no name/],
    [[...given, ...key, '--agent', 'Main'], 2, /--agent Main is no name/],
    [
      [...given, '--key-file', 'wrong', '--model', 'm', '--no-start'],
      1,
      /does not accept this key/,
    ],
  ]
  for (const [args, exit, says] of rows) {
    const ended = await at.holon('init', '--no-input', ...args)
    assert.deepEqual([ended.exit, ended.out], [exit, ''], `${args.join(' ')}: ${ended.err}`)
    assert.match(ended.err, says)
  }
  assert.deepEqual(readdirSync(at.folder).toSorted(), ['key', 'wrong'])
})

test('a second set-up keeps the model and the agent, and takes another folder', async (t) => {
  const server = await provider(t)
  const at = new ServedHome(t)
  writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
  mkdirSync(join(at.folder, 'other'))
  const first = await at
    .json<{ model: string }>(
      ...['init', '--no-input', '--no-start', '--provider', 'openai-compatible'],
      ...['--base-url', server.base_url, '--key-file', 'key', '--model', 'local/qwen3-coder'],
    )
    .catch((error: unknown) => error)
  assert.ok(first instanceof assert.AssertionError, 'progress is on stderr')
  const config = at.file('config.json')
  const again = await at.holon(
    ...['init', '--no-input', '--no-start', '--quiet', '--json', '--workspace', 'other'],
  )
  assert.deepEqual(
    [again.exit, again.err, JSON.parse(again.out)],
    [
      0,
      '',
      {
        home: at.home,
        model: 'local/qwen3-coder',
        key_file: null,
        agent: { id: 'main', workspace: join(at.folder, 'other') },
        daemon_started: false,
      },
    ],
  )
  assert.equal(at.file('config.json'), config)
  assert.ok(!existsSync(join(at.folder, '.config')), 'a key in a file stays where it is')
})

test('without a model a newcomer has runbooks, and a daemon when it is asked for', async (t) => {
  const at = new ServedHome(t)
  const args = ['init', '--no-input', '--provider', 'none', '--start', '--port', '0', '--quiet']
  const made = await at.holon(...args)
  assert.deepEqual([made.exit, made.err], [0, ''])
  assert.match(made.out, /^Ready\. {2}Try: {2}holon run examples\/health\.md\n$/)
  const status = await at.json<{ ready: boolean }>('status')
  assert.equal(status.ready, true)
  const again = await at.holon('init', '--no-input', '--provider', 'none')
  assert.deepEqual([again.exit, /6 daemon {3}runs already: pid \d+/.test(again.err)], [0, true])
  assert.equal((await at.holon('stop')).exit, 0)
})

test(
  'after a test that failed only what was wrong is asked again, and the port is kept',
  limit,
  async (t) => {
    const server = await provider(t)
    const at = new ServedHome(t)
    const args = ['init', '--no-start', '--port', '7790', '--provider', 'openai-compatible']
    const screen = terminal(t, at, [...args, '--base-url', 'http://127.0.0.1:9/v1'])
    await screen.says(/key, not shown.*: /, `${TEST_KEY}\r`)
    await screen.says(/name of the model, or enter for another address: /, 'gpt-oss-20b\r')
    await screen.sees(/3 test {5}gpt-oss-20b does not work: /)
    await screen.says(
      /1 another address {2}2 another key {2}3 another model {2}4 set it[^>]*> /,
      '1\r',
    )
    await screen.says(/address, like .*: /, `${server.base_url}\r`)
    // The key and the model stand: nothing but the address is asked.
    await screen.sees(/3 test {5}answered in/)
    await screen.sees(/4 agent {4}main, works in ~\r/)
    await screen.sees(/elsewhere: holon agents configure main --workspace/)
    await screen.sees(/5 commands of an agent with a model are confined, with an open network/)
    await screen.sees(/Ready\./)
    assert.equal(await screen.ended, 0)
    // A line is drawn anew with each key: what stands on it is counted once.
    const lines = screen.screen().split('\n')
    const question = /key, not shown|name of the model|address, like/
    const asked = lines.flatMap((line) => question.exec(line)?.[0] ?? [])
    assert.deepEqual(asked, ['key, not shown', 'name of the model', 'address, like'])
    const config = JSON.parse(at.file('config.json') ?? '') as {
      model: string
      http: object
      providers: { local: { base_url: string } }
    }
    assert.deepEqual(
      [config.model, config.http, config.providers.local.base_url],
      ['local/gpt-oss-20b', { port: 7790 }, server.base_url],
    )
  },
)

test('a model that calls no tool is told plainly, and another can be taken', limit, async (t) => {
  const server = await provider(t, (view) =>
    view.body['model'] === 'qwen3-coder' ? able(view) : { text: 'ready' },
  )
  const at = new ServedHome(t)
  const given = ['--provider', 'openai-compatible', '--base-url', server.base_url]
  writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
  const all = [...given, '--key-file', 'key', '--model', 'gpt-oss-20b', '--no-start']
  const screen = terminal(t, at, ['init', ...all])
  await screen.sees(/gpt-oss-20b was asked to call a tool and called none: as an agent it can/)
  await screen.says(
    /1 another model {2}2 another address {2}3 another key {2}4 set it[^>]*> /,
    '1\r',
  )
  await screen.says(/number or name: /, '1\r')
  await screen.sees(/Ready\./)
  assert.equal(await screen.ended, 0)
  const { model } = JSON.parse(at.file('config.json') ?? '') as { model: string }
  assert.equal(model, 'local/qwen3-coder')
  const alone = await at.holon('init', '--no-input', ...all)
  assert.deepEqual([alone.exit, /called none/.test(alone.err)], [0, true], alone.err)
})

test(
  'a server that answers here is offered first, and the set-up ends in the screen',
  limit,
  async (t) => {
    const server = await startModelServer(able, { models, key: null, port: 1_234 }).catch(
      () => null,
    )
    if (server === null) return t.skip('something listens on port 1234')
    t.after(() => server.close())
    const at = new ServedHome(t)
    const screen = terminal(t, at, ['init', '--port', '0'])
    await screen.says(/6 http:\/\/127\.0\.0\.1:1234\/v1 on this machine \(2 models\)[^>]*> /, '6\r')
    // It asks for no key, and lists what it has.
    await screen.says(/models there: 1 qwen3-coder {2}2 gpt-oss-20b[^>]*> number or name: /, '1\r')
    await screen.sees(/6 daemon .*\(pid \d+\)/)
    await screen.sees(/holon stop ends it/)
    await screen.sees(/Ready\./)
    await screen.says(/to main /, '\x03')
    await screen.says(/find {2}: commands/, 'q')
    assert.equal(await screen.ended, 0)
    const config = JSON.parse(at.file('config.json') ?? '') as Config
    assert.deepEqual(
      [config.model, config.providers?.['local']?.api_key_file],
      ['local/qwen3-coder', undefined],
    )
    assert.equal(config.sandbox, undefined)
  },
)

test(
  'a daemon that runs is started anew for a model that is new, or it is said how',
  limit,
  async (t) => {
    const server = await provider(t)
    const at = new ServedHome(t)
    writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
    const given = ['init', '--no-input', '--provider', 'openai-compatible', '--port', '0']
    const all = [
      ...given,
      '--base-url',
      server.base_url,
      '--key-file',
      'key',
      '--model',
      'qwen3-coder',
    ]
    assert.equal((await at.holon('start', '--port', '0')).exit, 0)
    const before = await at.json<{ pid: number }>('status')
    const said = await at.holon(...all, '--no-start')
    assert.match(said.err, /what was set when it was started: holon stop, then holon start/)
    assert.match(said.err, /and then holon agents create main --model local\/qwen3-coder/)
    assert.equal(said.exit, 0, said.err)
    assert.equal((await at.json<{ pid: number }>('status')).pid, before.pid)
    const anew = await at.holon(...all, '--start')
    assert.equal(anew.exit, 0, anew.err)
    assert.notEqual((await at.json<{ pid: number }>('status')).pid, before.pid)
    assert.equal((await at.holon('run', 'Say hello.')).exit, 0)
    // The daemon gives its model to who is made without one.
    const { url } = await at.json<{ url: string }>('status')
    const [headers, body] = [{ 'content-type': 'application/json' }, '{"id":"docs"}']
    const made = await at.fetch(url, '/agents', { method: 'POST', headers, body })
    assert.equal(made.status, 201)
    assert.equal((await at.holon('agents', 'create', 'other')).exit, 0)
    const { agents } = await at.json<{ agents: { id: string; model: string }[] }>('agents')
    assert.deepEqual(
      agents.map(({ id, model }) => `${id} ${model}`).toSorted(),
      ['docs', 'main', 'other'].map((id) => `${id} local/qwen3-coder`),
    )
    assert.equal((await at.holon('stop')).exit, 0)
  },
)

test(
  'a program with a plan is offered where its adapter is, else its adapter is named',
  limit,
  async (t) => {
    const at = new ServedHome(t)
    mkdirSync(join(at.folder, 'bin'))
    for (const name of ['claude', 'codex', 'codex-acp']) {
      writeFileSync(join(at.folder, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
    }
    at.env['PATH'] = `${join(at.folder, 'bin')}:${at.env['PATH']}`
    const screen = terminal(t, at, ['init', '--no-start', '--provider', 'none'])
    await screen.sees(/claude is here; for children of your plan it needs its adapter:/)
    await screen.sees(/npm install --global @agentclientprotocol\/claude-agent-acp/)
    await screen.sees(/codex of your plan, cost unknown, as acp\/codex for children:/)
    await screen.sees(/holon config set acp\.codex\.command codex-acp/)
    assert.equal(await screen.ended, 0)
    const set = await at.holon('config', 'set', 'acp.codex.command', 'codex-acp')
    assert.equal(set.exit, 0, set.err)
    const { acp } = JSON.parse(at.file('config.json') ?? '') as Config
    assert.deepEqual(acp, { codex: { command: 'codex-acp' } })
  },
)
