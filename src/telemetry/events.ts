/**
 * How this room looks at committed events: a table from an event's type to what to do about it.
 * What a table does not name is not observed; a name that is no event does not compile.
 */
import type { Event, EventOf, EventType } from '../domain/state/event.ts'
import type { Emitted } from '../domain/facts/facts.ts'
import type { AgentId } from '../domain/ids.ts'

export type EventContext = { agent_id: AgentId; meta: Emitted['meta'] }

export type EventTable<R> = {
  readonly [T in EventType]?: (event: EventOf<T>, seen: EventContext) => R
}

/** What the table says about an event, or null. */
export function lookUp<R>(table: EventTable<R>, agent_id: AgentId, emitted: Emitted): R | null {
  const { event, meta } = emitted
  const found = table[event.type] as ((event: Event, seen: EventContext) => R) | undefined
  return found ? found(event, { agent_id, meta }) : null
}
