import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CliPorts } from '../command/ports.ts'
import { makeContext } from '../command/context.ts'
import { Questions } from './init-questions.ts'

/** A person who types these lines, one a question, and what is asked and said meanwhile. */
function person(...lines: string[]) {
  const shown: string[] = []
  let interrupt = () => {}
  const ports = {
    terminal: { stdin: true, stdout: true, stderr: true, columns: () => 80 },
    environment: {},
    default_home: '/u/h',
    on_interrupt: (does: () => void) => {
      interrupt = does
      return () => {}
    },
    err: (text: string) => void shown.push(text.trim()),
    ask: (prompt: string) => {
      shown.push(prompt.trim())
      return { answer: Promise.resolve(lines.shift() ?? null) }
    },
  }
  const context = makeContext(ports as unknown as CliPorts, {})
  return { questions: new Questions(context, true), shown, leaves: () => interrupt() }
}

const left = { exit: 130, message: 'left before the end' }

const answers: readonly (readonly [lines: string[], isYes: boolean, asked: number])[] = [
  [[''], true, 1],
  [['y'], true, 1],
  [['yes'], true, 1],
  [[' YES '], true, 1],
  [['n'], false, 1],
  [['no'], false, 1],
  [['No'], false, 1],
  [['ye', 'yess', 'none', 'yes'], true, 4],
]
for (const [lines, isYes, asked] of answers) {
  test(`${JSON.stringify(lines)} is ${isYes ? 'yes' : 'no'}, after ${asked} questions`, async () => {
    const { questions, shown } = person(...lines)
    assert.equal(await questions.yes('Go on?', '--go'), isYes)
    const again = Array.from({ length: asked - 1 }, () => ['y or n', 'Go on? (Y/n)']).flat()
    assert.deepEqual(shown, ['Go on? (Y/n)', ...again])
  })
}

test('an interrupt between two questions ends the set-up, and nothing more is asked', async () => {
  const { questions, shown, leaves } = person('one', 'two')
  questions.still()
  assert.equal(await questions.line('First?', '--first', null), 'one')
  leaves()
  assert.throws(() => questions.still(), left)
  await assert.rejects(questions.line('Second?', '--second', null), left)
  await assert.rejects(questions.secret('Third?', '--third'), left)
  assert.deepEqual(shown, ['First?'])
})

test('the end of the input at a question is an interrupt', async () => {
  const { questions } = person()
  await assert.rejects(questions.line('First?', '--first', 'one'), left)
})
