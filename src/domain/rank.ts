/**
 * Ranking: the order of work items inside each candidate class (contracts 2), stable, ties by id.
 * The prompt shows the first few of each; the scheduler offers them in this order.
 */
import { agentOf, waitsByItem, type Facts } from './facts.ts'
import { limits } from './limits.ts'
import { projectItem, type CandidateClass, type Projection } from './readiness.ts'
import type { Timestamp } from './time.ts'

export type Candidates = { readonly [C in CandidateClass]: readonly Projection[] }

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byId = (a: Projection, b: Projection) => byText(a.item.id, b.item.id)
const newest = (a: Projection, b: Projection) => byText(b.item.updated_at, a.item.updated_at)

const orders: { readonly [C in CandidateClass]: (a: Projection, b: Projection) => number } = {
  current_runnable: byId,
  triggered_blocked: (a, b) =>
    byText(b.wait?.last_triggered_at ?? '', a.wait?.last_triggered_at ?? '') ||
    newest(a, b) ||
    byId(a, b),
  queued_runnable: (a, b) =>
    byText(a.item.updated_at, b.item.updated_at) ||
    byText(a.item.created_at, b.item.created_at) ||
    byId(a, b),
  waiting_for_operator: (a, b) => newest(a, b) || byId(a, b),
  blocked: (a, b) => newest(a, b) || byId(a, b),
  completed_recent: (a, b) => newest(a, b) || byId(a, b),
}

export const rank = (
  candidate_class: CandidateClass,
  items: readonly Projection[],
): readonly Projection[] => [...items].sort(orders[candidate_class])

/** All items among the facts, projected, by class and in order. */
export function candidates(facts: Facts, now: Timestamp): Candidates {
  const found: { [C in CandidateClass]: Projection[] } = {
    current_runnable: [],
    triggered_blocked: [],
    queued_runnable: [],
    waiting_for_operator: [],
    blocked: [],
    completed_recent: [],
  }
  const waits = waitsByItem(facts)
  const current = agentOf(facts).current_work_item_id
  for (const item of facts.rows('work_items')) {
    const wait = item.state === 'open' ? (waits.get(item.id) ?? null) : null
    const projection = projectItem(item, wait, current, now)
    found[projection.candidate_class].push(projection)
  }
  for (const key of Object.keys(found) as CandidateClass[]) found[key].sort(orders[key])
  return found
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
