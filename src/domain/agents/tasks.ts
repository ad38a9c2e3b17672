/**
 * Rules of the operator's acts on tasks and runs: whether they may happen. The machine carries them
 * out; what it then finds is decided where a task ends.
 */
import { openTurn, type Draft, type Facts } from '../facts/facts.ts'
import type { GrantId, TaskId, WorkItemId } from '../ids.ts'
import { notAdopted } from '../facts/imported.ts'
import { limits } from '../limits.ts'
import { closedToOperator, livingAgent } from './lifecycle.ts'
import type { StartPlace } from '../start-place.ts'
import { isGoingOn, isTerminal, type Task, type TaskInput } from '../state/task.ts'
import type { Turn } from '../state/turn.ts'
import { no, type Rejection } from '../rejection.ts'

export type NewTask = {
  id: TaskId
  cmd: string
  workdir: string
  work_item_id: WorkItemId | null
  output_path: string
  start_place: StartPlace
  /** Absent: never. */
  timeout_ms?: number | null
  /** Absent: none. */
  input?: TaskInput
  /** By which a command of a call may begin without a question. */
  grant_id?: GrantId
}

/**
 * Queues a command of the operator's: the task is a row before anything of it runs. No call waits
 * for it, so who starts it promotes it in the commit that says it runs: its end is a message.
 */
export function queueTask(d: Draft, task: NewTask): { ok: true; task_id: TaskId } | Rejection {
  const agent = livingAgent(d)
  if ('ok' in agent) return agent
  const closed = closedToOperator(agent)
  if (closed) return closed
  if (task.cmd.trim() === '' || task.cmd.includes('\0')) {
    return no('cmd_invalid', 'The command is empty, or has a NUL character.')
  }
  const item = task.work_item_id
  if (item !== null && d.row('work_items', item)?.agent_id !== d.agent_id) {
    return no('work_item_not_found', `${item} is not a work item of ${d.agent_id}.`)
  }
  const unpicked = item === null ? null : notAdopted(d.row('work_items', item), 'agent')
  if (unpicked) return unpicked
  const full = queueCommand(d, task)
  return full ?? { ok: true, task_id: task.id }
}

/** The row of a command, by whomever it is started; the refusal where as many run as may. */
export function queueCommand(d: Draft, task: NewTask): Rejection | null {
  const running = [...d.rows('tasks')].filter(isGoingOn).length
  const limit = limits.running_tasks
  if (running >= limit.value) {
    const message = `${limit.name} is ${running} ${limit.unit}; the limit is ${limit.value}.`
    return no('over_limit', message, 'Stop a task, or wait for one to end, then try again.')
  }
  const { id, cmd, workdir, work_item_id, output_path, start_place, input = 'none' } = task
  d.emit({
    type: 'task_queued',
    id,
    work_item_id,
    kind: 'command',
    label: labelOf(cmd),
    cmd,
    child_agent_id: null,
    workdir,
    timeout_ms: task.timeout_ms ?? null,
    ...(input === 'none' ? {} : { input }),
    start_place,
    output_path,
    ...(task.grant_id === undefined ? {} : { grant_id: task.grant_id }),
  })
  if (task.grant_id !== undefined) d.emit({ type: 'grant_used', id: task.grant_id, task_id: id })
  return null
}

/** The first line of a command or a handoff, as it stands in lists. */
export function labelOf(cmd: string): string {
  const line = cmd.trim().split('\n', 1)[0] ?? ''
  const most = limits.label.value
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

/** The task that a stop is meant for, running or not; the refusal when there is none. */
export function stoppableTask(facts: Facts, id: string): { ok: true; task: Task } | Rejection {
  const task = facts.row('tasks', id)
  if (!task || task.agent_id !== facts.agent_id) {
    return no('task_not_found', `${id} is not a task of ${facts.agent_id}.`)
  }
  return { ok: true, task }
}

export type InputGiven = { task_id: string; text: string; end: boolean }

/**
 * The task that the operator's words are for: a command that reads them, or a child, through the
 * task that supervises it (docs/spec/agent.md). What a private child itself runs is not the
 * operator's.
 */
export function inputTask(
  facts: Facts,
  { task_id, text, end }: InputGiven,
): { ok: true; task: Task } | Rejection {
  const found = stoppableTask(facts, task_id)
  if (!found.ok) return found
  const agent = facts.row('agents', facts.agent_id)
  const closed = agent ? closedToOperator(agent) : null
  if (closed) return closed
  const { task } = found
  const over = overOrEnding(task)
  if (over) return over
  if (task.asking?.of === 'operator') {
    const message = `${task.child_agent_id} asks you for a permission: ${task.asking.text}`
    return no(
      'asks_operator',
      message,
      `Answer it: \`holon answer ${task.asking.wait_id} <text>\`.`,
    )
  }
  if (task.kind === 'child_agent' && end) {
    return no('task_takes_no_input', `${task.id} is a child agent, whose input has no end.`)
  }
  if (task.kind !== 'child_agent' && task.input === 'none') {
    return no('task_takes_no_input', `${task.id} was started without an input.`)
  }
  return text === '' && !end ? no('message_empty', 'There is nothing to give.') : found
}

/** The refusal of what wants a task that goes on. */
export function overOrEnding(task: Task): Rejection | null {
  if (isTerminal(task)) return no('task_ended', `${task.id} has ended: ${task.status}.`)
  if (task.status === 'cancelling') return no('task_ended', `${task.id} is being stopped.`)
  if (task.status === 'held') return no('task_held', `${task.id} waits for your yes.`)
  return null
}

/** The open turn that an abort is meant for: a run that is over is not aborted again. */
export function abortableRun(facts: Facts, run_id: string): { ok: true; turn: Turn } | Rejection {
  const agent = facts.row('agents', facts.agent_id)
  const closed = agent ? closedToOperator(agent) : null
  if (closed) return closed
  const turn = openTurn(facts)
  if (turn !== null && turn.id === run_id) return { ok: true, turn }
  const open = turn === null ? 'no turn is open' : `${turn.id} is the open one`
  return no('run_stale', `${run_id} is not open: ${open}.`)
}

/** Of a run that was to be aborted and was not: it ended by itself, or nobody runs it any more. */
export function notAborted(facts: Facts | null, run_id: string): Rejection {
  const now = facts === null ? null : abortableRun(facts, run_id)
  return now?.ok === false ? now : no('run_stale', `${run_id} is left as it is.`)
}
