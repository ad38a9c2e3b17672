/**
 * A fault at a commit of a scenario, or at a write of a file: which points there are, and how a
 * life ends that met one. What is promised: it ends as if it had met none.
 */
import { Killer } from '../support/killer.ts'
import { Stumbler, stumbles, type Stumble } from '../support/stumbler.ts'
import { compactionScenario } from './compaction.ts'
import { scenarios } from './registry.ts'
import { live, newPlace, removePlace, type Scenario } from './scenario.ts'

export type StumblePoint = { what: Stumble; n: number }

/** A compaction that meets no room is left out, and the next request is one. */
const anyCompactions: Scenario = {
  ...compactionScenario,
  async life(...of) {
    const end = await compactionScenario.life(...of)
    return end === null ? null : { ...end, recapped: null }
  },
}

/** The scenarios of the crash matrix, as a fault may leave them. */
export const stumbling: readonly Scenario[] = scenarios.map((one) =>
  one === compactionScenario ? anyCompactions : one,
)

export const stumblingNamed = (name: string): Scenario => {
  const found = stumbling.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no scenario "${name}"`)
  return found
}

/** The end that nothing disturbs, and each point at which something may. */
export async function stumblePoints(scenario: Scenario) {
  const place = newPlace(scenario)
  try {
    const counting = new Stumbler({ n: 0, what: 'a full disk' })
    const end = await live(scenario, place, counting)
    const { commits, files } = counting.asked
    const points = (Object.keys(stumbles) as Stumble[]).flatMap((what): StumblePoint[] => {
      const last = what === 'a full disk under a file' ? files : commits
      return Array.from({ length: last }, (_, at) => ({ what, n: at + 1 }))
    })
    return { end, points }
  } finally {
    removePlace(place)
  }
}

/** How it ends, and whether it met the fault; what a broken disk ended is opened once more. */
export async function stumbledAt(scenario: Scenario, { n, what }: StumblePoint) {
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

/** Every `step`-th of each kind, each kind from another place. */
export function sampledPoints(all: readonly StumblePoint[], step: number): StumblePoint[] {
  const kinds = Object.keys(stumbles)
  return all.filter(({ what, n }) => (n + kinds.indexOf(what)) % step === 0)
}
