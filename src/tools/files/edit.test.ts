// Exact replacement, as a table of texts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edit, editText, linesAround } from './edit.ts'

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

test('a refusal for many places names the first twenty lines', () => {
  const outcome = editText('a\n'.repeat(50), { old: 'a', new: 'x' })
  assert(!outcome.ok)
  assert.match(outcome.message, /found 50 times, on lines 1, 2, .*, 20, …$/)
})

test('a change is shown with two lines around it, its middle left out where it is long', () => {
  const file = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`)
  const at = (first: number, changed: readonly string[]) => {
    const after = [...file.slice(0, first - 1), ...changed, ...file.slice(first)].join('\n')
    return linesAround(`${after}\n`, first, changed.join('\n')).split('\n')
  }
  assert.deepEqual(at(10, ['new']), [
    ...['8\tline 8', '9\tline 9', '10\tnew', '11\tline 11', '12\tline 12'],
  ])
  assert.deepEqual(at(1, ['new']), ['1\tnew', '2\tline 2', '3\tline 3'])
  assert.deepEqual(at(30, ['new']), ['28\tline 28', '29\tline 29', '30\tnew'])
  const many = Array.from({ length: 9 }, (_, i) => `new ${i}`)
  assert.deepEqual(at(10, many), [
    ...['8\tline 8', '9\tline 9', '10\tnew 0', '11\tnew 1', '12\tnew 2', '…'],
    ...['16\tnew 6', '17\tnew 7', '18\tnew 8', '19\tline 11', '20\tline 12'],
  ])
  assert.equal(at(5, ['x'.repeat(500)])[2], `5\t${'x'.repeat(200)}…`)
})
