/**
 * Moves an open turn on inside a decision, as far as facts alone allow: the intent of the next
 * call, the next request, or the end. This is what makes a round two commits: an outcome is
 * recorded together with the intent of what follows it (performance, *Round*).
 */
import type { Call } from '../domain/call.ts'
import { addReport } from '../domain/complete.ts'
import { mustTurn, callsOf, openTurn, roundsOf, roundViews, type Draft } from '../domain/facts.ts'
import type { TaskId } from '../domain/ids.ts'
import { interjected, nextStep, type Step } from '../domain/turn-step.ts'
import { roundId, type RoundKind, type Turn } from '../domain/turn.ts'
import { endTurn } from '../domain/turn-end.ts'
import { isRejection, type Rejection } from '../domain/verdict.ts'
import type { PlanStored } from '../domain/work-item.ts'
import type { ToolResult, Warning } from '../domain/call.ts'
import { holdForBudget, reserve, untold } from '../domain/metering.ts'
import {
  budgetNote,
  cutAnswerNote,
  emptyAnswerNote,
  interjectedNote,
  interruptionNote,
  reportNote,
  type Interruption,
} from '../context/notes.ts'
import { charTokens } from '../context/estimate.ts'
import { reminders } from '../context/reminders.ts'
import { isTerminal } from '../domain/task.ts'
import { refused } from '../tools/tool.ts'
import { toolNamed } from './tool-context.ts'

/** The intent of one effect call, worked out before the commit that records it. */
export type ReadyIntent = { call_id: Call['id'] } & (
  | {
      ok: true
      intent: unknown
      task_id: TaskId | null
      queue?: ((d: Draft) => Rejection | void) | undefined
    }
  | { ok: false; result: ToolResult }
)

export type Onward = {
  ready: ReadyIntent | null
  /** The plan file as just read, for a turn that may end here. */
  plan: PlanStored | null
  /** What interrupted the turn and is still to be told in its next request. */
  interruption: Interruption | null
  /** The operator aborted the run: nothing further is begun. */
  aborted: boolean
}

/** What interjected messages may take of one request. */
const interjectedTokens = 16_000

/** Takes every step that needs no effect; stops where one does. */
export function advance(d: Draft, onward: Onward): void {
  // Who ended its agent has ended the turn, perhaps since the look.
  if (onward.aborted || openTurn(d) === null) return
  for (;;) {
    const step = nextStep(d, d.now)
    if (!take(d, step, onward)) return
  }
}

/** Whether a further step may be taken in this decision. */
function take(d: Draft, step: Step, onward: Onward): boolean {
  switch (step.do) {
    case 'open':
    case 'stream':
    case 'run_call':
      return false
    case 'start_call':
      return startCall(d, step.call, onward.ready)
    case 'request':
      sendRequest(d, step.kind, onward.interruption)
      return false
    case 'hold':
      holdForBudget(d)
      return false
    case 'report': {
      const turn = mustTurn(d)
      const text = step.text.trim()
      if (turn.work_item_id !== null && text !== '') addReport(d, turn.work_item_id, turn, text)
      endTurn(d, { outcome: 'completed', reason: 'work_item_completed', text: '', plan: null })
      return false
    }
    case 'end':
      endTurn(d, {
        outcome: step.outcome,
        reason: step.reason,
        text: step.text,
        plan: onward.plan,
      })
      return false
  }
}

/** Records the intent of a call. True: it ended right there, look at the next. */
function startCall(d: Draft, call: Call, ready: ReadyIntent | null): boolean {
  const tool = toolNamed(call.tool_name)
  const work_item_id = mustTurn(d).work_item_id
  if (tool?.kind === 'store') {
    d.emit({ type: 'call_started', id: call.id, intent: null, task_id: null, work_item_id })
    return false
  }
  if (ready?.call_id !== call.id) return false
  if (!ready.ok) {
    finishCall(d, call, ready.result)
    return true
  }
  const refusal = ready.queue?.(d)
  if (isRejection(refusal)) {
    finishCall(d, call, refused(call.tool_name, refusal))
    return true
  }
  const { intent, task_id } = ready
  d.emit({ type: 'call_started', id: call.id, intent, task_id, work_item_id })
  return false
}

export function finishCall(
  d: Draft,
  call: Pick<Call, 'id'>,
  result: ToolResult,
  more: { result_hash: string | null; changed_something: boolean } = {
    result_hash: null,
    changed_something: false,
  },
): void {
  d.emit({ type: 'call_finished', id: call.id, result, ...more })
}

/** The intent of the next request, with everything that is to be said before it. */
export function sendRequest(d: Draft, kind: RoundKind, interruption: Interruption | null): void {
  const turn = mustTurn(d)
  const n = (roundsOf(d, turn).at(-1)?.n ?? 0) + 1
  const inbox = interjected(d, d.now)
  const nearly = untold(d, turn, d.now)
  for (const message of inbox) {
    d.emit({ type: 'message_interjected', id: message.id, turn_id: turn.id, round: n })
  }
  d.emit({
    type: 'request_sent',
    id: roundId(turn.id, n),
    turn_id: turn.id,
    work_item_id: turn.work_item_id,
    n,
    kind,
    model: turn.model,
    opening_sha256: null,
    notes: [
      ...notes(d, turn, kind, inbox, interruption),
      ...(nearly.length === 0 ? [] : [budgetNote(turn.work_item_id ?? '', nearly)]),
    ],
    message_ids: inbox.map((message) => message.id),
  })
  reserve(d, turn, roundId(turn.id, n), 0, nearly)
}

function notes(
  d: Draft,
  turn: Turn,
  kind: RoundKind,
  inbox: ReturnType<typeof interjected>,
  interruption: Interruption | null,
): string[] {
  const item = turn.work_item_id === null ? null : (d.row('work_items', turn.work_item_id) ?? null)
  const view = {
    now: d.now,
    fence: turn.id.slice(-8),
    tokens: charTokens,
    max_tokens: interjectedTokens,
  }
  return [
    ...(interruption === null ? [] : [interruptionNote(interruption, d.now)]),
    ...(inbox.length === 0 ? [] : [interjectedNote(inbox, view)]),
    ...kindNotes(d, turn, kind),
    ...(kind === 'work' ? reminded(d, turn, item) : []),
  ]
}

function kindNotes(d: Draft, turn: Turn, kind: RoundKind): string[] {
  switch (kind) {
    case 'work':
      return []
    case 'again':
      return [emptyAnswerNote()]
    case 'continue':
      return [cutAnswerNote()]
    case 'report': {
      const item = turn.work_item_id === null ? null : d.row('work_items', turn.work_item_id)
      if (!item) throw new Error('a report without an item')
      return [reportNote(item, completionWarnings(d, turn))]
    }
  }
}

/** The warnings the completion came with, but for the one this request is there to mend. */
function completionWarnings(d: Draft, turn: Turn): readonly Warning[] {
  const call = callsOf(d, turn)
    .filter((c) => c.tool_name === 'CompleteWorkItem' && c.result?.status === 'success')
    .at(-1)
  return (call?.result?.warnings ?? []).filter((w) => w.kind !== 'completion_report_missing')
}

function reminded(d: Draft, turn: Turn, item: Parameters<typeof reminders>[0]['item']): string[] {
  const rounds = roundViews(d, turn).filter(({ round }) => round.state === 'recorded')
  const running_tasks = [...d.rows('tasks')].filter((task) => !isTerminal(task))
  return reminders({ rounds, item, running_tasks })
}
