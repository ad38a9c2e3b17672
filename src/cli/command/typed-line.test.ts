// What stands in a line after keys, and what comes of each.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { emitKeypressEvents } from 'node:readline'
import { test } from 'node:test'
import { tooLong, TypedLine, type Key } from './typed-line.ts'

/** What a terminal sends, as keys, and what came of those that did more than change the line. */
function typed(sent: string, max_bytes = 1_000) {
  const line = new TypedLine(max_bytes)
  const deeds: string[] = []
  const input = new PassThrough()
  emitKeypressEvents(input)
  input.on('keypress', (text: string | undefined, key: Key) => {
    const deed = line.take(text, key)
    if (deed === 'line') {
      deeds.push(line.text)
      line.clear()
    } else if (deed !== 'changed' && deed !== 'nothing') deeds.push(deed)
  })
  input.emit('data', Buffer.from(sent))
  return { line, deeds, at: [line.text.slice(0, line.cursor), line.text.slice(line.cursor)] }
}

const start = '\u001b[200~'
const end = '\u001b[201~'

test('enter ends a line, also each of several that come without marks of a paste', () => {
  assert.deepEqual(typed('one\rtwo\nhalf').deeds, ['one', 'two'])
})

test('a paste never ends a line: its breaks are part of it, and enter sends the whole', () => {
  const { line, deeds } = typed(`a ${start}one\rtwo\r\nrm -rf /\n\ttab\u0004\u001a${end}`)
  assert.deepEqual([line.text, deeds], ['a one\ntwo\nrm -rf /\n\ttab', []])
  assert.deepEqual(typed(`${start}one\rtwo\r${end}!\r`).deeds, ['one\ntwo\n!'])
})

test('a line is begun while a paste is on its way, and ctrl+c interrupts that too', () => {
  assert.equal(typed(start).line.isBegun, true)
  assert.equal(typed(`${start}${end}`).line.isBegun, false)
  assert.deepEqual(typed(`${start}one\u0003`).deeds, ['interrupted'])
})

const edits: [string, string, [string, string]][] = [
  ['backspace takes a whole grapheme', 'a👩‍👩‍👧\u007f', ['a', '']],
  ['backspace at the start takes nothing', 'ab\u0001\u007f', ['', 'ab']],
  ['left and right go by graphemes', 'e\u0301x\u001b[D\u001b[D\u001b[C', ['e\u0301', 'x']],
  ['delete takes what is behind the cursor', 'abc\u0001\u001b[3~', ['', 'bc']],
  ['ctrl+d does so where something stands', 'abc\u0001\u0004', ['', 'bc']],
  ['home, end', 'abc\u001b[H.\u001b[F!', ['.abc!', '']],
  ['ctrl+u takes what is before the cursor', 'ab\u001b[D\u0015', ['', 'b']],
  ['ctrl+k takes what is behind it', 'ab\u001b[D\u000b', ['a', '']],
  ['ctrl+w takes a word', 'one two  \u0017', ['one ', '']],
  ['words are passed', 'one two three\u001bb\u001bb\u001bf', ['one two', ' three']],
]
for (const [name, sent, at] of edits) test(name, () => assert.deepEqual(typed(sent).at, at))

test('ctrl+d on an empty line ends typing, ctrl+z suspends, other controls type nothing', () => {
  const { deeds, line } = typed('\u001a\u0004\u0001\u0010\u001b[A\u001bq')
  assert.deepEqual([deeds, line.text], [['suspended', 'ended'], ''])
})

test('what is beyond the limit in bytes is not taken, and such a line is not sent', () => {
  const { line, deeds } = typed('ééxx1\r', 5)
  assert.deepEqual([line.text, line.missing, deeds], ['ééx', 2, ['full', 'full', 'too_long']])
  assert.match(tooLong(2, 5), /full at 5 bytes: 2 characters/)
  // Who has erased something knows its end.
  assert.deepEqual(typed('ééxx1\u007f!\r', 5).deeds, ['full', 'full', 'éé!'])
})
