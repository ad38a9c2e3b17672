// Exact replacement, as a table of texts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edit, editText } from './edit.ts'

const accepted: [string, string, Edit, string, number[]][] = [
  ['a part of a line', 'a b c\n', { old: 'b', new: 'x' }, 'a x c\n', [1]],
  ['several lines', 'a\nb\nc\n', { old: 'b\nc', new: 'x' }, 'a\nx\n', [2]],
  ['every place', 'a a\na', { old: 'a', new: 'bb', replace_all: true }, 'bb bb\nbb', [1, 1, 2]],
  ['places that overlap', 'aaa', { old: 'aa', new: 'b', replace_all: true }, 'ba', [1]],
  ['a deletion', 'a\nb\n', { old: 'b\n', new: '' }, 'a\n', [2]],
  ['dollar signs as they are', 'x', { old: 'x', new: "$& $1 $` $'" }, "$& $1 $` $'", [1]],
  ['a byte order mark before it', '\uFEFFa\nb', { old: 'a', new: 'x' }, '\uFEFFx\nb', [1]],
  ['LF text in a CRLF file', 'a\r\nb\r\n', { old: 'a\nb', new: 'x\ny' }, 'x\r\ny\r\n', [1]],
  ['one line in a CRLF file', 'a\r\nb\r\n', { old: 'b', new: 'x\ny' }, 'a\r\nx\r\ny\r\n', [2]],
  ['CRLF given in a CRLF file', 'a\r\nb', { old: 'a\r\nb', new: 'c\r\nd' }, 'c\r\nd', [1]],
  ['a file of mixed line ends', 'a\r\nb\nc', { old: 'b', new: 'x\ny' }, 'a\r\nx\ny\nc', [2]],
  ['the last line without its newline', 'a\nb', { old: 'b', new: 'c' }, 'a\nc', [2]],
]

for (const [name, before, edit, after, lines] of accepted) {
  test(`${name} can be replaced`, () => {
    const expected = { ok: true, after, replacements: lines.length, lines }
    assert.deepEqual(editText(before, edit), expected)
  })
}

const refused: [string, string, Edit, string, number[], RegExp][] = [
  ['an empty old text', 'a', { old: '', new: 'x' }, 'empty_old', [], /exact text/],
  ['a text by itself', 'a', { old: 'a', new: 'a' }, 'same_text', [], /Nothing/],
  ['a text that is not there', 'a\n', { old: 'b', new: 'x' }, 'not_found', [], /Read the file/],
  ['a text with other case', 'A\n', { old: 'a', new: 'x' }, 'not_found', [], /Read the file/],
  [
    'a text with other indentation',
    'if (x) {\n\treturn 1\n}\n',
    { old: '  return 1\n', new: 'x' },
    'not_found',
    [2],
    /white space on line 2/,
  ],
  ['blank lines', 'a\n', { old: '\n\n\n', new: 'x' }, 'not_found', [], /Read the file/],
  [
    'a text that is there twice',
    'a\nb\na\n',
    { old: 'a', new: 'x' },
    'not_unique',
    [1, 3],
    /replace_all/,
  ],
]

for (const [name, before, edit, code, lines, hint] of refused) {
  test(`${name} is refused as ${code}`, () => {
    const outcome = editText(before, edit)
    assert(!outcome.ok)
    assert.deepEqual([outcome.code, outcome.lines], [code, lines])
    assert.match(outcome.hint, hint)
  })
}

test('§7 a refusal for many places names the first twenty lines', () => {
  const outcome = editText('a\n'.repeat(50), { old: 'a', new: 'x' })
  assert(!outcome.ok)
  assert.match(outcome.message, /found 50 times, on lines 1, 2, .*, 20, …$/)
})
