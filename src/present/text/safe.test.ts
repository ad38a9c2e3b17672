import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { safe, safeJson, safeLine, safeLines } from './safe.ts'

/** What comes in, and exactly what is shown. */
const corpus: [name: string, text: string, shown: string][] = [
  ['plain words', 'npm test', 'npm test'],
  [
    'letters of other scripts',
    'Grüße, 東京, Привет, שלום, مرحبا',
    'Grüße, 東京, Привет, שלום, مرحبا',
  ],
  ['combining marks', 'e\u0301', 'e\u0301'],
  ['an emoji', '👍 ok', '👍 ok'],
  ['a family of emoji', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
  ['a red heart', '❤\ufe0f', '❤\ufe0f'],
  ['colours', '\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['clearing the screen', '\x1b[2J\x1b[H', '\\x1b[2J\\x1b[H'],
  ['a window title', '\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
  ['the clipboard', '\x1b]52;c;aGk=\x07', '\\x1b]52;c;aGk=\\x07'],
  ['a link', '\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\', '\\x1b]8;;http://a\\x1b\\x\\x1b]8;;\\x1b\\'],
  ['a C1 introducer', '\u009b31m', '\\x9b31m'],
  ['a C1 string', '\u0090q\u009c', '\\x90q\\x9c'],
  ['a bell', 'a\x07', 'a\\x07'],
  ['backspaces over words', 'good\b\b\b\bevil', 'good\\x08\\x08\\x08\\x08evil'],
  ['a carriage return', 'good\revil', 'good\\revil'],
  ['a line break', 'a\nb', 'a\\nb'],
  ['a tab', 'a\tb', 'a\\tb'],
  ['a form feed', 'a\fb', 'a\\x0cb'],
  ['NUL', 'a\0b', 'a\\x00b'],
  ['DEL', 'a\x7fb', 'a\\x7fb'],
  ['words turned around', '\u202eeslaf\u202c', '<U+202E>eslaf<U+202C>'],
  ['an isolate', 'a\u2066b\u2069', 'a<U+2066>b<U+2069>'],
  ['a mark for right to left', 'a\u200fb', 'a<U+200F>b'],
  ['an Arabic letter mark', 'a\u061cb', 'a<U+061C>b'],
  ['a space of no width', 'pay\u200bpal', 'pay<U+200B>pal'],
  ['a joiner between letters', 'a\u200db', 'a<U+200D>b'],
  ['a word joiner', 'a\u2060b', 'a<U+2060>b'],
  ['a byte order mark', '\ufeffa', '<U+FEFF>a'],
  ['a soft hyphen', 'a\u00adb', 'a<U+00AD>b'],
  ['a grapheme joiner', 'a\u034fb', 'a<U+034F>b'],
  ['a Hangul filler', 'a\u3164b', 'a<U+3164>b'],
  ['a half-width filler', 'a\uffa0b', 'a<U+FFA0>b'],
  ['a variation mark on a letter', 'a\ufe0fb', 'a<U+FE0F>b'],
  ['a variation mark of the second set', 'a\u{e0100}', 'a<U+E0100>'],
  ['words in tag characters', 'hi\u{e0041}\u{e0042}', 'hi<U+E0041><U+E0042>'],
  ['a line separator', 'a\u2028b', 'a<U+2028>b'],
  ['a paragraph separator', 'a\u2029b', 'a<U+2029>b'],
  ['half of a pair', 'a\ud800b', 'a<U+D800>b'],
  ['a private character', 'a\ue000b', 'a<U+E000>b'],
  ['no character at all', 'a\uffffb', 'a<U+FFFF>b'],
  ['an annotation anchor', 'a\ufff9b', 'a<U+FFF9>b'],
]

describe('foreign text', () => {
  for (const [name, text, shown] of corpus) {
    test(`${name} is shown as what it is`, () => assert.equal(safe(text), shown))
  }

  test('every control character is visible', () => {
    const controls = [
      ...Array(0x20).keys(),
      0x7f,
      ...Array.from({ length: 32 }, (_, n) => 0x80 + n),
    ]
    for (const code of controls) {
      assert.match(safe(String.fromCodePoint(code)), /^[\x20-\x7e]{2,4}$/, `U+${code.toString(16)}`)
    }
  })

  test('making it visible twice changes nothing more', () => {
    for (const [, text] of corpus) assert.equal(safe(safe(text)), safe(text))
  })

  test('several lines keep their real breaks only', () => {
    assert.deepEqual(safeLines('a\r\nb\n\tc\rd\u0085e'), ['a', 'b', '  c\\rd\\x85e'])
  })

  test('a sentence becomes one line', () => {
    assert.equal(safeLine('  exit 1:\n\tno such\x1b[0m file '), 'exit 1: no such\\x1b[0m file')
  })

  test('JSON means the same, and holds nothing that a terminal would obey or hide', () => {
    const value = { text: 'a\u202eb\u009bc\u{e0041}\x1b[2J 日本', list: [1, null] }
    const text = safeJson(value)
    assert.deepEqual(JSON.parse(text), value)
    assert.equal(
      text,
      String.raw`{"text":"a\u202eb\u009bc\udb40\udc41\u001b[2J 日本","list":[1,null]}`,
    )
  })
})
