/**
 * What the commands say that ask the machine and not the ledger, and what they ask of it: services,
 * the daemon, webhooks, upkeep, the configuration and the screen. Each way in which each of them
 * can end is a row; what all of it prints is under snapshot.
 */
import type { Guards } from '../src/cli/command/guards.ts'
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import { emptyHome, said, type Given, type Row } from './support/machine.ts'

const services: readonly Row[] = [
  'service show',
  'service show --json',
  'service show --manager launchd',
  'service show --manager odd',
  ['service show', { platform: null }],
  ['service show --manager systemd', { platform: null }],
  ['service show', { platform: 'launchd' }],
  ['service show --json', { platform: 'launchd' }],
  'service install',
]

test('a service is printed for the manager of the system or a named one', async (t) => {
  const home = join(emptyHome(t), 'home')
  mkdirSync(home)
  t.assert.snapshot(await said(home, services))
})

const ready = { 'GET /readyz': [200, { ready: true }] } as const
const problem = (code: string, detail: string, status = 503) =>
  [status, { type: 'x', title: 'x', status, code, detail, hint: null }] as const
const unready = { 'GET /readyz': problem('not_ready', 'The disk is full.') }
const here = { running: [4_321], api: ready } as const
const info = '{"level":"info","msg":"fine"}'
const debug = '{"level":"debug","msg":"fine"}'
const warn = '{"level":"warn","msg":"\u001b[31mred"}'
const log = [warn, info, debug, warn, 'holon: it\u001b[31m failed', 'holon: it\u001b[31m failed']

const daemons: readonly Row[] = [
  ['start', { running: [4_321] }],
  ['start', here],
  ['start --json', here],
  ['start --json', { running: [4_321] }],
  ['start', { owner: 77 }],
  ['start --port 65536', here],
  ['start --port 65535', here],
  ['start --port x', here],
  ['start --log-level loud', here],
  ['start', { api: ready }],
  ['start --json', { api: ready }],
  [
    'start --host ::1 --port 0 --allow-remote --log-level warn',
    { api: { 'GET /readyz': [problem('starting', 'x', 500), ...Object.values(ready)] } },
  ],
  ['start', { api: ready, api_pid: 99, log }],
  ['start', { log: [] }],
  ['start', { ended: { code: 4, signal: null, problem: null }, log: [info, warn] }],
  ['start', { ended: { code: 1, signal: null, problem: null }, log: [warn, info] }],
  ['start', { ended: { code: null, signal: 'SIGKILL', problem: null }, log }],
  ['start', { ended: { code: null, signal: null, problem: 'there is no memory' } }],
  ['start --json', { ended: { code: 1, signal: null, problem: null }, log }],
  'stop',
  'stop --json',
  ['stop', { owner: 77 }],
  ['stop', { running: [4_321, 4_321, null] }],
  ['stop --json', { running: [4_321, null] }],
  ['stop', { running: [4_321, 99] }],
  ['stop', { running: [4_321] }],
  ['status', { running: [4_321] }],
  ['status', { running: [4_321], api: ready }],
  ['status --json', { running: [4_321], api: ready }],
  ['status', { running: [4_321], api: unready }],
  ['status --json', { running: [4_321], api: unready }],
  ['status', { running: [4_321], api: {} }],
  ['status', { running: [4_321], api: { 'GET /readyz': [200, 'no json'] } }],
  ['status', { running: [4_321], api: { 'GET /readyz': 'silent' } }],
  [
    'status',
    {
      running: [4_321],
      api: {
        'GET /readyz': problem('unresponsive', 'The daemon has not written for 20 s.'),
      },
    },
  ],
  'status',
  'logs',
  ['logs', { log }],
  ['logs --lines 3', { log }],
  ['logs -n 1', { log, look: { terminal: false, colour: false } }],
  'logs -n x',
  'logs -n 1000000',
  'logs -n 999999 --follow',
  ['logs --follow', { log }],
]

test('a daemon is started, looked at and stopped, with every way in which it is not', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  t.assert.snapshot(await said(home, daemons))
})

test('of a home in which nothing ever was, the daemon’s state is told all the same', async (t) => {
  const home = emptyHome(t)
  const rows: Row[] = ['status', 'status --json', ['status', here]]
  t.assert.snapshot(await said(home, rows))
})

const hooks = {
  webhooks: {
    gh: { scheme: 'github', secret_files: ['/s1'], agents: ['ops', 'main'], source: 'GitHub' },
    any: { scheme: 'standard', secret_files: ['/s2', '~/s3'] },
  },
}
const config = (of: object) => ({ files: { 'config.json': JSON.stringify(of) } })
const toAny = 'POST /webhooks/main/any'
const toGh = 'POST /webhooks/ops/gh'
const took = (message_id: string | null, duplicate = false) =>
  ({ api: { [toAny]: [202, { message_id, duplicate }] } }) as const

const webhooks: readonly Row[] = [
  'webhook list',
  'webhook list --json',
  'webhook test any',
  ['webhook list', config(hooks)],
  'webhook list --json',
  ['webhook list', { api: ready }],
  ['webhook list --json', { api: ready }],
  'webhook test some',
  'webhook test any',
  [
    'webhook test any',
    { ...took('msg_00000000000000000001'), sign: { ok: false, message: 'No.' } },
  ],
  ['webhook test any', took('msg_00000000000000000001')],
  ['webhook test any --json', took('msg_00000000000000000001')],
  ['webhook test any', took('msg_00000000000000000001', true)],
  ['webhook test any', took(null)],
  ['webhook test any', { api: { [toAny]: problem('webhook_unsigned', 'Nobody signed it.', 401) } }],
  ['webhook test any', { api: { [toAny]: 'refused' } }],
  ['webhook test gh', { api: { [toGh]: [202, { message_id: 'msg_0001', duplicate: false }] } }],
  [
    'webhook test any --agent "a b" --event push --body "{}"',
    { api: { 'POST /webhooks/a%20b/any': [202, { message_id: 'msg_0001', duplicate: false }] } },
  ],
]

test('webhooks are listed, and one is tried through the door its sender uses', async (t) => {
  t.assert.snapshot(await said(emptyHome(t), webhooks))
})

const manifest = {
  made_at: '2026-12-01T08:00:00.000Z',
  last_global_seq: 42,
  files: [],
  not_included: [],
}
const made = {
  path: '/b/holon-backup',
  files: 1,
  bytes: 1_250_000,
  last_global_seq: 42,
  not_included: [{ path: 'k\u001b', reason: 'it is\u0007 secret' }],
}
const gone = (rows: Record<string, number>) => ({
  before: '2026-09-25T09:30:00.000Z',
  dry_run: false,
  global_seq: 42,
  events: 1,
  rows,
  blobs: 2,
  bytes: 340_000,
})
const upkeepPorts =
  (answer: {
    backup?: unknown
    moved?: string
    rows?: Record<string, number>
  }): NonNullable<Given['ports']> =>
  (note) => ({
    upkeep: {
      backup(_home, options) {
        note(`backup ${JSON.stringify(options)}`)
        return Promise.resolve(answer.backup as never)
      },
      restore(from, to) {
        note(`restore ${from} ${to}`)
        return Promise.resolve({ home: to, manifest, moved_from: answer.moved ?? null })
      },
      retain(_home, options) {
        note(`retain ${JSON.stringify(options)}`)
        return Promise.resolve(gone(answer.rows ?? {}))
      },
      rotate_token() {
        note('rotate')
        return Promise.resolve()
      },
    },
  })
const doing = (answer: Parameters<typeof upkeepPorts>[0]): Given => ({
  ports: upkeepPorts(answer),
})
const retains = doing({ rows: { work_items: 2, briefs: 1 } })
const absent: Given = { ...doing({}), facts: { exists: false } }
const refusedBackup = { ok: false, code: 'path_invalid', message: 'Not there.', hint: 'x' }

const upkeeps: readonly Row[] = [
  ['backup ~/b', doing({ backup: null })],
  ['backup ~/b', doing({ backup: { ok: true, value: made } })],
  ['backup /b --with-secrets', doing({ backup: { ok: true, value: made } })],
  ['backup /b --json', doing({ backup: { ok: true, value: made } })],
  ['backup /b', doing({ backup: refusedBackup })],
  ['backup /b', doing({ backup: { ok: false, code: 'upkeep_running', message: 'One runs.' } })],
  ['backup /b', { ...doing({}), api: { 'POST /upkeep/backup': [200, made] } }],
  ['backup /b', { ...doing({}), api: { 'POST /upkeep/backup': problem('forbidden', 'No.', 403) } }],
  ['backup /b', { ...doing({}), api: { 'POST /upkeep/backup': 'silent' } }],
  ['restore <home>/nowhere', doing({})],
  ['restore <home>', doing({})],
  ['restore ~/b', { ...doing({}), files: { 'b/manifest.json': '{}' } }],
  ['restore ~/b', { ...doing({ moved: '/old\u001b' }) }],
  ['restore ~/b --json', doing({})],
  ['restore ~/b', { ...doing({}), facts: { is_folder: false } }],
  ['restore ~/b', { ...doing({}), facts: { exists: false, is_folder: false } }],
  ['retention --before 90d --keep-days 90', retains],
  ['retention --keep-days 7', retains],
  ['retention --keep-days 8', retains],
  ['retention --keep-days 3660', retains],
  ['retention --keep-days 3661', retains],
  ['retention --keep-days many', retains],
  ['retention --before 90d', doing({})],
  ['retention --before 90d --dry-run', retains],
  ['retention --before 2026-01-01', retains],
  ['retention --before 2026-01-01T10:00Z --json', retains],
  ['retention --before 2026-12-24T09:30:00.000Z', retains],
  ['retention --before 2026-12-24T09:30:00.001Z', retains],
  ['retention --before 1', retains],
  ['retention --before 2026-13-01', retains],
  ['retention', retains],
  ['retention --keep-days 9', { ...retains, owner: 77 }],
  ['retention --keep-days 9', absent],
  ['retention', { ...retains, ...config({ retention: { keep_days: 30 } }) }],
  ['retention --keep-days 9', { api: { 'POST /upkeep/retention': [200, gone({ tasks: 1 })] } }],
  ['retention --dry-run', { api: { 'POST /upkeep/retention': [200, gone({})] } }],
  ['token rotate', doing({})],
  ['token rotate --json', doing({})],
  ['token rotate', absent],
  ['token rotate', { ...doing({}), environment: { has_control_token: true } }],
]

test('a home is copied, brought back and made smaller, here and at the daemon', async (t) => {
  t.mock.method(Date, 'now', () => later)
  t.assert.snapshot(await said(emptyHome(t), upkeeps))
})

const text = (of: string): Given => ({ files: { 'config.json': of } })
const configs: readonly Row[] = [
  'config show',
  'config path --json',
  'config get model',
  'config get modle',
  'config get zzzzzzzz',
  'config get http.port',
  'config unset model',
  'config set model a/b',
  'config set model a/c --json',
  'config set model a/d --quiet',
  `config set environment '["A"'`,
  `config set environment '["A","B"]'`,
  'config get environment',
  'config get environment --json',
  'config set http.port 8080',
  'config set http.hosts \'["a.example"]\'',
  'config get http',
  'config set http.port none',
  'config set retention.keep_days 1.5',
  'config set command_caps 7',
  'config set __proto__ x',
  'config set model.name x',
  'config unset http.port --json',
  'config unset http.hosts --quiet',
  'config unset model',
  'config get http',
  ['config show', { environment: { holon_model: ' x/y ', holon_log: 'warn' } }],
  ['config show', { environment: { holon_model: '  ', holon_log: ' ' } }],
  ['config show', text('{"log_level":"error","workspace":"/w"}')],
  ['config show', { environment: { holon_log: 'loud' } }],
  ['config show', text('{')],
  ['config show', text('{\n"model": 1}')],
  ['config show', text('{"model":\n,}')],
  ['config show', text('[]')],
  ['config show', text('{"providers":{"p":\n{}}}')],
  ['config show', text('{"sandbox":{"writable":[1,\n\n2]}}')],
  ['config show', text('{"http":{"hosts":["a"],\n"prt":1}}')],
  ['config show', text('{"zzzzzzzz":1}')],
  ['config show', text(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)],
  ['config show', text(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`)],
  [
    'config show',
    { ports: () => ({ read_text: () => Promise.resolve({ ok: false, why: 'denied' }) }) },
  ],
]

test('the configuration is shown, changed and refused', async (t) => {
  const all = await said(emptyHome(t), configs)
  // Columns are as wide as the name of the folder, which another machine calls otherwise.
  t.assert.snapshot(all.map((line) => line.replace(/ {2,}/g, '  ')))
})

const shows: NonNullable<Given['ports']> = (note) => ({
  // The folder one stands in is another on each machine.
  screen: (home, { first: _, ...look }) => {
    note(`screen ${home} ${JSON.stringify(look)}`)
    return Promise.resolve('left')
  },
})
const screen: Given = { ...here, ports: shows }
const nowhere = { terminal: false, colour: false } as const

const tuis: readonly Row[] = [
  ['tui --json', screen],
  ['tui', { ...screen, look: nowhere }],
  ['tui --plain', { ...screen, look: nowhere }],
  ['tui', { ...screen, look: nowhere, environment: { wants_plain: true } }],
  ['tui', { ...screen, look: nowhere, environment: { term: 'dumb' } }],
  ['tui', { ports: shows }],
  ['tui', screen],
  ['tui main --ascii', { ...screen, running: [null] }],
  ['tui', { ports: shows, owner: 77 }],
  ['', screen],
  ['--ascii --plain', screen],
]

test('the screen is begun on a terminal, with a daemon that is started where nobody owns the home', async (t) => {
  const home = emptyHome(t)
  const all = await said(home, tuis)
  const half = { stdin: true, stdout: true, stderr: true, columns: () => 100 }
  for (const no of ['stdin', 'stdout'] as const) {
    const ports: Given['ports'] = (note) => ({
      ...shows(note),
      terminal: { ...half, [no]: false },
    })
    all.push(...(await said(home, [['tui', { ...screen, ports }]])))
  }
  t.assert.snapshot(all)
})

test('a home that is a file, and one that another process has, are refused', async (t) => {
  const home = await homeApart(t, earlierHome('demo'))
  const { tables } = earlierHome('demo')
  const wait = String(tables['waits']?.[0]?.['id'])
  const ports: Given['ports'] = () => ({ door: () => Promise.resolve(null) })
  const all = await said(home, [[`answer ${wait} yes`, { owner: 77, ports }]])
  writeFileSync(join(home, 'file'), '')
  all.push(...(await said(join(home, 'file'), ['backup /b'])))
  assert.ok(all.length > 3)
  t.assert.snapshot(all)
})

const keys = JSON.stringify({
  model: 'anthropic/claude-sonnet-5-5',
  sandbox: {},
  providers: {
    ...{ filed: { kind: 'openai', api_key_file: '<home>/key' } },
    ...{ blank: { kind: 'openai', api_key_file: '<home>/blank' } },
    ...{ gone: { kind: 'openai', api_key_file: '~/gone' } },
    ...{ folder: { kind: 'openai', api_key_file: '<home>/tasks' } },
    ...{ named: { kind: 'openai', api_key_env: 'A_KEY' } },
    ...{ unnamed: { kind: 'openai', api_key_env: 'NO_KEY' } },
    ...{ none: { kind: 'openai' } },
  },
})
const files = { 'config.json': keys, key: 'secret', blank: ' \n' }
const sandboxes: readonly Guards['sandbox'][] = [
  { state: 'off', because: 'existing_home' },
  { state: 'off', because: 'chosen' },
  { state: 'on', network: 'none', whom: 'everyone' },
  { state: 'on', network: 'open', whom: 'models' },
  { state: 'on', network: { allow: ['a.example:443', '*.b.example'] }, whom: 'everyone' },
  { state: 'unavailable', why: 'there is \u001b[31mno bwrap' },
  { state: 'missing', why: 'there is \u001b[31mno bwrap' },
]
const guarded = (sandbox: Guards['sandbox'] | undefined): Guards => ({
  age: 'new',
  sandbox: sandbox ?? { state: 'off', because: 'chosen' },
  policy: {
    is: 'refused',
    refused: {
      ...{ ok: false, file: '/h/policy.json', line: 3, in_force: null },
      why: 'a rule \u001b[31mis wrong',
    },
  },
})
const troubles: Given['ports'] = () => ({
  guards: () => Promise.resolve(guarded(sandboxes[5])),
  setup: { ...real.setup, key_in: (name) => (name === 'A_KEY' ? 'secret' : null) },
  secret_problems: () =>
    Promise.resolve([
      { message: 'a token can be \u001b[31mread', hint: 'chmod 600 \u009b2J' },
      { message: 'two of one value', hint: 'change one' },
    ]),
})
const unheld: Given['ports'] = () => ({
  open_reader: async (at) => {
    const reader = await real.open_reader(at)
    if (reader === null) return null
    const problems = ['a row \u009b2J is wrong', 'another', 'a third']
    const own = {
      verify: () => Promise.resolve({ ok: false, events: 1, rows: 1, problems }),
      invariants: () => Promise.resolve(problems.slice(0, 2)),
    }
    return new Proxy(reader, {
      get: (of, name) => Reflect.get({ ...of, ...own }, name) ?? Reflect.get(of, name),
    })
  },
})
const doctors: readonly Row[] = [
  'doctor',
  'doctor --verify',
  'doctor --json',
  ['doctor', { facts: { exists: false } }],
  ['doctor', { facts: { is_folder: false } }],
  ['doctor', { facts: { mode: 0o755, free_bytes: 1024 ** 3 - 1 } }],
  ['doctor', { facts: { mode: 0o707, free_bytes: 1024 ** 3 } }],
  ['doctor', { facts: { mode: null, free_bytes: null } }],
  ['doctor', { facts: { mode: 0, free_bytes: 0 } }],
  ['doctor', { owner: 77 }],
  ['doctor', { owner: 4_321, running: [4_321] }],
  ['doctor', { owner: 4_321, running: [4_321], api: unready }],
  ['doctor', { owner: 4_321, running: [4_321], api: ready }],
  [
    'doctor',
    {
      ...{ owner: 4_321, running: [4_321] },
      api: { ...ready, 'GET /agents?limit=1': [200, { agents: [], next_cursor: null }] },
    },
  ],
  [
    'doctor',
    {
      ...{ owner: 4_321, running: [4_321] },
      api: { ...ready, 'GET /agents?limit=1': problem('unauthorized', 'It is another.', 401) },
    },
  ],
  ['doctor', { ports: unheld }],
  ['doctor --verify', { ports: unheld }],
  ['doctor', { files, ports: troubles }],
  ...sandboxes.map((state): Row => {
    return ['doctor', { ports: () => ({ guards: () => Promise.resolve(guarded(state)) }) }]
  }),
  ['doctor', { files: { 'config.json': '{"modle": 1}' } }],
]

test('the doctor says what is well, what is not, and what to do', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  // How much of the disk is free, and how large the ledger became, is the machine's.
  const facts = { mode: 0o700, free_bytes: 5 * 1024 ** 3 }
  const steady = doctors.map((row): Row => {
    const [line, given] = typeof row === 'string' ? [row, {}] : row
    return [line, { facts, ...given }]
  })
  const all = await said(home, steady)
  t.assert.snapshot(all.map((line) => line.replaceAll(/\d+\.\d MB/g, '<size>')))
})

test('neither the name of a folder nor what a daemon says is obeyed by a terminal', async (t) => {
  t.mock.method(Date, 'now', () => later)
  for (const rows of [daemons, webhooks, upkeeps, configs, doctors]) {
    const place = join(emptyHome(t), 'at \u009b2J\u202e')
    renameSync(await homeApart(t, earlierHome('demo')), place)
    // A pipe gets the bytes as they are.
    const shown = rows.flatMap((row): Row[] => {
      const [line, given] = typeof row === 'string' ? [row, {}] : row
      if (given.look?.terminal === false) return []
      // The home is below no folder of the person: it is told by its whole name.
      const ports: Given['ports'] = (note) => ({ user_home: '/nobody', ...given.ports?.(note) })
      return [[line, { ...given, ports }]]
    })
    for (const line of await said(place, shown)) {
      // What was typed, what was asked of the machine, and JSON, which has its own way to say it.
      if (/^[$:{]|^\s*"/.test(line)) continue
      assert.doesNotMatch(line, /<home>|\p{Cc}|\u202e/u)
    }
  }
})
