/**
 * A fault at every commit: in each scenario each commit, and each file the runtime writes, meets a
 * full disk, a ledger held by another program or a broken disk once, and is then free again. Nothing
 * is lost, nothing happens twice and the agents go on: the end is that of the undisturbed run. Here
 * is a sample of five scenarios; `npm run crash -- --faults --all` takes every point of all.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampledPoints, stumbledAt, stumblePoints, stumblingNamed } from './crash/stumbling.ts'
import { undisturbed } from './crash/scenario.ts'

/** Which of the points are tried: every one, every second. */
const tried = [
  ['two jobs', 2],
  ['events from outside', 3],
  ['compaction', 5],
  ['end of a child by stop', 8],
  ['worktree', 13],
] as const

for (const [name, step] of tried) {
  test(
    `${name}: whichever commit meets a fault, it ends as if it had not`,
    { concurrency: 4, timeout: 600_000 },
    async (t) => {
      const scenario = stumblingNamed(name)
      const { end } = await undisturbed(scenario)
      const all = await stumblePoints(scenario)
      assert.deepEqual(all.end, end)
      const points = sampledPoints(all.points, step)
      assert.ok(points.length > 5, `only ${points.length} points`)
      let struck = 0
      await Promise.all(
        points.map((point) =>
          t.test(`${point.what} at ${point.n}`, async () => {
            const met = await stumbledAt(scenario, point)
            struck += met.struck ? 1 : 0
            assert.deepEqual(met.end, end)
          }),
        ),
      )
      // What races another process may have a commit more or less.
      assert.ok(struck > points.length * 0.8, `only ${struck} of ${points.length} were met`)
    },
  )
}
