/**
 * When a message is used up: in the commit that records the answer to a request which showed it. A
 * request that is never answered (an abort, a refusal, a crash) shows nothing: what it carried is
 * given back at the end of its turn, or ends with it.
 */
import type { Draft, Facts } from '../facts/facts.ts'
import type { ActionOrigin } from '../policy/action.ts'
import type { MessageId } from '../ids.ts'
import type { Image } from '../image.ts'
import { interjected } from '../facts/interjected.ts'
import { isInterjected, type Message } from '../state/message.ts'
import type { Round, Turn } from '../state/turn.ts'

/** The messages that the turn has claimed, used up or not, oldest first. */
export const messagesOf = (facts: Facts, turn: Turn): Message[] =>
  [...facts.rows('messages')]
    .filter((message) => message.turn_id === turn.id)
    .sort((a, b) => a.inbox_seq - b.inbox_seq)

/**
 * Whose words the turn acts on: the least authority of all that it has claimed. What came of the
 * agent's own tasks is nobody's words, as it is none where the turn itself waited for it.
 */
export function originOf(facts: Facts, turn: Turn): ActionOrigin {
  const claimed = messagesOf(facts, turn).filter(({ kind }) => kind !== 'task_result')
  const classes = new Set(claimed.map((message) => message.authority_class))
  if (classes.has('external_evidence') || classes.has('integration_signal')) return 'external'
  return classes.has('operator_instruction') && !classes.has('runtime_instruction')
    ? 'operator'
    : 'runtime'
}

/** A message with images, and the round whose request carries it first. */
export type SentImages = { id: MessageId; round: number; images: readonly Image[] }

/** Of the turn's messages that a request carries, oldest first. */
export const sentImages = (messages: readonly Message[]): SentImages[] =>
  messages.flatMap(({ id, round, images }) =>
    round === null || images === undefined ? [] : [{ id, round, images }],
  )

/** The first request of a turn carries all that its start claimed. */
export function carryClaimed(d: Draft, turn: Turn): void {
  for (const { id, status } of messagesOf(d, turn)) {
    if (status === 'claimed') d.emit({ type: 'message_shown', id, turn_id: turn.id, round: 1 })
  }
}

/** A later request carries what was said or read meanwhile; what was said is returned. */
export function carryInterjected(d: Draft, turn: Turn, round: number): Message[] {
  const inbox = interjected(d, d.now)
  for (const { id, work_item_id } of inbox) {
    // What is said into a turn without naming an item is said about that turn's.
    const item = work_item_id === null ? turn.work_item_id : null
    const about = item === null ? {} : { work_item_id: item }
    d.emit({ type: 'message_claimed', id, turn_id: turn.id, to_coalesce: false, ...about })
    d.emit({ type: 'message_shown', id, turn_id: turn.id, round })
  }
  for (const { id, status, round: carried } of messagesOf(d, turn)) {
    if (status !== 'claimed' || carried !== null) continue
    d.emit({ type: 'message_shown', id, turn_id: turn.id, round })
  }
  return inbox.flatMap(({ id }) => d.row('messages', id) ?? [])
}

/** The answer to a request uses up what it and those before it carried. */
export function useUp(d: Draft, { turn_id, n }: Pick<Round, 'turn_id' | 'n'>): void {
  for (const message of [...d.rows('messages')]) {
    const { id, status, round, to_coalesce } = message
    if (status !== 'claimed' || message.turn_id !== turn_id) continue
    if (round === null) continue
    if (to_coalesce) d.emit({ type: 'message_coalesced', id, turn_id })
    else if (isInterjected(message)) d.emit({ type: 'message_interjected', id, turn_id, round })
    else d.emit({ type: 'message_consumed', id, turn_id, because: `shown in request ${n}` })
  }
}
