// One row of a terminal with what is being typed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphemes } from '../../present/text/graphemes.ts'
import { lineFoot } from './line-foot.ts'

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
