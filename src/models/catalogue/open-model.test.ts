import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startModelServer } from '../../testing/model-server/server.ts'
import { asks, handClock, hear } from '../../testing/model-server/client.ts'
import { says, scriptedModel } from '../../testing/scripted-model.ts'
import type { AcpPort } from '../../ports/acp.ts'
import { keptAliveFetch } from '../transport/fetch.ts'
import type { ModelSettings, ProviderSetting } from './open-model.ts'
import { openModel } from './open-model.ts'

const unused = keptAliveFetch()
const ports = { clock: handClock(), fetch: unused.fetch }

type Given = { providers?: Record<string, ProviderSetting>; env?: Record<string, string> }

const files: Readonly<Record<string, string>> = { '/key': 'sk-1\n', '/empty': '\n', '/two': 'a b' }

const settings = ({ providers = {}, env = {} }: Given): ModelSettings => ({
  providers,
  env,
  read_file: (path) =>
    files[path] === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(files[path]),
})

const acme = (more: Partial<ProviderSetting> = {}): Given => ({
  providers: { acme: { kind: 'openai-compatible', base_url: 'https://acme.test/v1', ...more } },
})

test('every way to be refused, with its remedy', async (t) => {
  const table: readonly (readonly [string, Given])[] = [
    ['', {}],
    ['claude', {}],
    ['anthropic', {}],
    ['anthropic/', {}],
    ['/claude', {}],
    ['anthropic/a b', {}],
    ['antropic/claude', {}],
    ['zzzzzzzzzzzz/claude', {}],
    ['__proto__/claude', {}],
    ['acme/big', acme({ models: ['small', 'bigger'] })],
    ['acme/big', acme({ models: [] })],
    ['anthropic/claude', {}],
    ['openai/gpt', { env: { OPENAI_API_KEY: ' ' } }],
    ['google/gemini', {}],
    ['openai-compatible/any', { env: { OPENAI_COMPATIBLE_BASE_URL: 'https://far.test/v1' } }],
    [
      'openai-compatible/any',
      { env: { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1.evil.test/v1' } },
    ],
    ['openai-compatible/any', {}],
    ['acme/big', acme()],
    ['acme/big', acme({ api_key_env: 'ACME_KEY' })],
    ['acme/big', acme({ api_key_file: '/missing' })],
    ['acme/big', acme({ api_key_file: '/empty' })],
    ['acme/big', acme({ api_key_file: '/two' })],
    ['acme/big', acme({ base_url: 'acme.test' })],
    ['acme/big', acme({ base_url: 'ftp://acme.test' })],
    ['acme/big', acme({ base_url: 'https://me:pw@acme.test/v1' })],
    ['acme/big', acme({ base_url: 'https://acme.test/v1?key=1' })],
    ['anthropic/claude', { env: { ANTHROPIC_BASE_URL: ' ' } }],
    ['openai/gpt', { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'not a url' } }],
    ['runbook', {}],
  ]
  const answers: string[] = []
  for (const [id, given] of table) {
    const opened = await openModel(id, settings(given), ports)
    answers.push(
      opened.ok ? `${id} opened` : `${opened.rejection.code}: ${opened.rejection.message}`,
    )
  }
  t.assert.snapshot(answers)
})

test('what opens a model', async () => {
  const local = { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:8080/v1/' }
  const table: readonly (readonly [string, Given])[] = [
    ['anthropic/claude', { env: { ANTHROPIC_API_KEY: 'k' } }],
    ['openai/gpt', { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://proxy.test/v1' } }],
    ['google/gemini', { env: { GOOGLE_GENERATIVE_AI_API_KEY: 'k' } }],
    ['openai-compatible/any', { env: local }],
    ['openai-compatible/org/any', { env: local }],
    ['acme/big', acme({ api_key_file: '/key' })],
    ['acme/big', acme({ base_url: 'http://[::1]:1/v1' })],
    ['acme/big', { ...acme({ api_key_env: 'ACME_KEY', models: ['big'] }), env: { ACME_KEY: 'k' } }],
  ]
  for (const [id, given] of table) {
    const opened = await openModel(id, settings(given), ports)
    assert(opened.ok, `${id}: ${opened.ok || opened.rejection.message}`)
  }
})

test('the runbook model is the one that was handed in', async () => {
  const runbook = scriptedModel(() => says('Done.'))
  const opened = await openModel('runbook', settings({}), {
    ...ports,
    runbook: () => Promise.resolve(runbook),
  })
  assert.deepEqual(opened, { ok: true, model: runbook })
})

test('an agent of another maker opens when it is configured and its program is there', async () => {
  const port: AcpPort = {
    finds: ({ command }) => command === 'gemini',
    look: () => Promise.reject(new Error('not asked')),
    follow: () => {
      throw new Error('not asked')
    },
  }
  const known = { gemini: { command: 'gemini', args: ['--acp'] }, gone: { command: 'no-such' } }
  const given = { ...settings({}), acp: known }
  const answer = async (id: string, acp?: () => Promise<AcpPort>) => {
    const opened = await openModel(id, given, { ...ports, ...(acp && { acp }) })
    return opened.ok ? 'opened' : `${opened.rejection.code}: ${opened.rejection.message}`
  }
  const here = () => Promise.resolve(port)
  assert.deepEqual(
    [
      await answer('acp/gemini', here),
      await answer('acp/gemnii', here),
      await answer('acp/__proto__', here),
      await answer('acp/gone', here),
      await answer('acp/gemini'),
    ],
    [
      'opened',
      'unknown_model: There is no agent "gemnii": choose acp/gemini, or add it to acp.gemnii.',
      'unknown_model: There is no agent "__proto__": add it to acp.__proto__.',
      'program_not_found: The program no-such of acp/gone is not found: ' +
        'install it, or set acp.gone.command to its path.',
      'unknown_provider: Agents of other makers cannot be run from here.',
    ],
  )
})

test('a local server without a key gets no authorization header', async (t) => {
  const server = await startModelServer(() => ({ text: 'Hello.' }), { key: null })
  const client = keptAliveFetch()
  t.after(() => server.close().finally(() => client.close()))
  const given: Given = {
    providers: { home: { kind: 'openai-compatible', base_url: server.base_url } },
  }
  const opened = await openModel('home/llama', settings(given), { ...ports, fetch: client.fetch })
  assert(opened.ok)
  const { outcome } = await hear(opened.model, asks('home/llama'))
  assert.equal(outcome.ok, true)
  assert.deepEqual(server.requests[0]?.body['model'], 'llama')
  assert.equal(server.authorizations[0], null)
})

const beside = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)

/** Opens one model in a fresh process and names the provider libraries that were loaded. */
async function loadedBy(kind: string): Promise<unknown> {
  const program = `
    import { registerHooks } from 'node:module'
    const seen = new Set()
    registerHooks({
      load(url, context, next) {
        const library = /@ai-sdk\\/(anthropic|openai-compatible|openai|google)\\//.exec(url)
        if (library) seen.add(library[1])
        return next(url, context)
      },
    })
    const { openModel } = await import(${beside('open-model.ts')})
    const { keptAliveFetch } = await import(${beside('../transport/fetch.ts')})
    const provider = { kind: '${kind}', base_url: 'http://127.0.0.1:1', api_key_env: 'K' }
    const clock = { now: () => 0, after: () => () => {} }
    const settings = { providers: { p: provider }, env: { K: 'k' }, read_file: async () => '' }
    const before = [...seen]
    const opened = await openModel('p/m', settings, { clock, fetch: keptAliveFetch().fetch })
    console.log(JSON.stringify({ ok: opened.ok, before, after: [...seen] }))`
  const arguments_ = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, arguments_)
  return JSON.parse(stdout)
}

test('only the adapter in use is loaded, and not before it is opened', async () => {
  for (const kind of ['anthropic', 'openai', 'openai-compatible', 'google']) {
    assert.deepEqual(await loadedBy(kind), { ok: true, before: [], after: [kind] })
  }
})
