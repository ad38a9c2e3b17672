/**
 * What a turn without a request leaves: nothing consumed, nothing reviewed. Its messages go back to
 * the queue; one whose turns died three times like this is dead, with a brief (reliability 5).
 */
import type { Draft } from './facts.ts'
import { limits } from './limits.ts'
import { isLiveWait } from './live-rows.ts'
import type { Message } from './message.ts'
import type { Turn } from './turn.ts'

/** Every claimed message of the turn returns to the queue with one more attempt, or is dead. */
export function giveBackMessages(d: Draft, turn: Turn): void {
  for (const message of [...d.rows('messages')]) {
    if (message.status !== 'claimed' || message.turn_id !== turn.id) continue
    const attempts = message.attempts + 1
    if (attempts >= limits.message_attempts.value) messageDead(d, message, turn)
    else d.emit({ type: 'message_requeued', id: message.id, attempts })
  }
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
 * normal lane is for a turn of its own, and stays.
 */
export function dropNotes(d: Draft): void {
  for (const message of [...d.rows('messages')]) {
    if (message.status !== 'queued' || message.kind !== 'internal_followup') continue
    if (message.priority === 'normal') continue
    d.emit({ type: 'message_dropped', id: message.id, reason: 'the turn it was for has ended' })
  }
}

function messageDead(d: Draft, message: Message, turn: Turn): void {
  const attempts = limits.message_attempts.value
  d.emit({
    type: 'message_dead',
    id: message.id,
    reason: `${attempts} turns died before their first request`,
  })
  d.emit({
    type: 'brief_delivered',
    id: d.mint('brief'),
    kind: 'failure',
    text:
      `A message was given up: ${attempts} turns that claimed it died before their first ` +
      `request. It began: "${message.body.slice(0, 200)}"`,
    turn_id: turn.id,
    work_item_id: message.work_item_id,
    wait_id: message.wait_id,
    message_id: message.id,
    task_id: null,
    warnings: [],
  })
}
