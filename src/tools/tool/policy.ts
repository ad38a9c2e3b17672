/**
 * What the policy makes of a call before it has an effect: it may be carried out, it is refused, or
 * it is held until a person has said yes. What the model reads of it says what to do instead of
 * another try.
 */
import {
  heldAlready,
  holdToolCall,
  isSameWish,
  type Asked,
  type WantedAction,
} from '../../domain/approvals/held-command.ts'
import { labelOf } from '../../domain/agents/tasks.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { TaskId, WorkItemId } from '../../domain/ids.ts'
import type { Rejection } from '../../domain/rejection.ts'
import type { ToolResult } from '../../domain/state/call.ts'
import type { HeldToolCall, Task } from '../../domain/state/task.ts'
import { failed, type EffectTool, type ToolContext } from './tool.ts'

/** Tasks that were not run, the newest, among which a no to the same is looked for. */
const REFUSALS_READ = 200

/** `held`: asks for it, in the commit of the result. */
export type Unready = { ok: false; result: ToolResult; held?: (d: Draft) => Rejection | null }

export function deniedResult(tool_name: string, why: string): ToolResult {
  const hint = 'Do not try another way to do the same; say in your report what is left.'
  return failed(tool_name, 'rejected', 'policy_denied', why, hint)
}

type Intent = Awaited<ReturnType<EffectTool['intent']>>

/**
 * The intent of a call, as far as the policy lets it. What is asked about is worked out all the
 * same: what cannot be done is told at once, and a person sees what a yes would do.
 */
export async function intentByPolicy(tool: EffectTool, ctx: ToolContext): Promise<Intent> {
  const { name, later } = tool
  const { input } = ctx.call
  const judged = await ctx.judged(input)
  if (judged === null || judged.verdict === 'allow') return tool.intent(input, ctx)
  if (judged.verdict === 'deny') return { ok: false, result: deniedResult(name, judged.why) }
  if (later === undefined) return { ok: false, result: onlyByRule(name, judged.because) }
  const ready = await tool.intent(input, ctx)
  if (!ready.ok) return ready
  const shown = later.shown(input, ready.intent)
  if (shown === null) return { ok: false, result: tooLong(name, judged.because) }
  const { verdict: _, ...asked } = judged
  const call = { tool_name: name, input, intent: ready.intent, shown }
  return heldUse(ctx, asked, call, labelOf(`${name} ${tool.title(input)}`))
}

async function heldUse(
  ctx: ToolContext,
  asked: Asked,
  call: HeldToolCall,
  label: string,
): Promise<Unready> {
  const { tool_name } = call
  const { action, because } = asked
  const said = await saidAlready(ctx, tool_name, { action, call })
  if (said !== null) return { ok: false, result: said }
  const id = ctx.mint('task')
  return {
    ok: false,
    result: heldResult(tool_name, id, because),
    held: (d) =>
      holdToolCall(d, {
        ...asked,
        id,
        call,
        label,
        call_id: ctx.call.id,
        work_item_id: openTurn(d)?.work_item_id ?? null,
        workdir: ctx.workdir,
      }),
  }
}

/** Where the same is asked already, or was refused since the operator spoke last. */
export async function saidAlready(
  ctx: ToolContext,
  tool_name: string,
  wanted: WantedAction,
): Promise<ToolResult | null> {
  const item = ctx.turn.work_item_id
  const known = heldAlready(ctx.facts(), wanted, item)
  if (known !== null) return heldResult(tool_name, known.id, known.held.because)
  const no = await refusedBefore(ctx, wanted, item)
  return no === null ? null : refusedAgain(tool_name, no)
}

/** The newest no to the same of the item, while the operator has said nothing since. */
async function refusedBefore(
  ctx: ToolContext,
  wanted: WantedAction,
  item: WorkItemId | null,
): Promise<Task | null> {
  const unrun = await ctx.list('tasks', { limit: REFUSALS_READ, status: ['cancelled'] })
  const no = unrun.find(
    ({ held, work_item_id }) =>
      held?.answer?.allowed === false && isSameWish(held, wanted) && work_item_id === item,
  )
  if (no === undefined) return null
  const [last] = await ctx.list('messages', { limit: 1, kind: ['operator_prompt'] })
  const at = no.held?.answer?.at ?? ''
  return last !== undefined && last.created_at > at ? null : no
}

export function heldResult(tool_name: string, task_id: TaskId, because: string): ToolResult {
  const message = `Held as ${task_id}: it needs the operator's yes. ${because}`
  const hint =
    'It runs by itself after a yes, and you are told the outcome. Do not try another way; go on ' +
    'with other work of the item, or end your turn.'
  return failed(tool_name, 'not_executed', 'held', message, hint, { detail: { task_id } })
}

function refusedAgain(tool_name: string, { id, held: asked }: Task): ToolResult {
  const words = asked?.answer?.words ?? ''
  const said = words === '' ? '' : `: ${words}`
  const message = `The operator said no to this in ${id}${said}. They are not asked again.`
  const hint = 'Do what they said, or say in your report what is left.'
  return failed(tool_name, 'rejected', 'operator_refused', message, hint)
}

function onlyByRule(tool_name: string, because: string): ToolResult {
  const hint =
    'Only a rule of the operator allows it: ask them with WaitFor operator_input, or go on with ' +
    'what needs no such call.'
  return failed(tool_name, 'rejected', 'policy_asks', because, hint)
}

function tooLong(tool_name: string, because: string): ToolResult {
  const message = `It needs the operator's yes, and is longer than they are shown. ${because}`
  return failed(tool_name, 'rejected', 'over_limit', message, 'Do it in several smaller calls.')
}
