/** CreateWorkItem: makes an open item with its plan file, and picks it when that is asked for. */
import { z } from 'zod'
import type { WorkItemId } from '../../domain/ids.ts'
import { utf8Length } from '../../domain/inbox/admit.ts'
import { checkCreate, createItem } from '../../domain/work/create-and-update.ts'
import { pickItem } from '../../domain/waits/focus.ts'
import { limits } from '../../domain/limits.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { isRejection, no, overLimit, type Rejection } from '../../domain/rejection.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import { planStatus, todoList } from '../tool/schemas.ts'
import { refused, storeTool, succeeded, type ToolContext } from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    objective: z.string(),
    plan: z.string().optional(),
    plan_status: planStatus().optional(),
    question: z.string().optional(),
    todo_list: todoList().optional(),
    focus: z.boolean().optional(),
    reason: z.string().optional(),
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
  const { objective, plan_status = 'draft', todo_list: todos = [], question } = given
  const asked = question === undefined ? {} : { question }
  const made_of = { objective, plan_status, todo_list: todos, ...asked }
  const wrong = checkCreate(ctx.facts(), made_of) ?? (given.focus ? checkFocus(given) : null)
  if (wrong) return wrong
  // The call's own id names the item, so that a run after a crash finds the same plan file.
  const id: WorkItemId = `work_${ctx.call.id.slice('call_'.length)}`
  const made = await ctx.makePlan(id, text)
  if (!made.ok) return made
  return { ok: true, id, plan: made.stored, described: made.described }
}

/** Nothing is made where the pick could not follow. */
function checkFocus({ plan_status, reason }: Input): Rejection | null {
  if (plan_status === 'needs_input') {
    const message = 'An item whose plan needs input cannot be worked on, so it takes no focus.'
    return no('focus_needs_input', message)
  }
  const length = reason?.length ?? 0
  return length > limits.reason.value ? overLimit(limits.reason, length) : null
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
      ...(given.question === undefined ? {} : { question: given.question }),
      plan_text: given.plan ?? '',
      plan: prepared.plan,
      budget: null,
    })
    if (isRejection(made)) return { result: refused(name, made), closes: null }
    const whole = { include_todo_list: true }
    if (!given.focus) {
      const item = itemRecord(made.item, prepared.described, whole)
      const summary = `Created ${prepared.id}. It is queued; PickWorkItem puts it in focus.`
      return { result: succeeded(name, summary, { item }, made.warnings), closes: null }
    }
    const { id } = prepared
    const picked = pickItem(d, { work_item_id: id, by: 'agent', reason: given.reason ?? null })
    if (isRejection(picked)) throw new Error(`${id} was just made: ${picked.message}`)
    const item = itemRecord(picked.current, prepared.described, whole)
    const { previous } = picked
    const left = previous === null ? {} : { previous: itemRecord(previous, null, whole) }
    const warnings = [...made.warnings, ...picked.warnings]
    const summary = `Created ${id}. It is in focus.`
    return { result: succeeded(name, summary, { item, ...left }, warnings), closes: null }
  },
})
