/**
 * Invariant 28: an event triggers the waits that it is about, those that were made in the turn in
 * whose middle it came among them. `historyViolations` brings what it is asked of.
 */
import type { Event, EventType } from '../state/event.ts'
import { isEventKind, tellsOfHint } from '../state/message.ts'
import type { Timestamp } from '../time.ts'
import { matches } from '../state/wait.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

export type KnownMessage = Of<'message_admitted'> & {
  seq: number
  over: string | null
  isClaimed: boolean
  /** The external waits it should trigger. */
  expected: string[]
}
export type KnownWait = Of<'wait_registered'> & {
  created: Timestamp
  seq: number
  ended: boolean
  triggers: Set<string>
}
/** The active external waits that an event is about. */
export const expecting = (
  waits: ReadonlyMap<string, KnownWait>,
  event: Of<'message_admitted'>,
): string[] =>
  [...waits].flatMap(([id, wait]) =>
    !wait.ended && wait.wake === 'external' && matches(wait, event) ? [id] : [],
  )

/**
 * 28, the other half: an event that came while a matching wait was active, or between its look and
 * its registration, is among its triggers. One fired by hand at a wait reaches that wait alone.
 */
export function missedTriggers(
  messages: Iterable<KnownMessage>,
  waits: ReadonlyMap<string, KnownWait>,
): string[] {
  const found: string[] = []
  for (const message of messages) {
    if (!isEventKind(message.provenance.kind) || tellsOfHint(message)) continue
    const alone = message.expected.length === 1 ? message.expected[0] : null
    const isByHand = message.wait_id !== null && message.wait_id !== alone
    for (const id of isByHand ? [message.wait_id ?? ''] : message.expected) {
      if (waits.get(id)?.triggers.has(message.id)) continue
      found.push(`28: ${message.id} is about ${id} and did not trigger it`)
    }
    for (const [id, wait] of waits) {
      if (wait.wake !== 'external' || wait.triggers.has(message.id)) continue
      if (message.seq <= wait.since_seq || message.seq >= wait.seq) continue
      if (matches(wait, message)) {
        found.push(`28: ${message.id} came before ${id} was registered and was missed`)
      }
    }
  }
  return found
}
