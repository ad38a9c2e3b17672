// What a terminal wrote and how it is read, as a table.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalText } from './terminal-text.ts'

const cases: [string, string, string][] = [
  ['plain lines', 'one\r\ntwo\r\n', 'one\ntwo\n'],
  ['lines that have both ends twice', 'one\r\r\ntwo\n', 'one\ntwo\n'],
  ['colours', '\x1b[31mred\x1b[0m and \x1b[1;4mbold\x1b[m', 'red and bold'],
  ['a title and a link', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\', 'ab'],
  ['character sets and keypad modes', '\x1b(Bone\x1b=two\x1b>', 'onetwo'],
  ['modes of the screen', '\x1b[?25lhidden\x1b[?25h\x1b[?2004h$ ', 'hidden$ '],
  ['a progress line', '10 %\r 50 %\r100 %\r\ndone', '100 %\ndone'],
  ['a shorter text over a longer one', 'abcdef\rxy\n', 'xycdef\n'],
  ['a line that was cleared', 'downloading…\r\x1b[Kdone\r\n', 'done\n'],
  ['a line cleared before the return', 'old text\x1b[2K\rnew', 'new'],
  ['an erase of the rest', 'text\x1b[K\r\n', 'text\n'],
  ['a backspace', 'abd\bc\n', 'abc\n'],
  ['a backspace at the beginning', '\ba', 'a'],
  ['a bell, a NUL and a C1 control', 'a\x07b\0c\u0085d', 'abcd'],
  ['tabs and letters of any script', 'a\tб🙂', 'a\tб🙂'],
  ['a sequence that is cut off', 'a\x1b[3', 'a'],
  ['a string that is cut off', 'a\x1b]0;tit', 'a'],
  ['nothing', '', ''],
]

for (const [name, raw, text] of cases) {
  test(`a terminal's ${name}`, () => assert.equal(terminalText(raw), text))
}

test('a long line of a terminal takes no longer than its length', () => {
  const spin = '\x1b[1G\r|\b/\b-\b\\'.repeat(20_000)
  assert.equal(terminalText(spin), '\\')
})
