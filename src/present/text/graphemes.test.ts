import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { graphemes, oneCellEach } from './graphemes.ts'

/** The widths that the library which draws goes by. */
const library = createRequire(import.meta.resolve('ink')).resolve('string-width')
const { default: stringWidth } = (await import(library)) as { default: (of: string) => number }

const every = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code))
const single = every.filter((one) => oneCellEach.test(one))
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const cutBy = (by: { segment(text: string): Iterable<{ segment: string; index: number }> }) => {
  return (text: string) =>
    Array.from(by.segment(text), ({ segment, index }) => ({ segment, index }))
}

test('every character that is said to take one cell takes one', () => {
  assert.equal(single.length, 1_363)
  assert.deepEqual(
    single.filter((one) => stringWidth(`\u{fe00}${one}`) !== 1 || stringWidth(one) !== 1),
    [],
  )
})

test('a text of them, and of what a terminal reads, is cut as the segmenter cuts it', () => {
  const characters = fc.constantFrom(...single, '\u001b', '\n')
  const text = fc.array(characters, { maxLength: 40 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, (of) => assert.deepEqual(cutBy(graphemes)(of), cutBy(segmenter)(of))),
    { numRuns: 2_000 },
  )
})

test('any other text is cut by the segmenter', () => {
  for (const text of ['', 'e\u0301', '👩‍👩‍👧', '\r\n', '✓\ufe0f', '각', '日本', 'a\u0600b']) {
    assert.deepEqual(cutBy(graphemes)(text), cutBy(segmenter)(text))
  }
})

test('what holds a place is found in both', () => {
  const at = (text: string, place: number) => graphemes.segment(text).containing(place)?.segment
  assert.deepEqual(
    [at('a─b', 1), at('a─b', 3), at('e\u0301x', 1), at('e\u0301x', 2)],
    ['─', undefined, 'e\u0301', 'x'],
  )
})
