/**
 * Every order in which the commits of the real host, what comes from outside and one death may
 * follow each other: a run takes the choices it is given, and the first where none is given; the
 * next run changes the last choice that has another. What only reads is done in the order it came.
 */
import { settled } from '../sim/agenda.ts'
import { becalm } from '../sim/calm.ts'
import { afterStep } from '../sim/checks.ts'
import { planOf } from '../sim/plan.ts'
import { World } from '../sim/world.ts'
import { words, type Outside, type Scene } from './scenes.ts'

export type Explored = {
  scene: string
  orders: number
  /** Of them: with a death in it. */
  deaths: number
  longest: number
  violations: string[]
}

type Choice = { taken: number; of: number; name: string }

/** One order, chosen step by step. */
class Order {
  readonly choices: Choice[] = []
  readonly world: World
  readonly #prefix: readonly number[]
  #outside: Outside[]
  #crashes: number
  /** Answers of the model that go unchosen. */
  #before: number

  constructor(scene: Scene, prefix: readonly number[]) {
    this.world = new World(planOf(1, 0), { answers: scene.answers })
    this.#prefix = prefix
    this.#outside = [...scene.outside]
    this.#crashes = scene.crashes
    this.#before = scene.before
  }

  async whole(): Promise<string[]> {
    const { world } = this
    try {
      world.boot()
      world.makeMain()
      await this.#quiet(true)
      words(1).happens(world)
      await this.#quiet(true)
      for (;;) {
        const found = await this.#quiet(false)
        if (found.length > 0) return found
        const branches = this.#branches()
        if (branches.length === 0) break
        const n = this.#prefix[this.choices.length] ?? 0
        const branch = branches[n]
        if (!branch) throw new Error(`there is no branch ${n} of ${branches.length}`)
        this.choices.push({ taken: n, of: branches.length, name: branch.name })
        await branch.take()
        await settled(world.agenda)
      }
      const calm = await becalm(world, () => 0, false)
      return [...calm.violations, ...unread(world)]
    } finally {
      await world.store.close()
    }
  }

  /** Does what is no commit, first come first served; `all`: commits too. */
  async #quiet(all: boolean): Promise<string[]> {
    const { world } = this
    const { agenda } = world
    await settled(agenda)
    for (;;) {
      const next = agenda.ready.findIndex(({ kind }) => all || kind !== 'commit')
      const effect = agenda.ready[next]
      if (effect === undefined) return afterStep(world)
      const isAnswer = effect.kind === 'model' && effect.label.startsWith('answer')
      if (all && isAnswer && (this.#before -= 1) < 0) return afterStep(world)
      await agenda.take(next).run(false)
      await settled(agenda)
    }
  }

  #branches(): { name: string; take(): Promise<void> | void }[] {
    const { world } = this
    const commits = world.agenda.ready.map((effect, n) => ({
      name: effect.label,
      take: () => world.agenda.take(n).run(false),
    }))
    const outside = this.#outside.map((one, n) => ({
      name: one.name,
      take: () => {
        this.#outside = this.#outside.filter((_, other) => other !== n)
        one.happens(world)
      },
    }))
    if (this.#crashes === 0) return [...commits, ...outside]
    const now = { name: 'death', take: () => this.#dies() }
    const after = world.agenda.ready.map((effect, n) => ({
      name: `death after ${effect.label}`,
      take: async () => {
        await world.agenda.take(n).run(true)
        await settled(world.agenda)
        this.#dies()
      },
    }))
    // A death with nothing under way is a restart at rest, which every calm ends with.
    return [...commits, ...outside, ...(commits.length > 0 ? [now, ...after] : [])]
  }

  /** Whoever got no reply says the same again to the process that follows. */
  #dies(): void {
    const { world } = this
    this.#crashes -= 1
    const again = [...world.unanswered].filter((act) => act.do === 'deliver')
    world.unanswered.clear()
    world.crash()
    world.boot()
    this.#outside.push(
      ...again.map((act) => ({ name: 'the same again', happens: () => world.act(act) })),
    )
  }
}

/** 25: every accepted message was read by a turn, or an act said that it need not be. */
export function unread(world: World): string[] {
  return world.accepted.flatMap(({ message_id }) => {
    const row = world.store.one('select status from messages where id = ?', message_id)
    const status = String(row?.['status'])
    return ['queued', 'claimed', 'dead', 'undefined'].includes(status)
      ? [`25: ${message_id} is ${status} at the end`]
      : []
  })
}

/** `most` orders at most; a whole exploration ends by itself. */
export async function explore(scene: Scene, most: number): Promise<Explored> {
  const explored: Explored = {
    scene: scene.name,
    orders: 0,
    deaths: 0,
    longest: 0,
    violations: [],
  }
  let prefix: number[] | null = []
  while (prefix !== null && explored.orders < most && explored.violations.length < 5) {
    const order = new Order(scene, prefix)
    const found = await order.whole()
    explored.orders += 1
    explored.longest = Math.max(explored.longest, order.choices.length)
    if (order.world.crashes > 1) explored.deaths += 1
    if (found.length > 0) {
      const names = order.choices.map(({ name }) => name).join(' → ')
      explored.violations.push(`${found[0]}\n    ${names}`)
    }
    prefix = following(order.choices)
  }
  if (prefix !== null && explored.violations.length === 0) {
    explored.violations.push(`there are more than ${most} orders`)
  }
  return explored
}

/** The next order, depth first: the last choice that has another takes it. */
function following(choices: readonly Choice[]): number[] | null {
  for (let n = choices.length - 1; n >= 0; n -= 1) {
    const { taken, of } = choices[n] ?? { taken: 0, of: 0 }
    if (taken + 1 < of) return [...choices.slice(0, n).map((one) => one.taken), taken + 1]
  }
  return null
}
