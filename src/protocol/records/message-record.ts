/**
 * A message as readers get it: its row (docs/spec/message.md#stored-fields) without the scheduler's
 * own bookkeeping, and its receipt: when it was accepted, and which request of which turn showed
 * it.
 */
import { z } from 'zod'
import { queuedWords, type Message } from '../../domain/state/message.ts'
import { canList, type Can } from '../actions/action.ts'
import { imageRecord } from './image-record.ts'
import {
  agentId,
  count,
  listOf,
  messageId,
  taskId,
  timestamp,
  turnId,
  waitId,
  workItemId,
} from '../scalar.ts'

export const messageStatuses = [
  'queued',
  'claimed',
  'consumed',
  'aborted',
  'failed',
  'interjected',
  'coalesced',
  'dropped',
  'dead',
] as const
export const messageKinds = [
  'operator_prompt',
  'callback_event',
  'webhook_event',
  'timer_tick',
  'task_result',
  'task_status',
  'internal_followup',
  'delegation',
] as const

const receipt = z
  .strictObject({
    accepted_at: timestamp,
    turn_id: turnId.nullable().describe('The turn that took it; null: none yet.'),
    request_id: z.string().nullable().describe('The request that showed it first.'),
    said: z.string().describe('The same in words.'),
  })
  .meta({ id: 'MessageReceipt' })

export const messageRecord = z
  .strictObject({
    id: messageId,
    agent_id: agentId,
    inbox_seq: count,
    kind: z.enum(messageKinds),
    origin: z.enum(['operator', 'callback', 'webhook', 'timer', 'task', 'system', 'agent']),
    delivery_surface: z.enum([
      'cli_prompt',
      'run_once',
      'tui',
      'http_control',
      'http_callback',
      'http_webhook',
      'timer_scheduler',
      'task_rejoin',
      'runtime_system',
    ]),
    admission_context: z.enum([
      'local_process',
      'control_authenticated',
      'trigger_capability',
      'own_trigger_capability',
      'signature_verified',
      'runtime_owned',
    ]),
    authority_class: z.enum([
      'operator_instruction',
      'integration_signal',
      'runtime_instruction',
      'external_evidence',
    ]),
    priority: z.enum(['interject', 'next', 'normal', 'background']),
    body: z.string(),
    images: listOf(imageRecord).describe('Sent with the words, in order.'),
    dedupe_key: z.string().nullable(),
    source: z.string().nullable(),
    resource: z.string().nullable(),
    work_item_id: workItemId.nullable(),
    task_id: taskId.nullable(),
    wait_id: waitId.nullable(),
    correlation_id: z.string().nullable(),
    causation_id: z.string().nullable(),
    status: z.enum(messageStatuses),
    status_reason: z.string().nullable(),
    attempts: count,
    turn_id: turnId.nullable(),
    due_at: timestamp.nullable().describe('It starts no turn before; null: at once.'),
    came: count.describe('How often it came: the same again, unread, is counted along.'),
    created_at: timestamp,
    receipt,
    can: canList,
  })
  .meta({ id: 'Message' })
export type MessageRecord = z.infer<typeof messageRecord>

export const messageList = z
  .strictObject({ messages: z.array(messageRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'MessageList' })

export function messageRecordOf(message: Message, can: readonly Can[]): MessageRecord {
  const { to_coalesce: _, round, turn_count: __, ...fields } = message
  const images = [...(message.images ?? [])]
  return { ...fields, images, receipt: receiptOf(message, round), can }
}

function receiptOf(message: Message, round: number | null): MessageRecord['receipt'] {
  const { turn_id, created_at } = message
  const request_id = turn_id === null || round === null ? null : `${turn_id}:${round}`
  return { accepted_at: created_at, turn_id, request_id, said: said(message, round) }
}

/** What has become of it, in the words every screen uses. */
function said(message: Message, round: number | null): string {
  const { status, status_reason, turn_id } = message
  const because = status_reason === null ? '' : `: ${status_reason}`
  switch (status) {
    case 'queued':
      return queuedWords(message)
    case 'dropped':
      return `dropped${because}`
    case 'dead':
      return `dead${because}`
    case 'claimed':
    case 'interjected':
    case 'consumed':
    case 'coalesced':
    case 'aborted':
    case 'failed':
      break
  }
  if (turn_id === null) return `needed no turn${because}`
  return round === null ? `in turn ${turn_id}` : `in turn ${turn_id}, request ${round}`
}

export const newMessage = z
  .strictObject({
    text: z.string(),
    images: z
      .array(z.strictObject({ base64: z.string().describe('Its bytes: PNG, JPEG, GIF or WebP.') }))
      .optional()
      .describe('Up to 10 of at most 3.75 MiB each and 6 MiB together; shown with the text.'),
    work_item_id: z
      .string()
      .optional()
      .describe('The item it is about; its id, or the beginning or end of it.'),
    wait_id: z
      .string()
      .optional()
      .describe('The question it answers; its id, or the beginning or end of it.'),
    priority: z
      .enum(['interject', 'next'])
      .optional()
      .describe('`interject`: into the open turn at its next safe point. Default: next.'),
    start: z.boolean().optional().describe('Start the agent when it is stopped.'),
  })
  .meta({ id: 'NewMessage' })

export const accepted = z
  .strictObject({
    message_id: messageId,
    accepted_at: timestamp,
    resolved: listOf(waitId).describe('Waits it answered.'),
    said: z.string(),
    warnings: listOf(z.strictObject({ kind: z.string(), message: z.string() })),
  })
  .meta({ id: 'Accepted' })
