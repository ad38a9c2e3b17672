/**
 * Agents that draw on an item of another one: the item's meter and what each of them may still use
 * are brought in line after every commit of either, and once after a start or a shortage
 * (docs/spec/budget.md#what-is-made-on-the-way; domain/budgets/drawers.ts decides).
 */
import { alignDrawing, drawersOf, drawsOn } from '../../domain/budgets/drawers.ts'
import type { Emitted, Facts } from '../../domain/facts/facts.ts'
import type { AgentId, WorkItemId } from '../../domain/ids.ts'
import type { Store } from '../store.ts'

export type DrawersPorts = {
  store: Store
  failed: (agent: AgentId, error: unknown) => void
}

export class Drawers {
  readonly #with: DrawersPorts
  /** Pairs at work, and those to be looked at again when they are done. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #again = new Set<string>()
  /** Whose item it is: that never changes. */
  readonly #owners = new Map<WorkItemId, AgentId>()
  #open = false

  constructor(ports: DrawersPorts) {
    this.#with = ports
    ports.store.onCommit((agent, events) => this.#committed(agent, events))
  }

  open(): void {
    this.#open = true
  }

  async close(): Promise<void> {
    this.#open = false
    await Promise.all(this.#running.values())
  }

  /** Once more everybody: what was committed last may have met a kill, or a full disk. */
  lookAgain(): void {
    for (const facts of this.#with.store.all()) this.#look(facts)
  }

  /** After each commit: what an agent took, and what of an item concerns who draws on it. */
  #committed(agent: AgentId, events: readonly Emitted[]): void {
    const facts = this.#with.store.facts(agent)
    if (facts !== null && events.some(({ event }) => moves.has(event.type))) this.#look(facts)
  }

  #look(facts: Facts): void {
    for (const item of new Set([drawsOn(facts), madeOn(facts)])) {
      if (item !== null) this.#soon(facts.agent_id, item)
    }
    for (const { agent_id, item } of drawersOf(facts)) this.#soon(agent_id, item)
  }

  #soon(agent: AgentId, item: WorkItemId): void {
    if (!this.#open) return
    const pair = `${agent} ${item}`
    if (this.#running.has(pair)) {
      this.#again.add(pair)
      return
    }
    const mine = this.#align(agent, item)
      .catch((error: unknown) => this.#with.failed(agent, error))
      .finally(() => {
        this.#running.delete(pair)
        if (this.#again.delete(pair)) this.#soon(agent, item)
      })
    this.#running.set(pair, mine)
  }

  async #align(agent: AgentId, item: WorkItemId): Promise<void> {
    const { store } = this.#with
    const owner = await this.#ownerOf(item)
    if (owner === null || owner === agent) return
    // What a child takes of its supervisor's item, its delegation says.
    const facts = await store.loaded(agent)
    const supervisor = facts?.row('agents', agent)?.supervisor_agent_id ?? null
    if (facts === null || (supervisor === owner && drawsOn(facts) !== item)) return
    await store.together(
      [owner, agent],
      item,
      async () => null,
      ([o, c]) => {
        if (!o || !c) throw new Error('who draws on an item is decided over two agents')
        alignDrawing(o, c, item)
      },
    )
  }

  async #ownerOf(item: WorkItemId): Promise<AgentId | null> {
    const known = this.#owners.get(item)
    if (known !== undefined) return known
    const owner = (await this.#with.store.ledger.row('work_items', item))?.agent_id ?? null
    if (owner !== null) this.#owners.set(item, owner)
    return owner
  }
}

/** What pays for it since its making, whether or not the operator said otherwise since. */
const madeOn = (facts: Facts): WorkItemId | null =>
  facts.row('agents', facts.agent_id)?.draws_on ?? null

/** What moves a meter, or who may draw on it. */
const moves: ReadonlySet<string> = new Set([
  'agent_created',
  'agent_deleted',
  'work_item_updated',
  'work_item_completed',
  'meter_opened',
  'meter_shared',
  'meter_reserved',
  'meter_settled',
  'meter_released',
  'meter_drawn',
  'meter_taken',
])
