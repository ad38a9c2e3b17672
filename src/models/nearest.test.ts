import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './nearest.ts'

test('a name is near up to half of its letters changed, and the nearest, then the first, is meant', () => {
  const rows: [name: string, known: string[], near: string | null][] = [
    ['abcd', ['abxy'], 'abxy'],
    ['abcd', ['axyz'], null],
    ['ab', ['abcd'], 'abcd'],
    ['ab', ['abcde'], null],
    ['abcd', ['bcd', 'abc'], 'bcd'],
    ['abcd', ['abxy', 'abcx'], 'abcx'],
    ['ABCD', ['abce'], 'abce'],
    ['abcd', [], null],
  ]
  assert.deepEqual(
    rows.map(([name, known]) => [name, known, nearest(name, known)]),
    rows,
  )
})
