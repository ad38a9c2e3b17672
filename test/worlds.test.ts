/**
 * A characterization test: what a change of no rule leaves as it is. Whatever the kernel decides,
 * asks, answers and keeps in worlds drawn from seeds, by digest. A change of a rule or of a word
 * makes the file anew (`--test-update-snapshots`), and `npm run worlds -- --seed N` printed before
 * and after says what changed.
 */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { tellWorld } from './worlds/run.ts'

const seeds = Array.from({ length: 12 }, (_, n) => n + 1)

test('worlds drawn from seeds go as they went before', async (t) => {
  const told: string[] = []
  for (const seed of seeds) {
    const { rests, violations } = await tellWorld(seed)
    assert.deepEqual(violations, [])
    told.push(...rests.map((rest) => `seed ${seed} ${rest}`))
  }
  t.assert.snapshot(told)
})
