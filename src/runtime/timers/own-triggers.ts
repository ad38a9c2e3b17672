/**
 * Each public agent has a trigger of its own (docs/spec/wait.md#triggers). One that has none gets
 * it by one step, whenever that may have become possible: the agent is taken over, it was made, or
 * the secret that tokens come from can be read again.
 */
import type { Emitted, Facts } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import { ensureDefaultTrigger } from '../../domain/inbox/triggers.ts'
import type { Store } from '../store.ts'
import type { TriggerUrls } from '../trigger-urls.ts'

export type OwnTriggerPorts = {
  store: Store
  urls: Pick<TriggerUrls, 'load' | 'hash'>
  /** Whether the host takes care of its agents now. */
  runs: () => boolean
  /** Told what a commit failed with. */
  failed: (agent: AgentId, error: unknown) => void
}

export class OwnTriggers {
  readonly #ports: OwnTriggerPorts
  readonly #giving = new Set<Promise<void>>()

  constructor(ports: OwnTriggerPorts) {
    this.#ports = ports
  }

  /**
   * Nothing for an agent that has one, or is to have none. Resolves when it has it, or where the
   * secret cannot be read: then it gets it by `giveAll`. Never rejects.
   */
  async give(agent: AgentId): Promise<void> {
    if (!this.#lacks(agent)) return
    const giving = this.#give(agent).catch((error: unknown) => this.#ports.failed(agent, error))
    this.#giving.add(giving)
    await giving
    this.#giving.delete(giving)
  }

  /** After each commit: an agent that was just made lacks one. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    const isMade = events.some(({ event }) => event.type === 'agent_created')
    if (isMade) void this.give(agent) // a failure is told
  }

  /** Every agent in memory that lacks one gets it. */
  giveAll(): void {
    for (const { agent_id } of [...this.#ports.store.all()]) void this.give(agent_id)
  }

  /** Resolves when none is being given any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#giving)
  }

  async #give(agent: AgentId): Promise<void> {
    const { store, urls } = this.#ports
    await urls.load()
    const { hash } = urls
    if (hash === null || !this.#lacks(agent)) return
    await store.transact(agent, null, (d) => ensureDefaultTrigger(d, hash))
  }

  #lacks(agent: AgentId): boolean {
    const { store, runs } = this.#ports
    const facts = store.facts(agent)
    const row = facts?.row('agents', agent)
    if (!facts || !row || !runs()) return false
    return row.visibility !== 'private' && row.state !== 'deleted' && !hasOwn(facts)
  }
}

function hasOwn(facts: Facts): boolean {
  for (const { by, status } of facts.rows('triggers')) {
    if (by === 'runtime' && status === 'active') return true
  }
  return false
}
