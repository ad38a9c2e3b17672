/**
 * What the resources need of the home beyond what every route needs. Types only; `HomePort` has all
 * of it.
 */
import type { Facts } from '../domain/facts.ts'
import type { Rows } from '../protocol/records.ts'
import type { SpendGroup, SpendKey } from '../protocol/spend-record.ts'

export type SpendFilter = {
  by: readonly SpendKey[]
  agent_id?: string
  work_item_id?: string
  /** UTC days, both inclusive. */
  from?: string
  to?: string
}

export interface ResourceReads {
  /** What recorded requests have used, by group, in the order of the keys. */
  spend(filter: SpendFilter): Promise<SpendGroup[]>
  /** Of one agent; a count of rows that have ended is one walk over an index. */
  counts(agent_id: string): Promise<{ completed_items: number }>
}

export interface ResourcePort {
  /**
   * The live facts of an agent, as the owner keeps them in memory: never a copy, never changed by
   * whoever reads them. Null when there is no such agent.
   */
  facts(agent_id: string): Facts | null
  /** Every agent in memory, oldest first. */
  agent_ids(): readonly string[]
  /** The whole text of an item's plan; null when it cannot be read. */
  plan_text(item: Rows['work_items']): Promise<string | null>
}
