/** CreateWorkItem: makes an open item with its plan file. Creation never sets focus. */
import { z } from 'zod'
import type { WorkItemId } from '../domain/ids.ts'
import { utf8Length } from '../domain/ingress.ts'
import { checkCreate, createItem } from '../domain/items.ts'
import { limits } from '../domain/limits.ts'
import type { PlanDescriptor } from '../domain/plan.ts'
import { itemRecord } from '../domain/record.ts'
import { isRejection, overLimit, type Rejection } from '../domain/verdict.ts'
import type { PlanStored } from '../domain/work-item.ts'
import { planStatus, todoList } from './schemas.ts'
import { refused, storeTool, succeeded, type ToolContext } from './tool.ts'

const input = () =>
  z.strictObject({
    objective: z.string().describe('What is to be achieved, in one short sentence.'),
    plan: z.string().optional().describe('First text of plan.md; edit the file later.'),
    plan_status: planStatus().optional(),
    todo_list: todoList().optional(),
  })
type Input = z.infer<ReturnType<typeof input>>
type Prepared =
  | { ok: true; id: WorkItemId; plan: PlanStored; described: PlanDescriptor }
  | Rejection

const name = 'CreateWorkItem'

async function prepare(given: Input, ctx: ToolContext): Promise<Prepared> {
  const text = given.plan ?? ''
  const bytes = utf8Length(text)
  if (bytes > limits.plan.value) return overLimit(limits.plan, bytes)
  const wrong = checkCreate(ctx.facts(), {
    objective: given.objective,
    todo_list: given.todo_list ?? [],
  })
  if (wrong) return wrong
  // The call's own id names the item, so that a run after a crash finds the same plan file.
  const id: WorkItemId = `work_${ctx.call.id.slice('call_'.length)}`
  const made = await ctx.makePlan(id, text)
  return { ok: true, id, plan: made.stored, described: made.described }
}

export const createWorkItem = storeTool<Input, Prepared>({
  name,
  input,
  title: (given) => given.objective,
  prepare,
  decide(d, given, _frame, prepared) {
    if (!prepared.ok) return { result: refused(name, prepared), closes: null }
    const made = createItem(d, {
      id: prepared.id,
      by: 'agent',
      objective: given.objective,
      plan_status: given.plan_status ?? 'draft',
      todo_list: given.todo_list ?? [],
      plan: prepared.plan,
      budget: null,
    })
    if (isRejection(made)) return { result: refused(name, made), closes: null }
    const record = itemRecord(made.item, prepared.described, { include_todo_list: true })
    const summary = `Created ${prepared.id}. It is queued; PickWorkItem puts it in focus.`
    return { result: succeeded(name, summary, { item: record }, made.warnings), closes: null }
  },
})
