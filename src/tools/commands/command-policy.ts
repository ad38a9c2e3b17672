/**
 * What the policy makes of a command before it begins: it may run, it is refused, or it is held
 * until a person has said yes. What the model reads of it says what to do instead of another try.
 */
import { coveredBy, grantFor } from '../../domain/approvals/grants.ts'
import { heldAlready, holdCommand, type Asked } from '../../domain/approvals/held-command.ts'
import { labelOf } from '../../domain/agents/tasks.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { GrantId, TaskId, WorkItemId } from '../../domain/ids.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import type { ToolResult } from '../../domain/state/call.ts'
import type { Task } from '../../domain/state/task.ts'
import { deniedResult } from '../tool/policy.ts'
import { failed, type ToolContext } from '../tool/tool.ts'

const NAME = 'ExecCommand'
/** Tasks that were not run, the newest, among which a no to the same command is looked for. */
const REFUSALS_READ = 200

/** The command as it would be queued. */
export type WantedCommand = Pick<Task, 'id' | 'workdir' | 'timeout_ms' | 'input'> & { cmd: string }

export type Judged =
  /** `by`: what allows it, looked at in the commit that queues it. */
  | { ok: true; by: (d: Draft) => { grant_id?: GrantId } | Rejection }
  | { ok: false; result: ToolResult; held?: (d: Draft) => Rejection | null }

const free: Judged = { ok: true, by: () => ({}) }

/** A command that was refused is refused until the operator speaks again. */
export async function judgedByPolicy(ctx: ToolContext, wanted: WantedCommand): Promise<Judged> {
  const { cmd, workdir } = wanted
  const judged = await ctx.judged({ cmd, workdir })
  if (judged === null || judged.verdict === 'allow') return free
  if (judged.verdict === 'deny') return { ok: false, result: deniedResult(NAME, judged.why) }
  const { verdict: _, ...asked } = judged
  const item = ctx.turn.work_item_id
  if (coveredBy(ctx.facts(), asked, item, ctx.now()) !== null) {
    return {
      ok: true,
      by: (d) => {
        const grant = grantFor(d, asked, openTurn(d)?.work_item_id ?? null)
        return isRejection(grant) ? grant : { grant_id: grant.id }
      },
    }
  }
  const known = heldAlready(ctx.facts(), asked, item)
  if (known !== null) return { ok: false, result: held(known.id, known.held.because) }
  const no = await refusedBefore(ctx, asked, item)
  if (no !== null) return { ok: false, result: refusedAgain(no) }
  return {
    ok: false,
    result: held(wanted.id, asked.because),
    held: (d) =>
      holdCommand(d, {
        ...asked,
        ...wanted,
        call_id: ctx.call.id,
        work_item_id: openTurn(d)?.work_item_id ?? null,
        label: labelOf(wanted.cmd),
        output_path: ctx.taskFolder(wanted.id),
      }),
  }
}

/** The newest no to the same action of the item, while the operator has said nothing since. */
async function refusedBefore(
  ctx: ToolContext,
  { action }: Asked,
  item: WorkItemId | null,
): Promise<Task | null> {
  const unrun = await ctx.list('tasks', { limit: REFUSALS_READ, status: ['cancelled'] })
  const no = unrun.find(
    (task) =>
      task.held?.answer?.allowed === false &&
      task.held.action.sha256 === action.sha256 &&
      task.work_item_id === item,
  )
  if (no === undefined) return null
  const [last] = await ctx.list('messages', { limit: 1, kind: ['operator_prompt'] })
  const at = no.held?.answer?.at ?? ''
  return last !== undefined && last.created_at > at ? null : no
}

function held(task_id: TaskId, because: string): ToolResult {
  const message = `Held as ${task_id}: it needs the operator's yes. ${because}`
  const hint =
    'It runs by itself after a yes, and you are told the outcome. Do not try another way; go on ' +
    'with other work of the item, or end your turn.'
  return failed(NAME, 'not_executed', 'held', message, hint, { detail: { task_id } })
}

function refusedAgain({ id, held: asked }: Task): ToolResult {
  const words = asked?.answer?.words ?? ''
  const said = words === '' ? '' : `: ${words}`
  const message = `The operator said no to this in ${id}${said}. They are not asked again.`
  const hint = 'Do what they said, or say in your report what is left.'
  return failed(NAME, 'rejected', 'operator_refused', message, hint)
}
