/**
 * A world told line by line: the real host under the simulator, with no fault but death. Effects
 * run in the order in which they were asked, and what comes from outside comes where the runtime
 * rests or a model is asked. So the lines hang on what the runtime decides and says, and not on
 * how many reads it takes.
 */
import { createHash } from 'node:crypto'
import { tables } from '../../src/domain/state/event.ts'
import { adversary, pick, temperOf } from '../sim/adversary.ts'
import { settled } from '../sim/agenda.ts'
import { afterStep, deep } from '../sim/checks.ts'
import { actOf } from '../sim/outside.ts'
import { World } from '../sim/world.ts'
import { randomOf, type Random } from '../soak/random.ts'

/** Times at which the runtime rests. */
const rests = 60
/** Effects between two of them: more is something that never comes to rest. */
const patience = 5_000

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8)

class Telling {
  /** One line for each rest: how much was told up to it, and the digest of that. */
  readonly rests: string[] = []
  #lines: string[] = []
  readonly violations: string[] = []
  readonly #seed: number
  readonly #world: World
  readonly #rows = new Map<string, string>()
  readonly #whole: (value: unknown) => void
  #asked = 0
  #acts = 0

  constructor(seed: number, whole: (value: unknown) => void) {
    this.#seed = seed
    this.#whole = whole
    const models = randomOf(seed, 'models')
    this.#world = new World(
      { seed, steps: 0, faults: [], only: [] },
      {
        answers: (seen, request) => {
          this.#tell(`${seen.facts.agent_id} asks`, request)
          return adversary(models, seen, temperOf(seed), this.#asked % 4 === 0)
        },
        landed: ({ agent_id, at, events }) => {
          for (const { event, meta } of events) {
            this.#tell(`${agent_id} ${meta.seq} ${event.type}`, [event, meta, at])
          }
        },
        replied: (act, reply) => this.#tell(`told ${act.do}`, reply),
      },
    )
  }

  #tell(line: string, value: unknown): void {
    const told = `${line} ${digest(value)}`
    this.#lines.push(told)
    this.#whole(told)
    this.#whole(value)
  }

  async whole(): Promise<void> {
    const world = this.#world
    const luck = randomOf(this.#seed, 'rests')
    try {
      world.boot()
      world.makeMain()
      for (let n = 1; n <= rests && this.violations.length === 0; n += 1) {
        await this.#rest()
        this.#telling()
        this.rests.push(`rest ${n} ${this.#lines.length} ${digest(this.#lines)}`)
        this.#lines = []
        await this.#goesOn(luck, n)
      }
      await this.#rest()
      this.violations.push(...(await deep(world, true)))
    } finally {
      await world.store.close()
    }
  }

  /** Everything that is ready, in order; beside an answer something else may come, or death. */
  async #rest(): Promise<void> {
    const world = this.#world
    await settled(world.agenda)
    for (let n = 0; world.agenda.ready.length > 0; n += 1) {
      if (n > patience) throw new Error(`seed ${this.#seed}: nothing rests`)
      const effect = world.agenda.take(0)
      if (effect.label.startsWith('answer ')) {
        this.#asked += 1
        const random = randomOf(this.#seed, `answer ${this.#asked}`)
        if (random.chance(0.3)) this.#acted(random)
        if (random.chance(0.03)) {
          this.#dies()
          await settled(world.agenda)
          continue
        }
      }
      await effect.run(false)
      await settled(world.agenda)
      this.violations.push(...afterStep(world))
      if (this.violations.length > 0) return
    }
  }

  #dies(): void {
    this.#lines.push('dies')
    this.#whole('dies')
    this.#world.crash()
    this.#world.boot()
  }

  #acted(random: Random): void {
    const world = this.#world
    const agents = world.agents()
    const facts = random.chance(0.7) ? agents[0] : pick(random, agents)
    if (facts === undefined) return
    const seen = world.witness.seenOf(facts.agent_id)
    const act = actOf(random, facts, (this.#acts += 1), { seed: this.#seed, seen })
    if (act === null) return
    this.#tell(`comes ${act.do}`, act)
    world.act(act)
  }

  async #goesOn(luck: Random, n: number): Promise<void> {
    const world = this.#world
    const random = randomOf(this.#seed, `rest ${n}`)
    if (luck.chance(0.05)) return this.#dies()
    const running = pick(random, world.commands.running())
    if (running !== undefined && luck.chance(0.4)) {
      const exit_status = random.chance(0.3) ? 2 : 0
      return world.commands.ends(running, { how: 'exited', exit_status, signal: null })
    }
    const due = world.agenda.nextTimer()
    if (due !== null && luck.chance(0.5)) return world.agenda.pass(due)
    this.#acted(random)
  }

  /** What stands while the runtime rests: what each agent does next, and changed rows. */
  #telling(): void {
    const { host } = this.#world
    for (const facts of this.#world.agents()) {
      const { agent_id } = facts
      const next = host?.next(agent_id)
      this.#tell(`${agent_id} next ${next?.do ?? 'unknown'}`, next)
      for (const table of tables) {
        const rows = [...facts.rows(table)]
        const key = `${agent_id} ${table}`
        if (this.#rows.get(key) === digest(rows)) continue
        this.#rows.set(key, digest(rows))
        this.#tell(`${key} ${rows.length}`, rows)
      }
    }
  }
}

type Told = { rests: readonly string[]; violations: readonly string[] }

/** `whole` gets each line and, after it, what its digest was made of. */
export async function tellWorld(
  seed: number,
  whole: (value: unknown) => void = () => {},
): Promise<Told> {
  const telling = new Telling(seed, whole)
  await telling.whole()
  return telling
}
