/**
 * What a summary at a compaction does to meters (docs/spec/context.md#compaction,
 * docs/spec/budget.md#summaries): it is asked only where every budget has room for it beside the
 * request it is for, reserved before it is asked, and settled with the compaction. It takes tokens
 * and dollars and is no round.
 */
import { estimated, overOf, settled, takenOf } from '../facts/budget.ts'
import type { WorkItemId } from '../ids.ts'
import { roundsOf, type Draft, type Facts } from '../facts/facts.ts'
import { addUse, type Meter, type Use } from '../state/meter.ts'
import { metersFor, reserve } from './settle.ts'
import { sharedLimits } from '../facts/payer.ts'
import type { Timestamp } from '../time.ts'
import type { Round, Turn, Usage } from '../state/turn.ts'

/**
 * A summary that was not asked yet: `tokens` in and out at most, `usd` null for no known price, and
 * `beside` the tokens of the open request it is for.
 */
export type SummaryEstimate = { tokens: number; usd: number | null; beside: number }

const useOfEstimate = ({ tokens, usd }: SummaryEstimate): Use => ({
  tokens,
  usd: usd ?? 0,
  unpriced: usd === null ? 1 : 0,
  rounds: 0,
})

/**
 * Whether no limit of the turn's budgets would be reached by the open request and the summary, with
 * what children have reserved. An unknown price fits no limit in dollars: it would leave the item
 * without a sum that can be compared.
 */
export function leavesRoom(
  facts: Facts,
  turn: Turn,
  round: Round,
  estimate: SummaryEstimate,
  now: Timestamp,
): boolean {
  const extra = useOfEstimate(estimate)
  const request = requestUse(facts, turn, estimate)
  return metersFor(facts, turn.work_item_id, round.id).every((meter) => {
    const budget = limitsOf(facts, meter)
    if (budget === null) return true
    if (budget.max_usd !== null && extra.unpriced > 0) return false
    const use = takenOf(meter).reduce(
      (sum, draw) => addUse(addUse(sum, draw.used), draw.reserved),
      addUse(meter.used, addUse(request, extra)),
    )
    return overOf(budget, use, now).length === 0
  })
}

const limitsOf = (facts: Facts, { id, kind, allowance }: Meter) =>
  kind === 'agent' ? allowance : sharedLimits(facts, id as WorkItemId)

/** The request of a compaction is never the first, so there is an answer to go by. */
function requestUse(facts: Facts, turn: Turn, { beside }: SummaryEstimate): Use {
  const last = roundsOf(facts, turn).findLast(({ state }) => state === 'recorded') ?? null
  return estimated(last, beside)
}

/** Before it is asked: the reservation of the open request grows by it. Twice is once. */
export function reserveSummary(
  d: Draft,
  turn: Turn,
  round: Round,
  estimate: SummaryEstimate,
): void {
  const use = addUse(requestUse(d, turn, estimate), useOfEstimate(estimate))
  for (const { id } of metersFor(d, turn.work_item_id, round.id)) {
    d.emit({ type: 'meter_reserved', id, round_id: round.id, use, told: [] })
  }
}

/**
 * With the compaction: what it took is used, and the open request alone is reserved again. Null: no
 * answer came, and that takes nothing, as with a request.
 */
export function settleSummary(
  d: Draft,
  turn: Turn,
  round: Round,
  estimate: SummaryEstimate,
  usage: Usage | null,
): void {
  for (const { id } of metersFor(d, turn.work_item_id, round.id)) {
    if (usage === null) continue
    const use = { ...settled(usage, useOfEstimate(estimate)), rounds: 0 }
    d.emit({ type: 'meter_settled', id, round_id: round.id, use })
  }
  reserve(d, turn, round.id, estimate.beside, [])
}
