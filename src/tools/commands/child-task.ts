/**
 * The task tools where the task is a child agent: its row and its words instead of a process and
 * its output. Stopping it, telling it something and waiting for it go through the runtime.
 */
import { limits } from '../../domain/limits.ts'
import { standing } from '../../domain/agents/task-end.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { isRejection } from '../../domain/rejection.ts'
import { endedByAgent, readResult } from '../../domain/waits/task-result.ts'
import { taskRow } from './task-stopping.ts'
import {
  failed,
  nothingNew,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

/** Characters of a child's words that a result shows: the newest of them. */
const WORDS_CHARS = limits.result_tokens.value * 3

const described = (task: Task) => ({
  task_id: task.id,
  task_kind: task.kind,
  status: task.status,
  reason: task.reason,
  agent_id: task.child_agent_id,
})

/** Its lifecycle and control; who the child is, and what it is at work on, AgentGet says. */
export function childStatus(name: string, task: Task): EffectOutcome {
  const result = {
    ...described(task),
    label: task.label,
    work_item_id: task.work_item_id,
    workdir: task.workdir,
    survivors: task.survivors,
    ...(task.asking === null ? {} : { needs_input: task.asking }),
    created_at: task.created_at,
    ended_at: task.ended_at,
  }
  const asks = task.asking === null ? '' : ', needs_input'
  return { result: succeeded(name, `${task.id}: ${standing(task)}${asks}`, result), ...nothingNew }
}

/** Waits for the end when asked to, then shows the words. */
export async function childOutput(
  name: string,
  task: Task,
  block_ms: number | null,
  ctx: ToolContext,
): Promise<EffectOutcome> {
  let cut: 'timeout' | 'interjected' | null = null
  if (block_ms !== null && !isTerminal(task)) {
    cut = await untilEnded(ctx, task, block_ms)
    if (ctx.signal.aborted) {
      const message = 'The wait for the task was aborted; the task goes on.'
      return { result: failed(name, 'aborted', 'wait_aborted', message), ...nothingNew }
    }
  }
  const now = (await taskRow(ctx, task.id)) ?? task
  const result = {
    ...described(now),
    ...(now.asking === null ? {} : { needs_input: now.asking }),
    ...(cut === null ? {} : { returned_early: cut }),
    ...(await broughtByChild(task, ctx)),
  }
  return {
    result: succeeded(name, `${now.id}: ${standing(now)}`, result),
    ...(isTerminal(now) ? { settle: (d) => readResult(d, now.id) } : {}),
    ...nothingNew,
  }
}

/** Null: it ended. */
async function untilEnded(
  ctx: ToolContext,
  task: Task,
  block_ms: number,
): Promise<'timeout' | 'interjected' | null> {
  const over = new AbortController()
  const stop = AbortSignal.any([ctx.signal, ctx.interjected, over.signal])
  const ended = ctx.children.ended(task.id, stop).then(
    () => null,
    () => 'interjected' as const,
  )
  const late = ctx.sleep(block_ms, stop).then(
    () => 'timeout' as const,
    () => 'interjected' as const,
  )
  const first = await Promise.race([ended, late])
  over.abort()
  await Promise.all([ended, late])
  return first
}

/** What its parent goes on with: how its worktree stands, and its words. */
export async function broughtByChild(
  task: Task,
  ctx: ToolContext,
): Promise<Readonly<Record<string, unknown>>> {
  const worktree = await ctx.children.worktree(task.id)
  const words = task.child_agent_id === null ? [] : await ctx.children.words(task.child_agent_id)
  return { ...(worktree === null ? {} : { worktree }), ...wordsShown(words) }
}

/** The newest words of a child, as many as a result shows. */
function wordsShown(words: readonly { kind: string; text: string; at: string }[]) {
  const kept: (typeof words)[number][] = []
  let left = WORDS_CHARS
  for (const word of words.toReversed()) {
    left -= word.text.length
    if (left < 0 && kept.length > 0) break
    kept.unshift(word)
  }
  const earlier = words.length - kept.length
  return { briefs: kept, ...(earlier === 0 ? {} : { earlier_briefs: earlier }) }
}

export async function stopChild(
  name: string,
  task: Task,
  because: string,
  ctx: ToolContext,
): Promise<EffectOutcome> {
  if (isTerminal(task)) {
    const said = `${task.id} had ended already: ${standing(task)}`
    return {
      // What it left is not in this answer: its message is still to be read.
      result: succeeded(name, said, described(task)),
      ...nothingNew,
    }
  }
  const proof = await ctx.children.stop(task.id, because)
  const now = (await taskRow(ctx, task.id)) ?? task
  if (proof.stopped) {
    return {
      result: succeeded(name, `${task.id}: ${standing(now)}`, described(now)),
      settle: (d) => endedByAgent(d, task.id),
      result_hash: null,
      changed_something: true,
    }
  }
  const { survivors } = proof
  const message = `These processes of it did not end on KILL: ${survivors.join(', ')}.`
  const warning = { kind: 'survivors', message, survivors }
  const said = `${task.id} is not proven to have stopped`
  return {
    result: succeeded(name, said, { ...described(now), survivors }, [warning]),
    result_hash: null,
    changed_something: true,
  }
}

export async function tellTask(
  name: string,
  task: Task,
  text: string,
  ctx: ToolContext,
): Promise<EffectOutcome> {
  const told = await ctx.children.tell(task.id, text, ctx.call.id)
  if (isRejection(told)) return { result: refused(name, told), ...nothingNew }
  const { message_id, answered, priority } = told
  const next = priority === 'interject' ? 'request' : 'turn'
  const said = answered
    ? `${task.child_agent_id} has its answer.`
    : `${task.child_agent_id} gets it with its next ${next}.`
  return {
    result: succeeded(name, said, { task_id: task.id, message_id, answered }),
    result_hash: null,
    changed_something: true,
  }
}
