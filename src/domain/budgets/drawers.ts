/**
 * Agents that draw on an item of another agent (docs/spec/budget.md#what-is-made-on-the-way): those
 * that were made in a turn of the item, public ones too, and those that they make in turn. What
 * they take goes to the item, and what is left of it comes back to each, until an operator's word
 * says otherwise.
 */
import { allowanceOf, lessUse } from '../facts/budget.ts'
import type { Draft, Facts } from '../facts/facts.ts'
import type { AgentId, WorkItemId } from '../ids.ts'
import { mostUse, noUse, sameUse, type Drawer, type Meter } from '../state/meter.ts'
import { alignDrawers, allow } from './settle.ts'
import { meterOf, sharedLimits } from '../facts/payer.ts'
import type { Budget } from '../state/work-item.ts'

/** The item of another agent that pays for all that this one does; null: none. */
export const drawsOn = (facts: Facts): WorkItemId | null =>
  meterOf(facts, facts.agent_id)?.draws_on ?? null

/**
 * An agent is made by `p`: from its first request on it draws on the item, and may use what is
 * left. Where the item is another agent's, that is what is left for its maker.
 */
export function startDrawing(p: Draft, c: Draft, item: WorkItemId): void {
  const maker = meterOf(p, p.agent_id)
  const allowance = p.row('work_items', item) ? null : left(maker)
  open(c, { draws_on: item, allowance })
  if (p.row('work_items', item)) alignDrawing(p, c, item)
}

/** The operator said what it may use, or its supervisor's item has a budget: it draws no more. */
export function endDrawing(c: Draft): void {
  if (drawsOn(c) === null) return
  open(c, { draws_on: null, allowance: null })
  allow(c, null)
}

function open(c: Draft, given: Pick<Meter, 'draws_on' | 'allowance'>): void {
  const opened = { kind: 'agent', used: noUse, drawn: [], limits: null } as const
  c.emit({ type: 'meter_opened', id: c.agent_id, ...opened, ...given })
}

const left = (meter: Meter | null): Budget | null =>
  meter?.allowance ? lessUse(meter.allowance, meter.used) : null

/**
 * Brings the item's meter and that of an agent that draws on it in line, level-triggered, after
 * whatever either of them committed. One that was deleted, or freed by the operator, has left.
 */
export function alignDrawing(o: Draft, c: Draft, item: WorkItemId): void {
  const meter = meterOf(o, item)
  const own = meterOf(c, c.agent_id)
  // With its owner gone nobody changes the item any more: what it left each of them stays.
  if (meter === null || own === null || isGone(o)) return
  const draws = own.draws_on === item
  const before = meter.drawers.find(({ agent_id }) => agent_id === c.agent_id) ?? null
  take(o, item, before, {
    agent_id: c.agent_id,
    state: draws && !isGone(c) ? 'draws' : 'left',
    used: draws ? mostUse(before?.used ?? noUse, own.used) : (before?.used ?? noUse),
    reserved: draws && !isGone(c) ? (own.reserved?.use ?? noUse) : noUse,
  })
  if (!draws || isGone(c)) return
  const budget = sharedLimits(o, item)
  const now = meterOf(o, item)
  allow(c, budget && now && allowanceOf(budget, now, c.agent_id))
}

const isGone = (facts: Facts): boolean => facts.row('agents', facts.agent_id)?.state === 'deleted'

function take(o: Draft, item: WorkItemId, before: Drawer | null, now: Drawer): void {
  const same =
    before?.state === now.state &&
    sameUse(before.used, now.used) &&
    sameUse(before.reserved, now.reserved)
  if (same || (before === null && now.state === 'left')) return
  const { agent_id: drawer_agent_id, ...taken } = now
  o.emit({ type: 'meter_taken', id: item, drawer_agent_id, ...taken })
  alignDrawers(o)
}

/** The agents that draw on an item of this one now, each with the item. */
export function* drawersOf(facts: Facts): Iterable<{ agent_id: AgentId; item: WorkItemId }> {
  for (const { id, kind, drawers } of facts.rows('meters')) {
    if (kind !== 'item') continue
    for (const { agent_id, state } of drawers) {
      if (state === 'draws') yield { agent_id, item: id as WorkItemId }
    }
  }
}
