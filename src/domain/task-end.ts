/**
 * How a task ends (contracts 8): what its process says, turned into one of the four terminal states,
 * and everything that end makes true in one commit: the row, the one message a promoted task sends,
 * the waits on it. A call that shows the end to the model makes that message unnecessary.
 */
import { agentPacing, openTurn, type Draft } from './facts.ts'
import { taskResultId, type TaskId } from './ids.ts'
import { taskResult } from './provenance.ts'
import { isTerminal, type Task, type TaskEnd } from './task.ts'
import { between, type Timestamp } from './time.ts'

/** What the runner's files say; the machine's port has the same shape (`exec/ports.ts`). */
export type ProcessSeen =
  | { state: 'absent' }
  | { state: 'running' }
  | {
      state: 'ended'
      how: 'exited' | 'signalled' | 'timed_out' | 'could_not_start'
      exit_status: number | null
      signal: string | null
      problem: string | null
    }
  | { state: 'lost' }

export type TaskEnding = { status: TaskEnd; reason: string | null; exit_status: number | null }

/** The `because` of a `cancelling` task whose stop is its time limit, not somebody's wish. */
export const TIMED_OUT = 'timeout'

/**
 * The terminal state a process gives its task, or null while it may still run or start.
 * A `cancelling` task is `cancelled` by the proof of the stop alone: ask about one only after
 * `Processes.stop` said `stopped: true`.
 */
export function endOfTask(
  process: ProcessSeen,
  task: Pick<Task, 'status' | 'reason'>,
): TaskEnding | null {
  const exit_status = process.state === 'ended' ? process.exit_status : null
  if (task.status === 'cancelling') {
    if (process.state === 'running') return null
    if (task.reason === TIMED_OUT) return { status: 'failed', reason: TIMED_OUT, exit_status }
    return { status: 'cancelled', reason: task.reason, exit_status }
  }
  switch (process.state) {
    case 'running':
      return null
    case 'absent':
      // A queued one was never claimed and may be started; one that ran has lost its folder.
      if (task.status === 'queued') return null
      return { status: 'interrupted', reason: 'its runner folder is gone', exit_status }
    case 'lost':
      return { status: 'interrupted', reason: 'its process vanished without an end', exit_status }
    case 'ended':
      return ended(process, exit_status)
  }
}

function ended(
  process: Extract<ProcessSeen, { state: 'ended' }>,
  exit_status: number | null,
): TaskEnding {
  switch (process.how) {
    case 'exited':
      return { status: 'completed', reason: null, exit_status }
    case 'signalled':
      return { status: 'completed', reason: `ended by ${process.signal ?? 'a signal'}`, exit_status }
    case 'timed_out':
      return { status: 'failed', reason: TIMED_OUT, exit_status }
    case 'could_not_start':
      return { status: 'failed', reason: process.problem ?? 'could not start', exit_status: null }
  }
}

export type EndFacts = TaskEnding & {
  started_at: Timestamp | null
  ended_at: Timestamp
  output_bytes: number
  /** The last of its output, for the message. */
  tail: string
  /** Why the message needs no model: the tool whose result shows this end; null: it does. */
  read_by: string | null
}

/**
 * Ends the task once; nothing when it has ended already (but its queued message is still consumed
 * by a call that shows the end). Focus is not given back here: that is the turn's, or the lap's.
 */
export function endTask(d: Draft, id: TaskId, end: EndFacts): void {
  const task = d.row('tasks', id)
  if (task && !isTerminal(task)) {
    if (task.status === 'queued' && end.started_at !== null) {
      d.emit({ type: 'task_started', id, pid: null, started_at: end.started_at })
    }
    d.emit({
      type: 'task_ended',
      id,
      status: end.status,
      reason: end.reason,
      exit_status: end.exit_status,
      output_bytes: end.output_bytes,
      ended_at: end.ended_at,
    })
    if (task.promoted) announce(d, id, end)
    for (const wait of [...d.rows('waits')]) {
      if (wait.status !== 'active' || wait.wake !== 'task_result' || wait.resource !== id) continue
      d.emit({ type: 'wait_resolved', id: wait.id, by: { kind: 'task', task_id: id } })
    }
  }
  if (end.read_by !== null) consumeTaskResult(d, id, end.read_by)
}

/** The queued result message of a task whose end a call has just shown. */
export function consumeTaskResult(d: Draft, id: TaskId, read_by: string): void {
  const message = d.row('messages', taskResultId(id))
  if (message?.status !== 'queued') return
  d.emit({
    type: 'message_consumed',
    id: message.id,
    turn_id: openTurn(d)?.id ?? null,
    because: `its end was shown by ${read_by}`,
  })
}

function announce(d: Draft, id: TaskId, end: EndFacts): void {
  const task = d.row('tasks', id)
  if (!task || d.row('messages', taskResultId(id))) return
  const item = task.work_item_id === null ? null : d.row('work_items', task.work_item_id)
  // Open items are always among the facts; one that is not there was completed long ago.
  const itemIsDone = task.work_item_id !== null && item?.state !== 'open'
  d.emit({
    type: 'message_admitted',
    id: taskResultId(id),
    provenance: taskResult,
    priority: 'normal',
    body: taskResultText(task, end.tail),
    dedupe_key: null,
    source: null,
    resource: null,
    work_item_id: task.work_item_id,
    task_id: id,
    wait_id: null,
    correlation_id: null,
    causation_id: d.causation_id,
    turn_count: agentPacing(d).turn_count,
    consumed_because:
      end.read_by !== null
        ? `its end was shown by ${end.read_by}`
        : itemIsDone
          ? 'its item is completed'
          : null,
  })
}

/** One sentence on how an ended task ended, for messages, results and people. */
export function howItEnded(task: Task): string {
  const exit = task.exit_status === null ? '' : ` with exit status ${task.exit_status}`
  const why = task.reason === null ? '' : ` (${task.reason})`
  const lasted =
    task.started_at === null || task.ended_at === null
      ? ''
      : ` after ${(Math.max(0, between(task.started_at, task.ended_at)) / 1000).toFixed(1)} s`
  return `${task.id} ${task.status}${exit}${why}${lasted}: ${task.label}`
}

/** The body of a task's result message: how it ended, and the last of what it wrote. */
export function taskResultText(task: Task, tail: string): string {
  const said = tail.trim() === '' ? 'It wrote nothing.' : `The last of its output:\n${tail}`
  return `${howItEnded(task)}\n${said}\nTaskOutput has the whole of it.`
}
