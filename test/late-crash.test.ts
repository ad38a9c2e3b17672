/** A late result and one that was read in the last round of its turn, killed at every commit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killedAt, undisturbed } from './crash/scenario.ts'
import { lateResult } from './crash/stories-work.ts'

const options = { concurrency: 4, timeout: 300_000 }

test(
  'killed at any commit, what came late or was read and not shown is shown once',
  options,
  async (t) => {
    const { end, counts } = await undisturbed(lateResult)
    const { messages, problems, items } = end as Record<string, unknown[]>
    assert.deepEqual(problems, [])
    const results = messages?.filter((message) => String(message).includes('task_result'))
    assert.deepEqual(
      results?.map((one) => JSON.parse(String(one)).status),
      ['consumed', 'consumed'],
    )
    assert.equal(items?.length, 2)
    const kills = Array.from({ length: counts.commit }, (_, n) => n + 1).flatMap((n) =>
      (['before', 'after'] as const).map((when) => ({ kind: 'commit', n, when }) as const),
    )
    await Promise.all(
      kills.map((point) =>
        t.test(`killed ${point.when} commit ${point.n}`, async () => {
          assert.deepEqual((await killedAt(lateResult, [point])).end, end)
        }),
      ),
    )
  },
)
