/**
 * The end of a child, killed: an agent stops its child, or is deleted, while the child has a running
 * command and a file in no commit; the run dies before or after commits and effects, and is opened
 * again. No process is left, the file is where it was, and the rows say so.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEndScenario } from './crash/child-end.ts'
import { killedAt, undisturbed } from './crash/scenario.ts'

const all = process.env['HOLON_ALL_POINTS'] === '1'
const options = { concurrency: 4, timeout: 1_200_000 }

for (const how of ['stop', 'delete'] as const) {
  test(`killed anywhere, a child’s end by ${how} is the undisturbed one`, options, async (t) => {
    const scenario = childEndScenario(how)
    const { end, counts, points } = await undisturbed(scenario)
    assert.deepEqual(
      { ...end, tasks: end.tasks.length },
      {
        agents: [how === 'stop' ? 'boss active' : 'boss deleted', 'boss.1 deleted'],
        tasks: 3,
        delegations: ['cancelled'],
        worktree: 'kept',
        is_there: true,
        open_turns: 0,
        problems: [],
      },
    )
    t.diagnostic(`${points.length} points: ${JSON.stringify(counts)}`)
    const chosen = points.filter((_, i) => all || i % scenario.step === 0)
    await Promise.all(
      chosen.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, { timeout: 90_000 }, async () => {
          assert.deepEqual((await killedAt(scenario, [point])).end, end)
        }),
      ),
    )
  })
}
