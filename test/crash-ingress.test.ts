/**
 * What comes from outside, killed at every point: deliveries by a trigger and a webhook, a dead
 * letter that is redelivered, a slot of a schedule, the reset of a URL and a command of the
 * operator's. Whoever got no answer asks again with the same id; nothing acknowledged is lost, and
 * nothing happens twice (docs/spec/recovery.md#a-kill-at-each-step).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outsideScenario } from './crash/outside-events.ts'
import { killedAt, undisturbed } from './crash/scenario.ts'
import { pointsOf } from './support/killer.ts'

const options = { concurrency: 4, timeout: 300_000 }

test('killed at any point, nothing from outside is lost or doubled', options, async (t) => {
  const { end, counts } = await undisturbed(outsideScenario)
  assert.deepEqual(end.slots, ['fired'])
  assert.deepEqual(end.triggers, [{ generation: 2, delivered: 1 }])
  assert.equal(end.deliveries.length, 3)
  assert.deepEqual([end.log, end.problems], ['ran\n', []])
  const points = pointsOf(counts)
  assert.ok(points.length > 40, `only ${points.length} points`)
  await Promise.all(
    points.map((point) =>
      t.test(`killed ${point.when} ${point.kind} ${point.n}`, async () => {
        assert.deepEqual((await killedAt(outsideScenario, [point])).end, end)
      }),
    ),
  )
})

test('killed again while it recovers, it ends the same', options, async (t) => {
  const { end, counts } = await undisturbed(outsideScenario)
  const first = [2, 3, 5, 7, 9, 11, counts.commit].map((n) => ({
    kind: 'commit' as const,
    n,
    when: n % 2 === 0 ? ('before' as const) : ('after' as const),
  }))
  const again = (['before', 'after'] as const).flatMap((when) =>
    [1, 2].map((n) => ({ kind: 'commit' as const, n, when })),
  )
  await Promise.all(
    first.flatMap((one) =>
      again.map((two) =>
        t.test(`commit ${one.n}, then ${two.when} commit ${two.n}`, async () => {
          assert.deepEqual((await killedAt(outsideScenario, [one, two])).end, end)
        }),
      ),
    ),
  )
})
