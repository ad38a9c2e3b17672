/**
 * What moves a meter (contracts 12): a request reserves, its answer settles, the end of its turn
 * releases; a child's use goes to the item it works for, and what is left of that comes back as
 * its allowance. And the one question to the operator when a limit is reached.
 */
import {
  allowanceOf,
  estimated,
  markOf,
  measuredWords,
  meterOf,
  nearlyOf,
  overAllowance,
  overOf,
  overWords,
  settled,
  useOf,
  type Measured,
} from './budget.ts'
import type { Delegation } from './delegation.ts'
import { activeWaits, roundsOf, type Draft, type Facts } from './facts.ts'
import type { WorkItemId } from './ids.ts'
import { mostUse, noUse, sameUse, type Draw, type Meter, type Use } from './meter.ts'
import type { Round, RoundId, Turn, Usage } from './turn.ts'
import type { Budget, WorkItem } from './work-item.ts'

/** What the ledger knows of an item's use when its budget is set. */
export type UseSoFar = { used: Use; drawn: readonly Pick<Draw, 'delegation_id' | 'used'>[] }

export const nothingUsed: UseSoFar = { used: noUse, drawn: [] }

/** A budget was set or changed: from here on its item is metered. */
export function openMeter(d: Draft, item: WorkItemId, { used, drawn }: UseSoFar): void {
  d.emit({
    type: 'meter_opened',
    id: item,
    kind: 'item',
    used,
    drawn: drawn.map((draw) => ({ ...draw, reserved: noUse })),
    allowance: null,
  })
}

/**
 * The meters a request about the item runs on: the item's, and the agent's own as a child. An item
 * that was completed meanwhile still takes what was reserved.
 */
export function metersFor(facts: Facts, item: WorkItemId | null, round: RoundId): Meter[] {
  const found: Meter[] = []
  const row = item === null ? undefined : facts.row('work_items', item)
  const metered = row?.state === 'open' && row.budget !== null
  const ofItem = item === null ? null : meterOf(facts, item)
  const ofAgent = meterOf(facts, facts.agent_id)
  if (ofItem !== null && (metered || ofItem.reserved?.round_id === round)) found.push(ofItem)
  if (ofAgent !== null) found.push(ofAgent)
  return found
}

/** Limits of the turn's item that are nearly reached, and of which the model was not told yet. */
export function untold(facts: Facts, turn: Turn, now: string): Measured[] {
  const item = turn.work_item_id === null ? undefined : facts.row('work_items', turn.work_item_id)
  const meter = item ? meterOf(facts, item.id) : null
  if (!item || item.state !== 'open' || item.budget === null || meter === null) return []
  return nearlyOf(item.budget, meter, now).filter(
    (measured) => !meter.told.includes(markOf(measured)),
  )
}

/** With a request that was just recorded: what it will probably take, until its answer is there. */
export function reserve(
  d: Draft,
  turn: Turn,
  round: RoundId,
  opening_tokens: number,
  told: readonly Measured[],
): void {
  const meters = metersFor(d, turn.work_item_id, round)
  if (meters.length === 0) return
  const last = roundsOf(d, turn).findLast(({ state }) => state === 'recorded') ?? null
  const use = estimated(last, opening_tokens)
  for (const { id, kind } of meters) {
    const marks = kind === 'item' ? told.map(markOf) : []
    d.emit({ type: 'meter_reserved', id, round_id: round, use, told: marks })
  }
}

/** With an answer that was just recorded. */
export function settle(d: Draft, round: Round, usage: Usage): void {
  for (const { id, reserved } of metersFor(d, round.work_item_id, round.id)) {
    const mine = reserved?.round_id === round.id ? reserved.use : null
    d.emit({ type: 'meter_settled', id, round_id: round.id, use: settled(usage, mine) })
  }
}

/** At the end of a turn: a request that was never answered takes nothing. */
export function release(d: Draft, turn: Turn): void {
  const rounds = new Set<string>(roundsOf(d, turn).map(({ id }) => id))
  for (const { id, reserved } of [...d.rows('meters')]) {
    if (reserved === null || !rounds.has(reserved.round_id)) continue
    d.emit({ type: 'meter_released', id, round_id: reserved.round_id })
  }
}

/**
 * One question for each limit that is reached; the same limit is asked about once. At the end of a
 * turn, because a call of its last round may complete the item, and at every lap.
 */
export function askOverBudget(d: Draft): void {
  for (const meter of [...d.rows('meters')]) {
    const item = meter.kind === 'item' ? d.row('work_items', meter.id) : undefined
    if (!item || item.state !== 'open' || item.budget === null) continue
    const over = overOf(item.budget, useOf(meter), d.now)
    const fresh = over.filter((measured) => !meter.asked.includes(markOf(measured)))
    if (fresh.length === 0) continue
    d.emit({ type: 'meter_asked', id: item.id, marks: fresh.map(markOf) })
    d.emit({
      type: 'brief_delivered',
      id: d.mint('brief'),
      kind: 'question',
      text: question(d, item, over),
      turn_id: null,
      work_item_id: item.id,
      wait_id: null,
      message_id: null,
      task_id: null,
      warnings: [],
    })
  }
}

function question(d: Draft, item: WorkItem, over: readonly Measured[]): string {
  const flags = over.map(({ what }) => raises[what]).join(' ')
  const waiting = heldMessages(d, item.id)
  const held =
    waiting === 0
      ? ''
      : ` ${waiting === 1 ? 'A message waits' : `${waiting} messages wait`} for it until then.`
  return (
    `${item.id} ("${item.objective}") is held. ${overWords(over)} Shall it go on? ` +
    `Raise the limit: holon work update ${item.id} ${flags}.${held}`
  )
}

/** The flag that raises each limit. */
export const raises: { readonly [W in Measured['what']]: string } = {
  tokens: '--max-tokens <n>',
  usd: '--max-usd <n>',
  rounds: '--max-rounds <n>',
  deadline: '--deadline <time>',
}

/** Messages bound to the item that stay queued while it is over its budget. */
export function heldMessages(facts: Facts, item: WorkItemId): number {
  let count = 0
  for (const message of facts.rows('messages')) {
    if (message.status === 'queued' && message.work_item_id === item) count += 1
  }
  return count
}

/** Holds a child whose parent's item is used up: its open turn goes on when more is allowed. */
export function holdForBudget(d: Draft): void {
  for (const wait of activeWaits(d)) if (wait.wake === 'system') return
  const over = overAllowance(d, d.now)
  d.emit({
    type: 'wait_registered',
    id: d.mint('wait'),
    work_item_id: null,
    wake: 'system',
    by: 'runtime',
    runtime_cause: 'budget',
    reason: `The budget of its work is used up: ${over.map(measuredWords).join(', ')}.`,
    resource: null,
    source: null,
    condition: null,
    delivery_mode: 'wake_hint',
    since_seq: d.base.seq,
    wake_at: null,
    recheck_at: null,
    released_focus: false,
  })
}

/** The hold of a child that may start no request. */
export function budgetHold(facts: Facts) {
  for (const wait of activeWaits(facts)) {
    if (wait.wake === 'system' && wait.runtime_cause === 'budget') return wait
  }
  return null
}

/**
 * Brings the item's meter and its child's in line, level-triggered: what the child used goes to
 * the item, what is left goes to the child, and a child that may go on is let go. `spent` is what
 * the ledger knows of the child, needed when it is not metered yet.
 */
export function alignBudgets(
  p: Draft,
  c: Draft,
  delegation: Pick<Delegation, 'id' | 'work_item_id'> | null,
  spent: Use | null,
): void {
  const id = delegation?.work_item_id ?? null
  const item = id === null ? undefined : p.row('work_items', id)
  // An item that is over keeps what it gave: nobody raises it any more.
  if (item?.state === 'completed') return
  if (!delegation || !item || item.budget === null) {
    allow(c, null)
    return
  }
  const own = meterOf(c, c.agent_id)
  if (own === null) {
    if (spent === null) return
    const opens = { kind: 'agent', used: spent, drawn: [], allowance: null } as const
    c.emit({ type: 'meter_opened', id: c.agent_id, ...opens })
  }
  draw(p, c, item.id, delegation)
  const meter = meterOf(p, item.id)
  if (meter !== null) allow(c, allowanceOf(item.budget, meter, delegation.id))
}

/** Whether the ledger has to be asked what the child used so far. */
export function wantsSpent(p: Facts, c: Facts, delegation: Delegation | null): boolean {
  const item = p.row('work_items', delegation?.work_item_id ?? '')
  return item?.state === 'open' && item.budget !== null && meterOf(c, c.agent_id) === null
}

function draw(p: Draft, c: Draft, item: WorkItemId, { id }: Pick<Delegation, 'id'>): void {
  const own = meterOf(c, c.agent_id)
  const meter = meterOf(p, item)
  if (own === null || meter === null) return
  const before = meter.drawn.find(({ delegation_id }) => delegation_id === id)
  const used = before ? mostUse(before.used, own.used) : own.used
  const reserved = own.reserved?.use ?? noUse
  if (before && sameUse(before.used, used) && sameUse(before.reserved, reserved)) return
  p.emit({ type: 'meter_drawn', id: item, delegation_id: id, used, reserved })
}

function allow(c: Draft, allowance: Budget | null): void {
  const own = meterOf(c, c.agent_id)
  if (own === null) return
  if (JSON.stringify(own.allowance) !== JSON.stringify(allowance)) {
    c.emit({ type: 'meter_allowed', id: c.agent_id, allowance })
  }
  const hold = budgetHold(c)
  if (hold !== null && overAllowance(c, c.now).length === 0) {
    c.emit({ type: 'wait_resolved', id: hold.id, by: { kind: 'runtime' } })
  }
}
