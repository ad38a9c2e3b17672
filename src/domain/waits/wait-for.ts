/**
 * WaitFor, and how waits end (docs/spec/wait.md#no-lost-race). Registration, matching events that
 * are already there, and the answer in the call when the thing has already happened are one
 * decision, so no race can lose a wake.
 */
import type { Warning } from '../state/call.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import {
  activeWaitOf,
  activeWaits,
  agentOf,
  agentPacing,
  openTurn,
  type Draft,
} from '../facts/facts.ts'
import { releaseFocus } from './focus.ts'
import type { TaskId, WaitId, WorkItemId } from '../ids.ts'
import { notAdopted } from '../facts/imported.ts'
import { limits } from '../limits.ts'
import { hintKey, isEvent, isOwnTrigger, tellsOfHint, type Message } from '../state/message.ts'
import { rankingOf } from '../facts/ranking.ts'
import { readResult } from './task-result.ts'
import { isTerminal, type Task } from '../state/task.ts'
import { between, type Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import { plainQuestion, questionText, type Question } from '../state/question.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import {
  approval,
  matches,
  type DeliveryMode,
  type RuntimeCause,
  type Wait,
  type WaitResolvedBy,
  type Wake,
} from '../state/wait.ts'
import type { By } from '../state/work-item.ts'

export type WaitCommand = {
  by: By
  runtime_cause: RuntimeCause | null
  wake: Wake
  reason: string
  /** The item, or null: the agent itself waits. */
  work_item_id: WorkItemId | null
  resource: string | null
  source: string | null
  condition: string | null
  wake_at: Timestamp | null
  recheck_at: Timestamp | null
  delivery_mode: DeliveryMode
  /** The row of the task named by `resource`, wherever it was found. */
  task: Task | null
  has_listener: boolean
  /** What is asked, of an operator wait; null: its reason is what is asked. */
  question: Question | null
  /** It stands for a release of the focus that came before it. Absent: for none. */
  held_focus?: boolean
}

export type WaitResult = {
  ok: true
  wait: Wait
  /** The thing had already happened: answered in the call, nothing is waited for. */
  answered: 'task_ended' | 'time_passed' | null
  rearmed: boolean
  replaced: WaitId | null
  warnings: readonly Warning[]
}

/** Checks of the arguments, in the order they are told. */
function check(d: Draft, command: WaitCommand): Rejection | null {
  if (command.reason.trim() === '') return no('reason_empty', 'The reason is empty.')
  for (const text of [command.reason, command.resource, command.source, command.condition]) {
    if (text !== null && text.length > limits.reason.value) {
      return overLimit(limits.reason, text.length)
    }
  }
  for (const at of [command.wake_at, command.recheck_at]) {
    if (at !== null && between(d.now, at) > limits.wait_max.value) {
      return no('time_too_far', `${at} is more than 366 days ahead.`)
    }
  }
  switch (command.wake) {
    case 'timer':
      return command.wake_at === null
        ? no('timer_wants_one_time', 'A timer wait needs a time.')
        : null
    case 'task_result':
      if (command.resource === null) return no('task_wanted', 'No task is named.')
      return command.task === null || command.task.agent_id !== d.agent_id
        ? no('task_not_found', `${command.resource} is not a task of ${d.agent_id}.`)
        : null
    case 'operator_input':
      return null
    case 'external':
      return agentOf(d).visibility === 'public'
        ? null
        : no('external_wait_private', `${d.agent_id} is a private child; no event reaches it.`)
  }
}

/** Registers, re-arms, or answers a wait. */
export function waitFor(d: Draft, command: WaitCommand): WaitResult | Rejection {
  if (command.work_item_id !== null) {
    const item = d.row('work_items', command.work_item_id)
    if (!item) return no('work_item_not_found', `${command.work_item_id} is not an item here.`)
    if (item.state === 'completed') {
      return no('work_item_completed', `${item.id} is completed; nothing can wait on it.`)
    }
    const closed = notAdopted(item, command.by)
    if (closed) return closed
  }
  const wrong = check(d, command)
  if (wrong) return wrong

  const answered = alreadyThere(d, command)
  const before = command.work_item_id === null ? sameAgentWait(d, command) : null
  const active = command.work_item_id === null ? before : activeWaitOf(d, command.work_item_id)
  if (active && answered === null && canRearm(active, command)) return rearm(d, active, command)
  const isOneMore = command.work_item_id === null && active === null && answered === null
  if (isOneMore && command.by === 'agent' && agentWaitCount(d) >= agentWaitLimit) {
    return overLimit(limits.agent_waits, agentWaitLimit + 1)
  }
  if (active) d.emit({ type: 'wait_cancelled', id: active.id, by: command.by, because: 'replaced' })
  return register(d, { ...command, recheck_at: recheckOf(command, active) }, answered, active)
}

/**
 * A question of the agent keeps the time of its own wait that it replaces, where it has none: the
 * item is looked at then, answered or not.
 */
function recheckOf(command: WaitCommand, active: Wait | null): Timestamp | null {
  const { wake, by, recheck_at } = command
  if (recheck_at !== null || wake !== 'operator_input' || by !== 'agent') return recheck_at
  if (active === null || active.by !== 'agent') return null
  return active.wake_at ?? active.recheck_at
}

const agentWaitLimit = limits.agent_waits.value

function alreadyThere(d: Draft, command: WaitCommand): WaitResult['answered'] {
  if (command.wake === 'task_result' && command.task && isTerminal(command.task)) {
    return 'task_ended'
  }
  if (command.wake === 'timer' && command.wake_at !== null && command.wake_at <= d.now) {
    return 'time_passed'
  }
  return null
}

function register(
  d: Draft,
  command: WaitCommand,
  answered: WaitResult['answered'],
  replaced: Wait | null,
): WaitResult {
  const turn = openTurn(d)
  const id = d.mint('wait')
  const item = command.work_item_id
  // Parking takes over a focus that the wait it replaces has let go: the answer gives it back.
  const inherited = command.by === 'runtime' && replaced?.released_focus === true
  const released =
    item !== null &&
    answered === null &&
    (releaseFocus(d, item, 'waiting') || inherited || command.held_focus === true)
  d.emit({
    type: 'wait_registered',
    id,
    work_item_id: item,
    wake: command.wake,
    by: command.by,
    runtime_cause: command.runtime_cause,
    reason: command.reason.trim(),
    question: asked(command),
    resource: command.resource,
    source: command.task?.status === 'held' ? approval : command.source,
    condition: command.condition,
    delivery_mode: command.delivery_mode,
    since_seq: turn?.input_cut ?? d.base.seq,
    wake_at: command.wake_at,
    recheck_at: command.recheck_at,
    released_focus: released,
  })
  if (answered !== null) answer(d, id, command, answered)
  else meet(d, id, command, turn)
  return {
    ok: true,
    wait: mustWait(d, id),
    answered,
    rearmed: false,
    replaced: replaced?.id ?? null,
    warnings: waitWarnings(command),
  }
}

function answer(d: Draft, id: WaitId, command: WaitCommand, answered: string): void {
  const by: WaitResolvedBy =
    answered === 'task_ended'
      ? { kind: 'task', task_id: command.resource as TaskId }
      : { kind: 'timer', late_by_ms: between(command.wake_at ?? d.now, d.now) }
  d.emit({ type: 'wait_resolved', id, by })
  // Answered in the call: an agent-level wait has nothing left to show to a later turn.
  const turn = openTurn(d)
  if (turn) d.emit({ type: 'wait_reviewed', id, turn_id: turn.id })
  if (answered === 'task_ended') readResult(d, command.resource as TaskId)
}

/** Meets what was admitted after the turn's input cut, and asks the question. */
function meet(d: Draft, id: WaitId, command: WaitCommand, turn: Turn | null): void {
  const question = asked(command)
  if (question !== null) {
    deliverBrief(d, {
      kind: 'question',
      text: questionText(question),
      turn_id: turn?.id ?? null,
      work_item_id: command.work_item_id,
      wait_id: id,
    })
  }
  if (turn === null) return
  const since = [...d.rows('messages')]
    .filter((message) => message.inbox_seq > turn.input_cut)
    .sort((a, b) => a.inbox_seq - b.inbox_seq)
  for (const message of since) {
    const wait = mustWait(d, id)
    if (wait.status !== 'active') return
    const meets = isEvent(message) && !tellsOfHint(message) && matches(wait, message)
    if (wait.wake === 'external' && meets) {
      trigger(d, wait, message)
      takeOver(d, wait, message)
    }
    if (wait.wake === 'operator_input' && answersLater(wait, message)) {
      d.emit({ type: 'wait_resolved', id, by: { kind: 'operator', message_id: message.id } })
      settlePlan(d, wait, message)
    }
  }
}

/**
 * An event that met no wait when it came is of this one now, so that its turn is about the item;
 * of a hint nobody has to be told any more that it met none.
 */
function takeOver(d: Draft, wait: Wait, message: Message): void {
  const [only, more] = rankingOf(d).waitsForEvent(message)
  if (message.status === 'queued' && message.wait_id === null && only && !more) {
    const { id, work_item_id } = wait
    d.emit({ type: 'message_bound', id: message.id, wait_id: id, work_item_id })
  }
  for (const told of [...d.rows('messages')]) {
    if (told.status !== 'queued' || !tellsOfHint(told) || hintKey(message) !== hintKey(told))
      continue
    // One that also counts what came before the turn began stays.
    if (told.inbox_seq <= wait.since_seq) continue
    d.emit({ type: 'message_dropped', id: told.id, reason: `${wait.id} meets it` })
  }
}

/** Whoever waits for the operator asks something: the reason, where no question was given. */
function asked({ wake, question, reason }: WaitCommand): Question | null {
  if (wake !== 'operator_input') return null
  return question ?? plainQuestion(reason.trim())
}

const answersLater = (wait: Wait, message: Message): boolean =>
  message.origin === 'operator' &&
  message.status === 'queued' &&
  wait.work_item_id !== null &&
  message.work_item_id === wait.work_item_id

export function trigger(
  d: Draft,
  wait: Wait,
  message: Pick<Message, 'id' | 'admission_context'>,
): void {
  d.emit({
    type: 'wait_triggered',
    id: wait.id,
    message_id: message.id,
    count: wait.trigger_count + 1,
    by: isOwnTrigger(message) ? 'own_trigger' : 'outside',
    turn_count: agentPacing(d).turn_count,
  })
}

const canRearm = (wait: Wait, command: WaitCommand): boolean =>
  command.wake === 'external' &&
  wait.wake === 'external' &&
  command.work_item_id !== null &&
  wait.source === command.source &&
  wait.resource === command.resource

function rearm(d: Draft, wait: Wait, command: WaitCommand): WaitResult {
  const released = command.work_item_id !== null && releaseFocus(d, command.work_item_id, 'waiting')
  d.emit({
    type: 'wait_rearmed',
    id: wait.id,
    reason: command.reason.trim(),
    condition: command.condition,
    recheck_at: command.recheck_at,
    released_focus: released,
  })
  return {
    ok: true,
    wait: mustWait(d, wait.id),
    answered: null,
    rearmed: true,
    replaced: null,
    warnings: waitWarnings(command),
  }
}

function sameAgentWait(d: Draft, command: WaitCommand): Wait | null {
  for (const wait of activeWaits(d)) {
    if (
      wait.work_item_id === null &&
      wait.by === 'agent' &&
      wait.wake === command.wake &&
      wait.source === command.source &&
      wait.resource === command.resource
    ) {
      return wait
    }
  }
  return null
}

function agentWaitCount(d: Draft): number {
  let count = 0
  for (const wait of activeWaits(d)) {
    if (wait.work_item_id === null && wait.by === 'agent') count += 1
  }
  return count
}

function waitWarnings(command: WaitCommand): Warning[] {
  if (command.wake !== 'external') return []
  const warnings: Warning[] = []
  if (command.recheck_at === null) {
    warnings.push({
      kind: 'no_fallback',
      message: 'If the event never comes nothing wakes this wait; recheck_after_ms would.',
    })
  }
  if (!command.has_listener) {
    warnings.push({
      kind: 'no_listener',
      message:
        'No HTTP listener runs, so no event can arrive by itself; ' +
        '`holon trigger <wait>` fires one by hand.',
    })
  }
  return warnings
}

export const mustWait = (d: Draft, id: WaitId): Wait => {
  const wait = d.row('waits', id)
  if (!wait) throw new Error(`no row for ${id}`)
  return wait
}

/** What the answer to the question of a plan does: the plan needs no input any more. */
export function settlePlan(
  d: Draft,
  wait: Wait,
  answer: Pick<Message, 'origin'> | undefined,
): void {
  if (wait.question?.settles !== 'plan_status' || wait.work_item_id === null) return
  const item = d.row('work_items', wait.work_item_id)
  if (item?.state !== 'open' || item.plan_status !== 'needs_input') return
  // A parent answers its child in the operator's place, not in the operator's name.
  const by = answer?.origin === 'operator' ? 'operator' : 'runtime'
  const changed = { plan_status: 'draft', input_wanted: null } as const
  d.emit({ type: 'work_item_updated', id: item.id, by, changed })
}
