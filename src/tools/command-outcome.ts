/**
 * What an ExecCommand call answers for each way its command can stand: ended, gone to the
 * background, stopped, never started, unknown. Each outcome carries the events that belong to it,
 * which only act on a task that has not ended otherwise in the meantime.
 */
import type { Warning } from '../domain/call.ts'
import type { TaskId } from '../domain/ids.ts'
import { isTerminal, type Task } from '../domain/task.ts'
import { endTask, howItEnded, TIMED_OUT, type EndFacts } from '../domain/task-end.ts'
import type { TaskProcess } from '../exec/ports.ts'
import { ProcessFault } from '../exec/process-fault.ts'
import {
  asOneText,
  bytesOfTokens,
  readOutput,
  resultHash,
  type CommandOutput,
} from './command-output.ts'
import { beginTask, endFacts, settleStop, stopTask, taskRow, type Stopping } from './task-stopping.ts'
import { failed, succeeded, type EffectOutcome, type ToolContext } from './tool.ts'

/** What a call commits before it runs a command. Values of variables are never stored. */
export type CommandIntent = {
  task_id: TaskId
  cmd: string
  workdir: string
  env_names: readonly string[]
  timeout_ms: number | null
  yield_ms: number
  max_output_tokens: number
}

const NAME = 'ExecCommand'
const INSPECT = 'Look at what it may have changed before you repeat any of it.'

const quiet = { result_hash: null, changed_something: false }

/** The command ended by itself, hit its time limit, or vanished. */
export async function endedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  process: TaskProcess,
): Promise<EffectOutcome> {
  const task = await ownTask(ctx, intent.task_id)
  if (task.status === 'cancelling') return stoppedOutcome(ctx, intent, task.reason ?? 'stopped')
  if (process.state === 'ended' && process.how === 'timed_out') {
    return stoppedOutcome(ctx, intent, TIMED_OUT)
  }
  const output = await outputOf(ctx, intent, process)
  const end = endFacts(ctx, task, process, output, NAME)
  if (end === null) throw new Error(`${task.id} was said to have ended, but is ${process.state}`)
  const settle: EffectOutcome['settle'] = (d) => endTask(d, task.id, end)
  switch (end.status) {
    case 'completed': {
      const result_hash = await resultHash(ctx, intent, end.exit_status, output)
      const summary = end.reason ?? `exit status ${end.exit_status}`
      const shown = { exit_status: end.exit_status, ...streams(output) }
      const result = succeeded(NAME, summary, shown, wasStopped(task, end))
      return { result, settle, result_hash, changed_something: false }
    }
    case 'failed':
      return { ...couldNotStart(intent, end.reason ?? 'it did not start'), settle }
    case 'interrupted':
    case 'cancelled': {
      const message = `How the command ended is unknown: ${end.reason ?? 'no exit was recorded'}.`
      const detail = { ...streams(output), started_at: end.started_at, task_id: task.id }
      const result = failed(NAME, 'outcome_unknown', 'command_lost', message, INSPECT, { detail })
      return { result, settle, ...quiet }
    }
  }
}

/** Somebody ended the row otherwise while the process came to its own end: say both. */
function wasStopped(task: Task, end: EndFacts): Warning[] {
  if (!isTerminal(task) || task.status === end.status) return []
  return [{ kind: 'task_ended_otherwise', message: howItEnded(task) }]
}

/** It runs on in the background: the result is a handle, its end will be a message. */
export async function promotedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  how: { because: string; readopted: boolean },
): Promise<EffectOutcome> {
  const process = await ctx.processes.observe(intent.task_id)
  if (process.state !== 'running') return endedOutcome(ctx, intent, process)
  const id = intent.task_id
  const output = await outputOf(ctx, intent, process)
  const initial_output = asOneText(output)
  const task_handle = {
    task_id: id,
    task_kind: 'command',
    status: 'running',
    ...(initial_output === '' ? {} : { initial_output }),
  }
  return {
    result: succeeded(NAME, `${id} goes on in the background (${how.because})`, { task_handle }),
    settle: (d) => {
      const task = d.row('tasks', id)
      if (!task || isTerminal(task)) return
      if (task.status === 'queued') beginTask(d, id, process)
      if (how.readopted) d.emit({ type: 'task_readopted', id, pid: process.pid })
      d.emit({ type: 'task_promoted', id })
    },
    result_hash: null,
    changed_something: true,
  }
}

/** Stops it with proof: the turn was aborted, its time is up, or somebody asked for its stop. */
export async function stoppedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  because: string,
): Promise<EffectOutcome> {
  const id = intent.task_id
  let stopping: Stopping
  try {
    stopping = await stopTask(ctx, id, because)
  } catch (error) {
    if (!(error instanceof ProcessFault)) throw error
    return unprovenOutcome(ctx, id, error)
  }
  const output = await outputOf(ctx, intent, stopping.process)
  const task = await ownTask(ctx, id)
  const end = endFacts(ctx, task, ended(stopping.process), output, NAME)
  if (end === null) throw new Error(`${id} is stopped, but ${task.status}`)
  const survivors = stopping.proof.stopped ? [] : stopping.proof.survivors
  const exit_status = end.exit_status
  const detail = { task_id: id, exit_status, ...streams(output), ...(survivors[0] ? { survivors } : {}) }
  const left = survivors[0] ? ` Still alive: ${survivors.join(', ')}.` : ''
  const timedOut = because === TIMED_OUT
  const result = timedOut
    ? failed(
        NAME,
        'timeout',
        'command_timed_out',
        `The command was stopped: it ran longer than ${intent.timeout_ms} ms.${left}`,
        'Give a longer timeout_ms, or none and let it go on in the background.',
        { detail },
      )
    : failed(NAME, 'aborted', 'command_stopped', `The command was stopped: ${because}.${left}`, INSPECT, {
        detail,
      })
  const result_hash = timedOut ? await resultHash(ctx, intent, null, output) : null
  const settle: EffectOutcome['settle'] = (d) => settleStop(d, id, stopping, end)
  return { result, settle, result_hash, changed_something: false }
}

/** The stop was asked for and could not be carried out: the supervisor goes on with it. */
async function unprovenOutcome(
  ctx: ToolContext,
  id: TaskId,
  fault: ProcessFault,
): Promise<EffectOutcome> {
  const message = `The stop of ${id} could not be proven: ${fault.message}.`
  const result = failed(NAME, 'aborted', 'stop_unproven', message, 'TaskStatus shows what became of it.')
  return { result, settle: (d) => handOver(d, id), ...quiet }
}

/** An observation failed: nothing is known, so nothing is claimed; the supervisor follows it. */
export function unknownOutcome(intent: CommandIntent, fault: ProcessFault): EffectOutcome {
  const id = intent.task_id
  const message = `What became of the command is unknown: ${fault.message}.`
  const detail = { task_id: id }
  const hint = `TaskStatus may know more later. ${INSPECT}`
  const result = failed(NAME, 'outcome_unknown', fault.code, message, hint, { detail })
  return { result, settle: (d) => handOver(d, id), ...quiet }
}

const handOver: (d: Parameters<typeof endTask>[0], id: TaskId) => void = (d, id) => {
  const task = d.row('tasks', id)
  if (task && !isTerminal(task) && !task.promoted) d.emit({ type: 'task_promoted', id })
}

/** It never ran, and never will. */
export function notStartedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  why: { status: 'failed' | 'cancelled'; reason: string },
): EffectOutcome {
  const end: EndFacts = {
    ...why,
    exit_status: null,
    started_at: null,
    ended_at: ctx.now(),
    output_bytes: 0,
    tail: '',
    read_by: NAME,
  }
  const outcome =
    why.status === 'failed'
      ? couldNotStart(intent, why.reason)
      : { result: failed(NAME, 'aborted', 'command_not_started', 'The command was not started: the turn was aborted.'), ...quiet }
  return { ...outcome, settle: (d) => endTask(d, intent.task_id, end) }
}

function couldNotStart(intent: CommandIntent, why: string): EffectOutcome {
  const message = `The command could not start in ${intent.workdir}: ${why}.`
  const hint = 'Nothing of it ran. Check the working folder, then try again.'
  const more = { retryable: true, detail: { task_id: intent.task_id } }
  return { result: failed(NAME, 'fault', 'could_not_start', message, hint, more), ...quiet }
}

/** After a proof, or to be kept as `cancelling`: whatever the files say, it counts as over. */
const ended = (process: TaskProcess): TaskProcess =>
  process.state === 'running' ? { state: 'lost', pid: process.pid, output: process.output } : process

const streams = (output: CommandOutput) => ({
  stdout: output.stdout,
  stderr: output.stderr,
  ...(output.full_output === null ? {} : { full_output: output.full_output }),
})

const outputOf = (ctx: ToolContext, intent: CommandIntent, process: TaskProcess) =>
  readOutput(ctx, intent.task_id, process, bytesOfTokens(intent.max_output_tokens))

async function ownTask(ctx: ToolContext, id: TaskId): Promise<Task> {
  const task = await taskRow(ctx, id)
  if (!task) throw new Error(`the call's own task ${id} has no row`)
  return task
}
