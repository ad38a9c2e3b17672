/** The spellings of a secret are what the platform's own encoders make of it, and nothing more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spellingsOf } from './encodings.ts'

const url = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

/**
 * Base64 of the bytes behind `before` others, without the characters that hold bits of a neighbour.
 */
function inside(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  const bits = (before + bytes.length) * 8
  return whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
}

function base64Of(bytes: Buffer): string[] {
  const alone = bytes.toString('base64')
  const all = [
    inside(bytes, 0),
    inside(bytes, 1),
    inside(bytes, 2),
    alone,
    alone.replace(/=+$/, ''),
  ]
  return all.flatMap((text) => [text, url(text)])
}

/** Percent-encoded but for these characters, with the space in both ways. */
function percentOf(bytes: Buffer, kept: string, upper: boolean): string[] {
  const encoded = [...bytes].map((byte) => {
    const char = String.fromCharCode(byte)
    const hex = byte.toString(16).padStart(2, '0')
    return kept.includes(char) ? char : `%${upper ? hex.toUpperCase() : hex}`
  })
  return [encoded.join(''), encoded.map((one) => (one === '%20' ? '+' : one)).join('')]
}

const word = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_'
const kept = ["!~*'().-", '.~-', '.~/-', '.*-', "!~*'();/?:@&=+$,#.-"]

function jsonOf(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1)
  const ascii = (upper: boolean) =>
    once
      .split('')
      .map((unit) => {
        const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
        return unit > '~' ? `\\u${upper ? hex.toUpperCase() : hex}` : unit
      })
      .join('')
  const all = [once, ascii(false), ascii(true)]
  const slashed = all.map((text) => text.split('/').join('\\/'))
  return [...all, ...slashed, ...all.map((text) => JSON.stringify(text).slice(1, -1))]
}

function expected(value: string): Set<string> {
  const bytes = Buffer.from(value)
  const percent = [true, false].flatMap((upper) =>
    [...kept.map((more) => word + more), ''].flatMap((all) => percentOf(bytes, all, upper)),
  )
  const hex = bytes.toString('hex')
  return new Set([value, ...jsonOf(value), ...base64Of(bytes), hex, hex.toUpperCase(), ...percent])
}

const secrets = [
  'sk-0123456789',
  'two words/and+more~?',
  'quote " and \\ back\nslash',
  'ümläut-€-😀-ÿ\u007f',
  'abcdefgh',
  'abcdefghi',
  'abcdefghij',
  "(all) of! it's *here*; a/b?c:d@e&f=g+h$i,j#k.l~m_n-o%p",
  '>>>???~~~ÿÿÿ',
]
for (const secret of secrets) {
  test(`${JSON.stringify(secret)} is known in the spelling of every encoder`, () => {
    const [found, all] = [[...spellingsOf(secret)], [...expected(secret)]]
    assert.deepEqual(found.toSorted(), all.toSorted())
    assert.ok(found.includes(encodeURIComponent(secret)))
    assert.ok(found.includes(encodeURI(secret)) || secret.includes('%'))
    assert.ok(found.includes(new URLSearchParams({ '': secret }).toString().slice(1)))
    assert.ok(found.includes(Buffer.from(secret).toString('base64url')))
  })
}
