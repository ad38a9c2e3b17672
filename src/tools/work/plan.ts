/** Reading an item's plan before a decision: the descriptor for the reader, and what to store. */
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import type { ToolContext } from '../tool/tool.ts'

export type PlanRead = { stored: PlanStored; described: PlanDescriptor }

/** Null when there is no such item among the facts or in the ledger. */
export async function readPlan(id: string, ctx: ToolContext): Promise<PlanRead | null> {
  const item = await ctx.load('work_items', id)
  return item === null || item.agent_id !== ctx.turn.agent_id ? null : ctx.readPlan(item)
}
