/**
 * Task: one managed execution, a shell command or a supervised child agent. Its states only move
 * forward, to exactly one terminal state (docs/spec/task.md).
 */
import type { AgentId, TaskId, WaitId, WorkItemId } from '../ids.ts'
import type { FileDiff } from './file-diff.ts'
import type { Choice } from './question.ts'
import type { StartPlace } from '../start-place.ts'
import type { Timestamp } from '../time.ts'

export type TaskStatus =
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

/** `unseen`: why diffs are not known, or not all of them. */
export type TaskChanges = { diffs: readonly FileDiff[]; unseen?: string } | { unseen: string }

export type Task = {
  id: TaskId
  agent_id: AgentId
  /** Null when the turn that started it had no item. */
  work_item_id: WorkItemId | null
  kind: 'command' | 'child_agent'
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
  reason: string | null
  exit_status: number | null
  /** It outlived its call: its end is a message, not the call's result. */
  promoted: boolean
  /** Whether the command was asked to stop, and by whom. */
  survivors: readonly number[]
  /** Of a command the folder of its streams; a child's words are its own, and in no file. */
  output: { path: string | null; bytes: number }
  /** Of a command in a git folder whose end no call shows: what it did to files, once looked at. */
  changes?: TaskChanges
  created_at: Timestamp
  started_at: Timestamp | null
  ended_at: Timestamp | null
}

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

export const isTerminal = (task: Pick<Task, 'status'>): boolean =>
  task.status === 'completed' ||
  task.status === 'failed' ||
  task.status === 'cancelled' ||
  task.status === 'interrupted'

export function evolveTask(
  task: Task | null,
  event: TaskEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Task {
  if (event.type === 'task_queued') {
    const { type: _, output_path, input = 'none', ...given } = event
    return {
      ...given,
      input,
      asking: null,
      agent_id: meta.agent_id,
      status: 'queued',
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
