/**
 * Ends of tasks as calls see them. Stopping: the wish is committed first, so that a crash in
 * between finishes it; then the whole tree is stopped; only the proof ends the task. Without proof
 * it stays `cancelling` with the pids that live, and belongs to the task supervisor, which
 * announces its end.
 */
import type { Draft } from '../../domain/facts/facts.ts'
import type { TaskId } from '../../domain/ids.ts'
import { endTask, type EndedTask } from '../../domain/inbox/admit.ts'
import { limits } from '../../domain/limits.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { endOfTask, taskResultText, type Tail } from '../../domain/agents/task-end.ts'
import type { Timestamp } from '../../domain/time.ts'
import { endedByAgent, readResult } from '../../domain/waits/task-result.ts'
import type { StopOutcome, TaskProcess } from '../../exec/ports.ts'
import { asOneText, readOutput, totalBytes, type CommandOutput } from './command-output.ts'
import { isProcessFault } from '../tool/faults.ts'
import type { ToolContext } from '../tool/tool.ts'

/** Characters of output in a task's result message. */
const MESSAGE_TAIL_CHARS = 2_000
/** Bytes read of an output of which that many characters are kept, in any script. */
const MESSAGE_TAIL_BYTES = 4 * MESSAGE_TAIL_CHARS

export type Stopping = { proof: StopOutcome; process: TaskProcess }

/** The end of a task and when it began, for a row that does not know it yet. */
export type SeenEnd = EndedTask & { started_at: Timestamp | null }

/** A task of this agent, also when it ended too long ago to be among the facts. */
export async function taskRow(ctx: ToolContext, id: string): Promise<Task | null> {
  const row = ctx.facts().row('tasks', id) ?? (await ctx.load('tasks', id))
  return row?.agent_id === ctx.turn.agent_id ? row : null
}

/** Rejects with a `ProcessFault` when the machine fails; the wish to stop is committed by then. */
export async function stopTask(ctx: ToolContext, id: TaskId, because: string): Promise<Stopping> {
  const before = await ctx.processes.observe(id)
  await ctx.commit((d) => {
    const task = d.row('tasks', id)
    if (!task || isTerminal(task) || task.status === 'cancelling') return
    if (before.state === 'running') beginTask(d, id, before)
    d.emit({ type: 'task_cancelling', id, survivors: [], because })
  })
  const proof = await ctx.processes.stop(id, limits.stop_grace.value)
  return { proof, process: await ctx.processes.observe(id) }
}

/** What a proven stop could not look for on this machine, as a field of its result, or nothing. */
export function unprovenOf(proof: StopOutcome): { unproven?: string } {
  if (!proof.stopped || proof.proof !== 'scanned') return {}
  return {
    unproven:
      'This machine cannot find a process that left the session, cleared its environment ' +
      'and whose parent has ended: of such a one nothing is known.',
  }
}

/** The row of a queued task follows its process. */
export function beginTask(
  d: Draft,
  id: TaskId,
  process: { pid: number; started_at: Timestamp },
): void {
  if (d.row('tasks', id)?.status !== 'queued') return
  d.emit({ type: 'task_started', id, pid: process.pid, started_at: process.started_at })
}

/**
 * The end as a call's result shows it: committed with the result unless it is already (`end` null);
 * the task's message is read with it.
 */
export function settleEnd(d: Draft, end: SeenEnd | null, id: TaskId): void {
  if (end !== null) collectEnd(d, end)
  readResult(d, id)
}

/** The end that a call brought about. */
export function settleStop(d: Draft, end: SeenEnd | null, id: TaskId): void {
  if (end !== null) collectEnd(d, end)
  endedByAgent(d, id)
}

/** The end as it was seen; nothing where it is in the ledger already. */
export function collectEnd(d: Draft, end: SeenEnd): void {
  const { task_id: id, started_at } = end
  const task = d.row('tasks', id)
  if (!task || isTerminal(task)) return
  if (task.status === 'queued' && started_at !== null) {
    d.emit({ type: 'task_started', id, pid: null, started_at })
  }
  endTask(d, end)
}

/** Commands of the item that have ended, and of whose end the ledger does not know yet. */
export async function uncollectedEnds(ctx: ToolContext, item: string): Promise<SeenEnd[]> {
  const found: SeenEnd[] = []
  for (const task of [...ctx.facts().rows('tasks')]) {
    if (task.work_item_id !== item || task.kind !== 'command' || isTerminal(task)) continue
    try {
      const process = await ctx.processes.observe(task.id)
      const output = await readOutput(ctx, task.id, process, MESSAGE_TAIL_BYTES)
      const end = endSeen(ctx, task, process, output)
      if (end !== null) found.push(end)
    } catch (error) {
      // What cannot be looked at counts as running: its row says so.
      if (!isProcessFault(error)) throw error
    }
  }
  return found
}

/** Without proof: the survivors are recorded, and the end to come will be announced. */
export function settleSurvivors(d: Draft, id: TaskId, survivors: number[], because: string): void {
  const task = d.row('tasks', id)
  if (!task || isTerminal(task)) return
  handOver(d, id)
  d.emit({ type: 'task_cancelling', id, survivors, because: task.reason ?? because })
}

/** From now on the supervisor answers for the task: its end is a message. */
export function handOver(d: Draft, id: TaskId): void {
  const task = d.row('tasks', id)
  if (task && !isTerminal(task) && !task.promoted) d.emit({ type: 'task_promoted', id })
}

function tailOf(output: CommandOutput): Tail {
  const whole = asOneText(output)
  const text = whole.slice(-MESSAGE_TAIL_CHARS)
  return { text, cut: output.full_output !== null || text.length < whole.length }
}

/** The end that process and row make together, or null while there is none. */
export function endSeen(
  ctx: ToolContext,
  task: Task,
  process: TaskProcess,
  output: CommandOutput,
): SeenEnd | null {
  const ending = endOfTask(process, task, ctx.processes.place())
  if (ending === null) return null
  const ended_at = (process.state === 'ended' ? process.ended_at : null) ?? ctx.now()
  const end = { ...ending, ended_at }
  return {
    ...end,
    task_id: task.id,
    started_at: task.started_at ?? (process.state === 'ended' ? process.started_at : null),
    output_bytes: totalBytes(output.bytes),
    body: taskResultText(task, end, tailOf(output)),
  }
}
