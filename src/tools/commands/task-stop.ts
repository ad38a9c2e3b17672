/**
 * TaskStop: TERM, grace, KILL on the whole tree, and `cancelled` only with the proof that nothing
 * of it is left. Stopping what is over already is a success that says how it ended.
 */
import { z } from 'zod'
import { stopHeld } from '../../domain/approvals/held-command.ts'
import type { Warning } from '../../domain/state/call.ts'
import { isCommandOf } from '../../domain/state/check.ts'
import { endOfTask, standing } from '../../domain/agents/task-end.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { no } from '../../domain/rejection.ts'
import { stopChild } from './child-task.ts'
import { bytesOfTokens, readOutput, streamsOf } from './command-output.ts'
import { isProcessFault } from '../tool/faults.ts'
import { noTask, unobservable } from './task-status.ts'
import {
  endSeen,
  settleEnd,
  settleStop,
  settleSurvivors,
  stopTask,
  taskRow,
  unprovenOf,
} from './task-stopping.ts'
import {
  effectTool,
  nothingNew,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'TaskStop'
const BECAUSE = 'stopped by the agent'
/** Tokens of output a stop shows: enough to see where it was. */
const OUTPUT_TOKENS = 1_000

const input = () => z.strictObject({ task_id: z.string() })
type Input = z.infer<ReturnType<typeof input>>

export const taskStop = effectTool<Input, null>({
  name: NAME,
  effect_class: 'idempotent',
  input,
  ids: () => ['task_id'],
  about_task: ({ task_id }) => task_id,
  title: ({ task_id }) => task_id,
  intent: async () => ({ ok: true, intent: null, task_id: null }),
  run: (given, _intent, ctx) => stop(given, ctx),
  recover: (given, _intent, ctx) => stop(given, ctx),
})

async function stop({ task_id }: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const task = await taskRow(ctx, task_id)
  if (!task) return { result: refused(NAME, noTask(task_id, ctx)), ...nothingNew }
  const item = task.work_item_id === null ? null : ctx.facts().row('work_items', task.work_item_id)
  if (isCommandOf(item?.checks ?? [], task.id)) {
    const message = `${task.id} runs a check that the operator wants of ${task.work_item_id}.`
    return { result: refused(NAME, no('check_of_operator', message)), ...nothingNew }
  }
  if (task.kind === 'child_agent') return stopChild(NAME, task, BECAUSE, ctx)
  try {
    if (isTerminal(task)) return await overAlready(ctx, task)
    if (await isTakenBack(ctx, task)) return takenBack(task)
    if (task.kind === 'tool_call') {
      const message = `${task.id} is being carried out: the operator said yes.`
      return { result: refused(NAME, no('call_under_way', message)), ...nothingNew }
    }
    const process = await ctx.processes.observe(task.id)
    const open = task.status !== 'cancelling'
    if (open && endOfTask(process, task, ctx.processes.place()) !== null)
      return await overAlready(ctx, task)
    return await stopNow(ctx, task)
  } catch (error) {
    if (isProcessFault(error)) return { result: unobservable(NAME, error), ...nothingNew }
    throw error
  }
}

/** It waited for a yes until now, and nothing of it runs: there is nothing to prove. */
async function isTakenBack(ctx: ToolContext, { id, status }: Task): Promise<boolean> {
  return status === 'held' && (await ctx.commit((d) => stopHeld(d, id, BECAUSE)))
}

const takenBack = (task: Task): EffectOutcome => ({
  result: succeeded(
    NAME,
    `${task.id}: cancelled, it had not begun`,
    described({ ...task, status: 'cancelled', reason: BECAUSE }),
  ),
  settle: () => {},
  result_hash: null,
  changed_something: true,
})

/** Its row, or its process, came to an end before this call. */
async function overAlready(ctx: ToolContext, task: Task): Promise<EffectOutcome> {
  const { shown, output, end } = await look(ctx, task)
  return {
    result: succeeded(NAME, `${task.id} had ended already: ${standing(shown)}`, {
      ...described(shown),
      ...streamsOf(output),
    }),
    settle: (d) => settleEnd(d, end, task.id),
    ...nothingNew,
  }
}

async function stopNow(ctx: ToolContext, task: Task): Promise<EffectOutcome> {
  const { proof } = await stopTask(ctx, task.id, BECAUSE)
  const { shown, output, end } = await look(ctx, (await taskRow(ctx, task.id)) ?? task)
  if (proof.stopped) {
    return {
      result: succeeded(NAME, `${task.id}: ${standing(shown)}`, {
        ...described(shown),
        ...unprovenOf(proof),
        ...streamsOf(output),
      }),
      settle: (d) => settleStop(d, end, task.id),
      result_hash: null,
      changed_something: true,
    }
  }
  const { survivors } = proof
  const warning: Warning = {
    kind: 'survivors',
    message: `These processes did not end on KILL: ${survivors.join(', ')}.`,
    survivors,
  }
  const result = {
    ...described({ ...task, status: 'cancelling' }),
    survivors,
    ...streamsOf(output),
  }
  return {
    result: succeeded(NAME, `${task.id} is not proven to have stopped`, result, [warning]),
    settle: (d) => settleSurvivors(d, task.id, survivors, BECAUSE),
    result_hash: null,
    changed_something: true,
  }
}

async function look(ctx: ToolContext, task: Task) {
  const process = await ctx.processes.observe(task.id)
  const output = await readOutput(ctx, task.id, process, bytesOfTokens(OUTPUT_TOKENS))
  const end = isTerminal(task) ? null : endSeen(ctx, task, process, output)
  return { output, end, shown: end === null ? task : { ...task, ...end } }
}

const described = (task: Task) => ({
  task_id: task.id,
  task_kind: task.kind,
  status: task.status,
  exit_status: task.exit_status,
  reason: task.reason,
})
