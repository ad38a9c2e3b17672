/**
 * Moves an open turn on inside a decision, as far as facts alone allow: the intent of the next
 * call, the next request, or the end. This is what makes a round two commits: an outcome is
 * recorded together with the intent of what follows it (performance, *Round*).
 */
import { heldAbout } from '../../domain/approvals/held-text.ts'
import type { Call } from '../../domain/state/call.ts'
import { finishReport, unreported } from '../../domain/work/complete.ts'
import {
  mustTurn,
  callsOf,
  openTurn,
  roundsOf,
  roundViews,
  type Draft,
} from '../../domain/facts/facts.ts'
import type { TaskId, WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { repeatsInARow } from '../../domain/turns/repeats.ts'
import { carryInterjected } from '../../domain/turns/shown.ts'
import type { Message } from '../../domain/state/message.ts'
import { nextStep, unsaid, type Step } from '../../domain/turns/step.ts'
import { roundId, answerText, type RoundKind, type Turn } from '../../domain/state/turn.ts'
import { deliverFailure } from '../../domain/scheduler/park.ts'
import { deliverWords, endTurn } from '../../domain/turns/end.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import { holdForBudget, reserve, untold } from '../../domain/budgets/settle.ts'
import { holdForSpending, type Overspent } from '../../domain/budgets/spending.ts'
import {
  budgetNote,
  cutAnswerNote,
  cutCallsNote,
  emptyAnswerNote,
  heldStillText,
  interjectedNote,
  interruptionNote,
  repeatsNote,
  reportNote,
  unreadableCallNote,
  type Interruption,
} from '../../context/sections/notes.ts'
import type { ImagePath } from '../../context/sent-images.ts'
import { charTokens } from '../../context/estimate.ts'
import { nearlyFull } from './nearly-full.ts'
import { reminders } from '../../context/sections/reminders.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { toolNamed, validateCall } from '../../tools/registry.ts'
import { refused } from '../../tools/tool/tool.ts'

/** The intent of one effect call, worked out before the commit that records it. */
export type ReadyIntent = { call_id: Call['id'] } & (
  | {
      ok: true
      intent: unknown
      task_id: TaskId | null
      queue?: ((d: Draft) => Rejection | void) | undefined
    }
  /** `held`: it is asked about, in the commit of its result. */
  | { ok: false; result: ToolResult; held?: ((d: Draft) => Rejection | null) | undefined }
)

/** What a decision needs to know to move a turn on, beyond its rows. */
export type StepInputs = {
  ready: ReadyIntent | null
  /** The plan file as just read, for a turn that may end here. */
  plan: PlanStored | null
  /** What interrupted the turn and is still to be told in its next request. */
  interruption: Interruption | null
  /** Where a message can be read whole that is too long for a request. */
  message_path: (message: Message) => string
  image_path: ImagePath
  /** What keeps the agent from sending a request, beyond its own rows, when it is asked. */
  over: () => readonly Overspent[]
  /** The operator aborted the run: nothing further is begun. */
  aborted: boolean
}

/** What interjected messages may take of one request. */
const interjectedTokens = 16_000

/** Takes every step that needs no effect; stops where one does. */
export function advance(d: Draft, inputs: StepInputs): void {
  // Who ended its agent has ended the turn, perhaps since the look.
  if (inputs.aborted || openTurn(d) === null) return
  for (;;) {
    const step = nextStep(d, d.now)
    if (!take(d, step, inputs)) return
  }
}

/** Whether a further step may be taken in this decision. */
function take(d: Draft, step: Step, inputs: StepInputs): boolean {
  switch (step.do) {
    case 'open':
    case 'stream':
    case 'run_call':
      return false
    case 'start_call':
      return startCall(d, step.call, inputs.ready)
    case 'request': {
      const over = inputs.over()
      if (over.length > 0) {
        holdForSpending(d, over)
        return false
      }
      if (step.delivers !== '') deliverWords(d, mustTurn(d), step.delivers)
      sendRequest(d, step.kind, inputs, step.delivers !== '')
      return false
    }
    case 'hold':
      holdForBudget(d)
      return false
    case 'report': {
      finishReport(d, mustTurn(d), step.text)
      endTurn(d, { outcome: 'completed', reason: 'work_item_completed', text: '', plan: null })
      return false
    }
    case 'end':
      if (step.failure !== undefined) deliverFailure(d, mustTurn(d), step.failure)
      endTurn(d, {
        outcome: step.outcome,
        reason: step.reason,
        text: step.text,
        plan: inputs.plan,
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
    const full = ready.held?.(d) ?? null
    return refuseCall(d, call, full === null ? ready.result : refused(call.tool_name, full))
  }
  const refusal = ready.queue?.(d)
  if (isRejection(refusal)) return refuseCall(d, call, refused(call.tool_name, refusal))
  const { intent, task_id } = ready
  d.emit({ type: 'call_started', id: call.id, intent, task_id, work_item_id })
  return false
}

/** It came to its turn and did not begin. */
function refuseCall(d: Draft, call: Call, result: ToolResult): true {
  const { work_item_id } = mustTurn(d)
  if (work_item_id !== null && work_item_id !== call.work_item_id) {
    d.emit({ type: 'call_bound', id: call.id, work_item_id })
  }
  finishCall(d, call, result)
  return true
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
  const unknown = unknownFields(d, call.id)
  const warnings = [...(result.warnings ?? []), ...unknown]
  const told = unknown.length === 0 ? result : { ...result, warnings }
  d.emit({ type: 'call_finished', id: call.id, result: told, ...more })
}

/** What the model wrote and the call was made without. The arguments as written are the round's. */
function unknownFields(d: Draft, id: Call['id']): readonly Warning[] {
  const call = d.row('calls', id)
  const round = call && d.row('rounds', roundId(call.turn_id, call.round))
  if (!call || !round || call.input === null) return []
  const part = round.parts.filter(({ type }) => type === 'tool_call')[call.index]
  if (part?.type !== 'tool_call') return []
  const judged = validateCall(part.tool_name, part.input_json)
  return judged.ok ? judged.warnings : []
}

/** The intent of the next request, with everything that is to be said before it. */
export function sendRequest(
  d: Draft,
  kind: RoundKind,
  paths: Pick<StepInputs, 'interruption' | 'message_path' | 'image_path'>,
  delivered: boolean,
): void {
  const turn = mustTurn(d)
  const n = (roundsOf(d, turn).at(-1)?.n ?? 0) + 1
  const inbox = carryInterjected(d, turn, n)
  const nearly = untold(d, turn, d.now)
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
      ...notes(d, turn, { kind, inbox, delivered, ...paths }),
      ...(nearly.length === 0 ? [] : [budgetNote(turn.work_item_id ?? '', nearly)]),
    ],
    message_ids: inbox.map((message) => message.id),
  })
  reserve(d, turn, roundId(turn.id, n), 0, nearly)
}

type Said = Pick<StepInputs, 'interruption' | 'message_path' | 'image_path'> & {
  kind: RoundKind
  inbox: readonly Message[]
  /** The answer before was text that ended it, and was delivered. */
  delivered: boolean
}

function notes(d: Draft, turn: Turn, said: Said): string[] {
  const { kind, inbox, interruption, delivered } = said
  const item = turn.work_item_id === null ? null : (d.row('work_items', turn.work_item_id) ?? null)
  const view = {
    now: d.now,
    fence: turn.id.slice(-8),
    tokens: charTokens,
    max_tokens: interjectedTokens,
    full_path: said.message_path,
    image_path: said.image_path,
  }
  return [
    ...(interruption === null ? [] : [interruptionNote(interruption, d.now)]),
    ...(inbox.length === 0 ? [] : [interjectedNote(inbox, view, delivered)]),
    ...stillHeld(d, inbox),
    ...kindNotes(d, turn, kind),
    ...(kind === 'work'
      ? [...circling(d, turn), ...nearlyFull(d, turn), ...reminded(d, turn, item)]
      : []),
  ]
}

/** What was held when the operator wrote: words end no hold, and theirs may be meant to. */
function stillHeld(d: Draft, inbox: readonly Message[]): string[] {
  const written = inbox.filter(
    ({ kind, task_id }) => kind === 'operator_prompt' && task_id === null,
  )
  const held = new Set(
    written.flatMap(({ work_item_id, created_at }) =>
      heldAbout(d.rows('tasks'), work_item_id).filter((one) => one.held.asked_at <= created_at),
    ),
  )
  return held.size === 0 ? [] : [`Runtime note: ${heldStillText([...held])}`]
}

/** What the answer before was, that there has to be another. */
function againNote(d: Draft, turn: Turn): string {
  const last = roundsOf(d, turn).at(-1)
  return last?.finish === 'unreadable_call'
    ? unreadableCallNote(last.finish_word ?? last.finish)
    : emptyAnswerNote(unsaid(d, turn))
}

function kindNotes(d: Draft, turn: Turn, kind: RoundKind): string[] {
  switch (kind) {
    case 'work':
      // What follows calls goes on from them: those that the cut took are not known to the model.
      return roundsOf(d, turn).at(-1)?.finish === 'length' ? [cutCallsNote()] : []
    case 'again':
      return [againNote(d, turn)]
    case 'continue':
      return [cutAnswerNote()]
    case 'report': {
      const item = turn.work_item_id === null ? null : d.row('work_items', turn.work_item_id)
      if (!item) throw new Error('a report without an item')
      return [reportNote(item, completionWarnings(d, turn), askedOf(d, turn, item.id))]
    }
  }
}

/** The round that completed the item: its words, and what else it completed without a report. */
function askedOf(d: Draft, turn: Turn, item: WorkItemId): { text: string; others: WorkItemId[] } {
  const rounds = roundsOf(d, turn)
  const round = rounds.at(-1)
  const missing = round ? unreported(d, callsOf(d, turn, round.n)) : []
  return {
    text: round ? answerText(rounds, round) : '',
    others: missing.filter((id) => id !== item),
  }
}

/** The warnings the completion came with, but for the one this request is there to mend. */
function completionWarnings(d: Draft, turn: Turn): readonly Warning[] {
  const call = callsOf(d, turn)
    .filter((c) => c.tool_name === 'CompleteWorkItem' && c.result?.status === 'success')
    .at(-1)
  const aside = ['completion_report_missing', 'unknown_fields']
  return (call?.result?.warnings ?? []).filter(({ kind }) => !aside.includes(kind))
}

/** Told once for each row of repeats. */
const circling = (d: Draft, turn: Turn): string[] =>
  repeatsInARow(d, turn) === limits.repeats_told.value ? [repeatsNote()] : []

function reminded(d: Draft, turn: Turn, item: Parameters<typeof reminders>[0]['item']): string[] {
  const rounds = roundViews(d, turn).filter(({ round }) => round.state === 'recorded')
  const running_tasks = [...d.rows('tasks')].filter((task) => !isTerminal(task))
  return reminders({ rounds, item, running_tasks })
}
