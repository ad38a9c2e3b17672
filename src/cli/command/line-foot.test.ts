// One row of a terminal with what is being typed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphemes } from '../../present/text/graphemes.ts'
import { erasing, lineFoot } from './line-foot.ts'

const on = { columns: 20, mark: '⏎' } as const
const atEnd = (text: string) => ({ text, cursor: text.length })

test('of a long line the end before the cursor is seen, and no grapheme is cut', () => {
  const flags = '🇩🇪'.repeat(9)
  assert.equal(lineFoot('> ', atEnd(flags), on).line, `> …${'🇩🇪'.repeat(7)}`)
  const family = '👩‍👩‍👧'
  assert.equal(lineFoot('> ', atEnd(family.repeat(500)), on).line, `> …${family.repeat(7)}`)
  const line = `${'a'.repeat(40)}|${'b'.repeat(40)}`
  assert.equal(lineFoot('> ', { text: line, cursor: 41 }, on).line, `> …${'a'.repeat(14)}|`)
})

test('breaks of a paste have a mark, and what a terminal obeys is seen', () => {
  assert.equal(lineFoot('> ', atEnd('a\nb\tc\u001b'), on).line, '> a⏎b c\\x1b')
})

test('a row looks at no more of a line of any length than it can show', (t) => {
  const looked = (text: string) => {
    const segment = t.mock.method(graphemes, 'segment')
    lineFoot('> ', atEnd(text), on)
    const all = segment.mock.calls.reduce((sum, call) => sum + (call.arguments[0] ?? '').length, 0)
    segment.mock.restore()
    return all
  }
  const some = looked('日本'.repeat(500))
  assert.ok(some > 0 && some < 1_000, `${some} characters`)
  for (const length of [5_000, 30_000]) assert.equal(looked('日本'.repeat(length)), some)
})

test('what was drawn is erased from its first row, also where a narrower window broke it', () => {
  const rows: [cells: number[], back: number, columns: number, moves: string][] = [
    [[], 0, 80, '\r\u001b[K'],
    [[79], 0, 80, '\r\u001b[K'],
    [[10, 79], 0, 80, '\r\u001b[1A\u001b[J'],
    [[10, 0, 79], 0, 80, '\r\u001b[2A\u001b[J'],
    // Narrower: 79 cells stand on two rows of 40, or on three of 30.
    [[79], 0, 40, '\r\u001b[1A\u001b[J'],
    [[79, 79], 0, 30, '\r\u001b[5A\u001b[J'],
    // The cursor may stand on an earlier row than the end.
    [[79], 60, 40, '\r\u001b[J'],
    [[79], 30, 40, '\r\u001b[1A\u001b[J'],
    // Wider: a line that ended stays a line.
    [[39, 39], 0, 80, '\r\u001b[1A\u001b[J'],
  ]
  for (const [cells, back, columns, moves] of rows) {
    assert.equal(erasing({ cells, back }, columns), moves, JSON.stringify([cells, back, columns]))
  }
})
