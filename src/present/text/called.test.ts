import assert from 'node:assert/strict'
import { test } from 'node:test'
import { named } from './called.ts'

const rows: readonly (readonly [text: string, named: string])[] = [
  ['holon start', 'npx holon start'],
  ['    holon answer wait_1 <text>', '    npx holon answer wait_1 <text>'],
  [
    'do    holon run "x"      all: holon work list',
    'do    npx holon run "x"      all: npx holon work list',
  ],
  ['holon: no daemon; holon start', 'holon: no daemon; npx holon start'],
  ['set it, or: holon config set model …', 'set it, or: npx holon config set model …'],
  ['holon start, or holon serve', 'npx holon start, or npx holon serve'],
  ['`holon serve` or `holon run`', '`npx holon serve` or `npx holon run`'],
  ['   $ holon work show work_1', '   $ npx holon work show work_1'],
  ['holon --help shows the commands', 'npx holon --help shows the commands'],
  ['first\n  holon why work_1', 'first\n  npx holon why work_1'],
  ['2 turns                holon why work_1', '2 turns            npx holon why work_1'],
  // What is no hint, and what is no command.
  ['I ran holon work list', 'I ran holon work list'],
  ['a holon run is at work', 'a holon run is at work'],
  ['holon serves ~ on http://127.0.0.1:1', 'holon serves ~ on http://127.0.0.1:1'],
  ['holon  2 need you', 'holon  2 need you'],
  ['holon startles', 'holon startles'],
]

for (const [text, then] of rows) {
  test(`by npx: ${text.trim()}`, () => {
    assert.equal(named(text, 'npx holon'), then)
  })
}

test('on PATH every text stays', () => {
  for (const [text] of rows) assert.equal(named(text, 'holon'), text)
})

test('a path with a dollar in it is named as it is', () => {
  assert.equal(named('holon start', `'/a$&/holon'`), `'/a$&/holon' start`)
})
