/** What `config set` says is set can be got, whatever the name is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configSchema, keysAt } from '../../protocol/config.ts'
import { configGet, configSet, configShow, configUnset } from './config-command.ts'
import type { Context } from '../command/context.ts'
import { CliFailure } from '../command/failure.ts'

/** Names that every object has for itself, and none at all. */
const inborn = [...Object.getOwnPropertyNames(Object.prototype), '']

/** A home of one file. */
function filed() {
  let text: string | null = null
  const ports = {
    read_text: async () => (text === null ? { ok: false, why: 'not_found' } : { ok: true, text }),
    write_private: async (_path: string, written: string) => void (text = written),
    nearest: () => null,
    out: () => {},
    terminal: { stdout: false },
  }
  const home = { value: '/home', source: 'default' }
  const context = { ports, home, flags: { quiet: true, json: true } } as unknown as Context
  return { context, text: () => text }
}

/** False: it was refused, in words. */
async function isDone(act: Promise<unknown>): Promise<boolean> {
  try {
    await act
    return true
  } catch (error) {
    if (error instanceof CliFailure) return false
    throw error
  }
}

test('a name that objects have for themselves is set so that it can be got and unset, or is refused', async () => {
  const named = Object.keys(configSchema.shape).filter((top) => keysAt([top, '']).length > 0)
  const keys = inborn.flatMap((name) => [
    name,
    `${name}.x`,
    ...named.flatMap((top) => [`${top}.${name}`, `${top}.${name}.x`, `${top}.a.${name}`]),
  ])
  const provider = '{"kind":"openai-compatible","base_url":"http://127.0.0.1:1/v1"}'
  for (const key of keys) {
    for (const value of ['x', '1', '{}', '{"context_window":32000}', provider]) {
      const { context, text } = filed()
      const isSet = await isDone(configSet(context, key, value))
      assert.equal(text() !== null, isSet, `${key} ${value}: ${text()}`)
      assert.equal(await isDone(configGet(context, key)), isSet, `${key} ${value}: ${text()}`)
      assert.equal(await isDone(configUnset(context, key)), isSet, `${key} ${value}: ${text()}`)
      if (isSet) assert.equal(await isDone(configGet(context, key)), false, key)
    }
  }
})

const sentenceOf = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act
    return 'done'
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error
    return `${error.problem.detail}; ${error.problem.hint}`
  }
}

test('a wrong key or value names no line of an unchanged file, and a part that needs others says how', async () => {
  const { context } = filed()
  const set = (key: string, value: string) => sentenceOf(configSet(context, key, value))
  assert.match(await set('modle', 'x'), /^unknown key "modle"; there are: "\$schema", "model", /)
  assert.equal(
    await set('http.port', 'x'),
    '"http.port" is not valid; expected number, received string',
  )
  assert.equal(
    await set('webhooks.hub.scheme', 'github'),
    '"webhooks.hub.secret_files" is not valid; a webhook without a secret cannot be enabled: ' +
      'name a 0600 file with its secret; ' +
      "set them at once: holon config set webhooks.hub '{…}'",
  )
  assert.equal(await set('webhooks.hub', '{"scheme":"github","secret_files":["/s"]}'), 'done')
  assert.equal(await set('webhooks.hub.summary', 'a push'), 'done')
  assert.equal(await set('models.a/b.vision', 'true'), 'done')
  assert.match(await set('models.a/b.vision', 'yes'), /expected boolean, received string/)
})

test('config show has a row for every key that may be set, also where nothing is', async () => {
  const printed: string[] = []
  const { context } = filed()
  Object.assign(context.ports, { out: (text: string) => printed.push(text), environment: {} })
  await configShow(context)
  const { settings } = JSON.parse(printed.join('')) as { settings: { key: string }[] }
  const shown = new Set(settings.map(({ key }) => key.split('.')[0]))
  const may = Object.keys(configSchema.shape).filter((key) => key !== '$schema')
  assert.deepEqual(
    may.filter((key) => !shown.has(key)),
    [],
  )
})
