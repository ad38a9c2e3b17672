/**
 * Input that is longer than its room: its head and tail stand in the request with the path of the
 * whole, which the agent may read; it is used up like any other by the answer that saw it.
 */
import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ModelRequest } from '../src/models/model.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, inOrder } from './support/scripts.ts'
import { openStage, textOf, type Stage } from './support/stage.ts'

const context_window = 24_000

/** Five hundred lines, of which the middle one says the word. */
const long = (word: string, lines = 500): string =>
  Array.from({ length: lines }, (_, n) =>
    n === lines / 2 - 1 ? `the word is ${word}` : `line ${n + 1} ${'of many, '.repeat(5)}`,
  ).join('\n')

const pathsIn = (request: ModelRequest | undefined): string[] => [
  ...new Set(textOf(request).match(/\/\S+\/outputs\/msg_[\w-]+\.txt/g)),
]

const reads = (offset: number) => (request: ModelRequest) =>
  calls(...pathsIn(request).map((path) => call('ReadFile', { path, offset, limit: 10 })))

const fates = async (s: Stage) => (await s.rows('messages')).map(({ status }) => status)

test('of two long messages the rest can be read where the request says', async (t) => {
  const model = scriptedModel(
    inOrder(
      async () => {
        for (const word of ['pear', 'plum']) await s.act({ do: 'send', text: long(word) })
        return says('Go on.')
      },
      reads(245),
      says('Two words.'),
    ),
  )
  const s: Stage = await openStage(t, { model, context_window })
  await s.say('Begin.')
  const [, first, second] = model.requests
  assert.equal(pathsIn(first).length, 2)
  assert.doesNotMatch(textOf(first), /pear|plum|not available/)
  assert.match(textOf(second), /the word is pear[^]*the word is plum/)
  assert.deepEqual(await fates(s), ['consumed', 'consumed', 'consumed'])
  await s.sound()
})

test('of long words that came meanwhile the rest can be read, also after a loss of the file', async (t) => {
  const model = scriptedModel(
    inOrder(
      async () => {
        for (const word of ['pear', 'plum']) {
          await s.act({ do: 'send', text: long(word, 1_000), priority: 'interject' })
        }
        return calls(call('ListTasks'))
      },
      (request) => {
        const paths = pathsIn(request)
        assert.ok(paths.every((path) => existsSync(path)))
        rmSync(paths[0] ?? '')
        return calls(call('ListTasks'))
      },
      reads(495),
      says('Two words.'),
    ),
  )
  const s: Stage = await openStage(t, { model, context_window: 64_000 })
  await s.say('Begin.')
  assert.equal(pathsIn(model.requests[1]).length, 2)
  assert.doesNotMatch(textOf(model.requests[1]), /pear|plum|not available/)
  assert.match(textOf(model.requests[3]), /the word is pear[^]*the word is plum/)
  assert.deepEqual(await fates(s), ['consumed', 'interjected', 'interjected'])
  await s.sound()
})
