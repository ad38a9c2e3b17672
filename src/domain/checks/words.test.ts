/** A check in one line: what it asks, and what came of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Check } from '../state/check.ts'
import { asked, endLine, firstLine } from './words.ts'
import { limits } from '../limits.ts'

const command = { name: 'tests', kind: 'command', cmd: 'npm test\nnpm run check', run: null }
const http = { name: 'up', kind: 'http', url: 'http://h/x', status: 200, run: null }
const person = { name: 'look', kind: 'person', question: '\nIs it fine?\nReally?', run: null }
const file = (expect: object) => ({ name: 'made', kind: 'file', path: 'a.txt', expect, run: null })
const check = (of: object, run: object | null = null) => ({ ...of, run }) as unknown as Check

test('what a check asks stands in one line', () => {
  const rows: [object, string][] = [
    [command, 'npm test'],
    [http, 'GET http://h/x is 200'],
    [person, 'Is it fine?'],
    [file({ exists: true }), 'a.txt exists'],
    [file({ exists: false }), 'a.txt does not exist'],
    [file({ sha256: '0123456789abcdef' }), 'a.txt has SHA-256 0123456789ab…'],
    [file({ contains: 'one "two"\nthree' }), 'a.txt contains "one \\"two\\""'],
  ]
  for (const [of, line] of rows) assert.equal(asked(check(of)), line)
})

test('what came of a check stands behind it: its state, its end, its status, the reason', () => {
  const finished = { state: 'finished', outcome: 'failed', exit_status: null, reason: null }
  const rows: [object, object | null, string][] = [
    [command, null, 'tests (npm test)'],
    [command, { state: 'owed' }, 'tests (npm test): owed'],
    [command, { state: 'running' }, 'tests (npm test): running'],
    [person, { state: 'owed' }, 'look (Is it fine?): not answered yet'],
    [command, finished, 'tests (npm test): failed'],
    [command, { ...finished, exit_status: 1 }, 'tests (npm test): failed, exit status 1'],
    [
      http,
      { ...finished, exit_status: 503 },
      'up (GET http://h/x is 200): failed, HTTP status 503',
    ],
    [command, { ...finished, reason: 'it was late' }, 'tests (npm test): failed, it was late'],
    [
      command,
      { ...finished, exit_status: 0, reason: 'x' },
      'tests (npm test): failed, exit status 0, x',
    ],
  ]
  for (const [of, run, line] of rows) assert.equal(endLine(check(of, run)), line)
})

test('a line is no longer than a label', () => {
  const most = limits.label.value
  assert.equal(firstLine(''), '')
  assert.equal(firstLine('x'.repeat(most)), 'x'.repeat(most))
  assert.equal(firstLine('x'.repeat(most + 1)), `${'x'.repeat(most - 1)}…`)
})
