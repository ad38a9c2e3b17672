/**
 * ListTasks: the agent's tasks that are not over, and the last that ended, newest first.
 */
import { z } from 'zod'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import {
  nothingNew,
  pureTool,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'ListTasks'
/** How many ended tasks are still of interest; the ledger has all of them. */
const ENDED_SHOWN = 20

const input = () => z.strictObject({})

export const listTasks = pureTool<z.infer<ReturnType<typeof input>>>({
  name: NAME,
  input,
  title: () => 'tasks',
  run: (_input, ctx) => read(ctx),
})

async function read(ctx: ToolContext): Promise<EffectOutcome> {
  const known = new Map<string, Task>()
  for (const task of await ctx.list('tasks', { limit: ENDED_SHOWN })) known.set(task.id, task)
  for (const task of ctx.facts().rows('tasks')) known.set(task.id, task)
  const newest = [...known.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  const live = newest.filter((task) => !isTerminal(task))
  const ended = newest.filter(isTerminal).slice(0, ENDED_SHOWN)
  const summary = `${live.length} running, ${ended.length} ended`
  return {
    result: succeeded(NAME, summary, { running: live.map(inList), ended: ended.map(inList) }),
    ...nothingNew,
  }
}

const inList = (task: Task) => ({
  task_id: task.id,
  task_kind: task.kind,
  status: task.status,
  label: task.label,
  work_item_id: task.work_item_id,
  created_at: task.created_at,
  ...(task.asking === null ? {} : { asks: task.asking.of }),
  ...(isTerminal(task)
    ? { exit_status: task.exit_status, reason: task.reason, ended_at: task.ended_at }
    : {}),
})
