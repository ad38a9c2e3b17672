/**
 * A fault at every commit: in each scenario each commit, and each file the runtime writes, meets a
 * full disk, a ledger held by another program or a broken disk once, and is then free again. Nothing
 * is lost, nothing happens twice and the agents go on: the end is that of the undisturbed run.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEndScenario } from './crash/child-end.ts'
import { compactionScenario } from './crash/compaction.ts'
import { outsideScenario } from './crash/outside-events.ts'
import { live, newPlace, removePlace, undisturbed, type Scenario } from './crash/scenario.ts'
import { twoJobsScenario } from './crash/two-jobs.ts'
import { Killer } from './support/killer.ts'
import { Stumbler, stumbles, type Stumble } from './support/stumbler.ts'

const all = Object.keys(stumbles) as Stumble[]

/** A compaction that meets no room is left out, and the next request is one. */
const anyCompactions: Scenario = {
  ...compactionScenario,
  async life(...of) {
    const end = await compactionScenario.life(...of)
    return end === null ? null : { ...end, recapped: null }
  },
}

/** Each scenario, and which of its points are tried: every one, every second. */
const scenarios: readonly [Scenario, step: number][] = [
  [twoJobsScenario, 2],
  [outsideScenario, 3],
  [anyCompactions, 5],
  [childEndScenario('stop'), 8],
]

/** How it ends, and whether it met the fault; what a broken disk ended is opened once more. */
async function stumbling(scenario: Scenario, n: number, what: Stumble) {
  const place = newPlace(scenario)
  try {
    const stumbler = new Stumbler({ n, what })
    const end = await live(scenario, place, stumbler)
    const { struck, dead } = stumbler
    return { struck, end: dead ? await live(scenario, place, new Killer(null)) : end }
  } finally {
    removePlace(place)
  }
}

for (const [scenario, step] of scenarios) {
  test(
    `${scenario.name}: whichever commit meets a fault, it ends as if it had not`,
    { concurrency: 4, timeout: 600_000 },
    async (t) => {
      const { end } = await undisturbed(scenario)
      const counting = new Stumbler({ n: 0, what: 'a full disk' })
      const place = newPlace(scenario)
      t.after(() => removePlace(place))
      assert.deepEqual(await live(scenario, place, counting), end)
      const { commits, files } = counting.asked
      const points = all.flatMap((what, i) => {
        const last = what === 'a full disk under a file' ? files : commits
        return Array.from({ length: last }, (_, at) => ({ what, n: at + 1 })).filter(
          ({ n }) => (n + i) % step === 0,
        )
      })
      assert.ok(points.length > 5, `only ${points.length} points`)
      let struck = 0
      await Promise.all(
        points.map(({ what, n }) =>
          t.test(`${what} at ${n}`, async () => {
            const met = await stumbling(scenario, n, what)
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
