/**
 * What a simulation has tried: each transition (an event that was committed) with each fault that
 * struck just before or after it, so that a table shows what was never tried.
 */
import type { Effect } from './agenda.ts'
import type { Fault } from './plan.ts'

export type CoverageCounts = {
  /** By transition, or by kind of effect: how often it was carried out. */
  seen: Record<string, number>
  /** By `transition fault`. */
  hit: Record<string, number>
  /** Faults that strike no effect of their own. */
  struck: Record<string, number>
}

export class Coverage {
  readonly counts: CoverageCounts = { seen: {}, hit: {}, struck: {} }

  seen(effect: Effect): void {
    for (const name of namesOf(effect)) this.#add('seen', name)
  }

  hit(effect: Effect, fault: Fault): void {
    for (const name of namesOf(effect)) this.#add('hit', `${name} ${fault}`)
    this.struck(fault)
  }

  struck(fault: Fault): void {
    this.#add('struck', fault)
  }

  add(other: CoverageCounts): void {
    for (const part of ['seen', 'hit', 'struck'] as const) {
      for (const [key, count] of Object.entries(other[part])) this.#add(part, key, count)
    }
  }

  #add(part: keyof CoverageCounts, key: string, by = 1): void {
    this.counts[part][key] = (this.counts[part][key] ?? 0) + by
  }
}

/** A commit is what it commits; any other effect is its kind and what it does. */
const namesOf = ({ kind, label }: Effect): string[] =>
  kind === 'commit'
    ? [...new Set(label.split(' '))]
    : [`(${kind}) ${kind === 'model' ? (label.split(' ')[0] ?? '') : label.split(' of ')[0]}`]
