import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stableHash } from './stable-hash.ts'

// Written down: a mark that a client holds must mean the same after an upgrade.
const marks: [text: string, mark: string][] = [
  ['', 'ab3e7c0b981a078c'],
  ['a', '2a6818197736c04b'],
  ['["wait_1","Red or blue?","2026-03-02T09:00:00.000Z"]', 'daf1d0856841e58f'],
]
for (const [text, mark] of marks) {
  test(`the mark of ${JSON.stringify(text)} is the same for ever`, () => {
    assert.equal(stableHash(text), mark)
  })
}

test('no two of a hundred thousand near texts have one mark', () => {
  const seen = new Set<string>()
  for (let n = 0; n < 50_000; n++) {
    seen.add(stableHash(`question ${n}`))
    seen.add(stableHash(`${n} question`))
  }
  assert.equal(seen.size, 100_000)
})

test('the order of its parts is part of a text', () => {
  assert.notEqual(stableHash('ab'), stableHash('ba'))
  assert.notEqual(stableHash('\0'), stableHash(''))
})
