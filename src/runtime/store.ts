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

export type Store = {
  readonly ledger: Ledger
  now(): Timestamp
  mint: Mint
  /** The live facts; null when there is no such agent. */
  facts(agent: AgentId): Facts | null
  /** Facts of an agent that is known to exist. */
  mustFacts(agent: AgentId): Facts
  agents(): readonly AgentId[]
  /** Reads the agents of the ledger into memory. */
  load(): Promise<void>
  /**
   * Decides and commits. A rejection, or a decision without events, commits nothing. `needs` names
   * rows that may be too old to be among the facts.
   */
  transact<T>(
    agent: AgentId,
    cause: string | null,
    decide: (d: Draft) => T,
    needs?: readonly (readonly [Table, string])[],
  ): Promise<T>
  /** A row from the facts, else from the ledger. */
  row<T extends Table>(agent: AgentId, table: T, id: string): Promise<Rows[T] | null>
  onCommit(listener: (agent: AgentId, events: readonly Emitted[]) => void): void
}

export function createStore(ledger: Ledger, clock: Clock, ids: Ids): Store {
  const agents = new Map<AgentId, AgentFacts>()
  const lines = new Map<AgentId, Promise<unknown>>()
  const listeners: ((agent: AgentId, events: readonly Emitted[]) => void)[] = []
  const mint = ((prefix: string) => ids.mint(prefix)) as Mint
  const now = () => fromMs(clock.now())

  async function read(agent: AgentId): Promise<AgentFacts> {
    const facts = new AgentFacts(agent)
    const live = await ledger.live(agent)
    if (live) {
      for (const [table, row] of live.rows) facts.include(table, row)
      facts.seq = live.seq
      facts.last_at = live.last_at
    }
    return facts
  }

  /** Runs after whatever the agent's line holds; a failure there is not this one's. */
  function inLine<T>(agent: AgentId, run: () => Promise<T>): Promise<T> {
    const before = lines.get(agent) ?? Promise.resolve()
    const mine = before.then(run, run)
    lines.set(
      agent,
      mine.then(
        () => undefined,
        () => undefined,
      ),
    )
    return mine
  }

  async function attempt<T>(
    agent: AgentId,
    cause: string | null,
    decide: (d: Draft) => T,
    needs: readonly (readonly [Table, string])[],
  ): Promise<T> {
    for (let tries = 0; tries < conflictTries; tries += 1) {
      const facts = agents.get(agent) ?? (await read(agent))
      for (const [table, id] of needs) {
        if (facts.row(table, id)) continue
        const row = await ledger.row(table, id)
        if (row && 'agent_id' in row && row.agent_id === agent) facts.include(table, row)
      }
      const d = new Draft(facts, { now: now(), mint, causation_id: cause })
      const value = decide(d)
      if (d.emitted.length === 0 || isRejection(value)) return value
      const rows = [...d.changed()]
      const expect_seq = facts.seq
      const done = await ledger.commit({
        agent_id: agent,
        expect_seq,
        at: d.now,
        events: d.emitted,
        rows,
      })
      if (done.ok) {
        facts.apply(rows, done.seq, d.now)
        agents.set(agent, facts)
        for (const listener of listeners) listener(agent, d.emitted)
        return value
      }
      agents.delete(agent)
    }
    throw new Error(`${conflictTries} conflicts in a row on ${agent}: two writers on one home`)
  }

  return {
    ledger,
    now,
    mint,
    facts: (agent) => agents.get(agent) ?? null,
    mustFacts(agent) {
      const facts = agents.get(agent)
      if (!facts) throw new Error(`no agent ${agent}`)
      return facts
    },
    agents: () => [...agents.keys()],
    async load() {
      for (const agent of await ledger.agents()) agents.set(agent.id, await read(agent.id))
    },
    transact: (agent, cause, decide, needs = []) =>
      inLine(agent, () => attempt(agent, cause, decide, needs)),
    async row(agent, table, id) {
      return agents.get(agent)?.row(table, id) ?? (await ledger.row(table, id))
    },
    onCommit: (listener) => void listeners.push(listener),
  }
}
