/**
 * Setting a budget (docs/spec/budget.md, docs/spec/http.md): the operator gives the limits that
 * change, and the others stay. A budget without any limit is none.
 */
import { measuredWords, overOf, useOf } from '../facts/budget.ts'
import type { Meter, Measured } from '../state/meter.ts'
import { spendWindows } from '../state/spend-budget.ts'
import type { SpendBudget, SpendLimits, SpendWindow } from '../state/spend-budget.ts'
import { fromMs, isTimestamp, toMs, type Timestamp } from '../time.ts'
import { no, type Rejection } from '../rejection.ts'
import type { Budget } from '../state/work-item.ts'

/** What an operator may say of a budget: null takes a limit away, and all of it the same. */
export type BudgetChange = { [K in keyof Budget]?: Budget[K] | undefined } | null

const noLimits: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }

/** The budget as it will be, or why not. */
export function changedBudget(
  before: Budget | null,
  change: BudgetChange,
  now: Timestamp,
): { ok: true; budget: Budget | null } | Rejection {
  if (change === null) return { ok: true, budget: null }
  const budget = { ...noLimits, ...before }
  for (const key of ['max_tokens', 'max_rounds', 'max_usd'] as const) {
    const given = change[key]
    if (given === undefined) continue
    const whole = key === 'max_usd' || given === null || Number.isSafeInteger(given)
    if (!whole || (given !== null && !(given > 0 && Number.isFinite(given)))) {
      return no('budget_invalid', `${key} is ${given}.`)
    }
    budget[key] = given
  }
  const { deadline } = change
  if (deadline !== undefined) {
    if (deadline !== null && !isTimestamp(deadline)) {
      return no('budget_invalid', `The deadline "${deadline}" is no time with a zone.`)
    }
    budget.deadline = deadline === null ? null : fromMs(toMs(deadline))
    if (budget.deadline !== null && budget.deadline <= now) {
      return no('budget_invalid', `The deadline ${budget.deadline} is over already.`)
    }
  }
  const limited = Object.values(budget).some((limit) => limit !== null)
  return { ok: true, budget: limited ? budget : null }
}

/** What an operator may say of what an agent may spend, of the day and in all. */
export type SpendChange =
  | { [W in SpendWindow]?: Omit<NonNullable<BudgetChange>, 'deadline'> | null | undefined }
  | null

/** The same for a budget of a day and in all. */
export function changedSpending(
  before: SpendBudget | null,
  change: SpendChange,
  now: Timestamp,
): { ok: true; budget: SpendBudget | null } | Rejection {
  const budget: Record<SpendWindow, SpendLimits | null> = { day: null, all: null, ...before }
  for (const window of spendWindows) {
    const given = change === null ? null : change[window]
    if (given === undefined) continue
    const had = budget[window] === null ? null : { ...budget[window], deadline: null }
    const set = changedBudget(had, given, now)
    if (!set.ok) return set
    if (set.budget === null) budget[window] = null
    else {
      const { deadline: _, ...limits } = set.budget
      budget[window] = limits
    }
  }
  return { ok: true, budget: budget.day === null && budget.all === null ? null : budget }
}

/** What whoever sets it should know: it holds the item at once, or cannot measure dollars. */
export function budgetWarnings(
  budget: Budget | null,
  meter: Meter | null,
  { now, unpriced }: { now: Timestamp; unpriced: string | null },
): { kind: string; message: string }[] {
  if (budget === null) return []
  const over = overOf(budget, useOf(meter), now)
  return [
    ...(over.length === 0 ? [] : [reached(over)]),
    ...(budget.max_usd === null || unpriced === null ? [] : [noPrice(unpriced)]),
  ]
}

const reached = (over: readonly Measured[]) => ({
  kind: 'budget_reached',
  message: `It is reached already, so the item is held: ${over.map(measuredWords).join(', ')}.`,
})

const noPrice = (model: string) => ({
  kind: 'price_unknown',
  message:
    `The price of ${model} is not known, so dollars are not metered and max_usd does not stop ` +
    'it. Set max_tokens or max_rounds as well.',
})
