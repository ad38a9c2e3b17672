/**
 * Waiting for the checks of a completion: until they have ended, the time for it is over, the
 * operator aborts, or an interjected message waits. They are runs of the ledger: what this process
 * does not see the end of, the next one waits for.
 */
import type { WorkspaceTree } from '../../domain/state/check.ts'
import { claimStep, startClaim } from '../../domain/checks/completion-claim.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import type { ToolContext } from '../tool/tool.ts'

/** `cut`: they were not given their time. `none`: there is nothing to decide by. */
export type Claimed = 'none' | 'judged' | 'cut'

export async function claimed(id: WorkItemId, ctx: ToolContext): Promise<Claimed> {
  const until = ctx.monotonic() + limits.claim_wait.value
  const isCut = () => ctx.interjected.aborted || ctx.signal.aborted
  let tree: WorkspaceTree | null = null
  for (;;) {
    const step = claimStep(ctx.facts(), id, ctx.call.id, tree)
    switch (step) {
      case 'complete':
        return 'none'
      case 'judge':
        return 'judged'
      case 'look':
        tree = await ctx.checks.tree()
        break
      case 'owe':
        if (isCut()) return 'cut'
        if (!(await ctx.commit((d) => startClaim(d, id, ctx.call.id)))) return 'none'
        break
      case 'wait': {
        const left = until - ctx.monotonic()
        if (isCut()) return 'cut'
        if (left <= 0) return 'judged'
        await ended(ctx, id, left)
      }
    }
  }
}

/** Made once: an abort without a reason makes an exception with a stack. */
const decided = new Error('the wait for the checks is over')

async function ended(ctx: ToolContext, id: WorkItemId, ms: number): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([ctx.signal, ctx.interjected, over.signal])
  try {
    await Promise.race([ctx.checks.ended(id, signal), ctx.sleep(ms, over.signal)])
  } finally {
    over.abort(decided)
  }
}
