/**
 * A wall clock that jumps a day forward or back at a commit, while timers keep their pace: the same
 * end, times that never decrease, and each due time once.
 */
import { isDeepStrictEqual } from 'node:util'
import { live, newPlace, removePlace, undisturbed } from '../crash/scenario.ts'
import { scenarioNamed } from '../crash/registry.ts'
import { Killer } from '../support/killer.ts'

export type Jumped = { runs: number; problems: string[] }

const day = 86_400_000

/** Counts commits like a killer, and moves the clock at one of them instead. */
class Jumper extends Killer {
  readonly #n: number
  readonly #by: number

  constructor(n: number, by: number) {
    super(null)
    this.#n = n
    this.#by = by
  }

  override before_commit(n: number): void {
    super.before_commit(n)
    if (n === this.#n) this.clock?.setWallClock(this.clock.now() + this.#by)
  }
}

const names = ['question', 'external event', 'timer and recheck', 'outage', 'stop and start']

export async function clockJumps(step: number): Promise<Jumped> {
  const done: Jumped = { runs: 0, problems: [] }
  for (const name of names) {
    const scenario = scenarioNamed(name)
    const { end, counts } = await undisturbed(scenario)
    for (let n = 1; n <= counts.commit; n += step) {
      for (const by of [day, -day]) {
        const place = newPlace(scenario)
        const where = `${name}, ${by > 0 ? 'a day on' : 'a day back'} at commit ${n}`
        try {
          const found = await live(scenario, place, new Jumper(n, by))
          if (!isDeepStrictEqual(found, end)) {
            done.problems.push(`${where}: ${JSON.stringify(found)}`)
          }
        } catch (error) {
          done.problems.push(`${where}: ${String(error)}`)
        } finally {
          removePlace(place)
        }
        done.runs += 1
      }
    }
  }
  return done
}
