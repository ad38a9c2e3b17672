/**
 * A disk that is full at each of its pages: a run on a file system of so many KiB, and the same run
 * goes on when there is room. It stops with the word for it, and ends as the undisturbed one.
 * Linux, as root.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { live, newPlace, removePlace, undisturbed } from '../crash/scenario.ts'
import { scenarioNamed } from '../crash/registry.ts'
import { Killer } from '../support/killer.ts'

export type Filled = { runs: number; stopped: number; problems: string[] }

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** KiB with which everything fits. */
const enough = 65_536
/** A disk that no home fits on has nothing to say. */
const most = 4_096

/** `step`: KiB from one size to the next. */
export async function diskFull(step: number): Promise<Filled> {
  const done: Filled = { runs: 0, stopped: 0, problems: [] }
  const scenario = scenarioNamed('plan and files')
  const { end } = await undisturbed(scenario)
  for (let kib = 16, fitted = false; kib < most && !fitted; kib += step) {
    const place = newPlace(scenario)
    const at = join(place.folder, 'disk')
    mkdirSync(at)
    run('mount', '-t', 'tmpfs', '-o', `size=${kib}k,mode=0700`, 'tmpfs', at)
    try {
      const small = { ...place, home: join(at, 'home') }
      const before = done.stopped
      await live(scenario, small, new Killer(null)).catch((error: unknown) => {
        done.stopped += 1
        if (!/disk is full|disk_full|no space/i.test(String(error))) {
          done.problems.push(`${kib} KiB: ${String(error)}`)
        }
      })
      fitted = done.stopped === before
      run('mount', '-o', `remount,size=${enough}k`, at)
      const found = await live(scenario, small, new Killer(null))
      if (!isDeepStrictEqual(found, end)) done.problems.push(`${kib} KiB: another end`)
    } catch (error) {
      done.problems.push(`${kib} KiB, with room again: ${String(error)}`)
    } finally {
      run('umount', at)
      removePlace(place)
    }
    done.runs += 1
  }
  return done
}
