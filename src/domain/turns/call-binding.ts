/**
 * What a call is about, decided when it has run. A call that made, picked, waited on or changed an
 * item belongs to that item, and its round with it: the item's history has the round in which it
 * began. A call that spoke to a task, read it or ended it belongs to the item of that task. Every
 * other call belongs to the turn's item as it was when the call ran.
 */
import type { Call } from '../state/call.ts'
import type { Event, EventType } from '../state/event.ts'
import type { Draft } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { payOn, settleLate } from '../budgets/settle.ts'
import { roundId } from '../state/turn.ts'

/** `events` are what the call emitted. */
export function bindCall(d: Draft, call: Call, events: readonly Event[]): void {
  const item = first(events, (event) => itemOf(d, event))
  bindTo(d, call, item)
  chargeRound(d, call, first(events, begun))
  if (events.some(({ type }) => type === 'turn_bound')) payOn(d)
}

/** `task_id` is the task that the call named; what none was found by binds nothing. */
export function bindToTask(d: Draft, call: Call, task_id: string): void {
  bindTo(d, call, d.row('tasks', task_id)?.work_item_id ?? null)
}

function bindTo(d: Draft, call: Call, item: WorkItemId | null): void {
  const known = d.row('calls', call.id)?.work_item_id ?? null
  if (item === null || item === known) return
  d.emit({ type: 'call_bound', id: call.id, work_item_id: item })
}

/** A request that had no item is paid for by the first one that its calls make or pick. */
function chargeRound(d: Draft, call: Call, item: WorkItemId | null): void {
  const round = d.row('rounds', roundId(call.turn_id, call.round))
  if (item === null || !round || round.work_item_id !== null) return
  d.emit({ type: 'round_bound', id: round.id, work_item_id: item })
  settleLate(d, { ...round, work_item_id: item })
}

function first<T>(events: readonly Event[], of: (event: Event) => T | null): T | null {
  for (const event of events) {
    const found = of(event)
    if (found !== null) return found
  }
  return null
}

/** The item that the event makes or puts in focus. */
function begun(event: Event): WorkItemId | null {
  if (event.type === 'work_item_created') return event.id
  if (event.type === 'work_item_picked') return event.current_work_item_id
  return event.type === 'turn_bound' ? event.work_item_id : null
}

const changes: ReadonlySet<EventType> = new Set<EventType>([
  'work_item_updated',
  'plan_changed',
  'work_item_completed',
  'work_item_claim_refused',
  'work_item_report_drafted',
  'work_item_reported',
])

const waits: ReadonlySet<EventType> = new Set<EventType>([
  'wait_registered',
  'wait_rearmed',
  'wait_cancelled',
])

function itemOf(d: Draft, event: Event): WorkItemId | null {
  if (changes.has(event.type)) return event.id as WorkItemId
  if (waits.has(event.type)) return d.row('waits', event.id)?.work_item_id ?? null
  return begun(event)
}
