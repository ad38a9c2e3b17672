/**
 * Completion: the one transition of a work item, and what becomes of the words beside it. They are
 * the report of every item their round completes; a report may also be added later, once.
 */
import type { Call, Warning } from '../state/call.ts'
import { oweChecks } from '../checks/checks.ts'
import { treeOfClaim } from '../checks/completion-claim.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { activeWaitOf, callsOf, roundsOf, type Draft } from '../facts/facts.ts'
import { openItem, releaseFocus } from '../waits/focus.ts'
import type { BriefId, WorkItemId } from '../ids.ts'
import { notAdopted } from '../facts/imported.ts'
import { endGrants } from '../approvals/grants.ts'
import { cancelHeld } from '../approvals/held-command.ts'
import { goingOn } from '../facts/left.ts'
import { outsideInput } from '../waits/pacing.ts'
import { betterReport, isReport, judgeReport, mayStand } from './report.ts'
import { isHeld, type Task } from '../state/task.ts'
import { interjected } from '../facts/interjected.ts'
import { answerText, type Turn } from '../state/turn.ts'
import { no, type Rejection } from '../rejection.ts'
import type { By, WorkItem } from '../state/work-item.ts'

export type Completed = {
  ok: true
  item: WorkItem
  brief_id: BriefId | null
  warnings: readonly Warning[]
}

/** The report of a completion as far as its round says, or whether it is to be asked for. */
export type Promotion =
  | { report: string; ask: false }
  /** No report; `ask`: the next request is for one. */
  | { report: null; ask: boolean }

/**
 * What the words beside a completion are to it. Short words about the turn's own item are asked
 * back once; nothing is asked about any other item, nor where the round completes several.
 */
export function promotion(
  item: Pick<WorkItem, 'id' | 'report_draft'>,
  turn: Pick<Turn, 'work_item_id' | 'model'>,
  completes: readonly WorkItemId[],
  text: string,
): Promotion {
  const draft = item.report_draft
  if (!isReport(text) && draft !== null) return { report: draft, ask: false }
  const isOwn = turn.work_item_id === item.id
  if (turn.model === 'runbook') {
    return mayStand(text) ? { report: text, ask: false } : { report: null, ask: false }
  }
  const isAlone = completes.every((id) => id === item.id)
  if (isOwn && isAlone && judgeReport(text) === 'short') return { report: null, ask: true }
  return isReport(text) ? { report: text, ask: false } : { report: null, ask: isOwn }
}

/** The ids that the round's CompleteWorkItem calls name, whatever became of the calls. */
export function completedByRound(calls: readonly Call[]): WorkItemId[] {
  return calls.flatMap((call) => {
    if (call.tool_name !== 'CompleteWorkItem') return []
    const input = call.input as { work_item_id?: WorkItemId } | null
    return typeof input?.work_item_id === 'string' ? [input.work_item_id] : []
  })
}

/** Items that calls of the round have completed, or given their report, each once. */
export const doneByRound = (calls: readonly Call[]): WorkItemId[] => [
  ...new Set(completedByRound(calls.filter(({ result }) => result?.status === 'success'))),
]

/** Whether a completion of the round has made these words its report. */
export function isReported(d: Pick<Draft, 'row'>, calls: readonly Call[], text: string): boolean {
  const words = text.trim()
  return doneByRound(calls).some((id) => d.row('work_items', id)?.result_summary?.trim() === words)
}

/** Why what was held, or granted, for the item is over. */
const COMPLETED = 'its item is completed'

/** Completes an item; `report` is the text to promote, or null for a completion without one. */
export function completeItem(
  d: Draft,
  command: {
    work_item_id: WorkItemId
    by: By
    report: string | null
    turn: Turn | null
    /** Other items for which the same words are the report. */
    shared?: readonly WorkItemId[]
    /** It was decided on runs of its checks. */
    judged?: boolean
  },
): Completed | Rejection {
  const item = openItem(d, command.work_item_id)
  if ('ok' in item) return item
  const closed = notAdopted(item, command.by)
  if (closed) return closed
  const report = command.report?.trim() || null
  const warnings = warningsOf(d, item)
  if (report === null) {
    warnings.unshift({
      kind: 'completion_report_missing',
      message: 'The item is completed without a report.',
    })
  }
  const brief_id = report === null ? null : d.mint('brief')
  const verified_on = command.judged === true ? treeOfClaim(item) : undefined
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
    ...(verified_on === undefined ? {} : { verified_on }),
  })
  oweChecks(d, item, command.judged === true)
  if (brief_id !== null && report !== null) {
    const { turn, shared = [] } = command
    deliverResult(d, { brief_id, report, item: item.id, turn, warnings, shared })
  }
  releaseFocus(d, item.id, 'completed')
  const wait = activeWaitOf(d, item.id)
  if (wait) {
    d.emit({ type: 'wait_cancelled', id: wait.id, by: command.by, because: 'completed' })
  }
  cancelHeld(d, item.id, COMPLETED)
  endGrants(d, item.id, COMPLETED)
  if (command.by === 'operator') outsideInput(d, item.id, 'operator')
  const done = d.row('work_items', item.id)
  if (!done) throw new Error(`no row for ${item.id}`)
  return { ok: true, item: done, brief_id, warnings }
}

/** Adds the one report of an item that was completed without it; nothing else of it changes. */
export function addReport(
  d: Draft,
  id: WorkItemId,
  turn: Turn,
  text: string,
  shared: readonly WorkItemId[] = [],
): BriefId {
  const item = d.row('work_items', id)
  if (!item || item.state !== 'completed' || item.result_brief_id !== null) {
    throw new Error(`${id} takes no report now`)
  }
  const brief_id = d.mint('brief')
  const report = text.trim()
  d.emit({ type: 'work_item_reported', id, result_summary: report, brief_id })
  const warnings = warningsOf(d, item)
  deliverResult(d, { brief_id, report, item: id, turn, warnings, shared })
  return brief_id
}

/**
 * Ends the question for a report: the answer, or the words that were there, are the report of each
 * item that the round completed. Also with every end of the turn, whatever cut the question short.
 */
export function finishReport(d: Draft, turn: Turn, answer: string): void {
  const rounds = roundsOf(d, turn)
  const round = rounds.findLast(({ kind }) => kind !== 'report')
  if (!round) return
  const missing = unreported(d, callsOf(d, turn, round.n))
  if (turn.work_item_id === null || !missing.includes(turn.work_item_id)) return
  const report = betterReport(answerText(rounds, round), answer)
  if (report === null) return
  for (const id of missing) {
    addReport(
      d,
      id,
      turn,
      report,
      missing.filter((other) => other !== id),
    )
  }
}

/** Items that these calls completed and that have no report. */
export function unreported(d: Pick<Draft, 'row'>, calls: readonly Call[]): WorkItemId[] {
  return doneByRound(calls).filter((id) => {
    const item = d.row('work_items', id)
    return item?.state === 'completed' && item.result_brief_id === null
  })
}

function deliverResult(
  d: Draft,
  result: {
    brief_id: BriefId
    report: string
    item: WorkItemId
    turn: Turn | null
    warnings: readonly Warning[]
    shared: readonly WorkItemId[]
  },
): void {
  const warnings = [...result.warnings, ...sharedWarnings(d, result.shared)]
  deliverBrief(d, {
    id: result.brief_id,
    kind: 'result',
    text: withWarnings(result.report, warnings),
    turn_id: result.turn?.id ?? null,
    work_item_id: result.item,
    warnings,
  })
}

/** Whoever reads the report, and wherever, reads what speaks against it. */
const withWarnings = (report: string, warnings: readonly Warning[]): string =>
  warnings.length === 0
    ? report
    : `${report}\n\n${warnings.map(({ message }) => `Warning: ${message}`).join('\n')}`

/** The same words are the report of others: each brief names them. */
function sharedWarnings(d: Draft, ids: readonly WorkItemId[]): Warning[] {
  if (ids.length === 0) return []
  const names = ids.map((id) => `${id} ("${d.row('work_items', id)?.objective ?? ''}")`)
  const message = `The same report was written for ${names.join(', ')}.`
  return [{ kind: 'shared_report', message, work_item_ids: ids }]
}

/** Keeps the words of a completion that was refused, for the one that is not. */
export function keepDraft(d: Draft, id: WorkItemId, text: string): void {
  const item = d.row('work_items', id)
  const report = text.trim()
  if (item?.state !== 'open' || !isReport(report) || item.report_draft === report) return
  d.emit({ type: 'work_item_report_drafted', id, report })
}

export function runningTasks(d: Pick<Draft, 'row' | 'rows'>, id: WorkItemId): Task[] {
  const item = d.row('work_items', id)
  return item === undefined ? [] : goingOn(item, d.rows('tasks'))
}

/**
 * A word that the next request brings may change what is asked for: it is read before an item is
 * done with. Null: nothing waits. By the next completion it has been shown.
 */
export function unreadWords(d: Draft, item: WorkItemId): Rejection | null {
  const waiting = interjected(d, d.now)
  if (waiting.length === 0) return null
  const by = waiting.some(({ origin }) => origin === 'operator') ? ' of the operator' : ''
  const message = `${item} stays open: a message${by} came in that you have not read.`
  return no('words_unread', message)
}

/** What of the item still runs is named, with the ways on; null: nothing does. */
export function stillRunning(d: Draft, item: WorkItemId): Rejection | null {
  const running = runningTasks(d, item)
  if (running.length === 0) return null
  const names = running.map(({ id, label, child_agent_id }) => {
    const who = child_agent_id === null ? '' : `, child ${child_agent_id}`
    return `${id} (${label}${who})`
  })
  const what = names.length === 1 ? 'a task that still runs' : `${names.length} running tasks`
  return no('tasks_of_item_running', `${item} has ${what}: ${names.join('; ')}.`)
}

const warningsOf = (d: Draft, item: WorkItem): Warning[] => [
  ...todoWarnings(item),
  ...runningTaskWarnings(d, item),
  ...heldTaskWarnings(d, item),
]

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
  const running = runningTasks(d, item.id)
  if (running.length === 0) return []
  const message =
    running.length === 1
      ? 'A task of the item still runs; it goes on, and its result comes late.'
      : `${running.length} tasks of the item still run; they go on, and their results come late.`
  return [
    {
      kind: 'running_tasks',
      message,
      tasks: running.map((task) => ({ task_id: task.id, label: task.label })),
    },
  ]
}

/** What waited for the operator's yes: with the item its question is void, and nothing ran. */
function heldTaskWarnings(d: Draft, item: WorkItem): Warning[] {
  const tasks = [...d.rows('tasks')].filter(
    (task) =>
      task.work_item_id === item.id &&
      (isHeld(task) || (task.held !== undefined && task.reason === COMPLETED)),
  )
  if (tasks.length === 0) return []
  const message =
    tasks.length === 1
      ? "A command of the item waited for the operator's yes: it did not run."
      : `${tasks.length} commands of the item waited for the operator's yes: none of them ran.`
  const listed = tasks.map((task) => ({ task_id: task.id, label: task.label }))
  return [{ kind: 'held_tasks', message, tasks: listed }]
}
