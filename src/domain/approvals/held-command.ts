/**
 * A held call: a rule wants a person's yes before a command runs or a tool is used
 * (docs/spec/task.md#held). It is a task that is not queued yet, beside the item's one wait: no
 * event, blocker or focus touches it, and while it stands nobody asks a model. A yes is bound to
 * what was shown, and the runtime begins it itself, once; a no reaches the model in the person's
 * own words.
 */
import { canonical } from '../canonical.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { activeWaitOf, activeWaits, agentOf, openTurn, type Draft } from '../facts/facts.ts'
import type { CallId, TaskId, WorkItemId } from '../ids.ts'
import { admit, endTask } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import type { PolicyAction } from '../policy/action.ts'
import type { ActionPart } from '../policy/part.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { StartPlace } from '../start-place.ts'
import { runtimeFollowup, type Provenance } from '../state/provenance.ts'
import { done, type Done } from '../state/reply.ts'
import { makeGrant, scopeOf } from './grants.ts'
import { heldChoiceLines, heldChoiceNamed, heldHash, heldText } from './held-text.ts'
import { covers, grantableOf, isSameEffect } from './scope.ts'
import type { GrantScope } from '../state/grant.ts'
import {
  isHeld,
  type HeldCall,
  type HeldTask,
  type HeldToolCall,
  type Task,
  type TaskEvent,
  type TaskInput,
} from '../state/task.ts'
import { plus, type Timestamp } from '../time.ts'
import { outsideInput } from '../waits/pacing.ts'
import { mustWait } from '../waits/must-wait.ts'

/** What a policy said of an action that is to be asked about. */
export type Asked = {
  action: PolicyAction
  /** The rule's words. */
  because: string
  policy_revision: string
  lapses_at: Timestamp | null
  /** Of the action, where a grant may answer for them; null: none may. */
  lifts: readonly ActionPart[] | null
}

type Holding = Asked & {
  id: TaskId
  call_id: CallId
  work_item_id: WorkItemId | null
  label: string
  workdir: string
}

export type HeldCommand = Holding & {
  cmd: string
  timeout_ms: number | null
  input: TaskInput
  output_path: string
}

/** The call of a tool as it would be carried out. */
export type HeldToolUse = Holding & { call: HeldToolCall }

const nobody = 'nobody answered'

/** Held ones of the agent, in the order they were asked. */
export const heldTasks = (d: Pick<Draft, 'rows'>): HeldTask[] => [...d.rows('tasks')].filter(isHeld)

/** What is asked about: an action, and of a tool's call what is to be done with it. */
export type WantedAction = Pick<Asked, 'action'> & { call?: HeldToolCall }

/** The same of the same item, which waits for its answer already. */
export const heldAlready = (
  d: Pick<Draft, 'rows'>,
  wanted: WantedAction,
  item: WorkItemId | null,
): HeldTask | null =>
  heldTasks(d).find(
    ({ held, work_item_id }) =>
      isSameWish(held, wanted) &&
      canonical(held.call?.intent) === canonical(wanted.call?.intent) &&
      work_item_id === item &&
      held.answer === null,
  ) ?? null

/** A turn that something else began wants it on other words: it is the same question. */
const isSameAction = (asked: PolicyAction, wanted: PolicyAction): boolean =>
  asked.sha256 === wanted.sha256 || (asked.origin !== wanted.origin && isSameEffect(asked, wanted))

/** Whether the same is wanted, whatever it would meet by now. */
export const isSameWish = (
  held: Pick<HeldCall, 'action' | 'call'>,
  wanted: WantedAction,
): boolean =>
  isSameAction(held.action, wanted.action) &&
  canonical(held.call?.input) === canonical(wanted.call?.input)

/** Holds it and asks the person; the refusal where as many are held as may. */
export function holdCommand(d: Draft, command: HeldCommand): Rejection | null {
  const { cmd, timeout_ms, input, output_path, ...holding } = command
  // A person reads all of it, or is not asked.
  if (cmd.length > limits.question.value) return overLimit(limits.question, cmd.length)
  const more = input === 'none' ? {} : { input }
  return hold(d, holding, { kind: 'command', cmd, timeout_ms, output_path, ...more })
}

export function holdToolCall(d: Draft, { call, ...holding }: HeldToolUse): Rejection | null {
  if (call.shown.length > limits.held_shown.value) {
    return overLimit(limits.held_shown, call.shown.length)
  }
  const none = { cmd: null, timeout_ms: null, output_path: null }
  return hold(d, holding, { kind: 'tool_call', ...none }, call)
}

type Kind = Pick<Queued, 'kind' | 'cmd' | 'timeout_ms' | 'output_path' | 'input'>
type Queued = Extract<TaskEvent, { type: 'task_queued' }>

function hold(d: Draft, holding: Holding, kind: Kind, call?: HeldToolCall): Rejection | null {
  const count = heldTasks(d).length
  if (count >= limits.held_commands.value) return overLimit(limits.held_commands, count + 1)
  const { action, because, policy_revision, lapses_at, call_id, lifts, ...task } = holding
  const of = offered(action, lifts, call)
  d.emit({
    type: 'task_queued',
    ...task,
    ...kind,
    child_agent_id: null,
    start_place: null,
    held: { call_id, ...of, action, because, policy_revision, lapses_at, changed: null },
  })
  tellPerson(d, task.id)
  return null
}

/** A grant is looked for before commands alone: of a call nothing is offered but once. */
const offered = (
  action: PolicyAction,
  lifts: Asked['lifts'],
  call: HeldToolCall | undefined,
): Pick<HeldCall, 'call' | 'grantable'> =>
  call === undefined ? { grantable: grantableOf(action, lifts) } : { call, grantable: null }

function tellPerson(d: Draft, id: TaskId): void {
  const task = d.row('tasks', id)
  if (!isHeld(task)) throw new Error(`${id} is not held`)
  const text = [heldText(task), ...heldChoiceLines(task)].join('\n')
  const turn = openTurn(d)
  const about = { task_id: id, work_item_id: task.work_item_id, turn_id: turn?.id ?? null }
  deliverBrief(d, { kind: 'question', text, ...about })
}

export type HeldAnswerGiven = {
  task_id: string
  bound_hash: string
  /** A choice by its key or its label. */
  choice: string
  /** What the person says with it. */
  words: string
  provenance: Provenance
}

/** What the policy says of the same command now: it may not be what was asked any more. */
export type JudgedAgain =
  | ({ verdict: 'ask' } & Asked)
  | { verdict: 'allow'; action: PolicyAction; policy_revision: string }
  | { verdict: 'deny'; why: string }

/** Decides what is held by a person's answer. `again`: as it is judged at this moment. */
export function answerHeld(
  d: Draft,
  given: HeldAnswerGiven,
  again: JudgedAgain | null,
  start_place: StartPlace,
): Done | Rejection {
  const task = d.row('tasks', given.task_id)
  if (!task || task.agent_id !== d.agent_id) {
    return no('task_not_found', `${given.task_id} is not a task of ${d.agent_id}.`)
  }
  if (!isHeld(task)) return no(task.held ? 'already_answered' : 'not_a_question', standing(task))
  if (given.bound_hash !== heldHash(task)) {
    return no('question_changed', `${task.id} asks something else now: ${heldText(task)}`)
  }
  const choice = heldChoiceNamed(task, given.choice)
  if (choice === null) {
    const offered = heldChoiceLines(task).join(', ')
    return no('choice_unknown', `"${given.choice}" is no choice of ${task.id}: ${offered}.`)
  }
  const isYes = choice.key !== 'no'
  const scope = scopeOf(choice.key, task.held)
  const changed = isYes ? (changedSince(task.held, again) ?? unliftable(scope, again)) : null
  if (changed !== null) {
    if (!askAnew(d, task, changed, again)) {
      return done(`${task.id} is over: ${changed}. Nothing was done; the agent is told.`, {
        id: task.id,
        warnings: [{ kind: 'held_over', message: `Nothing was done: ${changed}.` }],
      })
    }
    return done(`${task.id} does not run: ${changed}. It is asked anew; nothing was lost.`, {
      id: task.id,
      warnings: [{ kind: 'held_again', message: `It is asked anew: ${changed}.` }],
    })
  }
  const { delivery_surface: surface } = given.provenance
  const words = given.words.trim()
  if (scope !== null) {
    const { id: task_id, work_item_id } = task
    const full = makeGrant(d, { task_id, work_item_id, scope, surface })
    if (full) return full
  }
  d.emit({
    type: 'task_decided',
    id: task.id,
    answer: { allowed: isYes, words, surface },
    start_place: isYes ? start_place : null,
  })
  outsideInput(d, task.work_item_id, 'operator')
  if (isYes) awaitAnew(d, task, 'it may be done', `the end of ${task.label}: the operator said yes`)
  else refuse(d, task, words, given.provenance)
  const said = isYes ? 'is begun; its end will be a message' : 'does not run; the agent is told'
  return done(`${task.id} ${said}.`, { id: task.id })
}

/** Why a yes for longer than once is none by now, though one for once would be. */
function unliftable(scope: GrantScope | null, again: JudgedAgain | null): string | null {
  if (scope === null || again?.verdict !== 'ask') return null
  return covers(scope, again.action, again.lifts)
    ? null
    : 'a rule that gives way to nobody asks about it now'
}

function standing(task: Task): string {
  const { id, held, status } = task
  if (held === undefined) return `${id} asks nothing.`
  const { answer } = held
  if (answer === null) return `${id} is ${status}: ${task.reason ?? 'nobody answered in time'}.`
  return `${id} was answered at ${answer.at}: ${answer.allowed ? 'it may run' : 'it may not run'}.`
}

/** Why a yes to what was shown is none to what would run now; null: it is the same. */
export function changedSince(
  { action }: Pick<HeldCall, 'action'>,
  again: JudgedAgain | null,
): string | null {
  if (again === null) return 'what it would do cannot be looked at'
  switch (again.verdict) {
    case 'deny':
      return `the policy refuses it now: ${again.why}`
    case 'allow':
    case 'ask':
      return again.action.sha256 === action.sha256 ? null : difference(action, again.action)
  }
}

/** Which fields of the action are others, by name. */
function difference(before: PolicyAction, now: PolicyAction): string {
  const names = Object.keys(now) as (keyof PolicyAction)[]
  const others = names.filter(
    (name) => name !== 'sha256' && JSON.stringify(before[name]) !== JSON.stringify(now[name]),
  )
  return `what it would do is not the same any more (${others.join(', ') || 'its hash'})`
}

/**
 * Held again with what it is now: true. What the policy refuses by now ends, and so does a call of
 * a tool that is another action by now, since it was worked out for the one that was shown.
 */
export function askAnew(d: Draft, task: Task, changed: string, again: JudgedAgain | null): boolean {
  if (task.held === undefined) throw new Error(`${task.id} was never held`)
  const { call_id, call, ...before } = task.held
  const isOther =
    again !== null && again.verdict !== 'deny' && again.action.sha256 !== before.action.sha256
  if (again?.verdict === 'deny' || (call !== undefined && isOther)) {
    endHeld(d, task, changed)
    return false
  }
  // What allows it now has no words of its own for the person.
  const { action, policy_revision } = again ?? before
  const { because, lapses_at } = again?.verdict === 'ask' ? again : before
  const lifts = again?.verdict === 'ask' ? again.lifts : null
  const of = offered(action, lifts, call)
  const held = { call_id, ...of, action, because, policy_revision, lapses_at, changed }
  d.emit({ type: 'task_held_again', id: task.id, held })
  awaitAnew(d, task, 'it is asked anew', yesTo(task))
  tellPerson(d, task.id)
  return true
}

/** When the yes to what has not begun is over. */
export const yesEnds = (task: Task): Timestamp | null =>
  task.held?.answer?.allowed === true ? plus(task.held.answer.at, limits.yes_lasts.value) : null

/** What waits for it waits for the answer while it is held, and for its end after a yes. */
function awaitAnew(d: Draft, { id }: Task, because: string, reason: string): void {
  for (const wait of [...activeWaits(d)]) {
    if (wait.wake !== 'task_result' || wait.resource !== id) continue
    d.emit({ type: 'wait_cancelled', id: wait.id, by: 'runtime', because })
    awaitTask(d, mustTask(d, id), wait.work_item_id, reason)
  }
}

/**
 * The words come first in what the model reads next, which is the next request of an open turn:
 * behind it they would come too late. The waits for it are over.
 */
function refuse(d: Draft, task: HeldTask, words: string, given: Provenance): void {
  const said = words === '' ? 'No.' : words
  const isPrivate = agentOf(d).visibility === 'private'
  admit(d, {
    id: d.mint('msg'),
    provenance: isPrivate ? runtimeFollowup : given,
    priority: openTurn(d) === null ? 'next' : 'interject',
    body:
      `${said}\n\n(The operator's answer to ${task.id}, which was held: it does not run. ` +
      `${task.label})`,
    work_item_id: openItem(d, task),
    task_id: task.id,
  })
  finish(d, task, words === '' ? 'the operator said no' : `the operator said no: ${words}`, '')
}

const openItem = (d: Draft, { work_item_id: id }: Task): WorkItemId | null =>
  id !== null && d.row('work_items', id)?.state === 'open' ? id : null

/** Ends it without a start; the model is told why, as of any task that ended. */
export function endHeld(d: Draft, task: Task, because: string): void {
  d.emit({ type: 'task_promoted', id: task.id })
  const body = `${task.label} did not run: ${because}. The same may be asked for again.`
  finish(d, task, because, body)
}

function finish(d: Draft, task: Task, reason: string, body: string): void {
  endTask(d, {
    task_id: task.id,
    status: 'cancelled',
    reason,
    exit_status: null,
    output_bytes: 0,
    ended_at: d.now,
    body,
  })
}

/** Nobody answered in time: nothing ran, and that is no no. */
export function lapseHeld(d: Draft): void {
  for (const task of heldTasks(d)) {
    const { lapses_at } = task.held
    if (lapses_at !== null && lapses_at <= d.now) endHeld(d, task, nobody)
  }
}

/** By the agent itself, whose call says so. False: it is not held any more. */
export function stopHeld(d: Draft, id: TaskId, because: string): boolean {
  const task = heldTasks(d).find((one) => one.id === id)
  if (task) finish(d, task, because, '')
  return task !== undefined
}

/** With the end of what they are of: an item, or the agent where none is given. */
export function cancelHeld(d: Draft, item: WorkItemId | null, because: string): void {
  for (const task of heldTasks(d)) {
    if (item !== null && task.work_item_id !== item) continue
    finish(d, task, because, '')
  }
}

/** At the end of a turn: an item that has nothing else to do waits for the answer. */
export function waitForAnswers(d: Draft): void {
  for (const task of heldTasks(d)) {
    const id = openItem(d, task)
    if (id === null || activeWaitOf(d, id) !== null) continue
    const item = d.row('work_items', id)
    if (item?.blocked_by !== null || item.plan_status === 'needs_input') continue
    awaitTask(d, task, id, yesTo(task))
  }
}

const yesTo = ({ label }: Task): string => `the operator's yes to: ${label}`

function mustTask(d: Draft, id: TaskId): Task {
  const task = d.row('tasks', id)
  if (!task) throw new Error(`no row for ${id}`)
  return task
}

function awaitTask(d: Draft, task: Task, work_item_id: WorkItemId | null, reason: string): void {
  const about = { by: 'agent', runtime_cause: null, reason, work_item_id, question: null } as const
  mustWait(d, { ...about, wake: 'task_result', resource: task.id, task })
}
