/**
 * What every agent of a home has spent, in memory: read from the ledger before the first request,
 * and counted along with each commit. What that means for an agent, domain/budgets/spending.ts says
 * (docs/spec/budget.md#what-is-made-on-the-way).
 */
import type { Agent } from '../domain/state/agent.ts'
import type { Emitted } from '../domain/facts/facts.ts'
import type { AgentId } from '../domain/ids.ts'
import { addUse, noUse, type Use } from '../domain/state/meter.ts'
import { rankingOf } from '../domain/facts/ranking.ts'
import { askAboutSpending, overspent, standingWords } from '../domain/budgets/spending.ts'
import type { Overspent, Purse } from '../domain/budgets/spending.ts'
import type { SpendBudget } from '../domain/state/spend-budget.ts'
import { addUsage, noUsage, paymentsOf, type RoundId, type Usage } from '../domain/state/turn.ts'
import type { SpendSum } from '../ledger/port.ts'
import type { Store } from './store.ts'

export type SpendingPorts = {
  store: Store
  /** Of the home; null: none. */
  budget: SpendBudget | null
  /** Lets an agent look again: what held it may be over. */
  wake: (agent: AgentId) => void
}

/** Open requests that are looked at: an agent has one at most. */
const openRead = 10_000

type Paid = { type: 'answer_cut' | 'round_recorded'; id: RoundId; usage: Usage }
type Known = Pick<Agent, 'visibility' | 'state' | 'budget'> & { parent: AgentId | null }
/** Of an agent and all that were made under it; of the home under the key null. */
type Sums = Map<AgentId | null, Use>

export class Spending {
  readonly #with: SpendingPorts
  readonly #agents = new Map<AgentId, Known>()
  readonly #all: Sums = new Map()
  readonly #today: Sums = new Map()
  #day = ''
  /** Requests since the operator's last word, of an agent and all that were made under it. */
  readonly #unasked = new Map<AgentId, number>()
  /** What summaries took whose request is still to be answered. */
  readonly #summaries = new Map<RoundId, Usage>()
  /** Requests that are counted and still to be answered: an answer to them broke off. */
  readonly #counted = new Set<RoundId>()
  /** Found so at the start, with a summary that is counted too: it is recorded again. */
  readonly #summed = new Set<RoundId>()
  #loaded: Promise<void> | null = null

  constructor(ports: SpendingPorts) {
    this.#with = ports
    ports.store.onCommit((agent, events) => this.#committed(agent, events))
  }

  /** Resolves when everything is known. No request is sent before, so nothing is counted twice. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#load())
  }

  /** What keeps the agent from sending a request now. */
  over(agent: AgentId): readonly Overspent[] {
    return overspent(this.#purses(agent), this.#with.store.now())
  }

  /** How the budgets stand that it spends from. */
  standing(agent: AgentId): readonly string[] {
    return standingWords(this.#purses(agent))
  }

  #purses(agent: AgentId): Purse[] {
    const now = this.#with.store.now()
    const above = [...this.#above(agent)].flatMap((id) => this.#purse(id, now))
    return [...above, this.#home(now)]
  }

  /** Puts what is to be asked to the operator, each question once. */
  async ask(over: readonly Overspent[]): Promise<void> {
    const { store } = this.#with
    for (const one of over) {
      if (one.by !== 'question' || (await store.loaded(one.agent_id)) === null) continue
      await store.transact(one.agent_id, null, (d) => askAboutSpending(d, over))
    }
  }

  async #load(): Promise<void> {
    const { ledger } = this.#with.store
    const [agents, groups, open] = await Promise.all([
      ledger.agents(),
      ledger.spend({ by: ['agent', 'day'] }),
      ledger.list('rounds', { status: ['requested'], limit: openRead }),
    ])
    for (const agent of agents) this.#know(agent.id, agent)
    for (const round of open) {
      if (paymentsOf(round).length > 0) this.#counted.add(round.id)
      if (round.summary !== undefined) this.#summed.add(round.id)
    }
    this.#day = dayOf(this.#with.store.now())
    for (const group of groups) {
      if (group.agent_id !== null) this.#add(group.agent_id, useOf(group), group.day ?? '')
    }
    for (const [id, { visibility, state }] of this.#agents) {
      if (visibility === 'private' || state === 'deleted') continue
      const family = [...this.#agents.keys()].filter((one) => [...this.#above(one)].includes(id))
      const spoken = family.filter((one) => this.#agents.get(one)?.visibility === 'public')
      this.#unasked.set(id, await ledger.requestsSinceWord(family, spoken))
    }
  }

  #know(id: AgentId, agent: Agent): void {
    const { visibility, state, budget, lineage_parent_agent_id: parent } = agent
    this.#agents.set(id, { visibility, state, budget, parent })
  }

  /** The agent, and those above it. */
  *#above(agent: AgentId): Iterable<AgentId> {
    for (let id: AgentId | null = agent; id !== null; id = this.#agents.get(id)?.parent ?? null) {
      yield id
    }
  }

  #purse(id: AgentId, now: string): Purse[] {
    const known = this.#agents.get(id)
    // Nobody can raise what an agent may spend that is gone.
    if (known === undefined || known.state === 'deleted') return []
    const unasked = known.visibility === 'public' ? (this.#unasked.get(id) ?? 0) : 0
    return [{ agent_id: id, budget: known.budget, used: this.#used(id, now), unasked }]
  }

  #home(now: string): Purse {
    return { agent_id: null, budget: this.#with.budget, used: this.#used(null, now), unasked: 0 }
  }

  #used(of: AgentId | null, now: string): Purse['used'] {
    const today = dayOf(now) === this.#day ? this.#today.get(of) : undefined
    return { all: this.#all.get(of) ?? noUse, day: today ?? noUse }
  }

  #add(agent: AgentId, use: Use, day: string): void {
    if (day > this.#day) {
      this.#day = day
      this.#today.clear()
    }
    for (const of of [...this.#above(agent), null]) {
      this.#all.set(of, addUse(this.#all.get(of) ?? noUse, use))
      if (day === this.#day) this.#today.set(of, addUse(this.#today.get(of) ?? noUse, use))
    }
  }

  #committed(agent: AgentId, events: readonly Emitted[]): void {
    if (this.#loaded === null) return
    let isWord = false
    for (const { event, meta } of events) {
      isWord ||= meta.causation_id === 'operator'
      const row = event.type.startsWith('agent_') ? this.#row(agent) : undefined
      if (row !== undefined) this.#know(agent, row)
      if (event.type === 'request_sent' && event.summary?.usage && !this.#summed.has(event.id)) {
        this.#summaries.set(event.id, event.summary.usage)
      }
      if (event.type === 'answer_cut' || event.type === 'round_recorded') {
        this.#paid(agent, event, meta.at)
      }
    }
    if (!isWord) return
    for (const id of this.#above(agent)) this.#unasked.set(id, 0)
    this.#wakeHeld()
  }

  #row(agent: AgentId): Agent | undefined {
    return this.#with.store.facts(agent)?.row('agents', agent)
  }

  /** An answer, whole or broken off: a request counts once, with the first of them. */
  #paid(agent: AgentId, { type, id, usage }: Paid, at: string): void {
    const summary = this.#summaries.get(id)
    this.#summaries.delete(id)
    const rounds = this.#counted.has(id) ? 0 : 1
    if (type === 'answer_cut') this.#counted.add(id)
    else this.#counted.delete(id)
    const { input_tokens, output_tokens, usd } = addUsage(usage, summary ?? noUsage)
    const tokens = (input_tokens ?? 0) + (output_tokens ?? 0)
    const use = { tokens, usd: usd ?? 0, unpriced: usd === null ? rounds : 0, rounds }
    this.#add(agent, use, dayOf(at))
    if (rounds === 0) return
    for (const above of this.#above(agent)) {
      this.#unasked.set(above, (this.#unasked.get(above) ?? 0) + 1)
    }
  }

  #wakeHeld(): void {
    for (const facts of this.#with.store.all()) {
      for (const { status, runtime_cause } of rankingOf(facts).agentWaits()) {
        if (status !== 'active') continue
        if (runtime_cause !== 'spending' && runtime_cause !== 'requests_unasked') continue
        this.#with.wake(facts.agent_id)
        break
      }
    }
  }
}

const dayOf = (at: string): string => at.slice(0, '2026-01-02'.length)

const useOf = ({ input_tokens, output_tokens, usd, unpriced, requests }: SpendSum): Use => ({
  tokens: input_tokens + output_tokens,
  usd: usd ?? 0,
  unpriced,
  rounds: requests,
})
