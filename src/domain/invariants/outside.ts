/**
 * The invariants of what comes from outside and by the clock: deliveries, slots, triggers,
 * schedules (docs/spec/invariants.md: 1, 2, 6, 29). Half of them look at rows, half at the whole
 * history.
 */
import { deliveryKey } from '../inbox/deliveries.ts'
import type { DeliveryEvent } from '../state/delivery.ts'
import type { StoredEvent } from '../state/event.ts'
import { agentOf, type Facts } from '../facts/facts.ts'
import { limits } from '../limits.ts'
import { between, type Timestamp } from '../time.ts'
import type { SlotEvent } from '../state/schedule.ts'

/** What the rows alone show. */
export const outsideRows: { readonly [number: string]: (facts: Facts) => Iterable<string> } = {
  /** An accepted delivery has its message, a dead one says why it has none. */
  *1(facts) {
    for (const { id, status, message_id, reason } of facts.rows('deliveries')) {
      const isWhole = status === 'accepted' ? message_id !== null : reason !== null
      if (!isWhole) yield `${id} is ${status} and says nothing of it`
    }
  },

  /** Nothing is left to carry for an agent that is deleted; an active schedule has a moment. */
  *6(facts) {
    for (const { id, status, next_at } of facts.rows('schedules')) {
      if ((status === 'active') !== (next_at !== null)) yield `${id} is ${status}, next ${next_at}`
    }
    if (agentOf(facts).state !== 'deleted') return
    const left = [
      ...[...facts.rows('waits')].filter((row) => row.status === 'active'),
      ...[...facts.rows('triggers')].filter((row) => row.status === 'active'),
      ...[...facts.rows('schedules')].filter((row) => row.status === 'active'),
      ...[...facts.rows('messages')].filter((row) => row.status === 'queued'),
    ]
    for (const { id, status } of left) yield `${id} is ${status} and its agent is deleted`
  },

  /** A slot that fired made a message, one that was missed made none. */
  *29(facts) {
    for (const { id, status, message_id } of facts.rows('slots')) {
      if (status === 'fired' && message_id === null) yield `${id} fired and made no message`
      if (status === 'missed' && message_id !== null)
        yield `${id} was missed and made ${message_id}`
    }
  },
}

type Past = {
  found: string[]
  messages: Set<string>
  /** When a key was used last, and for which delivery. */
  keys: Map<string, { id: string; at: Timestamp }>
  settled: Set<string>
}

/** What only the history shows: 1, 2 and 29 over every event of the agent, in order. */
export function outsideHistory(events: readonly StoredEvent[]): string[] {
  const past: Past = { found: [], messages: new Set(), keys: new Map(), settled: new Set() }
  for (const { event, at } of events) {
    if (event.type === 'message_admitted') past.messages.add(event.id)
    if (event.type === 'slot_settled') settled(past, event, at)
    if (
      event.type === 'delivery_accepted' ||
      event.type === 'delivery_redelivered' ||
      event.type === 'delivery_dead'
    ) {
      delivered(past, event, at)
    }
  }
  return past.found
}

function delivered(past: Past, event: DeliveryEvent, at: Timestamp): void {
  const { found, keys, messages } = past
  if (event.type !== 'delivery_dead' && !messages.has(event.message_id)) {
    found.push(`1: ${event.id} was accepted before ${event.message_id} was admitted`)
  }
  if (event.type === 'delivery_redelivered') return
  const key = deliveryKey(event)
  if (key === null) return
  const before = keys.get(key)
  if (before !== undefined && between(before.at, at) < limits.dedupe.value) {
    found.push(`2: ${event.id} is ${before.id} once more`)
  }
  keys.set(key, { id: event.id, at })
}

function settled(past: Past, event: SlotEvent, at: Timestamp): void {
  const { found, messages } = past
  if (past.settled.has(event.id)) found.push(`29: ${event.id} was settled twice`)
  past.settled.add(event.id)
  if (event.due_at > at) found.push(`29: ${event.id} was settled before it was due`)
  if (event.status === 'fired' && !messages.has(event.message_id ?? '')) {
    found.push(`29: ${event.id} fired without its message`)
  }
}
