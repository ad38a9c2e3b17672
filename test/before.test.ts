/**
 * What is looked at and asked before anything is done: the questions of `holon init`, the words,
 * files, models and folders of `holon run`, a file that is imported, and what `holon doctor` finds.
 */
import type { Guards } from '../src/cli/command/guards.ts'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CliPorts, TextFileRead } from '../src/cli/command/ports.ts'
import type { OwnedHome } from '../src/cli/command/run-ports.ts'
import type { SetupPorts } from '../src/cli/command/setup-ports.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import type { Agent } from '../src/protocol/records/records.ts'
import { limits } from '../src/protocol/records/records.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { emptyHome, said, type Given, type Row } from './support/machine.ts'

type Ports = NonNullable<Given['ports']>

/** What a person types, line by line, null being the end of it; and what the provider says. */
type Person = {
  types?: readonly (string | null)[]
  usual?: string
  keys?: Readonly<Record<string, string>>
  lists?: readonly Awaited<ReturnType<SetupPorts['list_models']>>[]
  tries?: readonly Awaited<ReturnType<SetupPorts['try_model']>>[]
  more?: Given
  ports?: Partial<CliPorts>
}

const accepts = (note: (said: string) => void): Pick<CliPorts, 'own'> => ({
  own: () =>
    Promise.resolve({
      host: {
        act: (command: object) => {
          note(`asks ${JSON.stringify(command)}`)
          const id = { message_id: null, resolved: [], triggered: [], id: null, warnings: [] }
          return Promise.resolve({ ok: true, said: 'It is made.', ...id })
        },
      },
      close: () => Promise.resolve(),
    } as unknown as OwnedHome),
})

function person(of: Person): Given {
  const ports: Ports = (note) => {
    const [types, lists, tries] = [of.types ?? [], of.lists ?? [], of.tries ?? []].map((all) =>
      all.values(),
    )
    const next = (prompt: string) => {
      const line = types?.next()
      note(`? ${prompt}${line?.done === true ? '(nothing)' : String(line?.value)}`)
      return line?.done === true ? null : (line?.value as string | null)
    }
    return {
      ...accepts(note),
      ask: (prompt) => ({ answer: Promise.resolve(next(prompt)), redraw: () => {} }),
      guards: () => Promise.resolve(usualGuards),
      setup: {
        ask_secret: (prompt) => Promise.resolve(next(prompt)),
        usual: () => Promise.resolve({ base_url: null, key_variable: of.usual ?? null }),
        found: () => Promise.resolve({ servers: [], plans: [] }),
        key_in: (variable) => of.keys?.[variable] ?? null,
        list_models(candidate) {
          note(`lists the models of ${JSON.stringify(candidate)}`)
          return Promise.resolve(lists?.next().value as never)
        },
        try_model(candidate, model) {
          note(`tries ${model} of ${JSON.stringify(candidate)}`)
          return Promise.resolve(tries?.next().value as never)
        },
      },
      ...of.ports,
    }
  }
  return { ...of.more, ports }
}

/** Whatever this machine can. */
const usualGuards: Guards = {
  age: 'new',
  sandbox: { state: 'on', network: 'open', whom: 'models' },
  policy: { is: 'in_force', preset: 'work' },
}

const models = (...names: string[]) => ({ ok: true as const, models: names })
const answers = { ok: true as const, ms: 1_250, tokens: 120, usd: 0.005, calls: true }
const no = (message: string, refused_key = false) => ({ ok: false as const, refused_key, message })
const ten = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const local = ['4', 'http://127.0.0.1:1/v1/']
const alone = '--no-input --no-start --provider anthropic'
const owns = { pid: 4_321, owner_since: '2026-11-21T14:05:00.000Z' }
const kept: Given = { files: { 'config.json': '{"model":"x/y"}' } }

const inits: readonly [line: string, of: Person][] = [
  ['init --no-start', { types: ['5'] }],
  ['init --no-start', { types: ['none'] }],
  ['init', { types: ['0', '6', 'x', null] }],
  ['init --no-start', { types: ['', '5'] }],
  ['init', { types: [null] }],
  ['init --no-start', { types: [...local, '', '2'], lists: [models(...ten)], tries: [answers] }],
  [
    'init --no-start',
    {
      types: ['4', 'ftp://x', 'http://u@x/', 'http://x/?a', 'http://x/#a', 'http://x/v1', 'k', ''],
      lists: [models('one', 'two')],
      tries: [{ ...answers, tokens: null, usd: null }],
    },
  ],
  [
    'init --no-start',
    {
      types: ['1', '', 'k k', 'key', 'named'],
      lists: [models()],
      tries: [{ ...answers, usd: 0.01 }],
    },
  ],
  ['init', { types: ['2', ''], usual: 'KEY' }],
  [
    'init --no-start',
    {
      types: ['openai', '', '9'],
      ...{ usual: 'KEY', keys: { KEY: 'secret' } },
      ...{ lists: [models(...ten.slice(1))], tries: [answers] },
    },
  ],
  [
    'init --no-start',
    {
      types: ['3', 'bad', 'good'],
      lists: [no('The key is refused', true), models('one')],
      tries: [answers],
    },
  ],
  [
    'init --no-start',
    {
      types: ['3', 'bad', 'good'],
      lists: [models('one')],
      tries: [no('not this key', true), answers],
    },
  ],
  [
    'init --no-start',
    { types: ['3', 'k', 'name', '3'], lists: [no('It lists none')], tries: [no('broken')] },
  ],
  ['init', { types: ['3', 'k', 'no', null], lists: [models('one')], tries: [no('broken')] }],
  [
    'init --no-start',
    {
      types: [...local, '', '1', '1', 'http://127.0.0.1:2/v1', '2', 'key', '3', '2'],
      lists: [models('one', 'two'), models('one', 'two')],
      tries: [no('broken'), no('broken'), no('broken'), answers],
    },
  ],
  [`init ${alone} --key-env K --model a/b/c`, { keys: { K: 'x' }, tries: [no('broken', true)] }],
  [`init ${alone} --model c --no-test`, { usual: 'U', keys: { U: 'x' } }],
  [
    `init ${alone} --base-url https://x/v1/ --model c`,
    { usual: 'U', keys: { U: 'x' }, tries: [answers] },
  ],
  [`init ${alone} --base-url x --model c`, {}],
  [`init ${alone} --key-file ~/key --model c --no-test`, { more: { files: { key: ' \n' } } }],
  [`init ${alone} --key-file ~/key --model c --no-test`, { more: { files: { key: 'k\n' } } }],
  [`init ${alone} --key-file ~/key --model c`, { more: { facts: { mode: 0o100640 } } }],
  [
    `init ${alone} --key-file ~/key --model c --no-test --json`,
    { more: { facts: { mode: null } } },
  ],
  ['init --no-input --no-start', { more: kept }],
  ['init --no-input --no-start --json', {}],
  ['init --no-start --agent docs', { types: [''] }],
  ['init --no-start --agent docs --workspace /nowhere', { types: ['kept'] }],
  ['init --no-input --no-start --agent Docs', {}],
  [`init --no-input --no-start --agent ${'a'.repeat(64)}`, {}],
  [`init --no-input --no-start --agent ${'a'.repeat(65)}`, {}],
  ['init --no-input --no-start --provider none --agent docs --quiet', {}],
  ['init --no-input --no-start', { more: { facts: { is_folder: false } } }],
  [
    'init --no-input --no-start',
    {
      more: {
        files: { 'config.json': '{"model":"x/y","models":{"x/y":{"context_window":9000}}}' },
      },
    },
  ],
  ['init --no-input --start', { more: { running: [4_321] } }],
  [
    'init',
    {
      types: ['3', 'k', '', 'maybe', 'N'],
      ...{ lists: [models('one', 'two')], tries: [answers], more: { running: [4_321] } },
      ports: { screen: () => Promise.resolve('left'), owner: () => Promise.resolve(owns) },
    },
  ],
  [
    'init --no-input --start',
    {
      more: { running: [4_321] },
      ports: { on_interrupt: (listener) => (listener(), () => {}) },
    },
  ],
]

test('a home is set up by questions, each with what it takes and what it does not', async (t) => {
  const home = emptyHome(t)
  const all: string[] = []
  for (const [line, of] of inits) {
    const given = person({ ...of, ports: { working_folder: home, ...of.ports } })
    all.push(...(await said(home, [[line, given]])))
  }
  t.assert.snapshot(all)
})

test('without a home on the command line it is the usual one, and it is said', async (t) => {
  const home = emptyHome(t)
  const flags: string[] = []
  const all: string[] = []
  writeFileSync(join(home, 'file'), '')
  for (const name of ['usual', 'usual', 'file']) {
    const ports = { default_home: join(home, name), working_folder: home }
    const given = person({ types: ['5'], ports, more: { flags } })
    all.push(...(await said(home, [['init --no-start', given]])))
  }
  t.assert.snapshot(all)
})

const stuck = () => Promise.reject(Object.assign(new Error('past it'), { code: 'x', retry: 'now' }))
const reads = (why: Extract<TextFileRead, { ok: false }>['why']): Given => ({
  ports: () => ({ read_text: () => Promise.resolve({ ok: false, why }), own: stuck }),
})
const stdin = (given: string): Given => {
  const isFault = whys.some((why) => why === given)
  const read = isFault ? { ok: false, why: given } : { ok: true, text: given }
  return { ports: () => ({ read_stdin: async () => read as TextFileRead, own: stuck }) }
}
const whys = [
  'not_found',
  'denied',
  'is_folder',
  'not_regular',
  'too_large',
  'binary',
  'io',
] as const
const most = limits.operator_text.value
const checks = '---\nchecks:\n  - name: a\n    cmd: b\n---\n# A\n\n## B\n\n```sh\nc\n```\n'

const targets: readonly Row[] = [
  ...whys.map((why): Row => [`run a.md`, reads(why)]),
  ['run "of a.md"', reads('denied')],
  ['run "of a.md"', { ...reads('not_found') }],
  ...whys.map((why): Row => [`import a.md`, reads(why)]),
  ...whys.map((why): Row => ['import -', stdin(why)]),
  ['import -', stdin('x')],
  ['import - --agent main', stdin('x')],
  ...whys.map((why): Row => ['run -', stdin(why)]),
  ['run -', stdin(' ')],
  ['run -', stdin('a'.repeat(most))],
  ['run - more', stdin('binary')],
  [`run ${'b'.repeat(most + 1)}`, { ports: () => ({ own: stuck }) }],
  ['run --resume x', {}],
  ['run --resume', {}],
  ['run --resume --json', {}],
  ['run ~/empty.md', { files: { 'empty.md': ' \n' } }],
  ['run ~/none.MARKDOWN', { files: { 'none.MARKDOWN': 'x' } }],
  ['run ~/c.md --model a/b', { files: { 'c.md': checks }, ports: () => ({ own: stuck }) }],
  ['run ~/c.md --model runbook', { files: { 'c.md': checks }, ports: () => ({ own: stuck }) }],
]

test('what a run is given, and what an import reads, is looked at first', async (t) => {
  t.assert.snapshot(
    (await said(emptyHome(t), targets)).map((line) => line.replace(/(.)\1{99,}/, '$1…')),
  )
})

const agent = (id: string, model: string | null, root = '/'): Agent =>
  ({ id, model, state: 'active', workspace: { mode: 'explicit_root', root } }) as unknown as Agent

/** An owner whose agents refuse to be set, and note with what. */
const owning =
  (agents: readonly Agent[], models: Readonly<Record<string, string>> = {}): Ports =>
  (note) => ({
    check_runbook: () => Promise.resolve({ errors: [], checked: null }),
    own: () =>
      Promise.resolve({
        agents: () => Promise.resolve(agents),
        open_model: (id: string) =>
          Promise.resolve(
            models[id] === undefined
              ? { ok: true }
              : { ok: false, code: 'model_unknown', message: models[id] },
          ),
        host: {
          ensureAgent(settings: object) {
            note(`sets ${JSON.stringify(settings)}`)
            return Promise.resolve({ ok: false, code: 'x', message: 'Not now.', hint: 'later' })
          },
        },
        close: (how: string) => Promise.resolve(note(`closes ${how}`)),
      } as unknown as OwnedHome),
  })
const some = [agent('main', 'a/b'), agent('docs', null), agent('runbooks', 'runbook')]
const gone = { ...agent('old', 'a/b'), state: 'deleted' } as unknown as Agent
const with_ = (agents: readonly Agent[], more: Given = {}): Given => ({
  ...more,
  ports: owning(agents),
})
const has = (config: object): Given => ({ files: { 'config.json': JSON.stringify(config) } })

const runs: readonly Row[] = [
  ['run x', with_([])],
  ['run x', with_(some)],
  ['run x --model a/b', with_(some)],
  ['run x --model c/d', with_(some)],
  ['run x --agent docs', with_(some)],
  ['run x --agent docs', with_(some, { environment: { holon_model: 'e/f' } })],
  ['run x --agent runbooks', with_(some)],
  ['run x --agent runbooks', with_(some, { environment: { holon_model: 'e/f' } })],
  ['run x --agent old --model a/b', with_([gone])],
  ['run ~/a.md', with_(some, { files: { 'a.md': 'x' } })],
  ['run ~/a.md', with_([])],
  ['run ~/a.md --agent main', with_(some)],
  ['run ~/a.md --agent main --model a/b', with_(some)],
  ['run ~/a.md --model runbook', with_(some)],
  ['run x --workspace /nowhere', with_(some)],
  ['run x --workspace ~', with_(some)],
  ['run x', with_([agent('main', 'a/b', '/nowhere')])],
  ['run x', with_([agent('main', 'a/b', '<home>/agents/main')])],
  ['run x', with_([], has({ model: 'g/h', fallback_model: 'i/j', workspace: '/' }))],
  ['run x', with_(some)],
  ['run x', { ports: owning(some, { 'a/b': 'No such model: name another: please' }) }],
  ['run x', { ports: owning(some, { 'a/b': 'No such model' }) }],
]
const resumes: readonly Row[] = [
  ['run --resume', with_(some)],
  ['run --resume', { ports: owning(some, { 'a/b': 'No key: set it' }) }],
  ['run --resume', with_([agent('docs', null)])],
  ['run --resume', { ports: owning([agent('main', 'a/b')], { 'a/b': 'No key: set it' }) }],
  ['run --resume --model a/b', with_(some)],
  ['run --resume --workspace /', with_(some)],
  ['run --resume --agent docs --model c/d --workspace /', with_(some)],
  ['run --resume --agent nobody', with_(some)],
  ['run --resume --agent old', with_([gone, ...some])],
  ['run --resume --model c/d', with_([agent('docs', null)])],
]

test('the agent, the model and the folder of a run are settled before it begins', async (t) => {
  const rows = runs.map((row): Row => row)
  const all = await said(emptyHome(t), rows)
  all.push(...(await said(await homeApart(t, earlierHome('demo')), resumes)))
  t.assert.snapshot(all)
})

const provider = (more: object) => ({ providers: { p: { kind: 'anthropic', ...more } } })
const sandbox =
  (state: Guards['sandbox'], policy: Guards['policy'] = { is: 'none' }): Ports =>
  () => ({ guards: () => Promise.resolve({ age: 'new', sandbox: state, policy }) })
const finds: Ports = () => ({
  async open_reader(home) {
    const reader = await real.open_reader(home)
    assert.ok(reader !== null)
    const broken = ['one is broken', 'two is', 'three']
    return Object.assign(Object.create(reader) as typeof reader, {
      ...{ agents: () => reader.agents(), live: (id: string) => reader.live(id) },
      stats: () => Promise.resolve({ schema: 9, events: 1_000, bytes: 3 * 1024 * 1024 }),
      invariants: ({ history }: { history: boolean }) => Promise.resolve(history ? broken : []),
      verify: () =>
        Promise.resolve({ ok: false, events: 1, rows: 2, problems: broken.slice(0, 2) }),
      close: () => reader.close(),
    })
  },
  secret_problems: () => Promise.resolve([{ message: 'open\u001b', hint: 'close it' }]),
})
const well: Given = { facts: { mode: 0o700, free_bytes: 5 * 1024 ** 3 } }
const readyz = (status: number, body: object) => ({ 'GET /readyz': [status, body] }) as const
const oneAgent = { 'GET /agents?limit=1': [200, { agents: [] }] } as const
const denied = {
  type: 'x',
  title: 'x',
  status: 401,
  code: 'unauthorized',
  detail: 'No.',
  hint: null,
}
const served: Given = { ...well, owner: 4_321, running: [4_321] }

const doctors: readonly Row[] = [
  ['doctor', { facts: { exists: false } }],
  ['doctor', { facts: { is_folder: false } }],
  ['doctor', { facts: { mode: 0o740, free_bytes: 1024 ** 3 } }],
  ['doctor', { facts: { mode: 0o701, free_bytes: 1024 ** 3 - 1 } }],
  ['doctor', { facts: { mode: null, free_bytes: null } }],
  ['doctor', { ...well, ports: finds }],
  ['doctor --verify', { ...well, ports: finds }],
  ['doctor --json', { ...well, ports: finds }],
  [
    'doctor',
    {
      ...well,
      ...has({ sandbox: {} }),
      ports: sandbox({ state: 'on', network: 'none', whom: 'everyone' }),
    },
  ],
  [
    'doctor',
    { ...well, ports: sandbox({ state: 'on', network: { allow: ['a.example'] }, whom: 'models' }) },
  ],
  ['doctor', { ...well, ports: sandbox({ state: 'on', network: 'open', whom: 'models' }) }],
  ['doctor', { ...well, ports: sandbox({ state: 'unavailable', why: 'there is no bwrap' }) }],
  [
    'doctor',
    {
      ...well,
      ports: sandbox(
        { state: 'missing', why: 'there is no bwrap' },
        { is: 'in_force', preset: 'watch' },
      ),
    },
  ],
  ['doctor', { ...well, ...has(provider({ api_key_file: '~/k' })) }],
  ['doctor', { ...well, files: { k: '\n' } }],
  ['doctor', { ...well, files: { k: 'key' } }],
  ['doctor', { ...well, ...has(provider({ api_key_env: 'HOLON_NO_SUCH_KEY' })) }],
  ['doctor', { ...well, ...has({ model: 'x/y', models: { 'x/y': { context_window: 9_000 } } }) }],
  ['doctor', { ...well, ...has({ mdl: 'x/y' }) }],
  ['doctor', { ...well, ...has({}), owner: 77 }],
  ['doctor', served],
  ['doctor', { ...served, api: { ...readyz(200, {}), ...oneAgent } }],
  ['doctor', { ...served, api: readyz(500, { ...denied, code: 'x', detail: 'It is full.' }) }],
  ['doctor', { ...served, api: { ...readyz(200, {}), 'GET /agents?limit=1': [401, denied] } }],
]

test('doctor says of each part how it is, and what to do', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  const all = await said(home, doctors)
  // The size of the file is that of a page of this system, and the schema that of today.
  t.assert.snapshot(
    all.map((line) => line.replace(/schema \d+, (\d+) events, [\d.]+ MB/, 'schema, $1 events')),
  )
})
