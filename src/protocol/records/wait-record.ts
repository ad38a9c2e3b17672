/**
 * A wait as readers get it (docs/spec/wait.md), with the hash that binds an answer to the question
 * as it was shown: whoever answers sends it back, and a question that changed meanwhile is not
 * answered.
 */
import { z } from 'zod'
import { waitRecord as fieldsOf } from '../../domain/work/item-record.ts'
import { boundHash } from '../../domain/work/answer-question.ts'
import type { Wait } from '../../domain/state/wait.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, count, listOf, orNull, timestamp, waitId, workItemId } from '../scalar.ts'

export const waitStatuses = ['active', 'resolved', 'cancelled'] as const

export const choice = z.strictObject({ key: z.string(), label: z.string() }).meta({ id: 'Choice' })

/** What is asked, whole, and the answers that are offered. */
export const question = z
  .strictObject({
    text: z.string(),
    choices: listOf(choice).describe('An answer names one by its key or label, or is in words.'),
    settles: z
      .enum(['plan_status'])
      .nullable()
      .describe('What the answer sets back: `plan_status`, from needs_input to draft.'),
  })
  .meta({ id: 'Question' })

/** The stored fields, as they stand inside an item. */
export const waitFields = {
  id: waitId,
  agent_id: agentId,
  work_item_id: workItemId.nullable(),
  wake: z.enum(['operator_input', 'task_result', 'external', 'timer', 'system']),
  by: z.enum(['agent', 'operator', 'runtime']),
  runtime_cause: z
    .enum([
      'no_progress',
      'self_started_limit',
      'queue_no_progress',
      'bucket_empty',
      'trigger_turns_used',
      'provider_world',
      'provider_setup',
      'disk_full',
      'budget',
      'spending',
      'requests_unasked',
      'budget_left',
    ])
    .nullable(),
  reason: z.string(),
  question: orNull(question).describe('Null where nobody is asked.'),
  resource: z.string().nullable(),
  source: z.string().nullable(),
  condition: z.string().nullable(),
  delivery_mode: z.enum(['enqueue_message', 'wake_hint']),
  status: z.enum(waitStatuses),
  since_seq: count,
  wake_at: timestamp.nullable(),
  recheck_at: timestamp.nullable(),
  recheck_ms: count.nullable().describe('The interval it was made with; null: no recheck.'),
  rechecks: count.describe('Looks in a row since something changed or came.'),
  trigger_count: count,
  last_triggered_at: timestamp.nullable(),
  reviewed_trigger_count: count,
  released_focus: z.boolean(),
  created_at: timestamp,
  resolved_at: timestamp.nullable(),
  cancelled_at: timestamp.nullable(),
}

export const waitOfItem = z.strictObject(waitFields).meta({ id: 'WaitOfItem' })
export type WaitOfItem = z.infer<typeof waitOfItem>

export const waitRecord = z
  .strictObject({
    ...waitFields,
    bound_hash: z
      .string()
      .nullable()
      .describe('Of an open question: send it back with the answer. Null for all else.'),
    can: canList,
  })
  .meta({ id: 'Wait' })
export type WaitRecord = z.infer<typeof waitRecord>

export const waitList = z
  .strictObject({ waits: z.array(waitRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'WaitList' })

export function waitRecordOf(wait: Wait, can: readonly Can[]): WaitRecord {
  const isOpen = wait.wake === 'operator_input' && wait.status === 'active'
  const bound_hash = isOpen ? boundHash(wait) : null
  return { ...(fieldsOf(wait) as WaitOfItem), bound_hash, can }
}

export const answerBody = z
  .strictObject({
    choice: z.string().optional().describe('Key or label of a choice that was offered; or `text`.'),
    text: z.string().optional(),
    bound_hash: z.string().describe('Of the question as it was shown.'),
    start: z.boolean().optional().describe('Start the agent when it is stopped.'),
  })
  .meta({ id: 'Answer' })

/** An event by hand, for one external wait. */
export const fireBody = z.strictObject({ body: z.string().optional() }).meta({ id: 'Fire' })
