import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUse, covers, mostUse, sameUse, type Use } from './meter.ts'

const use = { tokens: 7, usd: 5, unpriced: 3, rounds: 2 } satisfies Record<keyof Use, number>
const measures = Object.keys(use) as (keyof Use)[]

test('a use that is less by any measure does not cover, however much more the others are', () => {
  assert.equal(covers(use, use), true)
  for (const measure of measures) {
    const more = { ...use, [measure]: use[measure] + 1 }
    assert.equal(covers(more, use), true, measure)
    assert.equal(covers(use, more), false, measure)
    const others = addUse(use, { tokens: 9, usd: 9, unpriced: 9, rounds: 9 })
    assert.equal(covers({ ...others, [measure]: use[measure] - 1 }, use), false, measure)
    assert.equal(sameUse(use, more), false, measure)
    assert.equal(sameUse(more, use), false, measure)
  }
  assert.equal(sameUse(use, { ...use }), true)
})

test('the most of two uses and their sum are so by each measure', () => {
  for (const measure of measures) {
    const other = { tokens: 0, usd: 0, unpriced: 0, rounds: 0, [measure]: 10 }
    assert.deepEqual(mostUse(use, other), { ...use, [measure]: 10 })
    assert.deepEqual(mostUse(other, use), { ...use, [measure]: 10 })
    assert.deepEqual(addUse(use, other), { ...use, [measure]: use[measure] + 10 })
  }
})
