/**
 * What an ExecCommand call answers for each way its command can stand: ended, gone to the
 * background, stopped, never started, unknown. Each outcome carries the events that belong to it,
 * which only act on a task that has not ended otherwise in the meantime.
 */
import { leaveOutBehind } from '../../domain/turns/end.ts'
import type { TaskId } from '../../domain/ids.ts'
import { TIMED_OUT } from '../../domain/agents/task-end.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import type { StdinMode, TaskProcess } from '../../exec/ports.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'
import {
  asOneText,
  bytesOfTokens,
  readOutput,
  resultHash,
  streamsOf,
  type CommandOutput,
} from './command-output.ts'
import { isProcessFault } from '../tool/faults.ts'
import {
  beginTask,
  endSeen,
  handOver,
  settleEnd,
  settleSurvivors,
  stopTask,
  taskRow,
  unprovenOf,
  type Stopping,
} from './task-stopping.ts'
import {
  failed,
  nothingNew,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

/** What a call commits before it runs a command. Values of variables are never stored. */
export type CommandIntent = {
  task_id: TaskId
  cmd: string
  workdir: string
  env_names: readonly string[]
  timeout_ms: number | null
  yield_ms: number
  max_output_tokens: number
  stdin: StdinMode
  /** A task that ran the same command in the same folder when the call came. */
  duplicate_of: TaskId | null
}

const NAME = 'ExecCommand'
const INSPECT = 'Look at what it may have changed before you repeat any of it.'

/** The command ended by itself, hit its time limit, or vanished. */
export async function endedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  process: TaskProcess,
): Promise<EffectOutcome> {
  const task = await ownTask(ctx, intent.task_id)
  if (task.status === 'cancelling') return stoppedOutcome(ctx, intent, task.reason ?? 'stopped')
  if (process.state === 'ended' && process.how === 'timed_out') {
    // The runner's watchdog reaches the command's group; the proof is for the whole tree.
    return stoppedOutcome(ctx, intent, TIMED_OUT)
  }
  const output = await outputOf(ctx, intent, process)
  const end = endSeen(ctx, task, process, output)
  if (end === null) throw new Error(`${task.id} was said to have ended, but is ${process.state}`)
  const settle: EffectOutcome['settle'] = (d) => settleEnd(d, end, intent.task_id)
  switch (end.status) {
    case 'completed': {
      const result = { exit_status: end.exit_status, ...streamsOf(output) }
      const status = end.exit_status === null ? [] : [`exit status ${end.exit_status}`]
      const summary = [...status, ...(end.reason === null ? [] : [end.reason])].join('; ')
      return {
        result: succeeded(NAME, summary, result),
        settle,
        result_hash: await resultHash(ctx, intent, end.exit_status, output),
        changed_something: false,
      }
    }
    case 'failed':
      return { ...couldNotStart(intent, end.reason ?? 'could not start'), settle }
    case 'interrupted':
    case 'cancelled': {
      const pid = process.state === 'lost' ? process.pid : null
      const { started_at } = ctx.call
      const detail = { task_id: task.id, started_at, pid, ...streamsOf(output) }
      const message = `How the command ended is unknown: ${end.reason ?? 'no exit was recorded'}.`
      const result = failed(NAME, 'outcome_unknown', 'command_lost', message, INSPECT, { detail })
      return { result, settle, ...nothingNew }
    }
  }
}

/**
 * It runs on in the background: the result is a handle, its end will be a message. `pushed`: before
 * its window was over. The calls behind it were written to run after it, and are not made.
 */
export async function promotedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  how: { because: string; readopted: boolean; pushed: boolean },
): Promise<EffectOutcome> {
  const process = await ctx.processes.observe(intent.task_id)
  if (process.state !== 'running') return endedOutcome(ctx, intent, process)
  const id = intent.task_id
  const initial_output = asOneText(await outputOf(ctx, intent, process))
  const task_handle = {
    task_id: id,
    task_kind: 'command',
    status: 'running',
    ...(intent.duplicate_of === null ? {} : { duplicate_of: intent.duplicate_of }),
    initial_output,
  }
  return {
    result: succeeded(NAME, `${id} goes on in the background: ${how.because}`, { task_handle }),
    settle: (d) => {
      const task = d.row('tasks', id)
      if (!task || isTerminal(task)) return
      beginTask(d, id, process)
      if (how.readopted) d.emit({ type: 'task_readopted', id, pid: process.pid })
      handOver(d, id)
      if (how.pushed) leaveOutBehind(d, ctx.call, `${how.because} and ${NAME} went on`)
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
    if (isProcessFault(error)) return unprovenOutcome(id, error)
    throw error
  }
  const { proof, process } = stopping
  const output = await outputOf(ctx, intent, process)
  const survivors = proof.stopped ? [] : proof.survivors
  const exit_status = process.state === 'ended' ? process.exit_status : null
  const left = survivors.length > 0 ? { survivors } : {}
  const unproven = unprovenOf(proof)
  const detail = { task_id: id, exit_status, ...streamsOf(output), ...left, ...unproven }
  const result = because === TIMED_OUT ? timedOut(intent, detail) : wasStopped(because, detail)
  const hash = because === TIMED_OUT ? await resultHash(ctx, intent, null, output) : null
  const end = proof.stopped ? endSeen(ctx, await ownTask(ctx, id), process, output) : null
  return {
    result,
    settle: (d) => {
      if (end === null) settleSurvivors(d, id, survivors, because)
      else settleEnd(d, end, intent.task_id)
    },
    result_hash: hash,
    changed_something: false,
  }
}

type StopDetail = { survivors?: readonly number[] }

function timedOut(intent: CommandIntent, detail: StopDetail) {
  const message = `The command was stopped after ${intent.timeout_ms} ms.${alive(detail)}`
  const hint = 'Give a longer timeout_ms, or none: it then goes on in the background.'
  return failed(NAME, 'timeout', 'command_timed_out', message, hint, { detail })
}

function wasStopped(because: string, detail: StopDetail) {
  const message = `The command was stopped (${because}).${alive(detail)}`
  return failed(NAME, 'aborted', 'command_stopped', message, INSPECT, { detail })
}

const alive = ({ survivors }: StopDetail): string =>
  survivors === undefined ? '' : ` These processes still live: ${survivors.join(', ')}.`

/** The stop was asked for and could not be carried out: the supervisor goes on with it. */
function unprovenOutcome(id: TaskId, fault: ProcessFault): EffectOutcome {
  const message = `The stop of ${id} is not proven: ${fault.message}.`
  const hint = 'TaskStatus shows what became of it.'
  const result = failed(NAME, 'aborted', 'stop_unproven', message, hint, {
    detail: { task_id: id },
  })
  return { result, settle: (d) => handOver(d, id), ...nothingNew }
}

/** An observation failed: nothing is known, so nothing is claimed; the supervisor follows it. */
export function unknownOutcome(
  intent: CommandIntent,
  fault: { code: string; message: string },
): EffectOutcome {
  const id = intent.task_id
  const message = `What became of the command is unknown: ${fault.message}.`
  const hint = `TaskStatus may know more later. ${INSPECT}`
  const detail = { task_id: id }
  const result = failed(NAME, 'outcome_unknown', fault.code, message, hint, { detail })
  return { result, settle: (d) => handOver(d, id), ...nothingNew }
}

/** It never ran, and never will. */
export function notStartedOutcome(
  ctx: ToolContext,
  intent: CommandIntent,
  why: { status: 'failed' | 'cancelled'; reason: string },
): EffectOutcome {
  const message = `The command was not started (${why.reason}).`
  const outcome =
    why.status === 'failed'
      ? couldNotStart(intent, why.reason)
      : { result: failed(NAME, 'aborted', 'command_not_started', message), ...nothingNew }
  const end = {
    ...why,
    task_id: intent.task_id,
    exit_status: null,
    started_at: null,
    ended_at: ctx.now(),
    output_bytes: 0,
    body: message,
  }
  return { ...outcome, settle: (d) => settleEnd(d, end, intent.task_id) }
}

function couldNotStart(intent: CommandIntent, why: string): EffectOutcome {
  const message = `Nothing of the command ran, in ${intent.workdir}: ${why}.`
  const hint = 'Check that the working folder is there and can be entered, then try again.'
  const more = { retryable: true, detail: { task_id: intent.task_id } }
  return { result: failed(NAME, 'fault', 'could_not_start', message, hint, more), ...nothingNew }
}

const outputOf = (
  ctx: ToolContext,
  intent: CommandIntent,
  process: TaskProcess,
): Promise<CommandOutput> =>
  readOutput(ctx, intent.task_id, process, bytesOfTokens(intent.max_output_tokens))

async function ownTask(ctx: ToolContext, id: TaskId): Promise<Task> {
  const task = await taskRow(ctx, id)
  if (!task) throw new Error(`the call's own task ${id} has no row`)
  return task
}
