/**
 * The budget of an agent, which the agents made under it draw on, and of the home (
 * docs/spec/budget.md#what-is-made-on-the-way): the limits of an item's budget, without the
 * deadline, of a day or in all.
 */
import type { Budget } from './work-item.ts'

export const spendWindows = ['day', 'all'] as const
/** A UTC day, or everything that ever was. */
export type SpendWindow = (typeof spendWindows)[number]

export type SpendLimits = Omit<Budget, 'deadline'>
/** Null: no limit of that kind. */
export type SpendBudget = { readonly [W in SpendWindow]: SpendLimits | null }
