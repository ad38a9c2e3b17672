/** What `config set` says is set can be got, whatever the name is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configSchema, keysAt } from '../../protocol/config.ts'
import { configGet, configSet, configUnset } from './config-command.ts'
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
