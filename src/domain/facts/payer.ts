/**
 * Whose budget pays, over the facts of an agent: for an item, for a turn, for what is about no open
 * item; and whether it is used up (docs/spec/budget.md).
 */
import type { Facts } from './facts.ts'
import type { WorkItemId } from '../ids.ts'
import { isDrawnOn, type Meter, type Measured } from '../state/meter.ts'
import type { Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import type { Budget, WorkItem } from '../state/work-item.ts'
import { useOf, budgetNow, overOf, type BudgetNow } from './budget.ts'

export const meterOf = (facts: Facts, id: string): Meter | null => facts.row('meters', id) ?? null

/** Whether the item may start no request and no turn now. A completed one is over nothing. */
export function isOverBudget(facts: Facts, id: WorkItemId | null, now: Timestamp): boolean {
  const item = id === null ? undefined : facts.row('work_items', id)
  return item?.state === 'open' && hasReached(facts, item, now)
}

/** The same of an item that the open turn may just have completed. */
export function hasReached(facts: Facts, item: WorkItem, now: Timestamp): boolean {
  const meter = meterOf(facts, item.id)
  if (item.budget === null) return (meter?.over.length ?? 0) > 0
  return overOf(item.budget, useOf(meter), now).length > 0
}

/** The same of what a turn is charged to, which may be completed and pay on. */
export const isUsedUp = (facts: Facts, id: WorkItemId | null, now: Timestamp): boolean =>
  isOverBudget(facts, id, now) || (id !== null && overShared(facts, id, now).length > 0)

/** The limits reached of a budget that others draw on. */
export function overShared(facts: Facts, payer: WorkItemId, now: Timestamp): Measured[] {
  const budget = sharedLimits(facts, payer)
  return budget === null ? [] : overOf(budget, useOf(meterOf(facts, payer)), now)
}

/**
 * The item whose budget pays for what this one does: itself, or the one it was made for. Null: none
 * is limited.
 */
export function payerOf(facts: Facts, id: WorkItemId | null): WorkItemId | null {
  const item = id === null ? undefined : facts.row('work_items', id)
  // A completed item is not among the rows for long: its meter stays while it pays on.
  if (item === undefined) return id !== null && meterOf(facts, id)?.pays_on === true ? id : null
  return item.budget === null ? (meterOf(facts, item.id)?.draws_on ?? null) : item.id
}

/** The item that pays for what the agent does about no open item; null: none does. */
export function payingOn(facts: Facts): WorkItemId | null {
  for (const { id, pays_on } of facts.rows('meters')) if (pays_on) return id as WorkItemId
  return null
}

export const isOpenItem = (facts: Facts, id: WorkItemId | null): boolean =>
  id !== null && facts.row('work_items', id)?.state === 'open'

/**
 * What a turn is charged to: its item while that is open; of an offer the first item with a budget;
 * else what pays on.
 */
export function chargedItem(
  facts: Facts,
  turn: Pick<Turn, 'work_item_id' | 'cause'>,
): WorkItemId | null {
  const { work_item_id: id, cause } = turn
  if (isOpenItem(facts, id)) return id
  if (id !== null || cause.kind !== 'queued_available') return payingOn(facts)
  // One that the turn itself has completed leaves what paid last to pay on.
  const pays = (one: WorkItemId) => isOpenItem(facts, one) && payerOf(facts, one) !== null
  return cause.work_item_ids.find(pays) ?? payingOn(facts)
}

/** The limits in force for those who draw on the item, also when it is completed; null: none. */
export function sharedLimits(facts: Facts, id: WorkItemId): Budget | null {
  const item = facts.row('work_items', id)
  if (item?.state === 'open') return item.budget
  const meter = meterOf(facts, id)
  return meter !== null && isDrawnOn(meter) ? meter.limits : null
}

/** The limits of the item it draws on that an agent has reached; none for everyone else. */
export function overAllowance(facts: Facts, now: Timestamp): Measured[] {
  const meter = meterOf(facts, facts.agent_id)
  if (meter === null || meter.allowance === null) return []
  return overOf(meter.allowance, meter.used, now)
}

/** What an agent may use in all of the item it draws on, and how much of that it used. */
export type Allowance = { allowed: Budget } & BudgetNow

/** Null for everyone else, and where that item has no budget. */
export function allowanceNow(facts: Facts, now: Timestamp): Allowance | null {
  const meter = meterOf(facts, facts.agent_id)
  const allowed = meter?.allowance ?? null
  const used = allowed && budgetNow({ budget: allowed, state: 'open' }, meter, now)
  return allowed && used && { allowed, ...used }
}

/** What an unbound message is about: the focus, while its budget lets it start anything. */
export function focusFor(facts: Facts, now: Timestamp): WorkItemId | null {
  const focus = facts.row('agents', facts.agent_id)?.current_work_item_id ?? null
  return isOverBudget(facts, focus, now) ? null : focus
}
