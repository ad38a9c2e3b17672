/**
 * Calls that the policy keeps from having an effect. A command that is asked about is held (see
 * commands/command-policy.ts); what writes a file or asks a host begins from what it meets when it
 * runs, so a later yes would be one to something else: it is refused, and says who can allow it.
 */
import type { ToolResult } from '../../domain/state/call.ts'
import { failed, type ToolContext } from './tool.ts'

export function deniedResult(tool_name: string, why: string): ToolResult {
  const hint = 'Do not try another way to do the same; say in your report what is left.'
  return failed(tool_name, 'rejected', 'policy_denied', why, hint)
}

/** Null: the call may be carried out. */
export async function refusedByPolicy(ctx: ToolContext): Promise<ToolResult | null> {
  const { tool_name, input } = ctx.call
  const judged = await ctx.judged(input)
  if (judged === null || judged.verdict === 'allow') return null
  if (judged.verdict === 'deny') return deniedResult(tool_name, judged.why)
  const hint =
    'Only a rule of the operator allows it: ask them with WaitFor operator_input, or go on with ' +
    'what needs no such call.'
  return failed(tool_name, 'rejected', 'policy_asks', judged.because, hint)
}
