/**
 * Claims: which queued messages a new turn takes, and which of them it shows only as a line in a
 * file (docs/spec/scheduler.md#claiming). Pure selection; the turn's start writes it down.
 */
import type { Facts } from '../facts/facts.ts'
import type { WaitId, WorkItemId } from '../ids.ts'
import { utf8Length } from './admit.ts'
import { isLate, lateResults } from './late-results.ts'
import { limits } from '../limits.ts'
import { isEvent, type Message, type Priority } from '../state/message.ts'

export type Claims = { shown: readonly Message[]; coalesced: readonly Message[] }

export const lanes = { fast: ['interject', 'next'], normal: ['normal'], background: ['background'] }
export type PriorityClass = keyof typeof lanes

const byAge = (a: Message, b: Message): number => a.inbox_seq - b.inbox_seq

export const laneOf = (priority: Priority): PriorityClass =>
  priority === 'interject' || priority === 'next' ? 'fast' : priority

/**
 * The cause first, then messages that are not events, oldest first and late results last, then the
 * newest events; at most 20 messages or 64 KiB. Older events of the same waits are coalesced; the
 * rest stay queued.
 */
export function claims(facts: Facts, cause: Message | null, item: WorkItemId | null): Claims {
  const again = cause ?? givenBack(facts, item)
  if (again && again.attempts > 0) return { shown: [again], coalesced: [] }
  const lane = cause === null ? null : laneOf(cause.priority)
  const late = lateResults(facts)
  const eligible = [...facts.rows('messages')].filter(
    (message) =>
      message.status === 'queued' &&
      message.attempts === 0 &&
      !isLate(facts, message) &&
      message.id !== cause?.id &&
      (message.work_item_id === null
        ? lane !== null && laneOf(message.priority) === lane
        : message.work_item_id === item),
  )
  const ordered = [
    ...eligible.filter((message) => !isEvent(message)).sort(byAge),
    // No turn is started for one, so any turn takes it, also one that was given back.
    ...late,
    ...eligible.filter(isEvent).sort((a, b) => byAge(b, a)),
  ]
  const shown: Message[] = cause === null ? [] : [cause]
  let bytes = cause === null ? 0 : utf8Length(cause.body)
  const left: Message[] = []
  for (const message of ordered) {
    const size = utf8Length(message.body)
    const fits =
      shown.length < limits.claimed_messages.value &&
      (shown.length === 0 || bytes + size <= limits.claimed_bytes.value)
    if (fits && left.length === 0) {
      shown.push(message)
      bytes += size
    } else {
      left.push(message)
    }
  }
  const waits = new Set<WaitId | null>(shown.filter(isEvent).map((message) => message.wait_id))
  waits.delete(null)
  const coalesced = left.filter((message) => isEvent(message) && waits.has(message.wait_id))
  return { shown: [...shown].sort(byAge), coalesced: coalesced.sort(byAge) }
}

/**
 * What an earlier turn could not show about the item this one goes on with: the item would else be
 * completed by who never saw how its task ended.
 */
const givenBack = (facts: Facts, item: WorkItemId | null): Message | null =>
  [...facts.rows('messages')]
    .filter(
      (message) =>
        message.status === 'queued' &&
        message.attempts > 0 &&
        message.work_item_id !== null &&
        message.work_item_id === item &&
        !isLate(facts, message),
    )
    .sort(byAge)[0] ?? null
