/**
 * What moves a meter (docs/spec/budget.md): a request reserves, its answer settles, the end of its
 * turn releases; a child's use goes to the item it works for, and what is left of that comes back
 * as its allowance. And the one question to the operator when a limit is reached.
 */
import {
  allowanceOf,
  estimated,
  markOf,
  measuredWords,
  nearlyOf,
  overOf,
  overWords,
  settled,
  useOf,
} from '../facts/budget.ts'
import type { Delegation } from '../state/delegation.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { openTurn, roundsOf, type Draft, type Facts } from '../facts/facts.ts'
import { activeHold, registerHold } from '../waits/hold.ts'
import type { WorkItemId } from '../ids.ts'
import {
  isDrawnOn,
  mostUse,
  noUse,
  sameUse,
  type Draw,
  type Meter,
  type Use,
  type Measured,
} from '../state/meter.ts'
import {
  chargedItem,
  meterOf,
  overAllowance,
  overShared,
  payerOf,
  payingOn,
  sharedLimits,
} from '../facts/payer.ts'
import { unpaid } from '../scheduler/survey.ts'
import type { Timestamp } from '../time.ts'
import { roundUsage, type Round, type RoundId, type Turn, type Usage } from '../state/turn.ts'
import type { Budget, WorkItem } from '../state/work-item.ts'

/** What the ledger knows of an item's use when its budget is set. */
export type UseSoFar = { used: Use; drawn: readonly Pick<Draw, 'delegation_id' | 'used'>[] }

export const nothingUsed: UseSoFar = { used: noUse, drawn: [] }

/** A budget was set or changed: from here on its item is metered, and draws on no other's. */
export function openMeter(d: Draft, item: WorkItemId, { used, drawn }: UseSoFar): void {
  d.emit({
    type: 'meter_opened',
    id: item,
    kind: 'item',
    used,
    drawn: drawn.map((draw) => ({ ...draw, reserved: noUse })),
    allowance: null,
    limits: d.row('work_items', item)?.budget ?? null,
    draws_on: null,
  })
  payOn(d)
}

/** An item was made in a turn that somebody's budget pays for: it draws on that, too. */
export function drawOnTurn(d: Draft, item: WorkItemId): void {
  const turn = openTurn(d)
  const payer = turn === null ? null : payerOf(d, chargedItem(d, turn))
  if (payer === null) return
  const opened = { kind: 'item', used: noUse, drawn: [], allowance: null, limits: null } as const
  d.emit({ type: 'meter_opened', id: item, ...opened, draws_on: payer })
  alignDrawers(d)
}

/** The operator said which budget an item has, or that it has none: it draws on no other's. */
export function drawOnNone(d: Draft, item: WorkItemId): void {
  const meter = meterOf(d, item)
  if (meter === null || (meter.draws_on === null && meter.limits === null)) return
  openMeter(d, item, nothingUsed)
  alignDrawers(d)
}

/**
 * Level-triggered, after whatever moves a meter: who draws on a budget that is reached is held with
 * it and let go with it, and a budget knows how many draw on it.
 */
export function alignDrawers(d: Draft): void {
  const drawers = new Map<WorkItemId, WorkItemId[]>()
  for (const { id, draws_on } of d.rows('meters')) {
    if (draws_on === null || d.row('work_items', id)?.state !== 'open') continue
    drawers.set(draws_on, [...(drawers.get(draws_on) ?? []), id as WorkItemId])
  }
  for (const { id, shared } of [...d.rows('meters')]) {
    const items = drawers.get(id as WorkItemId)?.length ?? 0
    if (items !== shared) d.emit({ type: 'meter_shared', id: id as WorkItemId, items })
  }
  for (const [payer, items] of drawers) {
    const over = overShared(d, payer, d.now)
    for (const id of items) {
      const isOver = (meterOf(d, id)?.over.length ?? 0) > 0
      if (isOver !== over.length > 0) d.emit({ type: 'meter_over', id, over })
    }
  }
}

/**
 * With each request, and when the turn takes up another item: what pays for it pays on for what the
 * agent does about no open item, completed or not.
 */
export function payOn(d: Draft): void {
  const turn = openTurn(d)
  if (turn !== null) payOnWith(d, payerOf(d, chargedItem(d, turn)))
}

/** A turn about no open item begins with a word from outside: nothing pays on any more. */
export const endPayingOn = (d: Draft): void => payOnWith(d, null)

function payOnWith(d: Draft, payer: WorkItemId | null): void {
  const before = payingOn(d)
  if (before === payer) return
  if (before !== null) d.emit({ type: 'meter_paid_on', id: before, pays_on: false })
  if (payer !== null) d.emit({ type: 'meter_paid_on', id: payer, pays_on: true })
}

/**
 * The meters a request of the open turn runs on: that of its item, that of the budget which the
 * item draws on, and the agent's own as a child. An item that was completed meanwhile still takes
 * what was reserved.
 */
export function metersFor(facts: Facts, item: WorkItemId | null, round: RoundId): Meter[] {
  const turn = openTurn(facts)
  const charged = turn === null ? item : chargedItem(facts, { ...turn, work_item_id: item })
  const found: Meter[] = []
  for (const id of new Set([charged, payerOf(facts, charged)])) {
    const meter = id === null ? null : meterOf(facts, id)
    if (meter !== null && isCharged(facts, meter)) found.push(meter)
  }
  // Who pays may have changed since it was reserved: an operator's word, an end of the item.
  for (const meter of facts.rows('meters')) {
    if (meter.kind !== 'item' || meter.reserved?.round_id !== round) continue
    if (!found.includes(meter)) found.push(meter)
  }
  const ofAgent = meterOf(facts, facts.agent_id)
  if (ofAgent !== null) found.push(ofAgent)
  return found
}

/** Whether anything limits what runs on it now: its own budget, or another's. */
function isCharged(facts: Facts, meter: Meter): boolean {
  const item = facts.row('work_items', meter.id)
  if (item?.state === 'open') return item.budget !== null || meter.draws_on !== null
  return isDrawnOn(meter)
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
  payOn(d)
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
  // It was counted with the first answer to it that broke off.
  const isCounted = d.row('rounds', round.id)?.cut !== undefined
  for (const { id, reserved } of metersFor(d, round.work_item_id, round.id)) {
    const mine = reserved?.round_id === round.id ? reserved.use : null
    const use = settled(usage, mine)
    const counted = isCounted ? { ...use, rounds: 0 } : use
    d.emit({ type: 'meter_settled', id, round_id: round.id, use: counted })
  }
  alignDrawers(d)
}

/**
 * Of an answer whose item turned out afterwards: the agent's own meter had it at once. What pays
 * for a turn without an item has paid for it already.
 */
export function settleLate(d: Draft, round: Round): void {
  const turn = openTurn(d)
  if (turn !== null && chargedItem(d, { ...turn, work_item_id: null }) !== null) return
  for (const { id, kind } of metersFor(d, round.work_item_id, round.id)) {
    if (kind !== 'item') continue
    const use = settled(roundUsage(round), null)
    d.emit({ type: 'meter_settled', id, round_id: round.id, use })
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
  alignDrawers(d)
  for (const meter of [...d.rows('meters')]) {
    const budget = meter.kind === 'item' ? sharedLimits(d, meter.id as WorkItemId) : null
    if (budget === null) continue
    const item = d.row('work_items', meter.id)
    const over = overOf(budget, useOf(meter), d.now)
    const fresh = over.filter((measured) => !meter.asked.includes(markOf(measured)))
    if (fresh.length === 0) continue
    // Of what it pays on for beside them, a wait of the agent asks.
    if (item?.state !== 'open' && !holdsOthers(meter)) continue
    d.emit({ type: 'meter_asked', id: meter.id as WorkItemId, marks: fresh.map(markOf) })
    deliverBrief(d, {
      kind: 'question',
      text: item?.state === 'open' ? question(d, item, over) : leftQuestion(d, meter, over),
      work_item_id: askedAbout(d, meter),
    })
  }
}

/** Whether open items, or other agents, draw on the item. */
const holdsOthers = ({ shared, drawers }: Meter): boolean =>
  isDrawnOn({ shared, drawers, pays_on: false })

/** The item that the question is about: one that draws on it, when it is completed itself. */
function askedAbout(d: Draft, meter: Meter): WorkItemId {
  const id = meter.id as WorkItemId
  return d.row('work_items', id)?.state === 'open' ? id : (itemsOn(d, id)[0]?.id ?? id)
}

function itemsOn(facts: Facts, payer: string): WorkItem[] {
  const found: WorkItem[] = []
  for (const { id, draws_on } of facts.rows('meters')) {
    const item = draws_on === payer ? facts.row('work_items', id) : undefined
    if (item?.state === 'open') found.push(item)
  }
  return found
}

/** A completed item's budget is used up by what was made in its turns. */
function leftQuestion(d: Draft, { id, drawers }: Meter, over: readonly Measured[]): string {
  const items = itemsOn(d, id)
  const agents = drawers.filter(({ state }) => state === 'draws').map(({ agent_id }) => agent_id)
  const flags = over.map(({ what }) => raises[what]).join(' ')
  const held = [...items.map((item) => `${item.id} ("${item.objective}")`), ...agents].join(', ')
  const [item] = items
  const first = item ? `work update ${item.id}` : `agents configure ${agents[0] ?? ''}`
  return (
    `${held} draw on the budget of ${id}, which is completed, and are held. ${overWords(over)} ` +
    `Shall they go on? Give each a budget of its own, or none: holon ${first} ${flags}.`
  )
}

function question(d: Draft, item: WorkItem, over: readonly Measured[]): string {
  const flags = over.map(({ what }) => raises[what]).join(' ')
  const waiting = heldMessages(d, item.id, d.now)
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

/** What stays queued while the item is over its budget: bound to it, or come of its work. */
export function heldMessages(facts: Facts, item: WorkItemId, now: Timestamp): number {
  const beside = unpaid(facts, now)
  let count = beside?.payer === item ? beside.messages.length : 0
  for (const message of facts.rows('messages')) {
    if (message.status === 'queued' && message.work_item_id === item) count += 1
  }
  return count
}

/** Holds an agent whose item is used up: its open turn goes on when more is allowed. */
export function holdForBudget(d: Draft): void {
  const over = overAllowance(d, d.now)
  if (over.length === 0) return
  const item = meterOf(d, d.agent_id)?.draws_on ?? null
  const whose = item === null ? 'of its work' : `it draws on, of ${item},`
  const reason = `The budget ${whose} is used up: ${over.map(measuredWords).join(', ')}.`
  registerHold(d, { runtime_cause: 'budget', reason, resource: item, source: null, wake_at: null })
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
  const payer = payerOfChild(p, c, delegation)
  const budget = payer === null ? null : sharedLimits(p, payer)
  // What is over and gone keeps what it gave: nobody raises it any more.
  if (payer !== null && budget === null && p.row('work_items', payer)?.state !== 'open') return
  const own = meterOf(c, c.agent_id)
  if (!delegation || payer === null || budget === null) {
    // What draws on an item elsewhere is told there what it may use.
    if (own?.draws_on === null) allow(c, null)
    return
  }
  if (own === null) {
    if (spent === null) return
    const opens = { kind: 'agent', used: spent, drawn: [], allowance: null, limits: null } as const
    c.emit({ type: 'meter_opened', id: c.agent_id, ...opens, draws_on: null })
  } else if (own.draws_on !== null) {
    const opens = { kind: 'agent', used: noUse, drawn: [], allowance: null, limits: null } as const
    c.emit({ type: 'meter_opened', id: c.agent_id, ...opens, draws_on: null })
  }
  draw(p, c, payer, delegation)
  const meter = meterOf(p, payer)
  if (meter !== null) allow(c, allowanceOf(budget, meter, delegation.id))
}

/** The item whose budget a child draws on: that of its delegation, else that of its spawn. */
function payerOfChild(
  p: Facts,
  c: Facts,
  delegation: Pick<Delegation, 'work_item_id'> | null,
): WorkItemId | null {
  const made = c.row('agents', c.agent_id)?.draws_on ?? null
  const id = delegation?.work_item_id ?? made
  const item = id === null ? undefined : p.row('work_items', id)
  // A completed item is not among the rows for long: its meter stays while it is shared.
  return payerOf(p, id) ?? (item === undefined ? made : id)
}

/** Whether the ledger has to be asked what the child used so far. */
export function wantsSpent(p: Facts, c: Facts, delegation: Delegation | null): boolean {
  if (delegation === null || meterOf(c, c.agent_id) !== null) return false
  const payer = payerOfChild(p, c, delegation)
  return payer !== null && sharedLimits(p, payer) !== null
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

/** What an agent may use from now on; null: no limit. One that may go on is let go. */
export function allow(c: Draft, allowance: Budget | null): void {
  const own = meterOf(c, c.agent_id)
  if (own === null) return
  if (JSON.stringify(own.allowance) !== JSON.stringify(allowance)) {
    c.emit({ type: 'meter_allowed', id: c.agent_id, allowance })
  }
  const hold = activeHold(c, 'budget')
  if (hold !== null && overAllowance(c, c.now).length === 0) {
    c.emit({ type: 'wait_resolved', id: hold.id, by: { kind: 'runtime' } })
  }
}
