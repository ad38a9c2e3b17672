/**
 * A death at a chosen point: seams of the store and of the effects count what passes, and at one
 * count everything ends, as it would under SIGKILL. Nothing here knows what a point does.
 */
import type { FaultSeam } from '../../src/ledger/open.ts'
import type { EffectSeam } from '../../src/runtime/ports.ts'

/** A point at which the process ends: the nth of its kind, before or after it. */
export type Point = { kind: 'commit' | 'blob' | 'effect'; n: number; when: 'before' | 'after' }

class Killed extends Error {}

/** Seams that end the run at one point; what comes after it finds everything dead. */
export class Killer implements FaultSeam, EffectSeam {
  readonly #point: Point | null
  readonly counts = { commit: 0, blob: 0, effect: 0 }
  dead = false

  constructor(point: Point | null) {
    this.#point = point
  }

  #at(kind: Point['kind'], n: number, when: Point['when']): void {
    if (this.dead) throw new Killed('already dead')
    const { kind: k, n: at, when: w } = this.#point ?? { kind: null, n: 0, when: null }
    if (k !== kind || at !== n || w !== when) return
    this.dead = true
    throw new Killed(`killed ${when} ${kind} ${n}`)
  }

  before_commit(n: number): void {
    this.counts.commit = n
    this.#at('commit', n, 'before')
  }
  after_commit(n: number): void {
    this.#at('commit', n, 'after')
  }
  before_blob(n: number): void {
    this.counts.blob = n
    this.#at('blob', n, 'before')
  }
  after_blob(n: number): void {
    this.#at('blob', n, 'after')
  }
  before_effect(): void {
    this.counts.effect += 1
    this.#at('effect', this.counts.effect, 'before')
  }
  after_effect(): void {
    this.#at('effect', this.counts.effect, 'after')
  }
}

/** Before and after everything that was counted. */
export const pointsOf = (counts: Killer['counts']): Point[] =>
  (['commit', 'blob', 'effect'] as const).flatMap((kind) =>
    Array.from({ length: counts[kind] }, (_, i) => i + 1).flatMap((n) =>
      (['before', 'after'] as const).map((when) => ({ kind, n, when })),
    ),
  )
