/**
 * Candidates: the items of an agent, projected, by class and in order
 * (docs/spec/work-item.md#ranking). The prompt shows the first few of each class; the scheduler
 * offers them in this order.
 */
import type { CandidateClass } from '../state/decision.ts'
import { agentOf, type Facts } from './facts.ts'
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { meterOf } from './payer.ts'
import { orders, rankingOf, type Candidates } from './ranking.ts'
import { projectItem, type Projection } from './readiness.ts'
import type { Timestamp } from '../time.ts'

export const rank = (
  candidate_class: CandidateClass,
  items: readonly Projection[],
): readonly Projection[] => [...items].sort(orders[candidate_class])

/** All items among the facts, projected, by class and in order. */
export const candidates = (facts: Facts, now: Timestamp): Candidates =>
  rankingOf(facts).at(now).candidates

/** One of them; null: it is not among the facts. */
export function project(facts: Facts, id: WorkItemId, now: Timestamp): Projection | null {
  const item = facts.row('work_items', id)
  if (!item) return null
  const wait = item.state === 'open' ? rankingOf(facts).waitOf(id) : null
  const current = agentOf(facts).current_work_item_id
  return projectItem(item, wait, current, now, meterOf(facts, id))
}

/** How many of a class a prompt may show; null: no limit of its own. */
export const promptLimit: { readonly [C in CandidateClass]: number } = {
  current_runnable: 1,
  triggered_blocked: limits.prompt_triggered.value,
  queued_runnable: limits.prompt_queued.value,
  waiting_for_operator: limits.prompt_blocked.value,
  blocked: limits.prompt_blocked.value,
  completed_recent: limits.prompt_completed.value,
}
