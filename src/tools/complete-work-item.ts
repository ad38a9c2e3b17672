/** CompleteWorkItem: the one transition of an item; the words beside it become the report. */
import { z } from 'zod'
import { completedByRound, completeItem, promotion } from '../domain/complete.ts'
import { openTurn } from '../domain/facts.ts'
import { observePlan } from '../domain/turn-end.ts'
import { isRejection } from '../domain/verdict.ts'
import { readPlan, type PlanRead } from './plan.ts'
import { asWorkItemId, workItemId } from './schemas.ts'
import { refused, storeTool, succeeded } from './tool.ts'

const input = () => z.strictObject({ work_item_id: workItemId() })

const name = 'CompleteWorkItem'

export const completeWorkItem = storeTool<z.infer<ReturnType<typeof input>>, PlanRead | null>({
  name,
  input,
  title: (given) => given.work_item_id,
  prepare: (given, ctx) => readPlan(given.work_item_id, ctx),
  decide(d, given, frame, plan) {
    const id = asWorkItemId(given.work_item_id)
    const item = d.row('work_items', id)
    if (item && plan) observePlan(d, item, plan.stored)
    const turn = openTurn(d) ?? frame.turn
    const decided = promotion(id, turn, completedByRound(frame.round_calls), frame.round_text)
    const report = decided.promoted ? frame.round_text : null
    const done = completeItem(d, { work_item_id: id, by: 'agent', report, turn })
    if (isRejection(done)) return { result: refused(name, done), closes: null }
    const own = turn.work_item_id === id
    const summary =
      report !== null
        ? `${id} is completed; your text is its report.`
        : own
          ? `${id} is completed; its report is still to be written.`
          : `${id} is completed without a report.`
    const result = {
      work_item_id: id,
      state: 'completed',
      report_promoted: decided.promoted,
      ...(decided.promoted ? { result_brief_id: done.brief_id } : { because: decided.because }),
    }
    return {
      result: succeeded(name, summary, result, done.warnings),
      closes: own
        ? { outcome: 'completed', reason: 'work_item_completed', ask_report: !report, text: '' }
        : null,
    }
  },
})
