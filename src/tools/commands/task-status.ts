/**
 * TaskStatus: the managed execution behind a task, from its row and its process, without its output
 * and without waiting.
 */
import { z } from 'zod'
import { standing } from '../../domain/agents/task-end.ts'
import type { Task } from '../../domain/state/task.ts'
import { no } from '../../domain/rejection.ts'
import type { TaskProcess } from '../../exec/ports.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'
import { childStatus } from './child-task.ts'
import { sizeOf } from './command-output.ts'
import { isProcessFault } from '../tool/faults.ts'
import { taskRow } from './task-stopping.ts'
import {
  failed,
  nothingNew,
  pureTool,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'TaskStatus'

const input = () => z.strictObject({ task_id: z.string() })
type Input = z.infer<ReturnType<typeof input>>

export const taskStatus = pureTool<Input>({
  name: NAME,
  input,
  ids: () => ['task_id'],
  title: ({ task_id }) => task_id,
  run: read,
})

async function read({ task_id }: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const task = await taskRow(ctx, task_id)
  if (!task) return { result: refused(NAME, noTask(task_id, ctx)), ...nothingNew }
  if (task.kind === 'child_agent') return childStatus(NAME, task)
  try {
    const process = await ctx.processes.observe(task.id)
    const result = succeeded(NAME, `${task.id}: ${standing(task)}`, describe(task, process))
    return { result, ...nothingNew }
  } catch (error) {
    if (isProcessFault(error)) return { result: unobservable(NAME, error), ...nothingNew }
    throw error
  }
}

export const noTask = (task_id: string, ctx: ToolContext) =>
  no('task_not_found', `${task_id} is not a task of ${ctx.turn.agent_id}.`)

/** The machine did not answer; the task itself is as it was. */
export const unobservable = (tool_name: string, fault: ProcessFault) =>
  failed(tool_name, 'fault', fault.code, `${fault.message}.`, 'Try again a little later.', {
    retryable: fault.retry !== 'never',
  })

const describe = (task: Task, process: TaskProcess) => ({
  task_id: task.id,
  task_kind: task.kind,
  status: task.status,
  reason: task.reason,
  exit_status: task.exit_status,
  label: task.label,
  cmd: task.cmd,
  workdir: task.workdir,
  timeout_ms: task.timeout_ms,
  input: task.input,
  work_item_id: task.work_item_id,
  // Of the process as it is now: a task's row follows its end by a moment.
  process: process.state,
  pid: process.state === 'running' ? process.pid : null,
  survivors: task.survivors,
  output: { path: task.output.path, ...sizeOf(process) },
  created_at: task.created_at,
  started_at: task.started_at ?? (process.state === 'running' ? process.started_at : null),
  ended_at: task.ended_at,
})
