/**
 * Poison work: a message whose turns died three times before their first request is dead, with a
 * brief that says so (reliability 5).
 */
import type { Draft } from './facts.ts'
import { limits } from './limits.ts'
import type { Message } from './message.ts'
import type { Turn } from './turn.ts'

export function messageDead(d: Draft, message: Message, turn: Turn): void {
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
