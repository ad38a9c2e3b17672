/** PickWorkItem: sets the one focus, and binds the rest of the turn to it. */
import { z } from 'zod'
import { pickItem } from '../../domain/waits/focus.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { isRejection } from '../../domain/rejection.ts'
import { readPlan, type PlanRead } from './plan.ts'
import { asWorkItemId, workItemId } from '../tool/schemas.ts'
import { refused, storeTool, succeeded } from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    work_item_id: workItemId(),
    reason: z.string().optional(),
  })

const name = 'PickWorkItem'

export const pickWorkItem = storeTool<z.infer<ReturnType<typeof input>>, PlanRead | null>({
  name,
  input,
  ids: () => ['work_item_id'],
  title: (given) => given.work_item_id,
  prepare: (given, ctx) => readPlan(given.work_item_id, ctx),
  decide(d, given, _frame, plan) {
    const picked = pickItem(d, {
      work_item_id: asWorkItemId(given.work_item_id),
      by: 'agent',
      reason: given.reason ?? null,
    })
    if (isRejection(picked)) return { result: refused(name, picked), closes: null }
    const whole = { include_todo_list: true }
    const result = {
      current: itemRecord(picked.current, plan?.described ?? null, whole),
      ...(picked.previous === null ? {} : { previous: itemRecord(picked.previous, null, whole) }),
      binding:
        `Further calls of this turn are about ${given.work_item_id} ` +
        'unless they name another item.',
    }
    const summary = picked.changed
      ? `${given.work_item_id} is in focus.`
      : `${given.work_item_id} already was in focus.`
    return { result: succeeded(name, summary, result, picked.warnings), closes: null }
  },
})
