// What agents write, as lines: each kind of block and word, within its width, and nothing unsafe.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { safeLines } from '../text/safe.ts'
import { width } from '../text/width.ts'
import { isReadable } from './bounds.ts'
import { markdownLines, withoutMarks } from './lines.ts'

/** With every style but the plain one named: `[bold:so]`. */
const drawn = (text: string, columns = 40, ascii = false): string[] =>
  markdownLines(safeLines(text), { columns, ascii }).map((line) =>
    line.map((one) => (one.style === 'plain' ? one.text : `[${one.style}:${one.text}]`)).join(''),
  )

const cases: [string, string, string[]][] = [
  ['a heading is bold', '# One *two*\ntext', ['[bold:One ][bold_italic:two]', 'text']],
  [
    'emphasis is a style',
    '**a** *b* ***c*** ~~d~~',
    ['[bold:a] [italic:b] [bold_italic:c] [struck:d]'],
  ],
  ['code in a line', 'run `npm **i**`', ['run [code:npm **i**]']],
  ['line breaks stay', 'one\ntwo  \nthree', ['one', 'two', 'three']],
  ['paragraphs are apart', 'one\n\n\n\ntwo', ['one', '', 'two']],
  [
    'fenced code is not read',
    '```js\nlet *a* = 1\n\n  b()\n```',
    ['  [code:let *a* = 1]', '', '  [code:  b()]'],
  ],
  ['a list in a list', '- a\n  - b\n- c', ['• a', '  • b', '• c']],
  ['a numbered list goes on from its number', '3. a\n4. b', ['3. a', '4. b']],
  ['a list of what is to do', '- [x] a\n- [ ] b', ['• [x] a', '• [ ] b']],
  ['a quote', '> a\n> b', ['[dim:│ ]a', '[dim:│ ]b']],
  ['a rule', 'a\n\n---\n\nb', ['a', '', `[dim:${'─'.repeat(40)}]`, '', 'b']],
  ['a link says where it leads', '[docs](http://a/b "t")', ['docs[dim: (http://a/b)]']],
  ['one that is its target says it once', 'http://a/b <http://c>', ['http://a/b http://c']],
  ['a picture is a word about it', '![chart](http://a)', ['[dim:[picture: chart] (http://a)]']],
  [
    'HTML stands as it is',
    'a <b onload="x">b</b>\n\n<script>c</script>',
    ['a <b onload="x">b</b>', '', '<script>c</script>'],
  ],
  ['what is escaped', '\\*a\\* &lt;', ['*a* &lt;']],
]
for (const [name, text, wanted] of cases) test(name, () => assert.deepEqual(drawn(text), wanted))

describe('a table', () => {
  const table = '| Name | Sum |\n|:-|-:|\n| `a` | 1 |\n| 日本 | 22 |'
  test('has columns as wide as their words, numbers on the right', () => {
    assert.deepEqual(drawn(table), [
      '[bold:Name]  [bold:Sum]',
      '[dim:────  ───]',
      '[code:a]       1',
      '日本   22',
    ])
  })
  test('that is too wide breaks its widest cells into lines', () => {
    const text = '| A | B |\n|-|-|\n| one | two three four five |'
    assert.deepEqual(drawn(text, 15), [
      '[bold:A]    [bold:B]',
      '[dim:───  ──────────]',
      'one  two three',
      '     four five',
    ])
  })
  test('that fits in no way is its cells below each other', () => {
    const text = '| first | second | third |\n|-|-|-|\n| aaaaaaa | bbbbbbb | ccccccc |'
    assert.deepEqual(drawn(text, 16), [
      '[bold:first: ]aaaaaaa',
      '[bold:second: ]bbbbbbb',
      '[bold:third: ]ccccccc',
    ])
  })
})

test('where a terminal has no other signs, those of ASCII stand', () => {
  assert.deepEqual(drawn('- a\n\n> b\n\n---', 40, true), [
    '- a',
    '',
    '[dim:| ]b',
    '',
    `[dim:${'-'.repeat(40)}]`,
  ])
})

test('the first line of a report has no marks in a row', () => {
  const [line] = safeLines('## All **12** tests of `src` pass')
  assert.equal(withoutMarks(line ?? assert.fail()), 'All 12 tests of src pass')
})

describe('what no report looks like stands as it was written', () => {
  const hostile: [string, string][] = [
    ['quotes in each other', '>'.repeat(4_000)],
    ['quotes in each other, with spaces', '> '.repeat(4_000)],
    ['lists in each other', `${'- '.repeat(40)}a`],
    ['marks upon marks', '_a'.repeat(8_000)],
    ['ticks upon ticks', '`'.repeat(16_000)],
    ['more than a report', 'word '.repeat(20_000)],
  ]
  for (const [name, text] of hostile) {
    test(name, () => {
      assert.equal(isReadable(text), false)
      const shown = markdownLines(safeLines(text), { columns: 80, ascii: false })
      const words = shown.flatMap((line) => line.map((one) => one.text)).join('')
      assert.equal(words.replaceAll(' ', ''), text.replaceAll(' ', ''))
    })
  }
})

test('every line is within its width, and nothing in it is obeyed by a terminal', () => {
  const mark = fc.constantFrom(
    '*',
    '_',
    '`',
    '```\n',
    '> ',
    '- ',
    '1. ',
    '|',
    '\n',
    '\n\n',
    '|-|-|\n',
    '[',
    '](',
    ')',
    '#',
    '<',
    '\u001b[2J',
    '\u202e',
    '日本',
    '👩‍👩‍👧',
    ' word ',
    '&#27;',
  )
  const foreign = new RegExp('[\\p{Cc}\\u200b\\u200e\\u200f\\u202a-\\u202e]', 'u')
  fc.assert(
    fc.property(
      fc.array(mark, { maxLength: 60 }),
      fc.integer({ min: 24, max: 60 }),
      (marks, columns) => {
        for (const line of markdownLines(safeLines(marks.join('')), { columns, ascii: false })) {
          const text = line.map((one) => one.text).join('')
          assert.doesNotMatch(text, foreign)
          assert.ok(
            width(text) <= Math.max(columns, 24) + 16,
            `${width(text)} of ${columns}: ${text}`,
          )
        }
      },
    ),
  )
})
