/**
 * Claim: the agent's completion of an item whose checks the runtime can run
 * (docs/spec/check.md#before-the-claim). They are run before it is decided: one that fails refuses
 * it, with its output. What has not ended in time, and what only a person can say, judges
 * afterwards as for every completion. The operator's own completion and a runbook's are no claims:
 * nobody is there to mend what failed.
 */
import type { Call } from '../state/call.ts'
import { isAlive, isMachine, type Check, type WorkspaceTree } from '../state/check.ts'
import { endLine } from './words.ts'
import { owe, quotedTail } from './checks.ts'
import { agentOf, callsOf, openTurn, type Draft, type Facts } from '../facts/facts.ts'
import type { CallId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { no, type Rejection } from '../rejection.ts'
import { treeOf } from '../facts/verification.ts'
import { isUnadopted, type WorkItem } from '../state/work-item.ts'

/**
 * - `complete`: nothing is to be run before.
 * - `look`: what the workspace is now decides.
 * - `owe`: the checks are to be run for this call.
 * - `wait`: runs are under way, of this call or of one before it.
 * - `judge`: every run that counts has ended.
 */
export type ClaimStep = 'complete' | 'look' | 'owe' | 'wait' | 'judge'

/** What a completion by this call does next. `tree`: of the workspace; null: nobody looked yet. */
export function claimStep(
  facts: Facts,
  id: WorkItemId,
  call: CallId,
  tree: WorkspaceTree | null,
): ClaimStep {
  const item = facts.row('work_items', id)
  const turn = openTurn(facts)
  if (item?.state !== 'open' || item.agent_id !== facts.agent_id || isUnadopted(item)) {
    return 'complete'
  }
  const checks = item.checks.filter(isMachine)
  if (turn === null || turn.model === 'runbook' || checks.length === 0) return 'complete'
  if (checks.some(isAlive)) return 'wait'
  if (isClaimOf(item, call)) return 'judge'
  if ((item.claim?.refused ?? 0) >= limits.claim_refusals.value) return 'complete'
  if (tree === null) return 'look'
  return isKept(facts, item, checks, tree) ? 'judge' : 'owe'
}

/** Whether the runs that are there were begun for this call. */
export const isClaimOf = ({ claim, checks }: WorkItem, call: CallId): boolean =>
  claim?.call_id === call && checks.filter(isMachine).every(({ run }) => run !== null)

/**
 * Whether the last runs still say what another would: on the very files of now, with nothing done
 * since in this turn that could have changed what git ignores, or a server. What an earlier turn
 * did is not known here, so then they are run again.
 */
function isKept(
  facts: Facts,
  item: WorkItem,
  checks: readonly Check[],
  tree: WorkspaceTree,
): boolean {
  const turn = openTurn(facts)
  const calls = turn === null ? [] : callsOf(facts, turn)
  const last = calls.find(({ id }) => id === item.claim?.call_id)
  if (last === undefined || tree.hash === null) return false
  const isLater = ({ round, index }: Call) =>
    round > last.round || (round === last.round && index > last.index)
  if (calls.some((call) => isLater(call) && mayChange(call))) return false
  return checks.every(({ run }) => {
    if (run?.state !== 'finished' || run.outcome === 'unknown' || run.tree === null) return false
    return run.tree.before.hash === tree.hash && run.tree.after.hash === tree.hash
  })
}

/** Whether the call may have changed what a check looks at. */
const mayChange = ({ effect_class }: Call): boolean =>
  effect_class !== 'pure' && effect_class !== 'idempotent'

/** The intent: the claim and a run of each check, in one commit. False: it is none any more. */
export function startClaim(d: Draft, id: WorkItemId, call_id: CallId): boolean {
  const item = d.row('work_items', id)
  if (item?.state !== 'open' || agentOf(d).state === 'deleted') return false
  const checks = item.checks.filter((check) => isMachine(check) && !isAlive(check))
  if (checks.length === 0) return false
  d.emit({ type: 'work_item_claimed', id, call_id })
  for (const check of checks) owe(d, item, check, 'runtime')
  return true
}

/**
 * Whether it may be completed on the runs that there are; null: it may. `cut`: something ended the
 * wait, so what has not ended in time was not given it.
 */
export function judgeClaim(
  d: Draft,
  item: WorkItem,
  call_id: CallId,
  cut: boolean,
): Rejection | null {
  const checks = item.checks.filter(isMachine)
  const failed = checks.filter(({ run }) => run?.state === 'finished' && run.outcome === 'failed')
  if (failed.length > 0 && (!cut || isClaimOf(item, call_id))) {
    d.emit({ type: 'work_item_claim_refused', id: item.id, call_id })
    return refusedBy(item, checks.length, failed, isClaimOf(item, call_id))
  }
  const open = checks.filter((check) => check.run === null || isAlive(check))
  return open.length > 0 && (cut || !isClaimOf(item, call_id)) ? cutShort(item, open) : null
}

/** `ran`: for this call. A kept failure says that it is one, and what has the checks run again. */
function refusedBy(item: WorkItem, all: number, failed: readonly Check[], ran: boolean): Rejection {
  const kept = ran
    ? '.'
    : '. They were not run again, as nothing has changed: ' +
      'change a file or run a command, and they are.'
  const count = `${failed.length} of ${all} checks that the runtime ran failed`
  return no('checks_failed', `${item.id} stays open: ${count}${kept}`)
}

/** What the checks that refused a claim showed: what they printed is theirs, and stays apart. */
export const failedChecks = ({ checks }: WorkItem) =>
  checks.filter(isMachine).flatMap((check) => {
    const { run } = check
    if (run?.state !== 'finished' || run.outcome !== 'failed') return []
    return [{ check: endLine(check), printed: quotedTail(run), task_id: run.task_id }]
  })

function cutShort(item: WorkItem, alive: readonly Check[]): Rejection {
  const which = alive.map(({ name }) => name).join(', ')
  const hint = 'They go on. See what came meanwhile, then complete it again.'
  return no('checks_running', `${item.id} stays open: its checks have not ended (${which}).`, hint)
}

/** The one tree that every machine check passed on; undefined: there is none. */
export function treeOfClaim(item: WorkItem): string | undefined {
  const checks = item.checks.filter(isMachine)
  const passed = checks.every(
    ({ run }) => run?.state === 'finished' && run.outcome === 'passed' && run.tree !== null,
  )
  const { tree, same } = treeOf(checks)
  return passed && same && tree !== null ? tree : undefined
}
