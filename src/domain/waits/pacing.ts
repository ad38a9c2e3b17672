/**
 * Pacing: when an item is ready, parked, out of turns; what counts as progress and as outside
 * input (docs/spec/scheduler.md#self-started-turns). Apart from `next`, which only asks these
 * functions.
 */
import { agentPacing, itemPacing, type Draft, type Facts } from '../facts/facts.ts'
import type { TurnId, WorkItemId } from '../ids.ts'
import { backOffMs, limits } from '../limits.ts'
import type { AgentPacing, ItemPacing } from '../state/pace.ts'
import { drawn, levelOf, stockOf, stored, type StockName } from './stock.ts'
import { between, plus, type Timestamp } from '../time.ts'
import type { StartedBy } from '../state/turn.ts'
import { isUnadopted, type WorkItem } from '../state/work-item.ts'

/** Whether the scheduler may start a turn about the item by itself, and if not, from when. */
export type ItemReadiness =
  | { ready: true; because: string }
  | { ready: false; until: Timestamp | null; because: string }

/** The first that applies (docs/spec/scheduler.md#self-started-turns, *Ready*). */
export function itemReady(facts: Facts, item: WorkItem, now: Timestamp): ItemReadiness {
  const pacing = itemPacing(facts, item.id)
  if (pacing.last_turn_ended_at === null) return ready('it never had a turn')
  if (item.revision !== pacing.end_revision) {
    return ready(`its revision moved from ${pacing.end_revision} to ${item.revision}`)
  }
  if (pacing.last_turn_progress) return ready('its last turn made progress')
  if (pacing.no_progress === 0) return ready('nothing is counted against it')
  const until = backOffEnd(pacing.no_progress, pacing.last_turn_ended_at)
  if (until <= now) return ready('its back-off has passed')
  const stalled = pacing.no_progress === 1 ? '1 turn' : `${pacing.no_progress} turns`
  return {
    ready: false,
    until,
    because: `${stalled} without progress; back-off until ${until}`,
  }
}

const ready = (because: string): ItemReadiness => ({ ready: true, because })

function backOffEnd(count: number, endedAt: Timestamp): Timestamp {
  return plus(endedAt, backOffMs[Math.min(count, backOffMs.length - 1)] ?? 0)
}

/**
 * Whether a `queued_available` turn may start by the queue's own pacing
 * (docs/spec/scheduler.md#self-started-turns, *Queue*).
 */
export function queueReady(facts: Facts, now: Timestamp): ItemReadiness {
  const pacing = agentPacing(facts)
  if (pacing.queue_wait_id !== null) {
    return { ready: false, until: null, because: 'the operator was asked about the queue' }
  }
  if (pacing.queue_turn_ended_at === null) return ready('the queue never had a turn')
  if (!pacing.queue_turn_counted && queueChangedSince(facts, pacing.queue_turn_end_seq)) {
    return ready('an item of the queue changed since its last turn')
  }
  const until = backOffEnd(Math.max(1, pacing.queue_no_progress), pacing.queue_turn_ended_at)
  if (until <= now) return ready('the back-off of the queue has passed')
  return { ready: false, until, because: `the queue is backed off until ${until}` }
}

function queueChangedSince(facts: Facts, seq: number): boolean {
  for (const item of facts.rows('work_items')) {
    if (item.changed_seq > seq && !isUnadopted(item)) return true
  }
  return false
}

/** A wait on an item ended, which moves no revision: the queue is not what its last turn saw. */
export function queueChanged(d: Draft): void {
  const { queue_turn_counted, queue_turn_end_seq } = agentPacing(d)
  if (!queue_turn_counted && queue_turn_end_seq > 0) paceAgent(d, { queue_turn_end_seq: 0 })
}

/** Whether a self-started turn about the item may draw: the bucket has one, or the turn is free. */
export function mayDraw(facts: Facts, item: WorkItemId | null, now: Timestamp): boolean {
  if (item !== null && itemPacing(facts, item).free_turn) return true
  return levelOf(stockOf(agentPacing(facts), 'bucket'), now) > 0
}

/** Counts the start of a turn: one more, and one drawn from what it is counted to. */
export function countTurnStart(d: Draft, item: WorkItemId | null, by: StartedBy): void {
  const agent = agentPacing(d)
  const free = item !== null && itemPacing(d, item).free_turn
  const draws: StockName | null =
    by === 'own_trigger' ? 'trigger_turns' : by === 'itself' && !free ? 'bucket' : null
  paceAgent(d, {
    turn_count: agent.turn_count + 1,
    ...(draws === null ? {} : stored(draws, drawn(stockOf(agent, draws), d.now))),
  })
  if (item !== null && by === 'itself' && free) {
    paceItem(d, item, { free_turn: false, free_turn_at: d.now })
  }
}

/** How strong an input from outside is: a person, an event, or something that took its time. */
export type OutsideInput = 'operator' | 'external' | 'lasting'

/**
 * Resets what is counted against an item, and for the stronger inputs against the agent. What is
 * done to an imported item before its pick is nothing to the agent, which does not see it.
 */
export function outsideInput(d: Draft, item: WorkItemId | null, input: OutsideInput): void {
  const row = item === null ? undefined : d.row('work_items', item)
  if (row !== undefined && isUnadopted(row)) return
  if (item !== null && row?.state === 'open') {
    const pacing = itemPacing(d, item)
    const freeAgain =
      pacing.free_turn_at === null ||
      between(pacing.free_turn_at, d.now) >= limits.outside_input.value
    paceItem(d, item, {
      no_progress: 0,
      no_progress_turns: [],
      self_started: 0,
      ...(input === 'lasting' && freeAgain ? { free_turn: true } : {}),
    })
  }
  if (input === 'lasting') return
  const agent = agentPacing(d)
  for (const id of [agent.queue_wait_id, agent.bucket_wait_id, agent.trigger_wait_id]) {
    const wait = id === null ? undefined : d.row('waits', id)
    if (wait?.status === 'active') {
      d.emit({ type: 'wait_resolved', id: wait.id, by: { kind: 'runtime' } })
    }
  }
  paceAgent(d, {
    ...filled(agent, 'bucket', d.now),
    ...filled(agent, 'trigger_turns', d.now),
    queue_no_progress: 0,
    queue_wait_id: null,
    bucket_wait_id: null,
    trigger_wait_id: null,
    ...(agent.queue_no_progress > 0 ? { queue_turn_ended_at: null } : {}),
  })
}

function filled(agent: AgentPacing, name: StockName, now: Timestamp): Partial<AgentPacing> {
  const stock = stockOf(agent, name)
  return levelOf(stock, now) === stock.most ? {} : stored(name, { left: stock.most, at: now })
}

type TurnEnd = {
  turn: TurnId
  item: WorkItem
  counted: boolean
  progress: boolean
  seen: readonly string[]
  itemChanged: boolean
}

/** Counts the end of a turn about an item; says when the third without progress is reached. */
export function countTurnEnd(d: Draft, end: TurnEnd): 'go_on' | 'no_progress' | 'self_started' {
  const before = itemPacing(d, end.item.id)
  const stalled = end.counted && !end.progress
  const no_progress = end.progress ? 0 : before.no_progress + (stalled ? 1 : 0)
  const self_started = before.self_started + (end.counted ? 1 : 0)
  const seen = end.itemChanged ? [] : [...before.seen_results, ...end.seen]
  const park =
    no_progress >= limits.no_progress_turns.value
      ? 'no_progress'
      : self_started >= limits.self_started_turns.value
        ? 'self_started'
        : 'go_on'
  paceItem(d, end.item.id, {
    no_progress: park === 'go_on' ? no_progress : 0,
    no_progress_turns: end.progress
      ? []
      : stalled
        ? [...before.no_progress_turns, end.turn].slice(-limits.no_progress_turns.value)
        : before.no_progress_turns,
    self_started: park === 'go_on' ? self_started : 0,
    last_turn_id: end.turn,
    last_turn_ended_at: d.now,
    last_turn_progress: end.progress,
    end_revision: end.item.revision,
    seen_results: seen.slice(-limits.seen_results.value),
  })
  return park
}

/** Changes some of an item's counters; nothing is written when nothing differs. */
export function paceItem(
  d: Draft,
  item: WorkItemId,
  change: Partial<Omit<ItemPacing, 'kind' | 'id' | 'agent_id'>>,
): void {
  const { kind: _, id: __, agent_id: ___, ...before } = itemPacing(d, item)
  const pacing = { ...before, ...change }
  if (same(before, pacing)) return
  d.emit({ type: 'item_paced', id: item, pacing })
}

export function paceAgent(
  d: Draft,
  change: Partial<Omit<AgentPacing, 'kind' | 'id' | 'agent_id'>>,
): void {
  const { kind: _, id: __, agent_id: ___, ...before } = agentPacing(d)
  const pacing = { ...before, ...change }
  if (same(before, pacing)) return
  d.emit({ type: 'agent_paced', id: d.agent_id, pacing })
}

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)
