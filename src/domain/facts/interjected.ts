/** Interjected: words that enter the running turn, with its next request. */
import type { Facts } from './facts.ts'
import { isOverBudget } from './payer.ts'
import type { Message } from '../state/message.ts'
import type { Timestamp } from '../time.ts'

/**
 * Interjected messages that wait for the next safe point, oldest first. What is bound to an item
 * over its budget waits for the limit to be raised.
 */
export function interjected(facts: Facts, now: Timestamp): Message[] {
  return [...facts.rows('messages')]
    .filter((message) => message.status === 'queued' && message.priority === 'interject')
    .filter((message) => !isOverBudget(facts, message.work_item_id, now))
    .sort((a, b) => a.inbox_seq - b.inbox_seq)
}
