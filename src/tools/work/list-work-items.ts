/** ListWorkItems: the items of this agent by a derived view, in the order of the prompt. */
import { z } from 'zod'
import { agentOf } from '../../domain/facts/facts.ts'
import { seenByAgent } from '../../domain/facts/imported.ts'
import { itemFilters, passes, type ItemFilter } from '../../domain/facts/item-filter.ts'
import { candidates, rank } from '../../domain/facts/candidates.ts'
import type { Candidates } from '../../domain/facts/ranking.ts'
import { projectItem, type Projection } from '../../domain/facts/readiness.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { nothingNew, pureTool, succeeded, type ToolContext } from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    filter: z.enum(itemFilters).optional().describe('Default: open.'),
    limit: z.number().int().min(1).max(100).optional().describe('Default: 20.'),
    include_todo_list: z.boolean().optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

const name = 'ListWorkItems'
const defaultLimit = 20

async function list(given: Input, ctx: ToolContext) {
  const filter = given.filter ?? 'open'
  const limit = given.limit ?? defaultLimit
  const found = await matching(filter, limit, ctx)
  const items = await Promise.all(
    found.slice(0, limit).map(async (projection) => {
      const plan = await ctx.readPlan(projection.item)
      const options = { include_todo_list: given.include_todo_list ?? false }
      return itemRecord(projection, plan.described, options)
    }),
  )
  const more = found.length > limit ? `, ${limit} shown` : ''
  const summary = `${found.length} items for filter ${filter}${more}.`
  return {
    result: succeeded(name, summary, { items, total: found.length, filter }),
    ...nothingNew,
  }
}

async function matching(
  filter: ItemFilter,
  limit: number,
  ctx: ToolContext,
): Promise<Projection[]> {
  const all = seenByAgent(candidates(ctx.facts(), ctx.now()))
  const done = filter === 'all' || filter === 'completed' ? await completed(limit, ctx) : []
  return [...openOf(all), ...done].filter((item) => passes(filter, item))
}

const openOf = (all: Candidates): Projection[] => [
  ...all.current_runnable,
  ...all.triggered_blocked,
  ...all.queued_runnable,
  ...all.waiting_for_operator,
  ...all.blocked,
]

/** Completed items are in the ledger, not all among the live facts. */
async function completed(limit: number, ctx: ToolContext): Promise<Projection[]> {
  const rows = await ctx.list('work_items', { limit, status: ['completed'] })
  const current = agentOf(ctx.facts()).current_work_item_id
  const projected = rows.map((item) => projectItem(item, null, current, ctx.now()))
  return [...rank('completed_recent', projected)]
}

export const listWorkItems = pureTool<Input>({
  name,
  input,
  title: (given) => given.filter ?? 'open',
  run: list,
})
