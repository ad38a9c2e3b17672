/**
 * A death at a chosen point: seams of the store and of the effects count what passes, and at one
 * count everything ends, as it would under SIGKILL. Nothing here knows what a point does.
 */
import type { HostFixture, BoxOptions } from '../../src/testing/host/host-fixture.ts'
import type { FaultSeam } from '../../src/ledger/store/open.ts'
import type { SearchIndex } from '../../src/ledger/search/port.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { EffectSeam } from '../../src/runtime/ports.ts'

/** A point at which the process ends: the nth of its kind, before or after it. */
export type Point = { kind: keyof Killer['counts']; n: number; when: 'before' | 'after' }

class Killed extends Error {}

/** Seams that end the run at one point; what comes after it finds everything dead. */
export class Killer implements FaultSeam, EffectSeam {
  readonly #point: Point | null
  readonly #strike: () => void
  /** `batch`: transactions of a retention; `index`: writes of the search index. */
  readonly counts = { commit: 0, blob: 0, effect: 0, batch: 0, index: 0 }
  /** What passed, in its order: the recovery comes first. */
  readonly passed: Pick<Point, 'kind' | 'n'>[] = []
  dead = false
  /** The clock of the run, where a scenario has one that can be moved. */
  clock: VirtualClock | null = null

  /** `strike` is how the process ends; by default it is the seam that throws. */
  constructor(point: Point | null, strike: () => void = () => {}) {
    this.#point = point
    this.#strike = strike
  }

  /** What a box is opened with to die by it. */
  get seams(): Partial<BoxOptions> {
    return { fault: this, effect_seam: this, is_dead: () => this.dead }
  }

  /** The box as a scenario has it. */
  about(box: HostFixture): HostFixture {
    return box
  }

  #at(kind: Point['kind'], n: number, when: Point['when']): void {
    if (this.dead) throw new Killed('already dead')
    if (when === 'before') this.passed.push({ kind, n })
    const { kind: k, n: at, when: w } = this.#point ?? { kind: null, n: 0, when: null }
    if (k !== kind || at !== n || w !== when) return
    this.#strike()
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
  around_batch(_: number, when: 'before' | 'after'): void {
    if (when === 'before') this.counts.batch += 1
    this.#at('batch', this.counts.batch, when)
  }

  /** A search index whose writes are counted too. */
  readonly over_index = (index: SearchIndex): SearchIndex => ({
    ...index,
    write: async (batch) => {
      this.counts.index += 1
      this.#at('index', this.counts.index, 'before')
      const done = await index.write(batch)
      this.#at('index', this.counts.index, 'after')
      return done
    },
  })
}

/** Ends this very process as the kernel would: nothing runs any more. */
export function sigkill(): void {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the process before this returns; should it ever not, nothing goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Before and after everything that was counted. */
export const pointsOf = (counts: Killer['counts']): Point[] =>
  (['commit', 'blob', 'effect', 'batch', 'index'] as const).flatMap((kind) =>
    Array.from({ length: counts[kind] }, (_, i) => i + 1).flatMap((n) =>
      (['before', 'after'] as const).map((when) => ({ kind, n, when })),
    ),
  )
