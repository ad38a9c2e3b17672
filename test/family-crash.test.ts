/**
 * The three children, killed: the run dies before or after commits, blobs and effects of parent and
 * children alike, in process, and is opened again; its end is that of the undisturbed run. Every
 * point in turn takes minutes: `HOLON_ALL_POINTS=1 npm test -- family-crash`.
 */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openBox, temporaryHome, type Box } from '../src/testing/box.ts'
import { familyEnd, type FamilyEnd, type FamilyPlaces } from '../src/testing/family-end.ts'
import { familyModel } from '../src/testing/three-children.ts'
import { leftProcesses, runShip } from './support/family.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'
import { makeRepository } from './support/repository.ts'

const open = (t: TestContext, places: FamilyPlaces, killer: Killer): Promise<Box> =>
  openBox(t, {
    models: { default: familyModel() },
    ...places,
    fault: killer,
    effect_seam: killer,
    is_dead: () => killer.dead,
  })

/** Runs until killed; whatever the death throws is the expected thing. */
async function runKilled(t: TestContext, places: FamilyPlaces, killer: Killer): Promise<void> {
  try {
    const box = await open(t, places, killer)
    await runShip(box, 'r1').catch((error: unknown) => {
      if (!killer.dead) throw error
    })
    await box.close()
  } catch (error) {
    if (!killer.dead) throw error
  }
}

async function runAlive(t: TestContext, places: FamilyPlaces) {
  const killer = new Killer(null)
  const box = await open(t, places, killer)
  await runShip(box, 'r1')
  const end = await familyEnd(box.ledger, places)
  await box.close()
  return { end, counts: killer.counts }
}

function newPlaces(t: TestContext): FamilyPlaces {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  return places
}

async function killedAt(t: TestContext, ...points: Point[]): Promise<FamilyEnd> {
  const places = newPlaces(t)
  for (const point of points) await runKilled(t, places, new Killer(point))
  const { end } = await runAlive(t, places)
  const left = await leftProcesses(dirname(places.home))
  return { ...end, problems: [...end.problems, ...left] }
}

const all = process.env['HOLON_ALL_POINTS'] === '1'

/** Every n-th point; n shares no factor with 2, so that both sides of a step are among them. */
const sampleStep = 37

const options = { concurrency: 4, timeout: 3_600_000 }

test(
  '§9 killed at any commit, blob or effect, the family ends as undisturbed',
  options,
  async (t) => {
    const { end, counts } = await runAlive(t, newPlaces(t))
    assert.deepEqual(end.problems, [])
    const points = pointsOf(counts)
    t.diagnostic(`${points.length} points: ${JSON.stringify(counts)}`)
    const chosen = points.filter((_, i) => all || i % sampleStep === 0)
    const kinds = new Set(chosen.map(({ kind, when }) => `${when} ${kind}`))
    assert.ok(kinds.size >= 4, `only ${[...kinds].join(', ')}`)
    await Promise.all(
      chosen.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, { timeout: 90_000 }, async (t) => {
          assert.deepEqual(await killedAt(t, point), end)
        }),
      ),
    )
  },
)
