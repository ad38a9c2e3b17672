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

test('a few changes in a long list are made in their places, and many by sorting anew', () => {
  const list = Array.from({ length: 64 }, (_, n) => n * 10)
  const rows: [gone: number[], come: number[]][] = [
    [[], [5]],
    [[0], []],
    [[630], [635, 1]],
    [
      [10, 20],
      [15, 25],
    ],
    [
      [10, 20, 30],
      [15, 25],
    ],
    [[], list.map((one) => one + 1)],
  ]
  for (const [gone, come] of rows) {
    let asked = 0
    const order = (a: number, b: number) => {
      asked += 1
      return a - b
    }
    const before = [...list]
    const after = placed(list, gone, come, order)
    const left = list.filter((one) => !gone.includes(one))
    assert.deepEqual(after, [...left, ...come].toSorted(byNumber))
    assert.deepEqual(list, before)
    const isFew = gone.length + come.length <= 4
    assert.equal(asked < list.length - 1, isFew, `${asked} comparisons for ${gone}; ${come}`)
  }
})
