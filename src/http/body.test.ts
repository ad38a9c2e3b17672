import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isShallow, parseJson } from './body.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('security.md 5: the depth of a JSON body', () => {
  const cases: [text: string, limit: number, shallow: boolean][] = [
    ['', 0, true],
    ['1', 0, true],
    ['{}', 0, false],
    ['{}', 1, true],
    ['[[]]', 1, false],
    ['[[],[]]', 2, true],
    ['"[[[["', 0, true],
    ['["\\"[[["]', 1, true],
    ['["\\\\",[]]', 1, false],
    ['{"a":{"b":[1,{"c":2}]}}', 3, false],
    ['{"a":{"b":[1,{"c":2}]}}', 4, true],
    ['["\\', 1, true],
  ]
  for (const [text, limit, shallow] of cases) {
    test(`${text || 'nothing'} is ${shallow ? 'at most' : 'more than'} ${limit} deep`, () => {
      assert.equal(isShallow(bytes(text), limit), shallow)
    })
  }

  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
      : 0

  test('is that of the value, for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(8), (text, limit) => {
        assert.equal(isShallow(bytes(text), limit), depthOf(JSON.parse(text)) <= limit)
      }),
    )
  })

  test('a megabyte of brackets is refused, and nothing recurses into it', () => {
    assert.deepEqual(parseJson(bytes('['.repeat(1_048_576))), { ok: false, code: 'too_deep' })
  })
})

describe('parsing a body', () => {
  const cases: [name: string, given: Uint8Array, read: ReturnType<typeof parseJson>][] = [
    ['a value', bytes('{"a":[1]}'), { ok: true, value: { a: [1] } }],
    ['nothing', bytes(''), { ok: false, code: 'not_json' }],
    ['two values', bytes('1 2'), { ok: false, code: 'not_json' }],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), { ok: false, code: 'not_json' }],
  ]
  for (const [name, given, read] of cases) {
    test(`of ${name}`, () => assert.deepEqual(parseJson(given), read))
  }
})
