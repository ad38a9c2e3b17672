import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { configSchema, keysAt, partsOf, type Config } from '../src/protocol/config.ts'
import { ServedHome } from './support/served-home.ts'

/** Every key that the file can have. */
const whole = {
  $schema: './config.schema.json',
  model: 'local/a',
  fallback_model: 'local/b',
  summary_model: 'local/c',
  workspace: '~/src',
  environment: ['CARGO_HOME'],
  providers: { local: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1' } },
  models: { 'local/a': { context_window: 32_000 }, 'local/b': { effort: 'low' } },
  acp: { plain: { command: 'agent' } },
  command_caps: { open_files: 64 },
  sandbox: { network: 'none' },
  hooks: [{ run: ['/usr/local/bin/ask', 'now'], for: { tool: ['ExecCommand'] } }],
  http: { port: 0 },
  webhooks: {
    gh: { scheme: 'github', secret_files: ['/k'], summary: '{/action}' },
    lab: { scheme: 'github', secret_files: ['/k'], summary: '{/action}' },
  },
  secrets: { db: { file: '/k' } },
  retention: { keep_days: 90 },
  budget: { day: { max_rounds: 5 }, all: { max_rounds: 50 } },
  log_level: 'warn',
} satisfies { [K in keyof Config]-?: unknown } & Config

function configured(t: TestContext) {
  const at = new ServedHome(t)
  mkdirSync(at.home, { mode: 0o700 })
  const path = join(at.home, 'config.json')
  writeFileSync(path, JSON.stringify(whole), { mode: 0o600 })
  const left = () => JSON.parse(readFileSync(path, 'utf8')) as unknown
  return { config: (...args: string[]) => at.holon('config', ...args), left }
}

type Settings = { settings: { key: string; value: unknown; source: string }[] }

test('config show has each key that the file can have, and the file as where it is from', async (t) => {
  const { config } = configured(t)
  const { settings } = JSON.parse((await config('show', '--json')).out) as Settings
  const said = settings.filter(({ source }) => source.endsWith('config.json'))
  const keys = new Set(said.map(({ key }) => key.split('.')[0]))
  const { $schema: _, ...rest } = configSchema.shape
  assert.deepEqual([...keys].toSorted(), Object.keys(rest).toSorted())
  const models = said.filter(({ key }) => key.startsWith('models.'))
  assert.deepEqual(
    models.map(({ key, value }) => [key, value]),
    Object.entries(whole.models).map(([id, one]) => [`models.${id}`, one]),
  )
})

test('config unset takes out one key and what it leaves empty, and nothing else', async (t) => {
  const { config, left } = configured(t)
  for (const key of ['summary_model', 'budget.day', 'http.port']) {
    assert.equal((await config('unset', key)).exit, 0, key)
  }
  const { summary_model: _, http: __, ...rest } = whole
  assert.deepEqual(left(), { ...rest, budget: { all: whole.budget.all } })
})

test('config unset refuses what is not set, and what the file cannot be without', async (t) => {
  const { config, left } = configured(t)
  const missing = await config('unset', 'budget.month')
  assert.match(missing.err, /^holon: "budget.month" is not in .*config.json; /)
  const needed = await config('unset', 'providers.local.kind')
  assert.match(needed.err, /^holon: "providers.local.kind" is not valid; /)
  assert.deepEqual([missing.exit, needed.exit], [2, 2])
  assert.deepEqual(left(), whole)
})

test('a name with dots in it is one place, in each part of the file that has names', () => {
  const named = Object.keys(configSchema.shape).filter((key) => keysAt([key, 'any']).length > 0)
  assert.ok(named.includes('models') && named.length > 3, named.join(', '))
  for (const key of named) {
    for (const name of ['plain', 'openai/gpt-5.2', 'a.b.c', '.', `x.${keysAt([key, ''])[0]}y`]) {
      assert.deepEqual(partsOf(`${key}.${name}`), [key, name])
      for (const field of keysAt([key, name])) {
        assert.deepEqual(partsOf(`${key}.${name}.${field}`), [key, name, field])
        assert.deepEqual(partsOf(`${key}.${name}.${field}.x`), [key, name, field, 'x'])
      }
    }
  }
  for (const key of ['model', 'http.port', 'budget.day.max_rounds', 'models']) {
    assert.deepEqual(partsOf(key), key.split('.'))
  }
})

test('config get, set and unset reach a model with a dot in its name', async (t) => {
  const { config, left } = configured(t)
  const key = 'models.openai/gpt-5.2.context_window'
  assert.equal((await config('set', key, '64000')).exit, 0)
  assert.equal((await config('get', key)).out, '64000\n')
  assert.deepEqual((left() as Config).models?.['openai/gpt-5.2'], { context_window: 64_000 })
  assert.equal((await config('unset', key)).exit, 0)
  assert.deepEqual(left(), whole)
})
