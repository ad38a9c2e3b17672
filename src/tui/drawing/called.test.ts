import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedLine } from './called.ts'
import { line, padTo, span, textOf } from './line.ts'

const beside = (left: string, right: string) => [
  ...padTo(line(left), 24),
  span('│ '),
  ...line(right),
]
const named = (left: string, right: string) => textOf(namedLine(beside(left, right), 'npx holon'))

test('hints of every pane name the command, and no pane gets wider', () => {
  assert.equal(
    named('$ holon inbox', 'holon why work_1'),
    '$ npx holon inbox       │ npx holon why work_1',
  )
  assert.equal(named('a row', 'holon why work_1'), 'a row                   │ npx holon why work_1')
})

test('a hint that has no room any more is cut', () => {
  assert.equal(named('do  holon agents start a', 'x'), 'do  npx holon agents st…│ x')
})

test('a line alone may grow, and a style stays', () => {
  assert.deepEqual(
    namedLine(line('holon start', 'dim'), 'npx holon'),
    line('npx holon start', 'dim'),
  )
})

test('on PATH a line stays the very same', () => {
  const row = beside('$ holon inbox', 'holon start')
  assert.equal(namedLine(row, 'holon'), row)
})
