/**
 * Meter: what was used of a budget (docs/spec/budget.md). One row for each work item that was given
 * a budget, and one for an agent that draws on such an item. It is reserved with a request and
 * settled with its answer, in the same commits, so what it says survives a kill.
 *
 * What is used never gets less. Work without a budget has no meter and pays for none.
 */
import type { AgentId, DelegationId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import type { RoundId } from './turn.ts'
import type { Budget } from './work-item.ts'

/** Tokens in and out, US dollars as far as prices are known, and requests. */
export type Use = {
  tokens: number
  /** The sum of the known prices; whether it is all of it, `unpriced` says. */
  usd: number
  /** Rounds whose price is not known. */
  unpriced: number
  rounds: number
}

export const noUse: Use = { tokens: 0, usd: 0, unpriced: 0, rounds: 0 }

/** What the child of one delegation took: answered requests, and the open one by estimate. */
export type Draw = { delegation_id: DelegationId; used: Use; reserved: Use }

/**
 * What an agent took that draws on the item without being handed work by it: one that was made in a
 * turn of the item, or by such an agent. One that left goes on counting, and takes no more.
 */
export type Drawer = {
  agent_id: AgentId
  state: 'draws' | 'left'
  used: Use
  reserved: Use
}

/** One limit of a budget, with what it is compared to: reached, or nearly. */
export type Measured =
  | { what: 'tokens' | 'usd' | 'rounds'; used: number; limit: number }
  | { what: 'deadline'; limit: Timestamp }

export type Meter = {
  /** The work item; of a child the agent itself. */
  id: string
  agent_id: AgentId
  kind: 'item' | 'agent'
  /** Of an agent: what the item it draws on leaves it in all; null: no limit. Of an item null. */
  allowance: Budget | null
  /** Of an item with a budget, its limits: they hold on for others when it is completed. */
  limits: Budget | null
  /**
   * Of an item without one: the item whose budget it draws on, since it was made in its turn. Of an
   * agent the same, where that is no item of the agent that supervises it.
   */
  draws_on: WorkItemId | null
  /** The limits of that budget which are reached now; any of them holds the item. */
  over: readonly Measured[]
  /** How many open items draw on it. */
  shared: number
  /**
   * It paid last, so it pays on for what its agent does about no open item, until a word from
   * outside starts such a turn. Of an agent's meters one at most.
   */
  pays_on: boolean
  /** By requests of this agent that were answered. */
  used: Use
  /** By children that work for the item. */
  drawn: readonly Draw[]
  drawers: readonly Drawer[]
  /** The request that is open now, by estimate. */
  reserved: { round_id: RoundId; use: Use } | null
  /** Marks of the limits of which the model was told that little is left. */
  told: readonly string[]
  /** Marks of the limits about which the operator was asked. */
  asked: readonly string[]
  /** When the budget was set. */
  since: Timestamp
}

export type MeterEvent =
  /** A budget is set: what the ledger knows of the use so far. Asked and told begin anew. */
  | {
      type: 'meter_opened'
      id: string
      kind: Meter['kind']
      used: Use
      drawn: readonly Draw[]
      allowance: Budget | null
      limits: Budget | null
      draws_on: WorkItemId | null
    }
  | { type: 'meter_over'; id: WorkItemId; over: readonly Measured[] }
  | { type: 'meter_shared'; id: WorkItemId; items: number }
  | { type: 'meter_paid_on'; id: WorkItemId; pays_on: boolean }
  | { type: 'meter_allowed'; id: AgentId; allowance: Budget | null }
  | {
      type: 'meter_reserved'
      id: string
      round_id: RoundId
      use: Use
      /** Limits whose notice this request carries. */
      told: readonly string[]
    }
  | { type: 'meter_settled'; id: string; round_id: RoundId; use: Use }
  | { type: 'meter_released'; id: string; round_id: RoundId }
  | ({ type: 'meter_drawn'; id: WorkItemId } & Draw)
  | ({ type: 'meter_taken'; id: WorkItemId; drawer_agent_id: AgentId } & Omit<Drawer, 'agent_id'>)
  | { type: 'meter_asked'; id: WorkItemId; marks: readonly string[] }

export function evolveMeter(
  meter: Meter | null,
  event: MeterEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Meter {
  if (event.type === 'meter_opened') return opened(meter, event, meta)
  if (meter === null) throw new Error(`${event.type} before meter_opened: ${event.id}`)
  switch (event.type) {
    case 'meter_over':
      return { ...meter, over: event.over }
    case 'meter_shared':
      return { ...meter, shared: event.items }
    case 'meter_paid_on':
      return { ...meter, pays_on: event.pays_on }
    case 'meter_allowed':
      return { ...meter, allowance: event.allowance }
    case 'meter_reserved': {
      const { round_id, use, told } = event
      return { ...meter, reserved: { round_id, use }, told: [...meter.told, ...told] }
    }
    case 'meter_settled': {
      const reserved = meter.reserved?.round_id === event.round_id ? null : meter.reserved
      return { ...meter, reserved, used: addUse(meter.used, event.use) }
    }
    case 'meter_released':
      return { ...meter, reserved: null }
    case 'meter_drawn': {
      const { delegation_id, used, reserved } = event
      const before = meter.drawn.find((draw) => draw.delegation_id === delegation_id)
      if (before && !covers(used, before.used)) throw new Error(`${event.id} was drawn on less`)
      const others = meter.drawn.filter((draw) => draw.delegation_id !== delegation_id)
      return { ...meter, drawn: [...others, { delegation_id, used, reserved }] }
    }
    case 'meter_taken': {
      const { drawer_agent_id: agent_id, state, used, reserved } = event
      const before = meter.drawers.find((drawer) => drawer.agent_id === agent_id)
      if (before && !covers(used, before.used)) throw new Error(`${event.id} was drawn on less`)
      const others = meter.drawers.filter((drawer) => drawer.agent_id !== agent_id)
      return { ...meter, drawers: [...others, { agent_id, state, used, reserved }] }
    }
    case 'meter_asked':
      return { ...meter, asked: [...meter.asked, ...event.marks] }
  }
}

/** Over a meter that is there nothing gets less: neither what was used nor what children took. */
function opened(
  meter: Meter | null,
  event: Extract<MeterEvent, { type: 'meter_opened' }>,
  { at, agent_id }: { at: Timestamp; agent_id: AgentId },
): Meter {
  const { type: _, ...given } = event
  const known = meter?.drawn ?? []
  const drawn = [
    ...known.map((draw) => {
      const now = given.drawn.find((one) => one.delegation_id === draw.delegation_id)
      return now ? { ...draw, used: mostUse(draw.used, now.used) } : draw
    }),
    ...given.drawn.filter((draw) => !known.some((one) => one.delegation_id === draw.delegation_id)),
  ]
  return {
    ...given,
    agent_id,
    used: mostUse(meter?.used ?? noUse, given.used),
    drawn,
    drawers: meter?.drawers ?? [],
    reserved: meter?.reserved ?? null,
    over: [],
    shared: meter?.shared ?? 0,
    pays_on: meter?.pays_on ?? false,
    told: [],
    asked: [],
    since: at,
  }
}

const each = (a: Use, b: Use, of: (x: number, y: number) => number): Use => ({
  tokens: of(a.tokens, b.tokens),
  usd: of(a.usd, b.usd),
  unpriced: of(a.unpriced, b.unpriced),
  rounds: of(a.rounds, b.rounds),
})

/** Whether anything else draws on it now, so that its limits hold on when its item is completed. */
export const isDrawnOn = ({
  shared,
  pays_on,
  drawers,
}: Pick<Meter, 'shared' | 'pays_on' | 'drawers'>): boolean =>
  shared > 0 || pays_on || drawers.some(({ state }) => state === 'draws')

export const addUse = (a: Use, b: Use): Use => each(a, b, (x, y) => x + y)

export const mostUse = (a: Use, b: Use): Use => each(a, b, Math.max)

/** Whether no part of `use` is less than in `before`. */
export const covers = (use: Use, before: Use): boolean =>
  use.tokens >= before.tokens &&
  use.usd >= before.usd &&
  use.unpriced >= before.unpriced &&
  use.rounds >= before.rounds

export const sameUse = (a: Use, b: Use): boolean => covers(a, b) && covers(b, a)
