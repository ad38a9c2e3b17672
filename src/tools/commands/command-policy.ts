/**
 * What the policy makes of a command before it begins: it may run, it is refused, or it is held
 * until a person has said yes. What the model reads of it says what to do instead of another try.
 */
import { coveredBy, grantFor } from '../../domain/approvals/grants.ts'
import { holdCommand } from '../../domain/approvals/held-command.ts'
import { labelOf } from '../../domain/agents/tasks.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { GrantId } from '../../domain/ids.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import type { Task } from '../../domain/state/task.ts'
import { deniedResult, heldResult, saidAlready, type Unready } from '../tool/policy.ts'
import type { ToolContext } from '../tool/tool.ts'

const NAME = 'ExecCommand'

/** The command as it would be queued. */
export type WantedCommand = Pick<Task, 'id' | 'workdir' | 'timeout_ms' | 'input'> & { cmd: string }

export type Judged =
  /** `by`: what allows it, looked at in the commit that queues it. */
  { ok: true; by: (d: Draft) => { grant_id?: GrantId } | Rejection } | Unready

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
  const said = await saidAlready(ctx, NAME, { action: asked.action })
  if (said !== null) return { ok: false, result: said }
  return {
    ok: false,
    result: heldResult(NAME, wanted.id, asked.because),
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
