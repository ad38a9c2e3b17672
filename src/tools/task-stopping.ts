/**
 * Stopping a task: the wish is committed first, so that a crash in between finishes it; then the
 * whole tree is stopped; only the proof makes it `cancelled`. Without proof it stays `cancelling`
 * with the pids that live, and belongs to the task supervisor, which announces its end.
 */
import type { Draft } from '../domain/facts.ts'
import type { TaskId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { isTerminal, type Task } from '../domain/task.ts'
import { endOfTask, endTask, type EndFacts } from '../domain/task-end.ts'
import type { StopOutcome, TaskProcess } from '../exec/ports.ts'
import { asOneText, totalBytes, type CommandOutput } from './command-output.ts'
import type { ToolContext } from './tool.ts'

export type Stopping = { proof: StopOutcome; process: TaskProcess }

/** The task's row, also when it ended too long ago to be among the facts. */
export const taskRow = async (ctx: ToolContext, id: string): Promise<Task | null> => {
  const row = ctx.facts().row('tasks', id) ?? (await ctx.load('tasks', id))
  return row?.agent_id === ctx.turn.agent_id ? row : null
}

/** Rejects with a `ProcessFault` when the machine fails; the wish to stop is committed by then. */
export async function stopTask(ctx: ToolContext, id: TaskId, because: string): Promise<Stopping> {
  const before = await ctx.processes.observe(id)
  await ctx.commit((d) => {
    const task = d.row('tasks', id)
    if (!task || isTerminal(task) || task.status === 'cancelling') return
    if (task.status === 'queued') beginTask(d, id, before)
    d.emit({ type: 'task_cancelling', id, survivors: [], because })
  })
  const proof = await ctx.processes.stop(id, limits.stop_grace.value)
  return { proof, process: await ctx.processes.observe(id) }
}

/** The row of a queued task follows its process. */
export function beginTask(d: Draft, id: TaskId, process: TaskProcess): void {
  if (process.state !== 'running') return
  d.emit({ type: 'task_started', id, pid: process.pid, started_at: process.started_at })
}

export function settleStop(d: Draft, id: TaskId, stopping: Stopping, end: EndFacts): void {
  const task = d.row('tasks', id)
  if (stopping.proof.stopped) return endTask(d, id, end)
  if (!task || isTerminal(task)) return
  const because = task.status === 'cancelling' && task.reason ? task.reason : (end.reason ?? '')
  if (!task.promoted) d.emit({ type: 'task_promoted', id })
  d.emit({ type: 'task_cancelling', id, survivors: stopping.proof.survivors, because })
}

/** What the ledger keeps of an end, from the process and what it wrote. */
export function endFacts(
  ctx: ToolContext,
  task: Pick<Task, 'status' | 'reason'>,
  process: TaskProcess,
  output: CommandOutput,
  read_by: string | null,
): EndFacts | null {
  const ending = endOfTask(process, task)
  if (ending === null) return null
  return {
    ...ending,
    // Of a process that vanished only the call knows when it began.
    started_at: process.state === 'ended' ? process.started_at : ctx.call.started_at,
    ended_at: (process.state === 'ended' ? process.ended_at : null) ?? ctx.now(),
    output_bytes: totalBytes(output.bytes),
    tail: asOneText(output).slice(-MESSAGE_TAIL_CHARS),
    read_by,
  }
}

/** Characters of output in a task's result message. */
const MESSAGE_TAIL_CHARS = 2_000
