/**
 * The fuzz of the HTTP API at the length that every run of the tests can afford; the long one is
 * `npm run fuzz`.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fuzz } from './support/http/fuzz.ts'
import { misfits, type Schema } from './support/schema-fit.ts'

const cases = 2_500

test(`of ${cases} requests made from the document none fails inside, or contradicts it`, async (t) => {
  const done = await fuzz(t, cases, 1)
  assert.deepEqual([done.complaints, done.broken], [[], []])
  // A fuzz that is always refused has seen nothing. About half is taken; how much, is in the hands
  // of real processes, but each operation is taken at least once.
  assert.ok(done.accepted > done.valid / 3, JSON.stringify(done))
  assert.ok(done.wrong > cases / 3, JSON.stringify(done))
  assert.deepEqual(done.never_accepted, [])
  assert.ok(Object.keys(done.refused).length > 25, JSON.stringify(done.refused))
})

describe('the judge of the fuzz', () => {
  const components = { Name: { type: 'string', minLength: 1, maxLength: 3 } }
  const object: Schema = {
    type: 'object',
    properties: { name: { $ref: '#/components/schemas/Name' }, at: { type: ['integer', 'null'] } },
    required: ['name'],
    additionalProperties: false,
  }
  const kinds: Schema = {
    oneOf: [
      { type: 'object', properties: { kind: { enum: ['a'] } }, required: ['kind'] },
      { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
    ],
  }
  const table: [schema: Schema, value: unknown, found: string[]][] = [
    [object, { name: 'abc', at: null }, []],
    [object, { name: 'abcd' }, ['$.name: longer than 3']],
    [object, { at: 1.5 }, ['$.name: is missing', '$.at: 1.5 is no integer or null']],
    [object, { name: 'a', more: 1 }, ['$.more: is unknown']],
    [object, JSON.parse('{"name":"a","__proto__":1}'), ['$.__proto__: is unknown']],
    [object, [], ['$: [] is no object']],
    [kinds, { kind: 'b' }, []],
    [kinds, { kind: 'c' }, ['$: 0 of the branches instead of one ($.kind: "c" is not one of a)']],
    [{ type: 'array', items: { type: 'boolean' } }, [true, 1], ['$[1]: 1 is no boolean']],
    [{ type: 'integer', minimum: 1, maximum: 2 }, 3, ['$: 3 is out of range']],
    [{ type: 'string', pattern: '^work_' }, 'x', ['$: "x" does not match ^work_']],
    [{ type: 'string', format: 'date-time' }, '2030-01-01', ['$: "2030-01-01" is no date-time']],
    [{ allOf: [object, { type: 'null' }] }, { name: 'a' }, ['$: {"name":"a"} is no null']],
    [{ anyOf: [object, { type: 'null' }] }, null, []],
  ]
  for (const [schema, value, found] of table) {
    test(`${JSON.stringify(value)}: ${found.join('; ') || 'fits'}`, () => {
      assert.deepEqual(misfits(schema, value, components), found)
    })
  }

  test('a keyword it does not know is an error', () => {
    assert.throws(() => misfits({ uniqueItems: true }, [], {}), /uniqueItems is not known/)
  })
})
