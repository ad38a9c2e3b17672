/**
 * The fields of the events about what the agent told and thought, about the doors of the outside,
 * about schedules, and about the operator's desk: the other half of `event-fields.ts`.
 */
import { z } from 'zod'
import type { ScheduleChanges } from '../../domain/state/schedule.ts'
import type { RoundId } from '../../domain/state/turn.ts'
import {
  delegationEnd,
  delegationRecord,
  worktreeRecord,
  worktreeSnapshot,
} from '../records/delegation-record.ts'
import { grantId, grantScope } from '../records/grant-record.ts'
import { messageRecord } from '../records/message-record.ts'
import { briefList, decisionRecord } from '../records/history-record.ts'
import {
  agentId,
  count,
  decisionId,
  idOf,
  listOf,
  messageId,
  sha256,
  taskId,
  timestamp,
  turnId,
  waitId,
  workItemId,
} from '../scalar.ts'
import { scheduleId, scheduleRecord, slotRecord } from '../records/schedule-record.ts'
import { measured } from '../records/work-item-record.ts'
import { deliveryId, deliveryRecord, triggerId, triggerRecord } from '../records/trigger-record.ts'

const text = z.string()
const textOrNull = text.nullable()
const by = z.enum(['agent', 'operator', 'runtime'])
const trigger = triggerRecord.shape
const delivery = deliveryRecord.shape
const schedule = scheduleRecord.shape
const message = messageRecord.shape
const slot = slotRecord.shape
const brief = briefList.shape.briefs.element.shape
const decision = decisionRecord.shape

const { agent_id: _b, created_at: _c, ...briefFields } = brief
const { agent_id: _d, at: _e, ...decisionFields } = decision
const toldEvents = {
  brief_delivered: briefFields,
  decision_made: { ...decisionFields, id: decisionId },
  item_paced: {
    id: workItemId,
    pacing: z.strictObject({
      no_progress: count,
      no_progress_turns: listOf(turnId),
      self_started: count,
      last_turn_id: turnId.nullable(),
      last_turn_ended_at: timestamp.nullable(),
      last_turn_progress: z.boolean(),
      end_revision: count,
      seen_results: listOf(text),
      free_turn: z.boolean(),
      free_turn_at: timestamp.nullable(),
    }),
  },
  agent_paced: {
    id: agentId,
    pacing: z.strictObject({
      turn_count: count,
      bucket: z.number(),
      bucket_at: timestamp,
      trigger_turns: z.number(),
      trigger_turns_at: timestamp,
      queue_no_progress: count,
      queue_turn_ended_at: timestamp.nullable(),
      queue_turn_end_seq: count,
      queue_turn_counted: z.boolean(),
      queue_wait_id: waitId.nullable(),
      bucket_wait_id: waitId.nullable(),
      trigger_wait_id: waitId.nullable(),
      agent_review_at: timestamp.nullable(),
      holds: count,
    }),
  },
} as const

const { via, sender_id, summary, body_sha256, content_type } = delivery
const received = {
  id: deliveryId,
  via,
  sender_id,
  source: textOrNull,
  resource: textOrNull,
  summary,
  body_sha256,
  content_type,
}
const grantEvents = {
  grant_made: {
    id: grantId,
    work_item_id: workItemId.nullable(),
    scope: grantScope,
    task_id: taskId,
    surface: message.delivery_surface,
    until: timestamp.nullable(),
  },
  grant_used: { id: grantId, task_id: taskId },
  grant_ended: { id: grantId, by, because: text },
} as const

const doorEvents = {
  trigger_created: {
    id: triggerId,
    label: text,
    by: trigger.by,
    generation: count,
    token_sha256: sha256,
    source: textOrNull,
    resource: textOrNull,
    delivery_mode: trigger.delivery_mode,
  },
  trigger_reset: { id: triggerId, generation: count, token_sha256: sha256 },
  trigger_revoked: { id: triggerId, by },
  trigger_delivered: { id: triggerId, delivery_id: deliveryId },
  delivery_accepted: { ...received, message_id: messageId },
  delivery_dead: { ...received, reason: text },
  delivery_redelivered: {
    id: deliveryId,
    message_id: messageId,
    source: textOrNull,
    resource: textOrNull,
    summary,
  },
} as const

const { spec, missed, overlap } = schedule
const timed = { id: scheduleId, by }
const { agent_id: _f, at: _g, ...slotFields } = slot
const timeEvents = {
  schedule_created: {
    ...timed,
    label: text,
    text,
    work_item_id: workItemId.nullable(),
    spec,
    missed,
    overlap,
    next_at: timestamp,
  },
  schedule_changed: {
    ...timed,
    changed: z.strictObject({
      label: text.optional(),
      text: text.optional(),
      work_item_id: workItemId.nullable().optional(),
      spec: spec.optional(),
      missed: missed.optional(),
      overlap: overlap.optional(),
    }) as unknown as z.ZodType<ScheduleChanges>,
    next_at: timestamp.nullable(),
  },
  schedule_paused: timed,
  schedule_resumed: { ...timed, next_at: timestamp },
  schedule_removed: timed,
  schedule_advanced: {
    id: scheduleId,
    next_at: timestamp.nullable(),
    last_slot_at: timestamp,
    ended: z.boolean(),
  },
  slot_settled: { ...slotFields, id: text as unknown as z.ZodType<`sched_${string}@${string}`> },
} as const

const deskEvents = {
  receipt_kept: {
    id: idOf('rcpt'),
    request_sha256: sha256,
    reply: z.strictObject({
      ok: z.literal(true),
      message_id: textOrNull,
      resolved: z.array(text),
      triggered: z.array(text),
      id: textOrNull,
      said: text,
      warnings: z.array(z.strictObject({ kind: text, message: text })),
    }),
  },
  attention_snoozed: { id: text, until: timestamp, fingerprint: text },
  attention_dismissed: { id: text, fingerprint: text },
} as const

const delegation = delegationRecord.shape
const worktree = worktreeRecord.shape
const ofTree = { id: taskId }
const ends = { ...ofTree, by: z.enum(['operator', 'runtime']), reason: text }
const childEvents = {
  delegation_made: {
    id: delegation.delegation_id,
    work_item_id: delegation.parent_work_item_id,
    child_agent_id: delegation.child_agent_id,
    task_id: taskId,
  },
  delegation_bound: { id: delegation.delegation_id, child_work_item_id: workItemId },
  delegation_ended: {
    id: delegation.delegation_id,
    state: delegationEnd,
    result_summary: textOrNull,
  },
  worktree_planned: {
    ...ofTree,
    child_agent_id: worktree.child_agent_id,
    repository: text,
    path: text,
    branch: text,
  },
  worktree_made: { ...ofTree, base_commit: text, unfiltered: worktree.unfiltered },
  worktree_kept: { ...ofTree, reason: text },
  worktree_snapshotted: { ...ofTree, snapshot: worktreeSnapshot },
  worktree_removed: ends,
  worktree_discarded: ends,
  worktree_restore_planned: ofTree,
  worktree_restored: { ...ofTree, path: text, branch: text, reason: text },
} as const

const use = z.strictObject({
  tokens: z.number(),
  usd: z.number(),
  unpriced: count,
  rounds: count,
})
const draw = z.strictObject({ delegation_id: delegation.delegation_id, used: use, reserved: use })
const ofMeter = { id: text }
const round_id = text as unknown as z.ZodType<RoundId>
const limitsOf = z
  .strictObject({
    max_tokens: z.number().nullable(),
    max_usd: z.number().nullable(),
    max_rounds: z.number().nullable(),
    deadline: timestamp.nullable(),
  })
  .nullable()
const meterEvents = {
  meter_opened: {
    ...ofMeter,
    kind: z.enum(['item', 'agent']),
    used: use,
    drawn: listOf(draw),
    allowance: limitsOf,
    limits: limitsOf,
    draws_on: workItemId.nullable(),
  },
  meter_over: { id: workItemId, over: listOf(measured) },
  meter_shared: { id: workItemId, items: count },
  meter_paid_on: { id: workItemId, pays_on: z.boolean() },
  meter_allowed: { id: agentId, allowance: limitsOf },
  meter_reserved: { ...ofMeter, round_id, use, told: listOf(text) },
  meter_settled: { ...ofMeter, round_id, use },
  meter_released: { ...ofMeter, round_id },
  meter_drawn: { id: workItemId, ...draw.shape },
  meter_taken: {
    id: workItemId,
    drawer_agent_id: agentId,
    state: z.enum(['draws', 'left']),
    used: use,
    reserved: use,
  },
  meter_asked: { id: workItemId, marks: listOf(text) },
} as const

export const otherFields = {
  ...toldEvents,
  ...doorEvents,
  ...timeEvents,
  ...deskEvents,
  ...childEvents,
  ...meterEvents,
  ...grantEvents,
} as const
