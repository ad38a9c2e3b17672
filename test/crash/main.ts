/**
 * The crash matrix: `npm run crash [-- --all] [--only <scenario>] [--seed 1] [--workers 2]`. Kills
 * every scenario before and after its commits, blobs and effects, in process and by a real SIGKILL,
 * and again at the points of the recovery; each end must be the undisturbed one. `--all` takes
 * every point instead of a sample, which `--seed` moves. One line again: `--only <scenario> --at
 * "before commit 3, after effect 1" [--sigkill]`. With `--faults` nothing is killed: each commit,
 * and each file that is written, meets a full disk, a held ledger or a broken disk. The figures
 * come last; it exits 1 on a difference.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Point } from '../support/killer.ts'
import type { Done, Job, Kill } from './jobs.ts'
import { openPool } from './pool.ts'
import { scenarioNamed, scenarios } from './registry.ts'
import { rowsOfTheTable, type Scenario } from './scenario.ts'

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    only: { type: 'string' },
    at: { type: 'string' },
    sigkill: { type: 'boolean', default: false },
    faults: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.min(4, availableParallelism())) },
  },
})
const seed = Number(values.seed)
const pool = openPool(Number(values.workers))
const chosen = values.only === undefined ? scenarios : [scenarioNamed(values.only)]

/** Points that a life passes first after a kill: there it recovers. */
const recovery = values.all ? 4 : 3

type Line = {
  scenario: string
  points: number
  singles: number
  doubles: number
  sigkills: number
  kills: number
  equal: number
}
const problems: string[] = []
function found(says: string): void {
  problems.push(says)
  console.error(`problem: ${says}`)
}

const wordsOf = ({ kind, n, when }: Point): string => `${when} ${kind} ${n}`

function pointOf(words: string): Point {
  const [when, kind, n] = words.trim().split(' ')
  return { when, kind, n: Number(n) } as Point
}

async function ask<D extends Done['did']>(job: Job & { do: D }): Promise<Done & { did: D }> {
  return (await pool.run(job)) as Done & { did: D }
}

/** Every `step`-th, from a place that the seed moves. */
const sampled = <T>(all: readonly T[], step: number): T[] =>
  all.filter((_, i) => (i + seed) % step === 0)

async function killed(line: Line, kill: Kill, expected: unknown): Promise<void> {
  const { scenario } = line
  const where = kill.points.map(wordsOf).join(', ')
  const again = `npm run crash -- --only "${scenario}" --at "${where}"`
  try {
    const { kills, problem } = await ask({ do: 'kill', scenario, kill, expected })
    line.kills += kills
    if (problem === null) line.equal += 1
    else found(`${again}${kill.sigkill ? ' --sigkill' : ''}: ${problem}`)
  } catch (error) {
    found(`${again}${kill.sigkill ? ' --sigkill' : ''}: ${String(error)}`)
  }
}

async function twice(line: Line, first: Point, expected: unknown): Promise<void> {
  const { scenario } = line
  const look = await ask({ do: 'look', scenario, first, most: recovery })
  line.doubles += look.points.length
  const kills = look.points.map((second) => ({ sigkill: false, points: [first, second] }))
  await Promise.all(kills.map((kill) => killed(line, kill, expected)))
}

async function walk({ name: scenario, step }: Scenario): Promise<Line> {
  const line = { scenario, points: 0, singles: 0, doubles: 0, sigkills: 0, kills: 0, equal: 0 }
  const { end, points, problem } = await ask({ do: 'undisturbed', scenario })
  if (problem !== null) found(`${scenario}: undisturbed twice, it differs: ${problem}`)
  line.points = points.length
  const given = values.at?.split(',').map(pointOf)
  if (given !== undefined) {
    await killed(line, { sigkill: values.sigkill, points: given }, end)
    return { ...line, singles: 1 }
  }
  const singles = values.all ? points : sampled(points, step)
  const firsts = sampled(points, step * (values.all ? 4 : 8))
  const real = sampled(points, step * (values.all ? 1 : 4))
  line.singles = singles.length
  line.sigkills = real.length
  await Promise.all([
    ...singles.map((point) => killed(line, { sigkill: false, points: [point] }, end)),
    ...real.map((point) => killed(line, { sigkill: true, points: [point] }, end)),
    ...firsts.map((first) =>
      twice(line, first, end).catch((error: unknown) => {
        found(`${scenario}, the recovery after ${wordsOf(first)}: ${String(error)}`)
      }),
    ),
  ])
  return line
}

/** Each point of a scenario meets its fault, and it ends as if it had not. */
async function stumbles({ name: scenario, step }: Scenario) {
  const { end, points } = await ask({ do: 'stumbles', scenario })
  const taken = values.all ? points : sampled(points, step)
  const figures = { scenario, points: points.length, tried: taken.length, struck: 0, equal: 0 }
  await Promise.all(
    taken.map(async (point) => {
      const where = `${scenario}, ${point.what} at ${point.n}`
      try {
        const done = await ask({ do: 'stumble', scenario, point, expected: end })
        if (done.struck) figures.struck += 1
        if (done.problem === null) figures.equal += 1
        else found(`${where}: ${done.problem}`)
      } catch (error) {
        found(`${where}: ${String(error)}`)
      }
    }),
  )
  return figures
}

if (values.faults) {
  const all: Awaited<ReturnType<typeof stumbles>>[] = []
  for (const scenario of chosen) {
    const figures = await stumbles(scenario)
    all.push(figures)
    console.error(`${scenario.name}: ${figures.equal} of ${figures.tried} ends equal`)
  }
  pool.close()
  console.table(Object.fromEntries(all.map(({ scenario, ...figures }) => [scenario, figures])))
  for (const one of problems) console.log(`problem: ${one}`)
  const sum = (of: 'points' | 'tried' | 'struck' | 'equal') =>
    all.reduce((so_far, figures) => so_far + figures[of], 0)
  console.log(
    `${all.length} scenarios, ${sum('points')} points: ${sum('tried')} tried, ` +
      `${sum('struck')} met their fault, ${sum('equal')} ends equal, ${problems.length} problems`,
  )
  process.exit(problems.length === 0 ? 0 : 1)
}

const from = performance.now()
const lines: Line[] = []
for (const scenario of chosen) {
  const line = await walk(scenario).catch((error: unknown) => {
    found(`${scenario.name}: ${String(error)}`)
    return null
  })
  if (line === null) continue
  lines.push(line)
  console.error(`${line.scenario}: ${line.equal} ends equal, ${problems.length} problems so far`)
}
pool.close()

const uncovered = rowsOfTheTable.filter((row) => !chosen.some(({ covers }) => covers.includes(row)))
if (values.only === undefined && uncovered.length > 0) found(`not covered: ${uncovered}`)
console.table(Object.fromEntries(lines.map(({ scenario, ...figures }) => [scenario, figures])))
for (const one of problems) console.log(`problem: ${one}`)
const sum = (of: Exclude<keyof Line, 'scenario'>) => lines.reduce((all, line) => all + line[of], 0)
const runs = sum('singles') + sum('doubles') + sum('sigkills')
const seconds = Math.round((performance.now() - from) / 1_000)
console.log(
  `${lines.length} scenarios, ${sum('points')} points: ` +
    `${runs} runs (${sum('sigkills')} by SIGKILL, ` +
    `${sum('doubles')} killed again in the recovery), ${sum('kills')} kills, ` +
    `${sum('equal')} ends equal, ${problems.length} problems, ${seconds} s`,
)
process.exitCode = problems.length === 0 ? 0 : 1
