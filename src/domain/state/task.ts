/**
 * Task: one managed execution: a shell command, a tool's call after a person's yes, or a supervised
 * child agent. Its states only move forward, to exactly one terminal state (docs/spec/task.md).
 */
import type { AgentId, CallId, GrantId, TaskId, WaitId, WorkItemId } from '../ids.ts'
import type { PolicyAction } from '../policy/action.ts'
import type { FileDiff } from './file-diff.ts'
import type { Grantable } from './grant.ts'
import type { Choice } from './question.ts'
import type { DeliverySurface } from './provenance.ts'
import type { StartPlace } from '../start-place.ts'
import { earliest, type Timestamp } from '../time.ts'

export type TaskStatus =
  /** A rule wants a person's yes before it is queued. */
  | 'held'
  | 'queued'
  | 'running'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'interrupted'
export type TaskEnd = 'completed' | 'failed' | 'cancelled' | 'interrupted'

/** What reaches a running task from outside: nothing, lines on its stdin, or a terminal's keys. */
export const taskInputs = ['none', 'pipe', 'terminal'] as const
export type TaskInput = (typeof taskInputs)[number]

/** What a supervised child wants from its supervisor before it can go on. */
export type ChildQuestion = {
  /** Of what is asked: the same question is told once. */
  key: string
  /** The wait that an answer resolves; null: an item that is blocked without one. */
  wait_id: WaitId | null
  work_item_id: WorkItemId | null
  /** Who is to answer. */
  of: 'supervisor' | 'operator'
  text: string
  /** The answers that the child offered; none: an answer in words. */
  choices: readonly Choice[]
}

/** What a person decided of what is held. */
export type HeldAnswer = {
  allowed: boolean
  /** What they said with it; empty: nothing. */
  words: string
  surface: DeliverySurface
  at: Timestamp
}

/** The call of a tool as it is carried out after a yes, whatever the model does meanwhile. */
export type HeldToolCall = {
  tool_name: string
  input: unknown
  /** What its tool worked out before it was asked: of an edit, what the files held then. */
  intent: unknown
  /** What it would do, as a person reads it. */
  shown: string
}

/**
 * Why something is held, and what a yes is bound to: the action as it was judged, and of a tool's
 * call what it was worked out from. The answer holds for that alone, and for `limits.yes_lasts`
 * from the moment it was given.
 */
export type HeldCall = {
  /** The call that asked for it. */
  call_id: CallId
  /** Absent: it is a command, whose line is the task's. */
  call?: HeldToolCall
  action: PolicyAction
  /** The rule that asks, in its words. */
  because: string
  policy_revision: string
  /** When no answer is a no; null: never. */
  lapses_at: Timestamp | null
  /** What a yes may stand for beyond once; null: nothing. */
  grantable: Grantable | null
  /** What changed since the same was asked before; null: it is asked for the first time. */
  changed: string | null
  asked_at: Timestamp
  answer: HeldAnswer | null
}

/** `unseen`: why diffs are not known, or not all of them. */
export type TaskChanges = { diffs: readonly FileDiff[]; unseen?: string } | { unseen: string }

export type Task = {
  id: TaskId
  agent_id: AgentId
  /** Null when the turn that started it had no item. */
  work_item_id: WorkItemId | null
  kind: 'command' | 'tool_call' | 'child_agent'
  label: string
  cmd: string | null
  child_agent_id: AgentId | null
  workdir: string
  timeout_ms: number | null
  input: TaskInput
  /** Where its start was committed; null: an earlier program did not note it. */
  start_place: StartPlace | null
  /** Of a child that waits for an answer: it needs input. */
  asking: ChildQuestion | null
  status: TaskStatus
  /** Of a command or a call that is held, or was. */
  held?: HeldCall
  /** By which a command began that a rule asks about; absent: it needed none. */
  grant_id?: GrantId
  reason: string | null
  exit_status: number | null
  /** It outlived its call: its end is a message, not the call's result. */
  promoted: boolean
  /** Whether the command was asked to stop, and by whom. */
  survivors: readonly number[]
  /** Of a command the folder of its streams; a child's words are its own, and in no file. */
  output: { path: string | null; bytes: number }
  /** What it did to files, where no call shows it: of a command once a git folder is looked at. */
  changes?: TaskChanges
  created_at: Timestamp
  started_at: Timestamp | null
  ended_at: Timestamp | null
}

/** As it is asked; the time is the event's. */
export type HeldAsked = Omit<HeldCall, 'asked_at' | 'answer'>

export type TaskEvent =
  | {
      type: 'task_queued'
      id: TaskId
      work_item_id: WorkItemId | null
      kind: Task['kind']
      label: string
      cmd: string | null
      child_agent_id: AgentId | null
      workdir: string
      timeout_ms: number | null
      /** Absent: none. */
      input?: TaskInput
      start_place: StartPlace | null
      output_path: string | null
      /** It is not queued before a person has said yes. */
      held?: HeldAsked
      grant_id?: GrantId
    }
  /** What was asked, or allowed, is not what would run any more: it is asked anew. */
  | { type: 'task_held_again'; id: TaskId; held: HeldAsked }
  /** After a yes it is queued, and its end is a message; after a no it ends in the same commit. */
  | {
      type: 'task_decided'
      id: TaskId
      answer: Omit<HeldAnswer, 'at'>
      /** Of the start that a yes allows. */
      start_place: StartPlace | null
    }
  | { type: 'task_started'; id: TaskId; pid: number | null; started_at: Timestamp }
  | { type: 'task_promoted'; id: TaskId }
  | { type: 'task_readopted'; id: TaskId; pid: number | null }
  | { type: 'task_asked'; id: TaskId; asking: ChildQuestion }
  | { type: 'task_answered'; id: TaskId }
  | { type: 'task_cancelling'; id: TaskId; survivors: readonly number[]; because: string }
  | {
      type: 'task_ended'
      id: TaskId
      status: TaskEnd
      reason: string | null
      exit_status: number | null
      output_bytes: number
      ended_at: Timestamp
    }
  /** After its end: nothing of the task is decided by it. */
  | { type: 'task_changes_seen'; id: TaskId; changes: TaskChanges }

/** Of what has not ended. */
export const liveTaskStatuses = ['held', 'queued', 'running', 'cancelling'] as const
const goesOn: ReadonlySet<TaskStatus> = new Set(liveTaskStatuses)

export const isTerminal = ({ status }: Pick<Task, 'status'>): boolean => !goesOn.has(status)

/** It has begun, or is to begin by itself, and has not ended: what is held is neither. */
export const isGoingOn = (task: Pick<Task, 'status'>): boolean =>
  !isTerminal(task) && task.status !== 'held'

export type HeldTask = Task & { held: HeldCall }

export const isHeld = (task: Task | undefined): task is HeldTask =>
  task?.status === 'held' && task.held !== undefined

/** The first moment at which a held one lapses; null: none does. */
export function nextLapse(facts: { rows(table: 'tasks'): Iterable<Task> }): Timestamp | null {
  return earliest([...facts.rows('tasks')].filter(isHeld).map(({ held }) => held.lapses_at))
}

export function evolveTask(
  task: Task | null,
  event: TaskEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Task {
  if (event.type === 'task_queued') {
    const { type: _, output_path, input = 'none', held, ...given } = event
    return {
      ...given,
      input,
      asking: null,
      agent_id: meta.agent_id,
      status: held === undefined ? 'queued' : 'held',
      ...(held === undefined ? {} : { held: asked(held, meta.at) }),
      reason: null,
      exit_status: null,
      promoted: false,
      survivors: [],
      output: { path: output_path, bytes: 0 },
      created_at: meta.at,
      started_at: null,
      ended_at: null,
    }
  }
  if (task === null) throw new Error(`${event.type} before task_queued: ${event.id}`)
  if (event.type === 'task_changes_seen') return { ...task, changes: event.changes }
  if (isTerminal(task)) throw new Error(`${event.type} after the end of ${event.id}`)
  switch (event.type) {
    case 'task_held_again':
      return { ...task, status: 'held', promoted: false, held: asked(event.held, meta.at) }
    case 'task_decided':
      return decided(task, event, meta.at)
    case 'task_started':
      return { ...task, status: 'running', started_at: event.started_at }
    case 'task_promoted':
      return { ...task, promoted: true }
    case 'task_readopted':
      return task
    case 'task_asked':
      return { ...task, asking: event.asking }
    case 'task_answered':
      return { ...task, asking: null }
    case 'task_cancelling':
      return {
        ...task,
        status: 'cancelling',
        survivors: event.survivors,
        reason: event.because,
      }
    case 'task_ended':
      return {
        ...task,
        status: event.status,
        reason: event.reason,
        asking: null,
        exit_status: event.exit_status,
        output: { ...task.output, bytes: event.output_bytes },
        started_at: task.started_at ?? event.ended_at,
        ended_at: event.ended_at,
      }
  }
}

const asked = (held: HeldAsked, at: Timestamp): HeldCall => ({
  ...held,
  asked_at: at,
  answer: null,
})

function decided(task: Task, event: TaskEvent & { type: 'task_decided' }, at: Timestamp): Task {
  if (task.status !== 'held' || task.held === undefined) {
    throw new Error(`${event.type} of ${task.id}, which is ${task.status}`)
  }
  const held = { ...task.held, answer: { ...event.answer, at } }
  if (!event.answer.allowed) return { ...task, held }
  return { ...task, held, status: 'queued', promoted: true, start_place: event.start_place }
}
