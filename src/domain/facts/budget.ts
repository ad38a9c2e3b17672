/**
 * Budgets: from a limit and a meter to what was used, what is left, and whether it is over or
 * nearly so (docs/spec/budget.md). Derived and never stored; the scheduler, the prompt, `why` and
 * every screen ask these functions. Which item's budget pays is in payer.ts, what changes a meter
 * in budgets/settle.ts.
 */
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { addUse, noUse, type Draw, type Meter, type Use, type Measured } from '../state/meter.ts'
import { between, plus, type Timestamp } from '../time.ts'
import type { Round, Usage } from '../state/turn.ts'
import type { Budget, WorkItem } from '../state/work-item.ts'

/** A budget as it stands now; of the time only whether it is over, which changes once. */
export type BudgetNow = {
  used: {
    tokens: number
    /** Null: the price of a round is not known; then `known_usd` is less than all of it. */
    usd: number | null
    known_usd: number
    rounds: number
  }
  /** Null where there is no limit, or no meter; never below zero. */
  left: {
    tokens: number | null
    usd: number | null
    rounds: number | null
  }
  /** The limits that are reached, in the order of the budget's fields; any of them holds it. */
  over: readonly Measured[]
  /** The item whose budget it is, where it has none of its own. */
  draws_on: WorkItemId | null
}

/** All that was used for the item: by its own answered requests and by those who draw on it. */
export const useOf = (meter: Meter | null): Use =>
  takenOf(meter).reduce((sum, { used }) => addUse(sum, used), meter?.used ?? noUse)

/** What others took of it: children that it was handed to, and agents made in its turns. */
export const takenOf = (meter: Meter | null): readonly Pick<Draw, 'used' | 'reserved'>[] =>
  meter === null ? [] : [...meter.drawn, ...meter.drawers]

/** Null: the item has no budget. A completed item is over nothing. */
export function budgetNow(
  item: Pick<WorkItem, 'budget' | 'state'>,
  meter: Meter | null,
  now: Timestamp,
): BudgetNow | null {
  const { budget } = item
  const use = useOf(meter)
  if (budget === null) return drawing(item, meter, use)
  const left = lessUse(budget, use)
  return {
    used: {
      tokens: use.tokens,
      usd: use.unpriced > 0 ? null : use.usd,
      known_usd: use.usd,
      rounds: use.rounds,
    },
    left: {
      tokens: left.max_tokens,
      usd: use.unpriced > 0 ? null : left.max_usd,
      rounds: left.max_rounds,
    },
    over: item.state === 'open' ? overOf(budget, use, now) : [],
    draws_on: null,
  }
}

/** Of an item that draws on another's budget: its own use, and what of the other is over. */
function drawing(item: Pick<WorkItem, 'state'>, meter: Meter | null, use: Use): BudgetNow | null {
  if (meter === null || meter.draws_on === null) return null
  const { tokens, rounds } = use
  return {
    used: { tokens, usd: use.unpriced > 0 ? null : use.usd, known_usd: use.usd, rounds },
    left: { tokens: null, usd: null, rounds: null },
    over: item.state === 'open' ? meter.over : [],
    draws_on: meter.draws_on,
  }
}

/** The limits that are reached. Of dollars it counts what is known: it may be more, never less. */
export function overOf(budget: Budget, use: Use, now: Timestamp): Measured[] {
  return counted(budget, use, 1).concat(
    budget.deadline !== null && budget.deadline <= now
      ? [{ what: 'deadline', limit: budget.deadline }]
      : [],
  )
}

/** Limits reached to four fifths and not whole; of a deadline, of the time since it was set. */
export function nearlyOf(budget: Budget, meter: Meter, now: Timestamp): Measured[] {
  const part = limits.budget_notice.value / 100
  const [use, { since }] = [useOf(meter), meter]
  const { deadline } = budget
  const over = new Set(overOf(budget, use, now).map(({ what }) => what))
  const time: Measured[] =
    deadline !== null && plus(since, Math.floor(between(since, deadline) * part)) <= now
      ? [{ what: 'deadline', limit: deadline }]
      : []
  return [...counted(budget, use, part), ...time].filter(({ what }) => !over.has(what))
}

function counted(budget: Budget, use: Use, part: number): Measured[] {
  const found: Measured[] = []
  const look = (what: 'tokens' | 'usd' | 'rounds', limit: number | null) => {
    if (limit !== null && use[what] >= limit * part) found.push({ what, used: use[what], limit })
  }
  look('tokens', budget.max_tokens)
  look('usd', budget.max_usd)
  look('rounds', budget.max_rounds)
  return found
}

/** What tells one limit from the same one set to something else. */
export const markOf = ({ what, limit }: Measured): string => `${what}:${limit}`
/**
 * What a child, or another agent that draws on the item, may use in all: its limits less what
 * everybody else took of them, open requests included. So it moves with the others' work and not
 * with its own.
 */
export function allowanceOf(budget: Budget, meter: Meter, taker: string): Budget {
  const reserved = meter.reserved === null ? meter.used : addUse(meter.used, meter.reserved.use)
  const taken = [
    ...meter.drawn.filter(({ delegation_id }) => delegation_id !== taker),
    ...meter.drawers.filter(({ agent_id }) => agent_id !== taker),
  ]
  const others = taken.reduce(
    (sum, draw) => addUse(addUse(sum, draw.used), draw.reserved),
    reserved,
  )
  return lessUse(budget, others)
}

/** What a use leaves of limits. */
export function lessUse(budget: Budget, use: Use): Budget {
  const rest = (limit: number | null, used: number) =>
    limit === null ? null : Math.max(0, limit - used)
  return {
    max_tokens: rest(budget.max_tokens, use.tokens),
    max_usd: rest(budget.max_usd, use.usd),
    max_rounds: rest(budget.max_rounds, use.rounds),
    deadline: budget.deadline,
  }
}

/**
 * What the next request is likely to take: what the round before read and wrote, and an answer as
 * long again; of the first one its opening and a short answer.
 */
export function estimated(last: Round | null, opening_tokens: number): Use {
  const answer = limits.reserved_answer.value
  const usage = last?.usage ?? null
  const written = usage?.output_tokens ?? answer
  const read = usage === null ? opening_tokens : (usage.input_tokens ?? opening_tokens) + written
  return { tokens: read + written, usd: usage?.usd ?? 0, unpriced: 0, rounds: 1 }
}

/** What an answer took. Tokens the provider did not count are taken from the estimate. */
export function settled(usage: Usage, reserved: Use | null): Use {
  const { input_tokens, output_tokens, usd } = usage
  const known = (input_tokens ?? 0) + (output_tokens ?? 0)
  const whole = input_tokens !== null && output_tokens !== null
  return {
    tokens: whole ? known : Math.max(known, reserved?.tokens ?? 0),
    usd: usd ?? 0,
    unpriced: usd === null ? 1 : 0,
    rounds: 1,
  }
}

/** `1,200 of 1,000 tokens`, `$0.52 of $0.50`, `the deadline 2026-01-01T…`. */
export function measuredWords(measured: Measured): string {
  switch (measured.what) {
    case 'tokens':
    case 'rounds':
      return `${thousands(measured.used)} of ${thousands(measured.limit)} ${measured.what}`
    case 'usd':
      return `${dollars(measured.used)} of ${dollars(measured.limit)}`
    case 'deadline':
      return `the deadline ${measured.limit}`
  }
}

/** `It reached its budget: 1,200 of 1,000 tokens.` Or another item's, on which it draws. */
export const overWords = (over: readonly Measured[], draws_on: WorkItemId | null = null): string =>
  `It reached ${draws_on === null ? 'its budget' : `the budget it draws on, of ${draws_on}`}: ` +
  `${over.map(measuredWords).join(', ')}.`

/** `1,200 of 10,000 tokens, $0.31 of $5.00, 3 of 20 rounds, until 2026-01-01T…`. */
export function budgetLine(budget: Budget, { used }: Pick<BudgetNow, 'used'>): string {
  const { max_tokens, max_usd, max_rounds, deadline } = budget
  const counts = (what: 'tokens' | 'rounds', limit: number | null) =>
    limit === null ? [] : [measuredWords({ what, used: used[what], limit })]
  const money = (limit: number) =>
    used.usd === null
      ? `${dollars(limit)}, not metered: a price is not known`
      : measuredWords({ what: 'usd', used: used.usd, limit })
  return [
    ...counts('tokens', max_tokens),
    ...(max_usd === null ? [] : [money(max_usd)]),
    ...counts('rounds', max_rounds),
    ...(deadline === null ? [] : [`until ${deadline}`]),
  ].join(', ')
}

const thousands = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',')

/** Cents, and below ten of them as many places as tell a price from nothing. */
const dollars = (usd: number): string => `$${usd < 0.1 ? Number(usd.toFixed(6)) : usd.toFixed(2)}`
