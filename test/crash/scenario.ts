/**
 * A scenario of the crash matrix: something that is done on a home until it has an end, and that
 * goes on wherever it was left. What is promised of each: killed at any point, and killed again
 * while it recovers, it ends as the undisturbed run does
 * (docs/spec/recovery.md#a-kill-at-each-step, docs/spec/recovery.md).
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostFixture, Scope } from '../../src/testing/host/host-fixture.ts'
import { Killer, pointsOf, type Point } from '../support/killer.ts'

/** Everything of one run: its home, its workspace, and beside them what the world remembers. */
export type Place = { folder: string; home: string; workspace: string }

/**
 * The rows of the table in docs/spec/recovery.md#a-kill-at-each-step, and what the product has
 * besides.
 */
export const rowsOfTheTable = [
  'ingress',
  'turn start',
  'model request',
  'response',
  'tool started',
  'tool finished',
  'mutation',
  'wait registered',
  'wait triggered',
  'task spawned',
  'task finished',
  'child spawned',
  'brief',
  'turn end',
  'timer',
  'plan file',
  'compaction',
  'memory index',
  'worktree',
  'delivery',
  'redelivery',
  'dead letter',
  'budget',
  'hold',
  'lifecycle',
  'retention',
] as const
export type Row = (typeof rowsOfTheTable)[number]

export type Scenario<End = unknown> = {
  name: string
  covers: readonly Row[]
  /** Before the first life: what is there already. */
  furnish?: (place: Place) => void
  /**
   * One life: opens the home, does what is left to do, and resolves with how it ended, in words
   * that do not depend on ids or times. Null: the killer struck; everything is closed then too.
   */
  life(scope: Scope, place: Place, killer: Killer): Promise<End | null>
  /** Every n-th point for who cannot run them all. */
  step: number
}

/** A scope of its own; `close` runs what was left to it, newest first, and waits. */
export function ownScope(): Scope & { close(): Promise<void> } {
  const closers: (() => void | Promise<void>)[] = []
  return {
    after: (closer) => void closers.push(closer),
    async close() {
      for (const closer of closers.splice(0).toReversed()) await closer()
    },
  }
}

export function newPlace({ furnish }: Pick<Scenario, 'furnish'>): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-crash-')))
  const place = { folder, home: join(folder, 'home'), workspace: join(folder, 'work') }
  mkdirSync(place.home, { mode: 0o700 })
  mkdirSync(place.workspace)
  furnish?.(place)
  return place
}

export const removePlace = ({ folder }: Place): void =>
  rmSync(folder, { recursive: true, force: true })

/** Opens, runs and closes; whatever the death throws is the expected thing. */
export async function lived<E>(
  killer: Killer,
  open: () => Promise<HostFixture>,
  run: (box: HostFixture) => Promise<E>,
): Promise<E | null> {
  const dies = (error: unknown): null => {
    if (!killer.dead) throw error
    return null
  }
  const box = await open().catch(dies)
  if (box === null) return null
  const end = await run(killer.about(box)).catch(dies)
  await box.close().catch(dies)
  return killer.dead ? null : end
}

/** Milliseconds after which a life that does not end is a finding. */
const patience = 600_000

/** One life, in a scope that is closed when it is over. */
export async function live<E>(
  scenario: Scenario<E>,
  place: Place,
  killer: Killer,
): Promise<E | null> {
  const scope = ownScope()
  const { promise: hung, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`${scenario.name}: no end in ${patience} ms`)),
    patience,
  )
  try {
    return await Promise.race([scenario.life(scope, place, killer), hung])
  } finally {
    clearTimeout(timer)
    await scope.close()
  }
}

/** How the scenario ends when nobody disturbs it, and the points it passes. */
export async function undisturbed<E>(scenario: Scenario<E>) {
  const place = newPlace(scenario)
  try {
    const killer = new Killer(null)
    const end = await live(scenario, place, killer)
    if (end === null) throw new Error(`${scenario.name}: it did not come to its end`)
    return { end, counts: killer.counts, points: pointsOf(killer.counts) }
  } finally {
    removePlace(place)
  }
}

/** Killed at each of these points in turn, one a life, and then left alone. */
export async function killedAt<E>(scenario: Scenario<E>, points: readonly Point[]) {
  const place = newPlace(scenario)
  let kills = 0
  try {
    for (const point of points) {
      const killer = new Killer(point)
      const end = await live(scenario, place, killer)
      if (!killer.dead) return { end, kills }
      kills += 1
    }
    return { end: await live(scenario, place, new Killer(null)), kills }
  } finally {
    removePlace(place)
  }
}

/** Points of the life after a kill, in the order in which it passes them, at most `most`. */
export async function pointsAfter(scenario: Scenario, first: Point, most: number) {
  const place = newPlace(scenario)
  try {
    await live(scenario, place, new Killer(first))
    const killer = new Killer(null)
    await live(scenario, place, killer)
    return killer.passed
      .slice(0, most)
      .flatMap((one) => (['before', 'after'] as const).map((when): Point => ({ ...one, when })))
  } finally {
    removePlace(place)
  }
}
