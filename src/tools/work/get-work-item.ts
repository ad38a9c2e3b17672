/** GetWorkItem: one item as it is now, with its plan's descriptor, never the plan's body. */
import { z } from 'zod'
import { notAdopted } from '../../domain/facts/imported.ts'
import { project } from '../../domain/facts/candidates.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { no } from '../../domain/rejection.ts'
import { readPlan } from './plan.ts'
import { asWorkItemId, workItemId } from '../tool/schemas.ts'
import { nothingNew, pureTool, refused, succeeded, type ToolContext } from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    work_item_id: workItemId(),
    include_todo_list: z.boolean().optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

const name = 'GetWorkItem'

async function read(given: Input, ctx: ToolContext) {
  const plan = await readPlan(given.work_item_id, ctx)
  const projection = project(ctx.facts(), asWorkItemId(given.work_item_id), ctx.now())
  if (projection === null) {
    const rejection = no('work_item_not_found', `${given.work_item_id} is not an item of yours.`)
    return { result: refused(name, rejection), ...nothingNew }
  }
  const closed = notAdopted(projection.item, 'agent')
  if (closed) return { result: refused(name, closed), ...nothingNew }
  const record = itemRecord(projection, plan?.described ?? null, {
    include_todo_list: given.include_todo_list ?? true,
  })
  const summary = `${given.work_item_id} is ${projection.scheduling_state}.`
  return {
    result: succeeded(name, summary, { item: record }),
    ...nothingNew,
  }
}

export const getWorkItem = pureTool<Input>({
  name,
  input,
  ids: () => ['work_item_id'],
  title: (given) => given.work_item_id,
  run: read,
})
