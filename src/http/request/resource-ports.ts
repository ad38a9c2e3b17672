/**
 * What the resources need of the home beyond what every route needs. Types only; `HomePort` has all
 * of it.
 */
import type { Facts } from '../../domain/facts/facts.ts'
import type { MemoryAnswer, MemoryQuery } from '../../domain/memory/memory.ts'
import type { SpendFilter } from '../../ports/ledger-filters.ts'
import type { Rejection } from '../../domain/rejection.ts'
import type { Rows } from '../../protocol/records/records.ts'
import type { AgentInstructions } from '../../protocol/records/instruction-record.ts'
import type { ExportedItem } from '../../protocol/records/export-record.ts'
import type { TextPart } from '../../protocol/records/context-record.ts'
import type { SpendGroup } from '../../protocol/records/spend-record.ts'
import type { Notes } from '../../protocol/records/turn-record.ts'

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
  /** Over the whole home. Rejects with a fault of the ledger. */
  search(asked: MemoryQuery): Promise<{ ok: true; answer: MemoryAnswer } | Rejection>
  /** The process notes of an item, from its newest events. */
  process_notes(item: Rows['work_items']): Promise<Notes>
  /** What the agent is told of how work is done, as its files are now. No file makes it fail. */
  instructions(agent: Rows['agents']): Promise<Omit<AgentInstructions, 'agent_id'>>
  /** The item as a file, without secrets. Rejects with a fault of the ledger. */
  export_item(item: Rows['work_items']): Promise<ExportedItem>
  /** The text of request `n` of a turn as it was sent; null when there is none, or it is gone. */
  request_text(turn_id: string, n: number): Promise<TextPart[] | null>
}
