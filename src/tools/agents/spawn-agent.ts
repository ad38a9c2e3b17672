/**
 * SpawnAgent: another context that thinks. A private child is supervised through the task handle it
 * comes with; a public agent stands on its own. The child's name is in the intent, so a call that a
 * crash interrupted finds the child it made, or makes it.
 */
import { z } from 'zod'
import type { TaskId } from '../../domain/ids.ts'
import { isRejection } from '../../domain/rejection.ts'
import type { SpawnAsked, SpawnIntent } from '../tool/children-port.ts'
import {
  effectTool,
  nothingNew,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'SpawnAgent'

const input = () =>
  z.strictObject({
    initial_message: z.string().optional(),
    preset: z.enum(['private_child', 'public_named']).optional(),
    agent_id: z.string().optional(),
    template: z.string().optional().describe('A folder of templates/.'),
    context: z.enum(['fresh', 'fork']).optional().describe('Default: fresh.'),
    workspace_mode: z.enum(['inherit', 'worktree', 'explicit_root']).optional(),
    root: z.string().optional(),
    model: z.string().optional().describe('provider/model; default: yours.'),
  })
type Input = z.infer<ReturnType<typeof input>>

export const spawnAgent = effectTool<Input, SpawnIntent>({
  name: NAME,
  effect_class: 'keyed',
  input,
  title: ({ preset, agent_id, initial_message }) =>
    preset === 'public_named' ? `${agent_id}` : firstLine(initial_message ?? ''),

  async intent(given, ctx) {
    const asked = askedBy(given)
    const prepared = await ctx.children.prepare(asked)
    if (isRejection(prepared)) return { ok: false, result: refused(NAME, prepared) }
    const { intent } = prepared
    return {
      ok: true,
      intent,
      task_id: null,
      queue: (d) => ctx.children.queue(d, asked, intent),
    }
  },

  run: (_given, intent, ctx) => spawn(intent, ctx),
  recover: (_given, intent, ctx) => spawn(intent, ctx),
})

const askedBy = (given: Input): SpawnAsked => ({
  preset: given.preset ?? 'private_child',
  agent_id: given.agent_id ?? null,
  initial_message: given.initial_message ?? null,
  context: given.context ?? 'fresh',
  workspace_mode: given.workspace_mode ?? (given.root === undefined ? 'inherit' : 'explicit_root'),
  root: given.root ?? null,
  template: given.template ?? null,
  model: given.model ?? null,
})

async function spawn(intent: SpawnIntent, ctx: ToolContext): Promise<EffectOutcome> {
  const spawned = await ctx.children.spawn(intent)
  if (isRejection(spawned)) return { result: refused(NAME, spawned), ...nothingNew }
  const { agent_id, task_id } = spawned
  const { workspace, model } = intent.spawn
  const where = {
    workspace,
    model,
    ...(intent.worktree === null ? {} : { worktree: intent.worktree }),
  }
  const result =
    task_id === null ? { agent_id, ...where } : { agent_id, task_handle: handle(task_id), ...where }
  const summary =
    task_id === null ? `${agent_id} is made.` : `${agent_id} is at work; ${task_id} supervises it.`
  return {
    result: succeeded(NAME, summary, result),
    result_hash: null,
    changed_something: true,
  }
}

const handle = (task_id: TaskId) => ({
  task_id,
  task_kind: 'child_agent',
  status: 'running',
  initial_output: '',
})

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''
