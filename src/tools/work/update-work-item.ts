/** UpdateWorkItem: changes fields of an item; `blocked_by: null` says "I may go on". */
import { z } from 'zod'
import { updateItem } from '../../domain/work/create-and-update.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { observePlan } from '../../domain/turns/end.ts'
import { isRejection } from '../../domain/rejection.ts'
import { readPlan, type PlanRead } from './plan.ts'
import { asWorkItemId, planStatus, todoList, workItemId } from '../tool/schemas.ts'
import { refused, storeTool, succeeded } from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    work_item_id: workItemId(),
    objective: z.string().optional(),
    plan_status: planStatus().optional(),
    question: z.string().optional(),
    todo_list: todoList().optional(),
    blocked_by: z.string().nullable().optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

const name = 'UpdateWorkItem'

export const updateWorkItem = storeTool<Input, PlanRead | null>({
  name,
  input,
  ids: () => ['work_item_id'],
  title: (given) => {
    const { work_item_id, ...fields } = given
    return `${work_item_id}: ${Object.keys(fields).join(', ')}`
  },
  prepare: (given, ctx) => readPlan(given.work_item_id, ctx),
  decide(d, given, _frame, plan) {
    const { work_item_id, objective, plan_status, question, todo_list, blocked_by } = given
    const done = updateItem(d, {
      work_item_id: asWorkItemId(work_item_id),
      by: 'agent',
      ...(objective === undefined ? {} : { objective }),
      ...(plan_status === undefined ? {} : { plan_status }),
      ...(question === undefined ? {} : { question }),
      plan_text: plan?.described.preview ?? '',
      ...(todo_list === undefined ? {} : { todo_list }),
      ...(blocked_by === undefined ? {} : { blocked_by }),
    })
    if (isRejection(done)) return { result: refused(name, done), closes: null }
    if (plan) observePlan(d, done.item.item, plan.stored)
    const record = itemRecord(done.item, plan?.described ?? null, { include_todo_list: true })
    const result = { item: record, changed: done.changed, cleared: done.cleared }
    const summary = done.changed
      ? `Updated ${work_item_id}, now ${done.item.scheduling_state}.`
      : `${work_item_id} already was so; nothing changed.`
    return { result: succeeded(name, summary, result, done.warnings), closes: null }
  },
})
