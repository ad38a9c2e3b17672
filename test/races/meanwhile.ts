/**
 * Everything that may happen while the runtime waits for one thing: at each call of a port of a
 * story, before the call or when it is done and nobody was told yet, the other side carries out one
 * act, to its reply or until nothing moves. Then all comes to its end, and the invariants of the
 * simulation are asked.
 */
import { settled, type Effect } from '../sim/agenda.ts'
import { becalm } from '../sim/calm.ts'
import { afterStep } from '../sim/checks.ts'
import { planOf } from '../sim/plan.ts'
import { World } from '../sim/world.ts'
import { unread } from './explore.ts'
import { forgetOpen, isOpen, openNow } from './open-awaits.ts'
import { beginning, possible, type Other } from './others.ts'
import { answersOf, stories, type Story } from './stories.ts'

/** `n` counts calls of ports from 1. */
export type When = { n: number; held: 'before' | 'after'; until: 'reply' | 'quiet' }
export type Between = When & Other

/** Steps of the other side while one call is held, at most. */
const most = 200

/** One telling of a story. */
export class Telling {
  readonly world: World
  readonly #between: Between | null
  readonly #looks: (n: number, world: World) => void
  points = 0
  /** What was held. */
  label: string | null = null
  /** Awaits that were open while the other side wrote, by their place in the table. */
  readonly interleaved = new Set<number>()

  constructor(story: Story, between: Between | null, looks: (n: number, world: World) => void) {
    const given = { answers: answersOf(story), asked: story.asked }
    this.world = new World({ ...planOf(1, 0), faults: [] }, given)
    this.#between = between
    this.#looks = looks
  }

  async whole({ outside }: Story): Promise<string[]> {
    const { world } = this
    forgetOpen()
    try {
      world.boot()
      world.makeMain()
      for (const happens of [() => {}, ...outside]) {
        happens(world)
        const found = await this.#quiet()
        if (found.length > 0) return found
      }
      const { violations } = await becalm(world, () => 0, false)
      return [...violations, ...unread(world)]
    } finally {
      await world.store.close()
    }
  }

  /** First come, first served, until nothing is ready; what is broken then. */
  async #quiet(): Promise<string[]> {
    const { world } = this
    const { agenda } = world
    await settled(agenda)
    while (agenda.ready.length > 0) {
      const effect = agenda.take(0)
      this.points += 1
      this.#looks(this.points, world)
      const held = this.#between?.n === this.points ? this.#between.held : null
      if (held === 'before') await this.#meanwhile(effect)
      const after = held === 'after' ? () => this.#meanwhile(effect) : undefined
      if (!effect.life.ended) await effect.run(false, after)
      await settled(agenda)
      const found = afterStep(world)
      if (found.length > 0) return found
    }
    return []
  }

  async #meanwhile(held: Effect): Promise<void> {
    const { world } = this
    const { agenda } = world
    const begin = this.#between && beginning(world, this.#between)
    if (!begin) return
    this.label = `${held.kind} ${held.label}`
    const [open, { events }] = [openNow(), world.witness]
    begin()
    await settled(agenda)
    for (let step = 0; step < most && agenda.ready.length > 0; step += 1) {
      if (this.#between?.until === 'reply' && world.unanswered.size === 0) break
      // The newest first: what follows from the act overtakes what waited before it.
      await agenda.take(agenda.ready.length - 1).run(false)
      await settled(agenda)
    }
    if (world.witness.events === events) return
    for (const one of open) if (isOpen(one)) this.interleaved.add(one.n)
  }
}

/** How a story goes that nobody disturbs, and everything that could come in between. */
async function undisturbed(story: Story) {
  const all: { n: number; other: Other }[] = []
  const telling = new Telling(story, null, (n, world) => {
    all.push(...possible(world).map((other) => ({ n, other })))
  })
  return { found: await telling.whole(story), points: telling.points, all }
}

export type Interleaved = { points: number; possible: number; tried: number; violations: string[] }

const ways = [
  { held: 'after', until: 'reply' },
  { held: 'before', until: 'quiet' },
  { held: 'after', until: 'quiet' },
  { held: 'before', until: 'reply' },
] as const

/** Every `every`-th of all that may come in between, from `from` on; each the next of four ways. */
export async function interleave(every: number, from: number): Promise<Interleaved> {
  const figures: Interleaved = { points: 0, possible: 0, tried: 0, violations: [] }
  for (const story of stories) {
    const { found, points, all } = await undisturbed(story)
    figures.points += points
    figures.violations.push(...found.map((one) => `${one}\n    ${story.name}, undisturbed`))
    for (const { n, other } of all) {
      figures.possible += 1
      if ((figures.possible + from) % every !== 0) continue
      const way = ways[Math.floor(figures.possible / every) % ways.length] ?? ways[0]
      const between = { n, ...other, ...way }
      const telling = new Telling(story, between, () => {})
      const [first] = await telling.whole(story)
      figures.tried += 1
      if (first === undefined) continue
      const { act, whose, held, until } = between
      const where = `${story.name}, ${act} of ${whose} ${held} ${n} (${telling.label}), to ${until}`
      figures.violations.push(`${first}\n    ${where}`)
    }
  }
  return figures
}
