/**
 * The work of the crash matrix, piece by piece: what is asked of a worker process and what it
 * answers. A job is a scenario and where to kill it; its answer says what was not as undisturbed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Killer, pointsOf, type Point } from '../support/killer.ts'
import { scenarioNamed } from './registry.ts'
import { stumbledAt, stumblePoints, stumblingNamed, type StumblePoint } from './stumbling.ts'
import { killedAt, live, newPlace, pointsAfter, removePlace, undisturbed } from './scenario.ts'

/** `sigkill`: in a process of its own, which the kernel ends. Otherwise the seam throws. */
export type Kill = { sigkill: boolean; points: readonly Point[] }
export type Job =
  | { do: 'undisturbed'; scenario: string }
  | { do: 'kill'; scenario: string; kill: Kill; expected: unknown }
  /** The points that a life passes first after this kill. */
  | { do: 'look'; scenario: string; first: Point; most: number }
  /** The points at which a commit or a file may meet a fault. */
  | { do: 'stumbles'; scenario: string }
  | { do: 'stumble'; scenario: string; point: StumblePoint; expected: unknown }
export type Done =
  | { did: 'undisturbed'; end: unknown; points: readonly Point[]; problem: string | null }
  | { did: 'kill'; kills: number; problem: string | null }
  | { did: 'look'; points: readonly Point[] }
  | { did: 'stumbles'; end: unknown; points: readonly StumblePoint[] }
  | { did: 'stumble'; struck: boolean; problem: string | null }

/** As it crosses between processes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

export async function carryOut(job: Job): Promise<Done> {
  const scenario = scenarioNamed(job.scenario)
  switch (job.do) {
    case 'undisturbed': {
      const one = await undisturbed(scenario)
      const other = await undisturbed(scenario)
      const problem = differing(plain(one.end), plain(other.end))
      return { did: 'undisturbed', end: plain(one.end), points: pointsOf(one.counts), problem }
    }
    case 'look':
      return { did: 'look', points: await pointsAfter(scenario, job.first, job.most) }
    case 'stumbles': {
      const { end, points } = await stumblePoints(stumblingNamed(job.scenario))
      return { did: 'stumbles', end: plain(end), points }
    }
    case 'stumble': {
      const { struck, end } = await stumbledAt(stumblingNamed(job.scenario), job.point)
      return { did: 'stumble', struck, problem: differing(plain(end), job.expected) }
    }
    case 'kill': {
      const { sigkill, points } = job.kill
      const { end, kills } = sigkill
        ? await killedReally(job.scenario, points)
        : await killedAt(scenario, points)
      return { did: 'kill', kills, problem: differing(plain(end), job.expected) }
    }
  }
}

/** Each life but the last in a process of its own that is ended by SIGKILL. */
async function killedReally(name: string, points: readonly Point[]) {
  const scenario = scenarioNamed(name)
  const place = newPlace(scenario)
  let kills = 0
  try {
    for (const { kind, n, when } of points) {
      const program = join(import.meta.dirname, 'one-life.ts')
      const words = [program, name, JSON.stringify(place), kind, String(n), when]
      const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      const [code, signal] = await once(child, 'close')
      if (code !== null && code !== 0) throw new Error(`it ended with ${code}: ${said}`)
      // The last points are not always there: how many commits there are depends on the moment.
      if (signal === 'SIGKILL') kills += 1
    }
    return { end: await live(scenario, place, new Killer(null)), kills }
  } finally {
    removePlace(place)
  }
}

/** What is not equal, by its name; null: nothing. */
function differing(found: unknown, expected: unknown): string | null {
  if (isDeepStrictEqual(found, expected)) return null
  const [a, b] = [found ?? {}, expected ?? {}] as Record<string, unknown>[]
  const names = [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])]
  return names
    .filter((name) => !isDeepStrictEqual(a?.[name], b?.[name]))
    .map((name) => `${name} is ${JSON.stringify(a?.[name])}, not ${JSON.stringify(b?.[name])}`)
    .join('; ')
}
