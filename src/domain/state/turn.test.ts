import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUsage, noUsage, type Usage } from './turn.ts'

const parts = Object.keys(noUsage) as (keyof Usage)[]
/** A number of its own for each part. */
const usage = (from: number): Usage =>
  Object.fromEntries(parts.map((part, i) => [part, from + 10 ** i])) as unknown as Usage

test('usages are added part by part, and what one does not know the sum does not know', () => {
  const sum = addUsage(usage(1), usage(2))
  for (const [i, part] of parts.entries()) assert.equal(sum[part], 3 + 2 * 10 ** i, part)
  assert.deepEqual(addUsage(usage(1), noUsage), usage(1))
  for (const part of parts) {
    const lacking = { ...usage(1), [part]: null }
    assert.deepEqual(addUsage(lacking, usage(2)), { ...sum, [part]: null })
    assert.deepEqual(addUsage(usage(2), lacking), { ...sum, [part]: null })
  }
})
