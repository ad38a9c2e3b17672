/**
 * What a turn leaves of which no request was answered: nothing used up, nothing reviewed. What it
 * claimed goes back to the queue; what three turns could not show is dead, with a brief.
 */
import { deliverBrief } from '../facts/deliver-brief.ts'
import { roundsOf, type Draft, type Facts } from '../facts/facts.ts'
import { admit } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { isLiveWait } from '../facts/live-rows.ts'
import type { Message } from '../state/message.ts'
import { runtimeFollowup } from '../state/provenance.ts'
import { messagesOf } from './shown.ts'
import type { Turn } from '../state/turn.ts'

/**
 * What the turn claimed and was not shown is queued with one more attempt, or dead. What a call of
 * it had read, and no request carried, was not attempted.
 */
export function giveBackMessages(d: Draft, turn: Turn): void {
  for (const message of [...d.rows('messages')]) {
    if (message.status !== 'claimed' || message.turn_id !== turn.id) continue
    const attempts = message.attempts + (isOnlyRead(d, turn, message) ? 0 : 1)
    if (attempts >= limits.message_attempts.value) messageDead(d, message, turn)
    else d.emit({ type: 'message_requeued', id: message.id, attempts })
  }
}

/** A call of the turn has read it, and no request of the turn carried that. */
export const isOnlyRead = (facts: Facts, turn: Turn, { round }: Message): boolean =>
  round === null && roundsOf(facts, turn).length > 0

/**
 * The same of a child that is stopped in its turn's middle with its parent: no attempt is counted,
 * and where it has no item to go on with, a note starts it again in place of what it has read.
 */
export function keepMessages(d: Draft, turn: Turn): void {
  let read = false
  for (const { id, status, attempts } of messagesOf(d, turn)) {
    if (status === 'claimed') d.emit({ type: 'message_requeued', id, attempts })
    else read = true
  }
  if (!read || turn.work_item_id !== null) return
  const body = `You were stopped in the middle of ${turn.id}, and started again: go on from there.`
  admit(d, { id: d.mint('msg'), provenance: runtimeFollowup, priority: 'normal', body })
}

/** The waits that the turn's start marked as shown, and that still matter, are as they were. */
export function undoReviews(d: Draft, turn: Turn): void {
  for (const wait of [...d.rows('waits')]) {
    if (wait.last_review?.turn_id !== turn.id || !isLiveWait(wait)) continue
    d.emit({ type: 'wait_review_undone', id: wait.id, turn_id: turn.id })
  }
}

/**
 * A runtime note that missed its request has no reader any more. What the runtime tells in the
 * normal lane is for a turn of its own, and stays; so does an answer of the operator that comes to
 * a child by it: what its turn did not show is for the next.
 */
export function dropNotes(d: Draft): void {
  for (const message of [...d.rows('messages')]) {
    if (message.status !== 'queued' || message.kind !== 'internal_followup') continue
    if (message.priority === 'normal' || isAnswer(message)) continue
    d.emit({ type: 'message_dropped', id: message.id, reason: 'the turn it was for has ended' })
  }
}

/** To a question or to what was held: somebody's words, whoever brings them. */
const isAnswer = ({ wait_id, task_id }: Message): boolean => wait_id !== null || task_id !== null

function messageDead(d: Draft, message: Message, turn: Turn): void {
  const attempts = limits.message_attempts.value
  d.emit({
    type: 'message_dead',
    id: message.id,
    reason: `${attempts} turns ended before the model had seen it`,
  })
  deliverBrief(d, {
    kind: 'failure',
    text:
      `A message was given up: ${attempts} turns that claimed it ended before the model had ` +
      `seen it. It began: "${message.body.slice(0, 200)}"`,
    turn_id: turn.id,
    work_item_id: message.work_item_id,
    wait_id: message.wait_id,
    message_id: message.id,
  })
}
