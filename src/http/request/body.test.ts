import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJson } from './body.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('a megabyte of brackets is refused, and nothing recurses into it', () => {
  assert.deepEqual(parseJson(bytes('['.repeat(1_048_576))), { ok: false, code: 'too_deep' })
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
