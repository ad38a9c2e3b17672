/**
 * How a task ends (docs/spec/task.md#states): what its process says, turned into one of the four
 * terminal states, and the sentences that tell it. Used by the calls that see an end and by the
 * task supervisor, so that both say the same. The commit of an end is `endTask` in inbox/admit.ts.
 */
import { isSamePlace, type StartPlace } from '../start-place.ts'
import { isTerminal, type Task, type TaskEnd } from '../state/task.ts'
import { between } from '../time.ts'

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

/** The reason of a task that is stopped, or was, because its time limit passed. */
export const TIMED_OUT = 'timeout'

/** The reason of a task whose claim may have been lost, after it did something. */
export const ANOTHER_PLACE =
  'since it was to begin the machine was started anew, or the home was restored: whether it ran ' +
  'is not known'

/**
 * The terminal state a process gives its task, or null while it may still run, or start. A held one
 * has none: its end is an answer, a lapse, or that of its item; nor has what is no command.
 * `here` is the place of a start made now: that nobody claimed a task of another proves nothing.
 * A `cancelling` task is over by the proof of the stop alone: ask about one only after
 * `Processes.stop` answered `stopped: true`.
 */
export function endOfTask(
  process: ProcessSeen,
  task: Pick<Task, 'kind' | 'status' | 'reason' | 'start_place'>,
  here: StartPlace,
): TaskEnding | null {
  if (task.kind !== 'command' || task.status === 'held') return null
  const exit_status = process.state === 'ended' ? process.exit_status : null
  const mayBeLost = process.state === 'absent' && !isSamePlace(task.start_place, here)
  if (task.status === 'cancelling') {
    if (process.state === 'running') return null
    if (mayBeLost) return { status: 'interrupted', reason: ANOTHER_PLACE, exit_status }
    const status = task.reason === TIMED_OUT ? 'failed' : 'cancelled'
    return { status, reason: task.reason, exit_status }
  }
  switch (process.state) {
    case 'running':
      return null
    case 'absent':
      // A queued one was never claimed and may be started; one that ran has lost its folder.
      if (task.status === 'queued') {
        return mayBeLost ? { status: 'interrupted', reason: ANOTHER_PLACE, exit_status } : null
      }
      return { status: 'interrupted', reason: 'its runner folder is gone', exit_status }
    case 'lost':
      return { status: 'interrupted', reason: 'its process vanished without an end', exit_status }
    case 'ended':
      return endedBy(process)
  }
}

/** The end of a process that its runner recorded. */
export function endedBy(process: Extract<ProcessSeen, { state: 'ended' }>): TaskEnding {
  const { exit_status } = process
  switch (process.how) {
    case 'exited':
      return { status: 'completed', reason: process.problem, exit_status }
    case 'signalled':
      return {
        status: 'completed',
        reason: `ended by ${process.signal ?? 'a signal'}`,
        exit_status,
      }
    case 'timed_out':
      return { status: 'failed', reason: TIMED_OUT, exit_status }
    case 'could_not_start':
      return {
        status: 'failed',
        reason: `could not start: ${process.problem ?? 'unknown'}`,
        exit_status: null,
      }
  }
}

/** How the task stands, in one line without its id and label: `completed, exit status 0, 1.2 s`. */
export function standing(
  task: Pick<Task, 'status' | 'reason' | 'exit_status' | 'started_at' | 'ended_at'>,
): string {
  const parts: string[] = [task.status]
  if (task.exit_status !== null) parts.push(`exit status ${task.exit_status}`)
  if (task.reason !== null) parts.push(task.reason)
  if (isTerminal(task) && task.started_at !== null && task.ended_at !== null) {
    parts.push(`${(Math.max(0, between(task.started_at, task.ended_at)) / 1000).toFixed(1)} s`)
  }
  return parts.join(', ')
}

/** The end of an output, bounded by who read it; `cut` when there was more before it. */
export type Tail = { text: string; cut: boolean }

/** The body of a task's result message: how it ended, and what it wrote, or the last of it. */
export function taskResultText(
  task: Pick<Task, 'id' | 'label' | 'started_at'>,
  end: TaskEnding & { ended_at: string },
  tail: Tail,
): string {
  const head = `${task.id} (${task.label}): ${standing({ ...task, ...end })}`
  if (tail.text.trim() === '' && !tail.cut) return `${head}\nIt wrote nothing.`
  const says = tail.cut ? 'The last of its output (TaskOutput has more)' : 'Its output'
  return `${head}\n${says}:\n${tail.text}`
}
