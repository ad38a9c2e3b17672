/**
 * What the world outside remembers of a run, in files beside the home: which of its acts were
 * acknowledged, and how late it is. A sender that got no answer asks again; time never goes back.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { virtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { Place } from './scenario.ts'

export const begin = Date.UTC(2026, 0, 5, 9)

/** Milliseconds after which a due time is seen, however it became due. */
const look = 61_000

export class Outside {
  readonly clock: VirtualClock
  readonly #acknowledged: string
  readonly #time: string
  readonly #start: number

  constructor({ folder }: Place) {
    this.#acknowledged = join(folder, 'acknowledged')
    this.#time = join(folder, 'time')
    const saved = existsSync(this.#time) ? Number(readFileSync(this.#time, 'utf8')) : begin
    this.#start = saved
    this.clock = virtualClock(saved)
  }

  knows(act: string): boolean {
    if (!existsSync(this.#acknowledged)) return false
    return readFileSync(this.#acknowledged, 'utf8').split('\n').includes(act)
  }

  acknowledge(act: string): void {
    appendFileSync(this.#acknowledged, `${act}\n`)
  }

  /**
   * Lets time pass to `ms` after the beginning, or a little when it is later already: by the wall,
   * and where that jumped ahead by what really passed, for what was due then is later too.
   */
  async passTo(ms: number): Promise<void> {
    const passed = Math.min(this.clock.now(), this.#start + this.clock.monotonic())
    const left = begin + ms - passed
    if (left > 0) writeFileSync(this.#time, String(begin + ms))
    // A clock that jumped ahead is looked at again within a minute.
    await this.clock.advance(Math.max(left, look))
  }
}
