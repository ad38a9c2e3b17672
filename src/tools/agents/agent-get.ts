/**
 * AgentGet: an agent as the owner of a context: who it is, what it does now, what it is at work on
 * and waits for, and the agents it made. The execution that supervises a child is TaskStatus.
 */
import { z } from 'zod'
import { isRejection } from '../../domain/rejection.ts'
import {
  nothingNew,
  pureTool,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'AgentGet'

const input = () =>
  z.strictObject({
    agent_id: z.string().optional().describe('Default: yourself.'),
  })
type Input = z.infer<ReturnType<typeof input>>

export const agentGet = pureTool<Input>({
  name: NAME,
  input,
  title: ({ agent_id }) => agent_id ?? 'itself',
  run: see,
})

async function see({ agent_id }: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const seen = await ctx.children.see(agent_id ?? null)
  if (isRejection(seen)) return { result: refused(NAME, seen), ...nothingNew }
  const summary = `${agent_id ?? ctx.turn.agent_id}: ${String(seen.agent['posture'])}`
  return { result: succeeded(NAME, summary, seen.agent), ...nothingNew }
}
