/**
 * The end of a turn, one commit: its terminal record, what becomes of its messages, the brief of
 * its last words, what is counted, and focus that returns (docs/spec/work-item.md,
 * docs/spec/scheduler.md, docs/spec/turn.md#how-a-turn-ends).
 */
import { waitForAnswers } from '../approvals/held-command.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import {
  mustTurn,
  agentOf,
  agentPacing,
  callsOf,
  openTurn,
  roundsOf,
  type Draft,
} from '../facts/facts.ts'
import { errorResult, type Call } from '../state/call.ts'
import { finishReport } from '../work/complete.ts'
import { dropNotes, giveBackMessages, isOnlyRead, keepMessages, undoReviews } from './requeue.ts'
import { returnFocusAfterTurn } from '../waits/focus.ts'
import { limits } from '../limits.ts'
import { askOverBudget, release } from '../budgets/settle.ts'
import type { Message } from '../state/message.ts'
import { countTurnEnd, paceAgent } from '../waits/pacing.ts'
import { askAboutQueue, deliverFailure, park } from '../scheduler/park.ts'
import { askAtTurnEnd } from '../waits/plan-question.ts'
import { project } from '../facts/candidates.ts'
import { rankingOf } from '../facts/ranking.ts'
import { messagesOf } from './shown.ts'
import { addUsage, noUsage, roundUsage, type Outcome, type Turn } from '../state/turn.ts'
import type { PlanStored, WorkItem } from '../state/work-item.ts'

export type TurnEnding = {
  outcome: Outcome
  reason: string | null
  /** The turn's last words, where no rule has delivered them yet. */
  text: string
  /** The turn's item's plan file as it is now, when it could be read. */
  plan: PlanStored | null
}

export function endTurn(d: Draft, ending: TurnEnding): void {
  const turn = mustTurn(d)
  const calls = callsOf(d, turn)
  for (const call of calls) {
    if (call.state === 'recorded') notExecuted(d, call, 'The turn ended before it began.')
    if (call.state === 'started') outcomeUnknown(d, call)
  }
  const item = turn.work_item_id === null ? null : (d.row('work_items', turn.work_item_id) ?? null)
  if (item) observePlan(d, item, ending.plan)
  finishReport(d, turn, '')
  const mine = messagesOf(d, turn)
  const words = ending.text.trim()
  const isAsked = askAtTurnEnd(d, itemNow(d, turn), endsInText(ending) ? words : '')
  if (!isAsked) deliverText(d, turn, ending, mine)
  if (nothingShown(d, turn, ending.outcome)) undoReviews(d, turn)
  settleMessages(d, turn, ending.outcome, mine)

  release(d, turn)
  const seen = itemNow(d, turn)
  const hashes = newResults(d, turn, calls)
  const planMoved = item !== null && seen !== null && seen.revision !== item.revision
  const changed = planMoved || calls.some((call) => call.changed_something)
  // What a look at a wait reads is new each time: only a change is progress there.
  const isReview = turn.cause.kind === 'review_triggered'
  const isCircle = ending.reason === 'repeats'
  if (isCircle) tellCircle(d, turn, mine)
  const progress =
    ending.outcome !== 'failed' && !isCircle && (changed || (!isReview && hashes.length > 0))
  const usage = roundsOf(d, turn).reduce((sum, round) => addUsage(sum, roundUsage(round)), noUsage)
  d.emit({
    type: 'turn_ended',
    id: turn.id,
    outcome: ending.outcome,
    reason: ending.reason,
    end_revision: seen?.revision ?? null,
    progress,
    usage,
  })
  count(d, turn, { item: seen, progress, hashes, calls, changed, isReview })
  settleShownEnds(d, turn)
  returnFocusAfterTurn(d)
  askOverBudget(d)
  waitForAnswers(d)
}

/** Whoever gave the turn its words reads that nothing came of them. */
function tellCircle(d: Draft, turn: Turn, mine: readonly Message[]): void {
  if (!mine.some((m) => m.kind === 'operator_prompt' || m.kind === 'delegation')) return
  const tools = new Set(callsOf(d, turn, roundsOf(d, turn).length).map((call) => call.tool_name))
  const text =
    `The turn was ended: ${limits.repeats.value} answers in a row made calls whose results were ` +
    `known already (${[...tools].join(', ')}). What was asked for may not be done.`
  deliverFailure(d, turn, text)
}

const itemNow = (d: Draft, turn: Turn): WorkItem | null =>
  turn.work_item_id === null ? null : (d.row('work_items', turn.work_item_id) ?? null)

/**
 * The operator ended the run: its messages are not replayed, and tasks go on. A child that is
 * stopped with its parent keeps what it was told: nobody took that back.
 */
export function abortTurn(d: Draft, abort: { plan: PlanStored | null; stop: boolean }): void {
  const { visibility, state } = agentOf(d)
  if (visibility === 'private' && state === 'stopped') keepMessages(d, mustTurn(d))
  endTurn(d, { outcome: 'aborted', reason: 'operator_aborted', text: '', plan: abort.plan })
  if (abort.stop) d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'operator' })
}

/** Stores the plan file's hash and size when they differ from the row, as a revision. */
export function observePlan(d: Draft, item: WorkItem, plan: PlanStored | null): boolean {
  if (plan === null || item.state === 'completed') return false
  const { sha256, bytes } = item.plan_artifact
  if (plan.sha256 === sha256 && plan.bytes === bytes) return false
  d.emit({ type: 'plan_changed', id: item.id, plan })
  return true
}

export function notExecuted(
  d: Draft,
  call: Call,
  message: string,
  hint: string | null = null,
): void {
  d.emit({
    type: 'call_finished',
    id: call.id,
    result: errorResult(call.tool_name, 'not_executed', 'not_executed', message, hint),
    result_hash: null,
    changed_something: false,
  })
}

/** What was to follow a call in its answer, and would run beside it now, is not made. */
export function leaveOutBehind(d: Draft, { id, index, round }: Call, because: string): void {
  const turn = openTurn(d)
  for (const call of turn ? callsOf(d, turn, round) : []) {
    if (call.index <= index || call.id === id || call.state === 'finished') continue
    const hint = 'Make it again if it is still wanted.'
    notExecuted(d, call, `Not executed: ${because} in the background.`, hint)
  }
}

/** An intent without an outcome, in a turn that cannot wait for it. */
function outcomeUnknown(d: Draft, call: Call): void {
  const message = 'The turn ended while it ran; what it did is unknown.'
  const hint = 'Look at what it may have changed before you repeat any of it.'
  d.emit({
    type: 'call_finished',
    id: call.id,
    result: errorResult(call.tool_name, 'outcome_unknown', 'turn_ended', message, hint),
    result_hash: null,
    changed_something: false,
  })
  // A command that is nobody's now, begun or not: it is stopped with proof.
  const task = call.task_id === null ? undefined : d.row('tasks', call.task_id)
  if (!task || task.kind !== 'command' || task.promoted || task.status !== 'queued') return
  d.emit({ type: 'task_cancelling', id: task.id, survivors: [], because: 'its turn ended' })
}

function deliverText(d: Draft, turn: Turn, ending: TurnEnding, mine: readonly Message[]): void {
  const text = ending.text.trim()
  if (text === '') return
  const spokenTo = mine.some((m) => m.kind === 'operator_prompt' || m.kind === 'delegation')
  const kind = isBesideQuestion(ending)
    ? 'reply'
    : !endsInText(ending)
      ? 'progress'
      : spokenTo
        ? 'reply'
        : 'progress'
  deliverBrief(d, {
    kind,
    text,
    turn_id: turn.id,
    work_item_id: turn.work_item_id,
    message_id: mine.find((m) => m.kind === 'operator_prompt')?.id ?? null,
  })
}

function setsNeedsInput(call: Call): boolean {
  const sets = call.tool_name === 'UpdateWorkItem' || call.tool_name === 'CreateWorkItem'
  const input = call.input as { plan_status?: unknown } | null
  return sets && call.result?.status === 'success' && input?.plan_status === 'needs_input'
}

/** The question itself was sent by its wait; what stands beside it is said to whoever is asked. */
const isBesideQuestion = ({ outcome, reason }: TurnEnding): boolean =>
  outcome === 'waiting' && reason === 'operator_input'

/** Words of a turn that goes on, for the person. */
export function deliverWords(d: Draft, turn: Turn, text: string): void {
  deliverBrief(d, {
    kind: 'reply',
    text,
    turn_id: turn.id,
    work_item_id: turn.work_item_id,
  })
}

const endsInText = (ending: TurnEnding): boolean => ending.outcome === 'completed'

/** What no answered request showed goes back, unless the turn ended by a person or a refusal. */
function settleMessages(d: Draft, turn: Turn, outcome: Outcome, mine: readonly Message[]): void {
  for (const message of mine) {
    const { id, status } = message
    if (status !== 'claimed' || isOnlyRead(d, turn, message)) continue
    switch (outcome) {
      case 'completed':
      case 'waiting':
      case 'interrupted':
        break
      case 'aborted':
        d.emit({ type: 'message_aborted', id, turn_id: turn.id })
        break
      case 'failed':
        d.emit({ type: 'message_failed', id, turn_id: turn.id })
    }
  }
  giveBackMessages(d, turn)
  dropNotes(d)
}

/** What was asked and refused, or ended by a person, is not asked again by itself. */
function nothingShown(d: Draft, turn: Turn, outcome: Outcome): boolean {
  const rounds = roundsOf(d, turn)
  switch (outcome) {
    case 'completed':
    case 'waiting':
    case 'interrupted':
      return rounds.every(({ state }) => state === 'requested')
    case 'aborted':
    case 'failed':
      return rounds.length === 0
  }
}

/** The ends of agent-level waits that this turn showed have nothing left to do. */
function settleShownEnds(d: Draft, turn: Turn): void {
  for (const wait of [...rankingOf(d).agentWaits()]) {
    if (wait.status !== 'resolved') continue
    if (wait.focus_settled || wait.last_review?.turn_id !== turn.id) continue
    d.emit({ type: 'wait_focus_settled', id: wait.id })
  }
}

/** Command results new to the item since its last change. */
function newResults(d: Draft, turn: Turn, calls: readonly Call[]): string[] {
  const pacing = turn.work_item_id === null ? undefined : d.row('pacing', turn.work_item_id)
  const known = new Set(pacing?.kind === 'item' ? pacing.seen_results : [])
  const fresh: string[] = []
  for (const { result_hash } of calls) {
    if (result_hash === null || known.has(result_hash)) continue
    known.add(result_hash)
    fresh.push(result_hash)
  }
  return fresh
}

type Counted = {
  item: WorkItem | null
  progress: boolean
  hashes: readonly string[]
  calls: readonly Call[]
  /** A record, a file or the plan. */
  changed: boolean
  isReview: boolean
}

function count(d: Draft, turn: Turn, end: Counted): void {
  const isQueueTurn = turn.cause.kind === 'queued_available'
  if (isQueueTurn) countQueue(d, turn, end.calls)
  if (end.item === null || end.item.state !== 'open') return
  const verdict = countTurnEnd(d, {
    turn: turn.id,
    item: end.item,
    counted: turn.started_by === 'itself' && !isQueueTurn && (end.changed || !end.isReview),
    progress: end.progress,
    seen: end.hashes,
    itemChanged: end.changed,
  })
  if (verdict !== 'go_on') park(d, end.item.id, verdict)
}

/** A queue turn counts unless it picked a runnable item, or one is completed, waits or blocks. */
function countQueue(d: Draft, turn: Turn, calls: readonly Call[]): void {
  const resolved = calls.some((call) => {
    if (call.result?.status !== 'success') return false
    const input = call.input as { blocked_by?: unknown; work_item_id?: unknown } | null
    switch (call.tool_name) {
      case 'CompleteWorkItem':
        return true
      case 'WaitFor':
        // A wait of the agent itself leaves the queue as it was.
        return typeof input?.work_item_id === 'string' || turn.work_item_id !== null
      case 'UpdateWorkItem':
        return typeof input?.blocked_by === 'string' || setsNeedsInput(call)
      default:
        return false
    }
  })
  const counted = !resolved && !pickedRunnable(d, calls)
  const before = agentPacing(d)
  const queue_no_progress = counted ? before.queue_no_progress + 1 : 0
  paceAgent(d, {
    queue_no_progress,
    queue_turn_ended_at: d.now,
    queue_turn_end_seq: d.seq + 1,
    queue_turn_counted: counted,
  })
  if (queue_no_progress >= limits.no_progress_turns.value) askAboutQueue(d, turn)
}

function pickedRunnable(d: Draft, calls: readonly Call[]): boolean {
  const current = agentOf(d).current_work_item_id
  const works = current !== null && project(d, current, d.now)?.readiness === 'runnable'
  return calls.some((call) => {
    if (call.tool_name !== 'PickWorkItem' || call.result?.status !== 'success') return false
    const input = call.input as { work_item_id?: unknown }
    if (input.work_item_id === current) return works
    const result = call.result.result as { current?: { readiness?: unknown } }
    return result.current?.readiness === 'runnable'
  })
}
