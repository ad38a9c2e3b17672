/** CompleteWorkItem: the one transition of an item; the words beside it become the report. */
import { z } from 'zod'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import {
  addReport,
  completedByRound,
  doneByRound,
  completeItem,
  keepDraft,
  promotion,
  runningTasks,
  stillRunning,
  unreadWords,
} from '../../domain/work/complete.ts'
import { failedChecks, judgeClaim } from '../../domain/checks/completion-claim.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import { mustProject } from '../../domain/waits/focus.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { isReport } from '../../domain/work/report.ts'
import type { Turn } from '../../domain/state/turn.ts'
import { observePlan } from '../../domain/turns/end.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { claimed, type Claimed } from './claim.ts'
import { readPlan, type PlanRead } from './plan.ts'
import { asWorkItemId, workItemId } from '../tool/schemas.ts'
import { collectEnd, uncollectedEnds, type SeenEnd } from '../commands/task-stopping.ts'
import {
  failed,
  refused,
  storeTool,
  succeeded,
  type CallFrame,
  type StoreOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    work_item_id: workItemId(),
    leave_running: z.boolean().optional().describe('Although tasks or children of it still run.'),
  })
type Input = z.infer<ReturnType<typeof input>>
type Prepared = { plan: PlanRead | null; ends: readonly SeenEnd[]; claim: Claimed }

const name = 'CompleteWorkItem'

export const completeWorkItem = storeTool<Input, Prepared>({
  name,
  may_close: true,
  is_cut: ({ claim }) => claim === 'cut',
  input,
  ids: () => ['work_item_id'],
  title: (given) => given.work_item_id,
  async prepare(given, ctx) {
    const ends = await uncollectedEnds(ctx, given.work_item_id)
    const claim = await runChecks(given, ctx, ends)
    return { plan: await readPlan(given.work_item_id, ctx), ends, claim }
  },
  decide(d, given, frame, { plan, ends, claim }) {
    const id = asWorkItemId(given.work_item_id)
    const item = d.row('work_items', id)
    if (item?.state === 'completed' && item.agent_id === d.agent_id) {
      if (item.result_brief_id === null) return late(d, id, frame, plan)
    }
    for (const end of ends) collectEnd(d, end)
    const running = given.leave_running ? null : stillRunning(d, id)
    if (running !== null && item?.state === 'open') {
      return { result: refused(name, withWords(d, id, frame, running)), closes: null }
    }
    const refusal = claim === 'none' || item === undefined ? null : judged(d, item, frame, claim)
    if (refusal !== null) {
      return { result: refusedBy(withWords(d, id, frame, refusal), item), closes: null }
    }
    const unread = item?.state === 'open' ? unreadWords(d, id) : null
    if (unread !== null)
      return { result: refused(name, withWords(d, id, frame, unread)), closes: null }
    return complete(d, id, frame, plan, claim !== 'none')
  },
})

/**
 * Runs the item's checks ahead of the decision and waits for them. What still runs of the item
 * refuses its completion, so nothing is run before that.
 */
async function runChecks(
  given: Input,
  ctx: ToolContext,
  ends: readonly SeenEnd[],
): Promise<Claimed> {
  const id = asWorkItemId(given.work_item_id)
  const over = new Set<string>(ends.map(({ task_id }) => task_id))
  const running = runningTasks(ctx.facts(), id).some((task) => !over.has(task.id))
  return running && given.leave_running !== true ? 'none' : claimed(id, ctx)
}

const judged = (d: Draft, item: WorkItem, { call }: CallFrame, claim: Claimed) =>
  item.state === 'open' ? judgeClaim(d, item, call.id, claim === 'cut') : null

function complete(
  d: Draft,
  id: WorkItemId,
  frame: CallFrame,
  plan: PlanRead | null,
  judged: boolean,
): StoreOutcome {
  const item = d.row('work_items', id)
  if (item && plan) observePlan(d, item, plan.stored)
  const turn = openTurn(d) ?? frame.turn
  const named = [...new Set(completedByRound(frame.round_calls))]
  const { report, ask } = item
    ? promotion(item, turn, named, frame.round_text)
    : { report: null, ask: false }
  const shared = named.filter((other) => other !== id && d.row('work_items', other) !== undefined)
  const done = completeItem(d, { work_item_id: id, by: 'agent', report, turn, shared, judged })
  if (isRejection(done)) return { result: refused(name, done), closes: null }
  const own = turn.work_item_id === id
  const says = report !== null ? reported(report, frame) : ask ? toBeWritten : without(id)
  return {
    result: receipt(d, id, `${id} is completed${says}`, plan, done.warnings),
    closes: own
      ? { outcome: 'completed', reason: 'work_item_completed', ask_report: ask, text: '' }
      : null,
  }
}

/**
 * Keeps the words beside a refused completion, and says so: nobody has read them, and who writes
 * only what is new beside the next one would replace them by it.
 */
function withWords(d: Draft, id: WorkItemId, frame: CallFrame, refusal: Rejection): Rejection {
  keepDraft(d, id, frame.round_text)
  const draft = d.row('work_items', id)?.report_draft ?? null
  if (draft === null) return refusal
  const whose =
    draft === frame.round_text.trim() ? 'Your text' : 'What you wrote at an earlier refusal'
  const kept =
    `${whose} was not delivered as its report: a completion without text takes it, ` +
    'text beside that replaces it.'
  return { ...refusal, hint: `${refusal.hint} ${kept}` }
}

/** A failed check says what it printed, apart from what the runtime says of it. */
function refusedBy({ code, message, hint }: Rejection, item: WorkItem | undefined): ToolResult {
  const checks = item === undefined || code !== 'checks_failed' ? [] : failedChecks(item)
  const detail = checks.length === 0 ? {} : { detail: { checks } }
  return failed(name, 'rejected', code, message, hint, detail)
}

const reported = (report: string, frame: CallFrame): string =>
  report === frame.round_text
    ? '; your text is its report.'
    : '; the text you wrote when it was refused is its report.'
const toBeWritten = '; its report is still to be written.'
const without = (id: WorkItemId): string =>
  ` without a report. CompleteWorkItem ${id} again, with the report as text beside it, adds one.`

/** The report of an item that was completed without one, once. */
function late(d: Draft, id: WorkItemId, frame: CallFrame, plan: PlanRead | null): StoreOutcome {
  const turn: Turn = openTurn(d) ?? frame.turn
  const others = frame.round_calls.filter((call) => call.id !== frame.call.id)
  if (doneByRound(others).includes(id) || !isReport(frame.round_text)) {
    const hint = 'Write its report as text beside this call, and it is added.'
    const message = `${id} is completed already, without a report.`
    return { result: refused(name, no('work_item_completed', message, hint)), closes: null }
  }
  addReport(d, id, turn, frame.round_text)
  const summary = `${id} has its report now: your text.`
  return { result: receipt(d, id, summary, plan, []), closes: null }
}

function receipt(
  d: Draft,
  id: WorkItemId,
  summary: string,
  plan: PlanRead | null,
  warnings: readonly Warning[],
): ToolResult {
  const whole = { include_todo_list: true }
  const work_item = itemRecord(mustProject(d, id), plan?.described ?? null, whole)
  return succeeded(name, summary, { work_item, warnings }, warnings)
}
