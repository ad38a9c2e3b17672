/**
 * The runtime's hold on the ledger: the live facts of each agent, and `transact`, the one way to
 * change them. Decide on facts, commit, take over what was committed; on a conflict read afresh
 * and decide again. One agent's transactions run one at a time (contracts 11).
 */
import type { Rows, Table } from '../domain/event.ts'
import { AgentFacts, Draft, type Emitted, type Facts } from '../domain/facts.ts'
import type { AgentId, Mint } from '../domain/ids.ts'
import { fromMs, type Timestamp } from '../domain/time.ts'
import { isRejection } from '../domain/verdict.ts'
import type { Ledger } from '../ledger/port.ts'
import type { Clock, Ids } from '../exec/ports.ts'

/** How often a decision is made anew after a conflict before that is a bug. */
const conflictTries = 20

/** Called after each commit with its events, in order. */
type CommitListener = (agent: AgentId, events: readonly Emitted[]) => void

/** A row, by table and id, that a decision may need beyond the live ones. */
export type Need = readonly [Table, string]

export class Store {
  readonly ledger: Ledger
  readonly mint: Mint
  readonly #clock: Clock
  readonly #agents = new Map<AgentId, AgentFacts>()
  /** The tail of each agent's line of transactions. */
  readonly #lines = new Map<AgentId, Promise<unknown>>()
  readonly #listeners: CommitListener[] = []

  constructor(ledger: Ledger, clock: Clock, ids: Ids) {
    this.ledger = ledger
    this.#clock = clock
    this.mint = ((prefix: string) => ids.mint(prefix)) as Mint
  }

  now(): Timestamp {
    return fromMs(this.#clock.now())
  }

  /** Reads the agents of the ledger into memory. */
  async load(): Promise<void> {
    for (const agent of await this.ledger.agents()) {
      this.#agents.set(agent.id, await this.#read(agent.id))
    }
  }

  agents(): readonly AgentId[] {
    return [...this.#agents.keys()]
  }

  /** The live facts; null when there is no such agent. */
  facts(agent: AgentId): Facts | null {
    return this.#agents.get(agent) ?? null
  }

  /** Facts of an agent that is known to exist. */
  mustFacts(agent: AgentId): Facts {
    const facts = this.#agents.get(agent)
    if (!facts) throw new Error(`no agent ${agent}`)
    return facts
  }

  /** A row from the facts, else from the ledger. */
  async row<T extends Table>(agent: AgentId, table: T, id: string): Promise<Rows[T] | null> {
    return this.#agents.get(agent)?.row(table, id) ?? (await this.ledger.row(table, id))
  }

  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /**
   * Decides and commits. A rejection, or a decision without events, commits nothing. `decide` may
   * run again on fresh facts after a conflict, so it changes nothing but its draft.
   */
  transact<T>(
    agent: AgentId,
    cause: string | null,
    decide: (d: Draft) => T,
    needs: readonly Need[] = [],
  ): Promise<T> {
    const before = this.#lines.get(agent) ?? Promise.resolve()
    const mine = before.then(() => this.#decided(agent, cause, decide, needs))
    // A failure is its caller's; the line goes on behind it.
    const rest = mine.then(
      () => undefined,
      () => undefined,
    )
    this.#lines.set(agent, rest)
    return mine
  }

  async #decided<T>(
    agent: AgentId,
    cause: string | null,
    decide: (d: Draft) => T,
    needs: readonly Need[],
  ): Promise<T> {
    for (let tries = 0; tries < conflictTries; tries += 1) {
      const facts = this.#agents.get(agent) ?? (await this.#read(agent))
      await this.#include(facts, needs)
      const d = new Draft(facts, { now: this.now(), mint: this.mint, causation_id: cause })
      const value = decide(d)
      if (d.emitted.length === 0 || isRejection(value)) return value
      if (await this.#committed(facts, d)) return value
      this.#agents.delete(agent)
    }
    throw new Error(`${conflictTries} conflicts in a row on ${agent}: two writers on one home`)
  }

  async #committed(facts: AgentFacts, d: Draft): Promise<boolean> {
    const rows = [...d.changed()]
    const { agent_id, now: at, emitted: events } = d
    const done = await this.ledger.commit({ agent_id, expect_seq: facts.seq, at, events, rows })
    if (!done.ok) return false
    facts.apply(rows, done.seq, at)
    this.#agents.set(agent_id, facts)
    for (const listener of this.#listeners) listener(agent_id, events)
    return true
  }

  async #include(facts: AgentFacts, needs: readonly Need[]): Promise<void> {
    for (const [table, id] of needs) {
      if (facts.row(table, id)) continue
      const row = await this.ledger.row(table, id)
      if (row && 'agent_id' in row && row.agent_id === facts.agent_id) facts.include(table, row)
    }
  }

  async #read(agent: AgentId): Promise<AgentFacts> {
    const facts = new AgentFacts(agent)
    const live = await this.ledger.live(agent)
    if (live) {
      for (const [table, row] of live.rows) facts.include(table, row)
      facts.seq = live.seq
      facts.last_at = live.last_at
    }
    return facts
  }
}
