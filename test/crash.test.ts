/**
 * Killed at every point: the two-jobs scenario dies before and after each commit, blob and effect,
 * in process, and is opened again; the end state is that of the undisturbed run. Nothing here knows
 * what a point does: the seams count, and the test walks the count. `npm run crash` does the same
 * to every scenario.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logLines } from '../src/testing/scenarios/two-jobs.ts'
import { killedAt, undisturbed } from './crash/scenario.ts'
import { twoJobsScenario } from './crash/two-jobs.ts'
import { pointsOf, type Point } from './support/killer.ts'

const options = { concurrency: 4, timeout: 600_000 }

test(
  'a run killed at any commit, blob or effect ends as the undisturbed one',
  options,
  async (t) => {
    const { end, counts } = await undisturbed(twoJobsScenario)
    assert.deepEqual(end.log.toSorted(), logLines.toSorted())
    assert.deepEqual(end.problems, [])
    assert.equal(end.results.length, 2)
    const points = pointsOf(counts)
    assert.ok(points.length > 60, `only ${points.length} points`)
    await Promise.all(
      points.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, async () => {
          assert.deepEqual((await killedAt(twoJobsScenario, [point])).end, end)
        }),
      ),
    )
  },
)

test('a run killed again while it recovers ends as the undisturbed one', options, async (t) => {
  const { end, counts } = await undisturbed(twoJobsScenario)
  const first: Point[] = [2, 4, 7, 10, 13, 15, 16, 18, 22, counts.commit].map((n) => ({
    kind: 'commit',
    n,
    when: n % 2 === 0 ? 'before' : 'after',
  }))
  const again: Point[] = [
    { kind: 'commit', n: 1, when: 'before' },
    { kind: 'commit', n: 1, when: 'after' },
    { kind: 'commit', n: 2, when: 'after' },
    { kind: 'effect', n: 1, when: 'before' },
    { kind: 'effect', n: 1, when: 'after' },
  ]
  await Promise.all(
    first.flatMap((one) =>
      again.map((two) => {
        const name = `killed ${one.when} commit ${one.n}, then ${two.when} ${two.kind} ${two.n}`
        return t.test(name, async () => {
          assert.deepEqual((await killedAt(twoJobsScenario, [one, two])).end, end)
        })
      }),
    ),
  )
})
