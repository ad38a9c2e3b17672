import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isShallow, jsonExcess } from './json-depth.ts'

const both = (text: string, limit: number): boolean[] =>
  [text, new TextEncoder().encode(text)].map((json) => isShallow(json, limit))

describe('the depth of a JSON text', () => {
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
      assert.deepEqual(both(text, limit), [shallow, shallow])
    })
  }

  const counts: [text: string, values: number][] = [
    ['1', 0],
    ['"a,[{,"', 0],
    ['[]', 1],
    ['[1,2,3]', 3],
    ['{"a":1,"b":[{}]}', 4],
    ['[[],[]]', 4],
    ['["\\"",1]', 2],
  ]
  for (const [text, values] of counts) {
    test(`${text} has ${values} values`, () => {
      for (const json of [text, new TextEncoder().encode(text)]) {
        const within = (most: number) => jsonExcess(json, { depth: 9, values: most })
        assert.deepEqual([within(values), within(values - 1)], [null, 'values'])
      }
    })
  }

  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
      : 0

  test('is that of the value, for any JSON, as a text and as bytes', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.nat(8), (text, limit) => {
        const shallow = depthOf(JSON.parse(text)) <= limit
        assert.deepEqual(both(text, limit), [shallow, shallow])
      }),
    )
  })
})
