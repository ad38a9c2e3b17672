/**
 * TaskOutput: what a task has written so far, head and tail, after waiting for its end when asked
 * to. A result that shows the end makes the task's result message unnecessary: it is consumed in
 * the same commit.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { standing } from '../../domain/agents/task-end.ts'
import { isHeld, isTerminal, type Task } from '../../domain/state/task.ts'
import { childOutput } from './child-task.ts'
import { bytesOfTokens, readOutput, streamsOf } from './command-output.ts'
import { watch } from './command-watch.ts'
import { isProcessFault } from '../tool/faults.ts'
import { noTask, unobservable } from './task-status.ts'
import { endSeen, settleEnd, taskRow } from './task-stopping.ts'
import {
  failed,
  nothingNew,
  pureTool,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'TaskOutput'
/** Milliseconds a blocking read waits when it does not say how long. */
const BLOCK_MS = 30_000

const input = () =>
  z.strictObject({
    task_id: z.string(),
    block: z.boolean().optional(),
    timeout_ms: z
      .int()
      .min(0)
      .max(limits.yield_max.value)
      .optional()
      .describe(`With block; default ${BLOCK_MS}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

/** Why a blocking read came back before the end. */
type Cut = 'timeout' | 'interjected' | null

export const taskOutput = pureTool<Input>({
  name: NAME,
  input,
  ids: () => ['task_id'],
  about_task: ({ task_id }) => task_id,
  title: ({ task_id }) => task_id,
  run: read,
})

async function read(given: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const task = await taskRow(ctx, given.task_id)
  if (!task) return { result: refused(NAME, noTask(given.task_id, ctx)), ...nothingNew }
  if (task.kind === 'child_agent') {
    const block_ms = given.block ? (given.timeout_ms ?? BLOCK_MS) : null
    return childOutput(NAME, task, block_ms, ctx)
  }
  try {
    const hasProcess = task.kind === 'command' && !isHeld(task) && task.status !== 'queued'
    if (isTerminal(task) || !hasProcess || !given.block) {
      return await show(ctx, task, null)
    }
    const seen = await watch(ctx, task.id, given.timeout_ms ?? BLOCK_MS)
    switch (seen.how) {
      case 'ended':
        return await show(ctx, task, null)
      case 'window_over':
        return await show(ctx, task, 'timeout')
      case 'interjected':
      case 'closing':
        return await show(ctx, task, 'interjected')
      case 'aborted': {
        const message = 'The wait for the task was aborted; the task goes on.'
        return { result: failed(NAME, 'aborted', 'wait_aborted', message), ...nothingNew }
      }
      case 'unwatchable':
        return { result: unobservable(NAME, seen.fault), ...nothingNew }
    }
  } catch (error) {
    if (isProcessFault(error)) return { result: unobservable(NAME, error), ...nothingNew }
    throw error
  }
}

async function show(ctx: ToolContext, before: Task, cut: Cut): Promise<EffectOutcome> {
  const process = await ctx.processes.observe(before.id)
  const output = await readOutput(
    ctx,
    before.id,
    process,
    bytesOfTokens(limits.result_tokens.value),
  )
  const task = (await taskRow(ctx, before.id)) ?? before
  // A task that is being stopped ends by the proof of its stop, not by a look at its files.
  const open = !isTerminal(task) && task.status !== 'cancelling'
  const end = open ? endSeen(ctx, task, process, output) : null
  const shown = end === null ? task : { ...task, ...end }
  const result = {
    task_id: task.id,
    task_kind: task.kind,
    status: shown.status,
    exit_status: shown.exit_status,
    reason: shown.reason,
    ...(cut === null ? {} : { returned_early: cut }),
    ...streamsOf(output),
  }
  const over = isTerminal(shown)
  return {
    result: succeeded(NAME, `${task.id}: ${standingWords(shown)}`, result),
    ...(over ? { settle: (d) => settleEnd(d, end ?? null, task.id) } : {}),
    ...nothingNew,
  }
}

/** Of what is held also what that means: nothing is to be waited for but an answer. */
const standingWords = (task: Task): string =>
  isHeld(task) ? "held: nothing of it has run, and it waits for the operator's yes" : standing(task)
