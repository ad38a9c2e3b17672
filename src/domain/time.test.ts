/** Times as texts: which are kept, and how they are reckoned with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { between, earliest, isTimestamp, later, plus } from './time.ts'

const a = '2026-03-02T09:00:00.000Z'
const b = '2026-03-02T09:00:01.500Z'

test('a timestamp has a date, minutes and a zone; seconds and their parts may be left out', () => {
  const rows: [string, boolean][] = [
    [a, true],
    ['2026-03-02T09:00Z', true],
    ['2026-03-02T09:00:00Z', true],
    ['2026-03-02T09:00:00.123456Z', true],
    ['2026-03-02T09:00:00+01:00', true],
    ['2026-03-02T09:00-11:30', true],
    ['2026-03-02T09:00:00', false],
    ['2026-03-02T09:00', false],
    ['2026-03-02', false],
    ['2026-03-02 09:00Z', false],
    ['26-03-02T09:00Z', false],
    ['2026-3-02T09:00Z', false],
    ['2026-03-02T9:00Z', false],
    ['2026-03-02T09:00:1Z', false],
    ['2026-03-02T09:00:00.Z', false],
    ['2026-03-02T09:00+0100', false],
    ['2026-03-02T09:00Z and more', false],
    ['on 2026-03-02T09:00Z', false],
    ['2026-13-02T09:00Z', false],
    ['2026-03-02T25:00Z', false],
    ['abcd-03-02T09:00Z', false],
    ['', false],
  ]
  for (const [text, expect] of rows) assert.equal(isTimestamp(text), expect, text)
})

test('times are compared and added to the millisecond', () => {
  assert.deepEqual(
    [between(a, b), between(b, a), plus(a, 1_500), later(a, b), later(b, a), later(a, a)],
    [1_500, -1_500, b, b, b, a],
  )
  assert.deepEqual(
    [earliest([]), earliest([null]), earliest([b, null, a]), earliest([a, b])],
    [null, null, a, a],
  )
})
