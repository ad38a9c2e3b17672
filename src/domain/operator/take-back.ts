/**
 * Taking back: the operator's own words leave the inbox while no turn has claimed them (
 * docs/spec/message.md#taking-back). Compare and set: it holds only while the message is queued,
 * and says why it does not. Who was faster, a turn or the operator, is settled by which commit came
 * first.
 */
import type { StoredEvent } from '../state/event.ts'
import type { Draft } from '../facts/facts.ts'
import type { MessageId, WaitId } from '../ids.ts'
import { isTakenBack, type Message } from '../state/message.ts'
import type { Surface } from './act.ts'
import { done, type Done } from '../state/reply.ts'
import { no, type Rejection } from '../rejection.ts'

/**
 * Asked again, it answers the same and writes nothing. `answered_wait` is the wait that ended by
 * the message though the message does not name it; null where there is none.
 */
export function takeBackMessage(
  d: Draft,
  act: { message_id: string; surface?: Surface | undefined },
  answered_wait: WaitId | null,
): Done | Rejection {
  const message = d.row('messages', act.message_id)
  if (!message) {
    return no('message_not_found', `${act.message_id} is not a message of ${d.agent_id}.`)
  }
  const { id } = message
  if (message.kind !== 'operator_prompt') {
    return no('message_not_yours', `${id} is a ${message.kind}, not words of yours.`)
  }
  if (isTakenBack(message)) return done(`${id} was taken back before.`, { message_id: id })
  const over = pastTaking(message) ?? answering(message, answered_wait)
  if (over) return over
  d.emit({ type: 'message_taken_back', id, surface: act.surface ?? 'cli_prompt' })
  return done(`${id} is taken back; no turn has read it.`, { message_id: id })
}

/**
 * The newest events about its item, by whose agent and how many, where they have to say whether the
 * message ended a wait that it does not name: a question of its item that was asked after it had
 * come was answered by it at once (docs/spec/wait.md#no-lost-race, *No lost race*). Null: it cannot
 * have. A turn starts with such an answer, so only what holds the agent lets more events follow it.
 */
export function pageOfAnswer(message: Message) {
  const { kind, status, agent_id, work_item_id, wait_id } = message
  if (kind !== 'operator_prompt' || status !== 'queued') return null
  if (work_item_id === null || wait_id !== null) return null
  return { agent_id, work_item_id, before: Number.MAX_SAFE_INTEGER, limit: 500 }
}

/** The wait that the message ended, by the events about its item; null: none of these says so. */
export function answeredWaitIn(events: readonly StoredEvent[], id: MessageId): WaitId | null {
  for (const { event } of events) {
    if (event.type !== 'wait_resolved' || event.by.kind !== 'operator') continue
    if (event.by.message_id === id) return event.id
  }
  return null
}

/** Null while it is queued. */
function pastTaking({ id, status, status_reason, turn_id }: Message): Rejection | null {
  switch (status) {
    case 'queued':
      return null
    case 'claimed':
      return no('message_in_turn', `${id} is in turn ${turn_id} already.`)
    case 'interjected':
    case 'coalesced':
    case 'consumed':
    case 'aborted':
    case 'failed':
      return no('message_in_turn', `${id} was in turn ${turn_id}.`)
    case 'dropped':
    case 'dead':
      return no('message_over', `${id} is ${status}: ${status_reason}.`)
  }
}

/** An answer has ended its wait in the commit that admitted it: what followed stays. */
function answering({ id, wait_id }: Message, answered_wait: WaitId | null): Rejection | null {
  const wait = wait_id ?? answered_wait
  return wait === null ? null : no('message_is_answer', `${id} has answered ${wait}.`)
}
