/**
 * The three children, killed: the run dies before or after commits, blobs and effects of parent and
 * children alike, in process, and is opened again; its end is that of the undisturbed run. Every
 * point in turn takes minutes: `HOLON_ALL_POINTS=1 npm test -- family-crash`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { familyScenario } from './crash/family.ts'
import { killedAt, undisturbed } from './crash/scenario.ts'

const all = process.env['HOLON_ALL_POINTS'] === '1'

const options = { concurrency: 4, timeout: 3_600_000 }

test('killed at any commit, blob or effect, the family ends as undisturbed', options, async (t) => {
  const { end, counts, points } = await undisturbed(familyScenario)
  assert.deepEqual(end.problems, [])
  t.diagnostic(`${points.length} points: ${JSON.stringify(counts)}`)
  const chosen = points.filter((_, i) => all || i % familyScenario.step === 0)
  const kinds = new Set(chosen.map(({ kind, when }) => `${when} ${kind}`))
  assert.ok(kinds.size >= 4, `only ${[...kinds].join(', ')}`)
  await Promise.all(
    chosen.map((point) =>
      t.test(`killed ${point.when} ${point.kind} ${point.n}`, { timeout: 90_000 }, async () => {
        assert.deepEqual((await killedAt(familyScenario, [point])).end, end)
      }),
    ),
  )
})
