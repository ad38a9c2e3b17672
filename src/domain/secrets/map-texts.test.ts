import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withTexts } from './map-texts.ts'

const louder = (text: string): string => text.replaceAll('a', 'A')

test('texts and keys are changed at any depth, and what was given stays as it is', () => {
  const given = { a: ['a', { ba: 'b', n: 1 }], none: null, yes: true }
  assert.deepEqual(withTexts(given, louder), {
    A: ['A', { bA: 'b', n: 1 }],
    none: null,
    yes: true,
  })
  assert.deepEqual(given, { a: ['a', { ba: 'b', n: 1 }], none: null, yes: true })
})

test('what has nothing to change is the same object, and so is each part of it', () => {
  const given = { one: { b: ['c'] }, other: ['a'] }
  const made = withTexts(given, louder)
  assert.equal(withTexts(given.one, louder), given.one)
  assert.deepEqual([made === given, made.one === given.one, made.other], [false, true, ['A']])
})

test('a key __proto__ stays a key, and what is no plain object is passed through', () => {
  const made = withTexts(JSON.parse('{"__proto__":"a"}') as object, louder)
  assert.deepEqual(Object.entries(made), [['__proto__', 'A']])
  const bytes = Uint8Array.of(1)
  assert.equal(withTexts(bytes, louder), bytes)
})
