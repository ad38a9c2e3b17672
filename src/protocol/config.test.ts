import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { z } from 'zod'
import { judgedTools } from '../domain/policy/judged-tools.ts'
import { configSchema, keysAt, partsOf } from './config.ts'

test('the keys of each place of the file are those of its schema, and other places have none', () => {
  const places: [(string | number)[], string][] = [
    [['http'], 'host port hosts'],
    [['command_caps'], 'open_files processes memory_bytes cpu_seconds'],
    [['sandbox'], 'network writable'],
    [['retention'], 'keep_days'],
    [['secrets', 'a'], 'file env'],
    [['acp', 'a', 'env'], 'pass set'],
    [
      ['providers', 'a'],
      'kind base_url api_key_file api_key_env tool_streaming stream_idle models',
    ],
    [['webhooks', 'a'], 'scheme secret_files agents source resource summary events'],
    [['models', 'a/b'], 'context_window max_output request_minutes effort vision price long_price'],
  ]
  for (const [path, keys] of places) {
    assert.equal(keysAt(path).join(' '), keys, path.join('.'))
    assert.deepEqual(keysAt([...path, 'more']), [], `${path.join('.')}.more`)
    assert.deepEqual(keysAt(['elsewhere', ...path.slice(1)]), [])
  }
  for (const path of [['secrets'], ['webhooks'], ['providers'], ['models'], ['acp'], ['model']]) {
    assert.deepEqual(keysAt(path), [], path.join('.'))
  }
  assert.deepEqual(keysAt([]), Object.keys(configSchema.shape))
  assert.equal(keysAt(['acp', 'a']).join(' '), 'command args env')
})

test('a hook is for tools that are judged, and a name that is none is refused', () => {
  const says = (tool: unknown) =>
    configSchema.safeParse({ hooks: [{ run: ['/a'], for: { tool } }] })
  for (const name of judgedTools) assert.ok(says([name]).success, name)
  for (const name of ['ExecComand', 'execcommand', '', 'ReadFile']) {
    assert.equal(says(['ExecCommand', name]).success, false, name)
  }
})

test('a network is none, open, or a list of hosts that are names', () => {
  const says = (network: unknown) => configSchema.safeParse({ sandbox: { network } })
  for (const network of ['none', 'open', { allow: ['a.example', '*.b.example:443', '*:443'] }]) {
    assert.ok(says(network).success, JSON.stringify(network))
  }
  for (const network of [
    ...[
      'hosts',
      { allow: [] },
      { allow: [''] },
      { allow: ['https://a.example'] },
      { allow: ['::1'] },
    ],
    ...[{ allow: ['a.example:0'] }, { allow: ['a'], ask: true }, { deny: ['a'] }],
  ]) {
    assert.equal(says(network).success, false, JSON.stringify(network))
  }
})

test('a key as it is typed is taken apart where the name of a model ends', () => {
  for (const [key, parts] of [
    ['log_level', ['log_level']],
    ['http.port', ['http', 'port']],
    ['models', ['models']],
    ['models.a/b', ['models', 'a/b']],
    ['models.openai/gpt-5.2', ['models', 'openai/gpt-5.2']],
    ['models.openai/gpt-5.2.price', ['models', 'openai/gpt-5.2', 'price']],
    ['models.openai/gpt-5.2.price.input', ['models', 'openai/gpt-5.2', 'price', 'input']],
    // A model may be called as a key of it: the name is at least one part.
    ['models.price', ['models', 'price']],
    ['models.price.price', ['models', 'price', 'price']],
    ['models.a.price.x.price', ['models', 'a.price.x', 'price']],
    ['webhooks.ci.events', ['webhooks', 'ci', 'events']],
    ['http.a.b', ['http', 'a', 'b']],
  ] as const) {
    assert.deepEqual(partsOf(key), parts, key)
  }
})

test('the schema of the file is the one that is published', () => {
  const published = new URL('../../docs/reference/config.schema.json', import.meta.url)
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })
  assert.deepEqual(
    { ...schema, title: 'config.json of a Holon home' },
    JSON.parse(readFileSync(published, 'utf8')),
    'after a change: npm run generate',
  )
})
