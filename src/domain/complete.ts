/**
 * Completion: the one transition of a work item, and the promotion of the words beside it to the
 * report (contracts 2). A report comes in the completing turn or not at all.
 */
import type { Call, Warning } from './call.ts'
import { oweChecks } from './checks.ts'
import { activeWaitOf, type Draft } from './facts.ts'
import { openItem, releaseFocus } from './focus.ts'
import { taskResultId, type BriefId, type WorkItemId } from './ids.ts'
import { notAdopted } from './imported.ts'
import { outsideInput } from './pacing.ts'
import { isReport } from './report.ts'
import { isTerminal } from './task.ts'
import type { Turn } from './turn.ts'
import { consumeTaskResult } from './waiting.ts'
import type { Rejection } from './verdict.ts'
import type { By, WorkItem } from './work-item.ts'

export type Completed = {
  ok: true
  item: WorkItem
  brief_id: BriefId | null
  warnings: readonly Warning[]
}

export type Promotion =
  | { promoted: true }
  | { promoted: false; because: 'another_item' | 'several_items' | 'not_a_report' }

/**
 * Whether the round's words are the report of this completion, decided on the recorded round:
 * it is the turn's item, the only one the round completes, and the text is a report.
 */
export function promotion(
  item: WorkItemId,
  turn: Pick<Turn, 'work_item_id'>,
  completes: readonly WorkItemId[],
  text: string,
): Promotion {
  if (turn.work_item_id !== null && turn.work_item_id !== item) {
    return { promoted: false, because: 'another_item' }
  }
  if (completes.some((id) => id !== item)) return { promoted: false, because: 'several_items' }
  if (!isReport(text).report) return { promoted: false, because: 'not_a_report' }
  return { promoted: true }
}

/** The ids that the round's CompleteWorkItem calls name, whatever became of the calls. */
export function completedByRound(calls: readonly Call[]): WorkItemId[] {
  return calls.flatMap((call) => {
    if (call.tool_name !== 'CompleteWorkItem') return []
    const input = call.input as { work_item_id?: WorkItemId } | null
    return typeof input?.work_item_id === 'string' ? [input.work_item_id] : []
  })
}

/** Completes an item; `report` is the text to promote, or null for a completion without one. */
export function completeItem(
  d: Draft,
  command: { work_item_id: WorkItemId; by: By; report: string | null; turn: Turn | null },
): Completed | Rejection {
  const item = openItem(d, command.work_item_id)
  if ('ok' in item) return item
  const closed = notAdopted(item, command.by)
  if (closed) return closed
  const report = command.report?.trim() || null
  const warnings = [...todoWarnings(item), ...runningTaskWarnings(d, item)]
  if (report === null) {
    warnings.unshift({
      kind: 'completion_report_missing',
      message: 'The item is completed without a report.',
    })
  }
  const brief_id = report === null ? null : d.mint('brief')
  const pending = item.todo_list.filter((todo) => todo.state === 'pending').length
  const running = item.todo_list.filter((todo) => todo.state === 'in_progress').length
  d.emit({
    type: 'work_item_completed',
    id: item.id,
    by: command.by,
    result_summary: report,
    brief_id,
    completed_with_unfinished_todos: pending + running > 0,
    unfinished_todo_count: pending + running,
    pending_todo_count: pending,
    in_progress_todo_count: running,
  })
  oweChecks(d, item)
  if (brief_id !== null && report !== null) {
    deliverResult(d, { brief_id, report, item: item.id, turn: command.turn, warnings })
  }
  releaseFocus(d, item.id, 'completed')
  const wait = activeWaitOf(d, item.id)
  if (wait) {
    d.emit({ type: 'wait_cancelled', id: wait.id, by: command.by, because: 'completed' })
  }
  for (const message of [...d.rows('messages')]) {
    if (message.kind !== 'task_result' || message.work_item_id !== item.id) continue
    if (message.task_id !== null && message.id === taskResultId(message.task_id)) {
      consumeTaskResult(d, message.task_id)
    }
  }
  if (command.by === 'operator') outsideInput(d, null, 'operator')
  const done = d.row('work_items', item.id)
  if (!done) throw new Error(`no row for ${item.id}`)
  return { ok: true, item: done, brief_id, warnings }
}

/** Adds the report that the completing turn was asked for. */
export function addReport(d: Draft, id: WorkItemId, turn: Turn, text: string): void {
  const item = d.row('work_items', id)
  if (!item || item.state !== 'completed' || item.result_brief_id !== null) {
    throw new Error(`${id} takes no report now`)
  }
  const brief_id = d.mint('brief')
  const report = text.trim()
  d.emit({ type: 'work_item_reported', id, result_summary: report, brief_id })
  const warnings = [...todoWarnings(item), ...runningTaskWarnings(d, item)]
  deliverResult(d, { brief_id, report, item: id, turn, warnings })
}

function deliverResult(
  d: Draft,
  result: {
    brief_id: BriefId
    report: string
    item: WorkItemId
    turn: Turn | null
    warnings: readonly Warning[]
  },
): void {
  d.emit({
    type: 'brief_delivered',
    id: result.brief_id,
    kind: 'result',
    text: result.report,
    turn_id: result.turn?.id ?? null,
    work_item_id: result.item,
    wait_id: null,
    message_id: null,
    task_id: null,
    warnings: result.warnings,
  })
}

function todoWarnings(item: WorkItem): Warning[] {
  const unfinished = item.todo_list.filter((todo) => todo.state !== 'completed')
  if (unfinished.length === 0) return []
  return [
    {
      kind: 'unfinished_todos',
      message: `${unfinished.length} of ${item.todo_list.length} todos are not finished.`,
      pending_count: unfinished.filter((todo) => todo.state === 'pending').length,
      in_progress_count: unfinished.filter((todo) => todo.state === 'in_progress').length,
      sample: unfinished.slice(0, 5),
    },
  ]
}

function runningTaskWarnings(d: Draft, item: WorkItem): Warning[] {
  const running = [...d.rows('tasks')].filter(
    (task) => task.work_item_id === item.id && !isTerminal(task),
  )
  if (running.length === 0) return []
  return [
    {
      kind: 'running_tasks',
      message: `${running.length} tasks of the item still run; they go on.`,
      tasks: running.map((task) => ({ task_id: task.id, label: task.label })),
    },
  ]
}
