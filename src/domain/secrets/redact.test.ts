// Redaction: 60 canaries in every spelling, whole, inside data, and cut at every place.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { spellingsOf } from './encodings.ts'
import { createRedactor, type Redactor, type Secret } from './redact.ts'

/** Keys of many shapes: what providers give out, and characters that every encoding treats. */
const shapes: ((n: number) => string)[] = [
  (n) => `sk-ant-api03-${'aZ09_-'.repeat(15)}${n}AA`,
  (n) => `ghp_${String(n).padStart(36, 'k7Qx')}`,
  (n) => `whsec_${btoa(`secret number ${n} of 24 b`)}`,
  (n) => `pass${n}word`,
  (n) => `p@ss "w\\rd"/${n}`,
  (n) => `ключ-${n}-ß🙂`,
  (n) => `-----BEGIN KEY-----\nMIIB${n}/+==\n-----END KEY-----`,
  (n) => `${'f0e1d2c3'.repeat(8)}${n}`,
  (n) => `a+b/c==${n}==`,
  (n) => `https://user:pw${n}@host/p?q=1&r=2#f`,
]
const canaries: Secret[] = Array.from({ length: 60 }, (_, n) => ({
  name: `canary-${n}`,
  value: shapes[n % shapes.length]?.(100 + n) ?? '',
}))

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8')
const form = (value: string): string => new URLSearchParams({ v: value }).toString().slice(2)

/** How a value comes to be printed: each is the work of another encoder than the product's. */
const encodings: Record<string, (value: string) => string> = {
  raw: (value) => value,
  json: (value) => JSON.stringify({ key: value }),
  'json in json': (value) => JSON.stringify(JSON.stringify({ key: value })),
  'json with escaped slashes': (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  'json in ASCII': (value) =>
    JSON.stringify(value).replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  base64: (value) => utf8(value).toString('base64'),
  'base64 behind one byte': (value) => utf8(`:${value}`).toString('base64'),
  'base64 behind two bytes': (value) => utf8(`u:${value}`).toString('base64'),
  'base64 before more': (value) => utf8(`${value}, x`).toString('base64'),
  'base64 in the middle': (value) => utf8(`Basic user:${value}\n`).toString('base64'),
  base64url: (value) => utf8(value).toString('base64url'),
  'base64url in the middle': (value) => utf8(`{"a":"${value}"}`).toString('base64url'),
  hex: (value) => utf8(value).toString('hex'),
  'hex in upper case': (value) => utf8(value).toString('hex').toUpperCase(),
  'percent, component': (value) => encodeURIComponent(value),
  'percent, lower case': (value) =>
    encodeURIComponent(value).replaceAll(/%../g, (found) => found.toLowerCase()),
  'percent, whole URL': (value) => encodeURI(value),
  'percent, form': (value) => form(value),
  'percent, every byte': (value) =>
    [...utf8(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
}

const redactorOf = (secrets: readonly Secret[]): Redactor => {
  const { redactor, refused } = createRedactor(secrets)
  assert.deepEqual(refused, [])
  return redactor
}
const all = redactorOf(canaries)

/** Pieces of the value that a text must not show: any half of it. */
function shows(text: string, encoded: string): boolean {
  const half = Math.ceil(encoded.length / 2)
  for (let at = 0; at + half <= encoded.length; at++) {
    if (text.includes(encoded.slice(at, at + half))) return true
  }
  return false
}

describe('60 canaries', () => {
  for (const [name, encode] of Object.entries(encodings)) {
    test(`in ${name} leave nothing but their handle`, () => {
      for (const { name: canary, value } of canaries) {
        const encoded = encode(value)
        const made = all.text(`before ${encoded} after`)
        assert(made.includes(`{{secret:${canary}}}`), `${canary}: ${made}`)
        assert(!shows(made, encoded.replace(/^"?\{\\*"key\\*":\\*"/, '')), `${canary}: ${made}`)
      }
    })
  }

  test('raw, a text is whole but for the values in it', () => {
    const text = canaries.map(({ value }) => `<${value}>`).join(' and ')
    const expected = canaries.map(({ name }) => `<{{secret:${name}}}>`).join(' and ')
    assert.equal(all.text(text), expected)
    assert.equal(all.text(expected), expected)
  })

  test('in data they go from texts and keys at any depth, and the rest is the same reference', () => {
    const [first, second] = canaries.map(({ value }) => value)
    const untouched = { list: [1, null, 'plain text without anything'], flag: true }
    const bytes = utf8(first ?? '')
    const value = { untouched, deep: [{ a: `x${first}` }], [`k${second}`]: 1, bytes }
    const made = all.json(value)
    assert.deepEqual(made, {
      untouched,
      deep: [{ a: 'x{{secret:canary-0}}' }],
      'k{{secret:canary-1}}': 1,
      bytes,
    })
    assert.equal(made.untouched, untouched)
    assert.equal(made.bytes, bytes)
    assert.equal(all.json(untouched), untouched)
  })

  test('a key __proto__ stays a key', () => {
    const value: object = JSON.parse(`{"__proto__":"${canaries[3]?.value}","a":1}`)
    assert.equal(JSON.stringify(all.json(value)), '{"__proto__":"{{secret:canary-3}}","a":1}')
  })

  test('in pieces they are found wherever they are cut', () => {
    for (const { value } of canaries) {
      for (const encode of [
        encodings['raw'],
        encodings['json'],
        encodings['base64 in the middle'],
      ]) {
        const text = `${encode?.(value)}${value} tail`
        const expected = all.text(text)
        for (let cut = 0; cut <= text.length; cut++) {
          const stream = all.stream()
          const made = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end()
          assert.equal(made, expected)
        }
        const stream = all.stream()
        const letters = [...Array(text.length).keys()].map((at) => stream.push(text.charAt(at)))
        assert.equal(letters.join('') + stream.end(), expected)
      }
    }
  })
})

describe('a stream', () => {
  test('whatever the secrets, the text and the cuts: the pieces are the redacted whole', () => {
    // Few letters, so that secrets overlap, contain and begin each other.
    const letters = fc.string({ unit: fc.constantFrom('A', 'B', '='), minLength: 8, maxLength: 14 })
    const piece = fc.oneof(letters, fc.string({ unit: fc.constantFrom('A', 'B', '=', 'x') }))
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 4 }),
        fc.array(piece, { maxLength: 12 }),
        (values, pieces) => {
          const redactor = redactorOf(values.map((value, n) => ({ name: `s${n}`, value })))
          const stream = redactor.stream()
          const made = pieces.map((one) => stream.push(one)).join('') + stream.end()
          assert.equal(made, redactor.text(pieces.join('')))
          for (const value of values) assert(!made.includes(value))
        },
      ),
    )
  })

  test('holds back only what may become a secret', () => {
    const stream = redactorOf([{ name: 'k', value: 'sk-0123456789' }]).stream()
    const pushed = ['ordinary words, ', 'ask-', '01234', '5 no', ' sk-012345678', '9.', ' sk-']
    assert.deepEqual(
      pushed.map((piece) => stream.push(piece)),
      ['ordinary words, ', 'a', '', 'sk-012345 no', ' ', '{{secret:k}}.', ' '],
    )
    assert.equal(stream.end(), 'sk-')
    assert.equal(stream.end(), '')
  })

  test('every spelling of a secret is held back until its last character, the longest too', () => {
    const value = 'sk-0123456789'
    const longest = [...spellingsOf(value)].reduce((a, b) => (b.length > a.length ? b : a))
    assert.equal(longest.length, 3 * value.length)
    for (const spelling of spellingsOf(value)) {
      const stream = redactorOf([{ name: 'k', value }]).stream()
      const pushed = [spelling.slice(0, -1), spelling.slice(-1)].map((piece) => stream.push(piece))
      assert.equal(pushed.join('') + stream.end(), '{{secret:k}}', spelling)
    }
  })

  test('of two secrets that begin alike the longer wins, also when it comes late', () => {
    const secrets = [
      { name: 'short', value: 'ABCdefgh' },
      { name: 'long', value: 'ABCdefghijkl' },
    ]
    const redactor = redactorOf(secrets)
    assert.equal(redactor.text('ABCdefgh ABCdefghijkl'), '{{secret:short}} {{secret:long}}')
    const stream = redactor.stream()
    const made = ['ABCdefgh', 'ij', 'kl', 'ABCdefghij', '!'].map((piece) => stream.push(piece))
    assert.deepEqual(made, ['', '', '{{secret:long}}', '', '{{secret:short}}ij!'])
  })
})

describe('the registry', () => {
  test('refuses what would hit ordinary text, and says why', () => {
    const given = [
      { name: 'short', value: 'seven77' },
      { name: 'empty', value: '' },
      { name: 'a b', value: 'long enough 1' },
      { name: 'word', value: 'operator_instruction'.slice(0, 19) },
      { name: 'words', value: 'correct-horse-battery-staple' },
      { name: 'huge', value: 'x'.repeat(16_385) },
      { name: 'right', value: 'eight888' },
    ]
    const { redactor, refused } = createRedactor(given)
    assert.deepEqual(refused, [
      { name: 'short', why: 'it has fewer than 8 characters: ordinary words would be replaced' },
      { name: 'empty', why: 'it has fewer than 8 characters: ordinary words would be replaced' },
      { name: 'a b', why: 'its name may have letters, digits and . _ : / - only' },
      {
        name: 'word',
        why: 'it is made like an ordinary word: names of fields and texts would be replaced',
      },
      { name: 'huge', why: 'it has more than 16384 characters' },
    ])
    const text = 'seven77 eight888 correct-horse-battery-staple'
    assert.equal(redactor.text(text), 'seven77 {{secret:right}} {{secret:words}}')
  })

  test('takes a value later, for streams that are open too; the first name of a value stays', () => {
    const { redactor } = createRedactor()
    const stream = redactor.stream()
    assert.equal(redactor.text('a-late-value-1'), 'a-late-value-1')
    assert.equal(stream.push('a-late-'), 'a-late-')
    assert.deepEqual(redactor.register('late', 'a-late-value-1'), { ok: true })
    assert.deepEqual(redactor.register('again', 'a-late-value-1'), { ok: true })
    assert.equal(redactor.text('a-late-value-1'), '{{secret:late}}')
    assert.equal(stream.push('a-late-value-1'), '{{secret:late}}')
  })

  test('without secrets everything is handed back as it came', () => {
    const { redactor } = createRedactor()
    const value = { a: ['text that is long enough'] }
    const stream = redactor.stream()
    assert.equal(redactor.json(value), value)
    assert.equal(redactor.text('text that is long enough'), 'text that is long enough')
    assert.deepEqual([stream.push('piece'), stream.end()], ['piece', ''])
  })

  test('a lone half of a character pair in a value or a text is no obstacle', () => {
    const redactor = redactorOf([{ name: 'odd', value: 'odd\ud800value' }])
    assert.equal(redactor.text('<odd\ud800value>\udc00'), '<{{secret:odd}}>\udc00')
  })
})
