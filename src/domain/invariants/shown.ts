/**
 * Invariant 43, over the events of an agent in order: what is used up stood in a request that was
 * answered. Of the end of a task also that it stood in one at all: nobody reads it elsewhere.
 */
import type { Event, EventType, StoredEvent } from '../state/event.ts'
import { stoppedByAgent } from '../waits/task-result.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

/** The request that carries a message, while its turn has it; null: none. */
type Shown = { turn: string; round: number } | null

type Past = {
  found: string[]
  /** The round that was answered last, by its id. */
  answered: string | null
  messages: Map<string, { shown: Shown; kind: string }>
}

type Walk = { readonly [T in EventType]?: (past: Past, event: Of<T>) => void }

export function shownHistory(events: readonly StoredEvent[]): string[] {
  const past: Past = { found: [], answered: null, messages: new Map() }
  for (const { event } of events) {
    const on = walk[event.type] as ((past: Past, event: Event) => void) | undefined
    on?.(past, event)
  }
  return past.found
}

const walk: Walk = {
  message_admitted: (past, event) =>
    void past.messages.set(event.id, { shown: null, kind: event.provenance.kind }),
  message_shown: (past, event) =>
    carried(past, event.id, { turn: event.turn_id, round: event.round }),
  message_requeued: (past, event) => carried(past, event.id, null),
  round_recorded(past, event) {
    past.answered = event.id
  },
  message_interjected: (past, event) => useUp(past, event),
  message_coalesced: (past, event) => useUp(past, event),
  message_consumed(past, event) {
    // As programs of before had it: whatever the turn had claimed.
    if (event.because.startsWith('the turn ended')) return
    useUp(past, event)
    const message = past.messages.get(event.id)
    if (message?.kind !== 'task_result' || message.shown !== null) return
    if (!unread.has(event.because))
      past.found.push(`43: ${event.id} is used up and was in no request`)
  },
}

/** Why an end may be in no request: the agent brought it about, or a program of before said so. */
const unread: ReadonlySet<string> = new Set([stoppedByAgent, 'the result was read'])

function carried(past: Past, id: string, shown: Shown): void {
  const message = past.messages.get(id)
  if (message) message.shown = shown
}

function useUp(past: Past, event: Event): void {
  const shown = past.messages.get(event.id)?.shown ?? null
  const [turn, n] = past.answered?.split(':') ?? []
  if (shown !== null && !(turn === shown.turn && Number(n) >= shown.round)) {
    past.found.push(`43: ${event.id} is used up, and ${shown.turn}:${shown.round} has no answer`)
  }
}
