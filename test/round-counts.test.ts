/**
 * What a round of a turn asks of the ledger, in numbers that no load of the machine changes. A
 * statement, a commit, an index or a page more in each round is seen here. Times are measured by
 * hand: docs/benchmarks.md.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countRounds, type RoundCounts } from '../bench/fixtures/round-counts.ts'

/**
 * What is allowed of each. Where something is counted, it is what was measured: less is a better
 * number to put here. Where it is a mean, a quarter of a page or of a row is left for chance.
 */
const most: { [K in Exclude<keyof RoundCounts, 'rounds_to_checkpoint'>]: number } = {
  statements: 22,
  transactions: 2,
  events: 8,
  rows: 6,
  pages: 67,
  wal_bytes: 70_500,
  stringified: 8_500,
}
const leastToCheckpoint = 60

test('a round asks no more of the ledger than it is known to', async (t) => {
  const { rounds_to_checkpoint, ...found } = await countRounds(t, 40)
  t.diagnostic(JSON.stringify({ ...found, rounds_to_checkpoint }))
  const names = Object.keys(most) as (keyof typeof most)[]
  const over = names.filter((name) => found[name] > most[name])
  assert.deepEqual(
    over.map((name) => `${name}: ${found[name]}, and at most ${most[name]} are allowed`),
    [],
  )
  assert.ok(rounds_to_checkpoint >= leastToCheckpoint, `${rounds_to_checkpoint} rounds`)
})
