/**
 * The one timer of all schedules. Their due times are rows; in memory stands the next one of each
 * agent, and one hint of at most a minute, for the wall clock may jump. A due slot is settled by
 * one commit, with its message; what fell due while nobody looked, at the first look.
 */
import type { Emitted, Facts } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import { nextSlotAt, type Timetable } from '../../domain/timers/schedules.ts'
import { fireSlots } from '../../domain/timers/slots.ts'
import { between, earliest, minute, type Timestamp } from '../../domain/time.ts'
import type { Clock } from '../../exec/ports.ts'
import type { Store } from '../store.ts'

export type SlotTimerPorts = {
  clock: Clock
  store: Store
  timetable: Timetable
  /** Told what a commit failed with; the slots of that agent are due again at the next look. */
  failed: (agent: AgentId, error: unknown) => void
}

export class SlotTimer {
  readonly #ports: SlotTimerPorts
  readonly #next = new Map<AgentId, Timestamp>()
  #cancel: (() => void) | null = null
  #looking: Promise<void> | null = null
  #running = false

  constructor(ports: SlotTimerPorts) {
    this.#ports = ports
  }

  /** From now on due slots are settled; what is due already, at once. */
  start(): void {
    this.#running = true
    this.#arm()
  }

  /** Takes over when this agent is due next. */
  follow(facts: Facts): void {
    const next = nextSlotAt(facts)
    const before = this.#next.get(facts.agent_id)
    if (next === null) this.#next.delete(facts.agent_id)
    else this.#next.set(facts.agent_id, next)
    if (next !== (before ?? null)) this.#arm()
  }

  /** After each commit: when the agent is due next may have changed. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    for (const { event } of events) {
      if (event.type.startsWith('schedule_')) this.follow(this.#ports.store.mustFacts(agent))
      if (event.type === 'agent_deleted') this.#next.delete(agent)
    }
  }

  /** Nothing further is settled until `start`. */
  pause(): void {
    this.#running = false
    this.#cancel?.()
    this.#cancel = null
  }

  /** As `pause`; resolves when nothing is being settled. */
  async stop(): Promise<void> {
    this.pause()
    await this.#looking
  }

  #arm(): void {
    if (!this.#running || this.#looking !== null) return
    this.#cancel?.()
    this.#cancel = null
    const first = earliest([...this.#next.values()])
    if (first === null) return
    const { clock, store } = this.#ports
    const ms = between(store.now(), first)
    if (ms <= 0) this.#look()
    else this.#cancel = clock.after(Math.min(ms, minute), () => this.#look())
  }

  #look(): void {
    this.#looking = this.#settle().finally(() => {
      this.#looking = null
      this.#arm()
    })
  }

  async #settle(): Promise<void> {
    const { store, timetable, failed } = this.#ports
    const now = store.now()
    for (const [agent, at] of [...this.#next]) {
      if (at > now || !this.#running) continue
      try {
        await store.transact(agent, 'timer', (d) => fireSlots(d, timetable))
        const facts = store.facts(agent)
        if (facts === null) this.#next.delete(agent)
        else this.follow(facts)
      } catch (error) {
        failed(agent, error)
        return
      }
    }
  }
}
