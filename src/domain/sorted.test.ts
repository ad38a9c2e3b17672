import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { placed, since } from './sorted.ts'

const byNumber = (a: number, b: number) => a - b
const numbers = fc.uniqueArray(fc.nat(400), { maxLength: 300 })

test('a list that is changed in places is the list sorted anew, and the old one stays', () => {
  fc.assert(
    fc.property(numbers, numbers, fc.nat(40), (some, others, most) => {
      const list = some.toSorted(byNumber)
      const before = [...list]
      const gone = some.slice(0, most)
      const come = others.filter((one) => !some.includes(one)).slice(0, most)
      const left = some.filter((one) => !gone.includes(one))
      assert.deepEqual(placed(list, gone, come, byNumber), [...left, ...come].toSorted(byNumber))
      assert.deepEqual(list, before)
    }),
  )
})

test('a list that nothing comes to or goes from is the same list', () => {
  const list = [1, 2, 3]
  assert.equal(placed(list, [], [], byNumber), list)
})

test('since a time are the members after it, those at it are not', () => {
  const at = (one: string) => one
  const cases: [list: string[], time: string, place: number][] = [
    [[], 'b', 0],
    [['a', 'b', 'b', 'c'], 'b', 3],
    [['a', 'c'], 'b', 1],
    [['a', 'b'], 'c', 2],
    [['b', 'c'], 'a', 0],
  ]
  for (const [list, time, place] of cases) assert.equal(since(list, time, at), place)
})
