/**
 * One run: so many seeded steps with faults, checked after each, then a calm in which everything
 * must come to its end, and a restart that must find nothing to do.
 */
import { limits } from '../../src/domain/limits.ts'
import { randomOf, type Random } from '../soak/random.ts'
import { actOf, jumpOf } from './outside.ts'
import { pick } from './adversary.ts'
import { settled, type Effect, type EffectKind } from './agenda.ts'
import { becalm } from './calm.ts'
import { afterStep, deep, lostWakes } from './checks.ts'
import type { Coverage } from './coverage.ts'
import { home, workspace } from './disk.ts'
import type { Plan } from './plan.ts'
import { World } from './world.ts'

export type Outcome = {
  plan: Plan
  /** Empty: everything held. */
  violations: readonly string[]
  /** The step after which the first was seen; after the last step: in the calm. */
  at: number | null
  /** Steps at which something came from outside. */
  outside: readonly number[]
  steps: number
  events: number
  crashes: number
  hash: string
}

/** A run checks the whole home that often, and at each fourth recovery. */
const deepEvery = 100

/** How likely a process dies at an effect of this kind; at any other it is one in two hundred. */
const risks: { readonly [kind in EffectKind]?: number } = {
  commit: 0.04,
  process: 0.02,
  file: 0.01,
}

class Run {
  readonly world: World
  readonly #plan: Plan
  readonly #order: Random
  readonly #coverage: Coverage
  readonly #outside: number[] = []
  readonly #since = new Map<string, number>()
  /** Steps the disk stays full. */
  #full = 0
  /** The step at which the process is started again. */
  #bootAt = 0
  steps = 0

  constructor(plan: Plan, coverage: Coverage, show?: (line: string) => void) {
    this.#plan = plan
    this.world = new World(plan, { show })
    this.#order = randomOf(plan.seed, 'order')
    this.#coverage = coverage
  }

  async whole(): Promise<Outcome> {
    const { world } = this
    try {
      world.boot()
      world.makeMain()
      await settled(this.world.agenda)
      for (let n = 1; n <= this.#plan.steps; n += 1) {
        const found = await this.#step(n)
        if (found.length > 0) return this.#outcome(found, n)
      }
      const calm = await becalm(world, (n) => this.#order.between(0, n - 1))
      this.steps += calm.steps
      return this.#outcome(calm.violations, this.#plan.steps + 1)
    } finally {
      await world.store.close()
    }
  }

  #outcome(violations: readonly string[], at: number): Outcome {
    const { world } = this
    return {
      plan: this.#plan,
      violations,
      at: violations.length > 0 ? at : null,
      outside: this.#outside,
      steps: this.steps,
      events: world.witness.events,
      crashes: world.crashes,
      hash: world.hash(),
    }
  }

  /** One seeded choice, everything that follows of itself, and the checks. */
  async #step(n: number): Promise<string[]> {
    this.steps += 1
    const { world } = this
    const random = randomOf(this.#plan.seed, `step ${n}`)
    const may = this.#plan.only?.includes(n) ?? true
    if (world.host === null) {
      if (n < this.#bootAt) this.#timePasses(random)
      else world.boot()
      await settled(this.world.agenda)
      return afterStep(world)
    }
    if (this.#full > 0 && (this.#full -= 1) === 0) world.disk.state.full = false
    const crashes = world.crashes
    const fromOutside = random.chance(this.#lull())
    if (fromOutside && may) this.#fromOutside(random, n)
    else await this.#picked(may ? random : null, n)
    await settled(this.world.agenda)
    const found = afterStep(world)
    if (world.crashes > crashes) this.#bootAt = n + random.between(0, 3)
    if (world.agenda.ready.length === 0) found.push(...lostWakes(world, this.#since))
    const looks = n % deepEvery === 0 || (world.crashes > crashes && world.crashes % 4 === 0)
    if (looks) found.push(...(await deep(world, world.crashes > crashes)))
    return found
  }

  /** How likely it is that something comes from outside: where little goes on, more. */
  #lull(): number {
    const { agenda } = this.world
    if (agenda.ready.length > 0) return 0.05
    return agenda.nextTimer() === null ? 0.9 : 0.4
  }

  /** One effect that is ready, or else time. Without `luck` it goes well. */
  async #picked(luck: Random | null, n: number): Promise<void> {
    const { world } = this
    const { agenda } = world
    if (agenda.ready.length === 0 || this.#order.chance(0.03)) return this.#timePasses(this.#order)
    const effect = agenda.take(this.#order.between(0, agenda.ready.length - 1))
    world.trace(`${effect.kind} ${effect.label}`)
    this.#coverage.seen(effect)
    // Most deaths come where they hurt: at a commit, and in the recovery from the last one.
    const risk = (risks[effect.kind] ?? 0.005) * (n - this.#bootAt < 25 ? 2 : 1)
    const crash = luck?.chance(risk) ?? false
    if (!crash || effect.life !== world.life) return this.#runs(effect)
    this.#outside.push(n)
    await this.#crashAt(effect, luck)
  }

  /** Sometimes with another one, whose promises settle among its own. */
  async #runs(effect: Effect): Promise<void> {
    const { agenda } = this.world
    if (agenda.ready.length === 0 || !this.#order.chance(0.15)) return effect.run(false)
    const other = agenda.take(this.#order.between(0, agenda.ready.length - 1))
    this.world.trace(`and ${other.kind} ${other.label}`)
    this.#coverage.seen(other)
    await Promise.all([effect.run(false), other.run(false)])
  }

  async #crashAt(effect: Effect, luck: Random | null): Promise<void> {
    const { world } = this
    const how = pick(luck ?? this.#order, ['crash_before', 'crash_after'] as const) ?? 'crash_after'
    if (!world.has(how)) return effect.run(false)
    this.#coverage.hit(effect, how)
    world.trace(how)
    if (how === 'crash_after') {
      await effect.run(true)
      await settled(this.world.agenda)
    }
    world.crash()
  }

  #timePasses(random: Random): void {
    const { agenda } = this.world
    const due = agenda.nextTimer()
    const ms =
      agenda.ready.length > 0
        ? random.between(0, 3_000)
        : due === null
          ? random.between(1, 600_000)
          : due + (random.chance(0.3) ? random.between(0, 5_000) : 0)
    this.world.trace(`time ${ms}`)
    agenda.pass(ms)
  }

  #fromOutside(random: Random, n: number): void {
    const { world } = this
    const { agenda } = world
    this.#outside.push(n)
    const what = random.next()
    world.trace(`outside ${what}`)
    if (what < 0.62) return this.#acts(random, n)
    if (what < 0.72 && world.has('duplicate')) return this.#repeats(random)
    if (what < 0.79) return this.#edits(random, n)
    if (what < 0.86) return this.#processes(random)
    if (what < 0.9) return agenda.pass(random.between(1_000, 7_200_000))
    if (what < 0.93) {
      if (world.has('clock')) {
        agenda.jump(jumpOf(random))
        this.#coverage.struck('clock')
      }
      return
    }
    if (what < 0.96) {
      if (!world.has('disk')) return
      this.#coverage.struck('disk')
      world.disk.state.full = true
      this.#full = random.between(1, 60)
      return
    }
    if (what < 0.98) {
      if (world.has('files')) world.disk.state.failing = random.between(1, 2)
      return
    }
    if (!world.has('crash')) return
    this.#coverage.struck('crash')
    world.crash()
  }

  #acts(random: Random, n: number): void {
    const { world } = this
    const agents = world.agents()
    const facts = random.chance(0.7) ? agents[0] : pick(random, agents)
    const command =
      facts === undefined
        ? null
        : actOf(random, facts, n, {
            seed: this.#plan.seed,
            seen: world.witness.seenOf(facts.agent_id),
          })
    if (command === null) return
    world.act(command)
    // A burst of one sender, about what is waited for: more events than a turn shows.
    if (command.do !== 'deliver' || !random.chance(0.08)) return
    const wait = [...(facts?.rows('waits') ?? [])].find(
      ({ wake, status }) => wake === 'external' && status === 'active',
    )
    const { source, resource } = wait ?? {}
    const about = { ...(source ? { source } : {}), ...(resource ? { resource } : {}) }
    for (let i = 1; i <= limits.claimed_messages.value + 5; i += 1) {
      const body = `${command.body} again ${i}`
      world.act({ ...command, ...about, sender_id: `burst ${n}.${i}`, body })
    }
  }

  /** A sender that heard nothing, or too late, sends the same again. */
  #repeats(random: Random): void {
    const { world } = this
    const again = pick(random, world.repeatable)
    if (again === undefined) return
    this.#coverage.struck('duplicate')
    world.act(again)
  }

  #edits(random: Random, n: number): void {
    const { disk } = this.world
    const plans = disk.below(`${home}/agents`).filter((path) => path.endsWith('plan.md'))
    const path = pick(random, random.chance(0.7) ? plans : disk.below(workspace))
    if (path === undefined) return
    const text = pick(random, [`edited ${n}\n`, `edited ${n}\n`, '', '\0\0', null])
    disk.edit(path, text ?? null)
  }

  #processes(random: Random): void {
    const { commands, witness } = this.world
    const id = pick(random, commands.running())
    if (id === undefined) return
    if (random.chance(0.3) && this.world.has('process')) {
      this.#coverage.struck('process')
      witness.isUnsure(id)
      commands.vanishes(id)
    } else {
      commands.ends(id, { how: 'exited', exit_status: random.chance(0.3) ? 2 : 0, signal: null })
    }
  }
}

/** `show` gets every line of the trace as it comes. */
export const simulate = (
  plan: Plan,
  coverage: Coverage,
  show?: (line: string) => void,
): Promise<Outcome> => new Run(plan, coverage, show).whole()
