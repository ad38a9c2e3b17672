/**
 * The fields of every event type, beside its `type`: of the work here, of what is told, comes in
 * and is timed in `other-event-fields.ts`. Fields that a record has too are its own schemas: one
 * thing has one shape. The compiler holds them against the events of the rules, field by field.
 */
import { imageRecord } from '../records/image-record.ts'
import { z } from 'zod'
import type { ToolResult } from '../../domain/state/call.ts'
import type { WorkItemChanges } from '../../domain/state/work-item.ts'
import { agentRecord, workspace } from '../records/agent-record.ts'
import { checkEvents } from '../records/check-record.ts'
import { grantId } from '../records/grant-record.ts'
import { messageRecord } from '../records/message-record.ts'
import {
  agentId,
  briefId,
  callId,
  count,
  listOf,
  messageId,
  sha256,
  taskId,
  timestamp,
  turnId,
  waitId,
  workItemId,
} from '../scalar.ts'
import { otherFields } from './other-event-fields.ts'
import { heldAsked, taskChanges, taskRecord } from '../records/task-record.ts'
import {
  callRecord,
  keptFile,
  roundRecord,
  toolResult,
  turnWhole,
  usage,
} from '../records/turn-record.ts'
import { waitFields as wait } from '../records/wait-record.ts'
import { workItemRecord } from '../records/work-item-record.ts'

const text = z.string()
const textOrNull = text.nullable()
const turn = turnWhole.shape
const round = roundRecord.shape
const call = callRecord.shape
const task = taskRecord.shape
const message = messageRecord.shape
const item = workItemRecord.shape

const by = z.enum(['agent', 'operator', 'runtime'])
const agent = { id: agentId }
const agentBy = { id: agentId, by }
const plan = z.strictObject({
  path: text,
  sha256: sha256.nullable(),
  bytes: count,
  good_sha256: sha256.nullable(),
})
const todoList = item.todo_list.unwrap()

const agentEvents = {
  agent_created: {
    ...agent,
    model: textOrNull,
    workspace,
    preset: agentRecord.shape.preset,
    lineage_parent_agent_id: agentId.optional(),
    supervisor_agent_id: agentId.optional(),
    supervising_task_id: taskId.optional(),
    template: text.optional(),
    inherited_sha256: sha256.optional(),
    draws_on: workItemId.optional(),
  },
  agent_configured: {
    ...agent,
    model: text.optional(),
    fallback_model: textOrNull.optional(),
    workspace: workspace.optional(),
    budget: agentRecord.shape.budget.optional(),
    policy_preset: agentRecord.shape.policy_preset,
  },
  agent_started: agentBy,
  agent_stopped: agentBy,
  agent_deleted: agentBy,
  work_item_picked: {
    ...agent,
    previous_work_item_id: workItemId.nullable(),
    current_work_item_id: workItemId,
    reason: textOrNull,
    previous_readiness: item.readiness.nullable(),
    current_readiness: item.readiness,
    switch_kind: z.enum([
      'explicit_pick',
      'explicit_focus_override',
      'wait_resolved',
      'operator_pick',
    ]),
    reason_required: z.boolean(),
    reason_missing: z.boolean(),
    wait_id: waitId.nullable(),
  },
  focus_released: {
    ...agent,
    work_item_id: workItemId,
    cause: z.enum(['completed', 'blocked', 'needs_input', 'waiting']),
  },
} as const

const check = { id: workItemId, name: text, n: count }

const importedFrom = z
  .strictObject({
    agent_id: text,
    work_item_id: text,
    exported_at: timestamp,
    file_sha256: sha256,
  })
  .meta({ id: 'ImportedFrom' })

const itemEvents = {
  work_item_created: {
    id: workItemId,
    by,
    objective: text,
    plan_status: item.plan_status,
    input_wanted: item.input_wanted,
    todo_list: todoList,
    plan,
    budget: item.budget,
    checks: item.checks,
    imported: importedFrom.optional(),
  },
  work_item_adopted: { id: workItemId, by: z.literal('operator') },
  work_item_updated: {
    id: workItemId,
    by,
    changed: z.strictObject({
      objective: text.optional(),
      plan_status: item.plan_status.optional(),
      input_wanted: item.input_wanted.optional(),
      todo_list: todoList.optional(),
      blocked_by: textOrNull.optional(),
      budget: item.budget.optional(),
      checks: item.checks,
    }) as unknown as z.ZodType<WorkItemChanges>,
  },
  plan_changed: { id: workItemId, plan },
  work_item_completed: {
    id: workItemId,
    by,
    result_summary: textOrNull,
    brief_id: briefId.nullable(),
    completed_with_unfinished_todos: z.boolean(),
    unfinished_todo_count: count,
    pending_todo_count: count,
    in_progress_todo_count: count,
    verified_on: text.optional(),
  },
  work_item_claimed: { id: workItemId, call_id: callId },
  work_item_claim_refused: { id: workItemId, call_id: callId },
  work_item_report_drafted: { id: workItemId, report: text },
  work_item_reported: { id: workItemId, result_summary: text, brief_id: briefId },
  files_reverted: {
    id: workItemId,
    undo: z.boolean(),
    files: listOf(z.strictObject({ path: text, name: text, replaced: keptFile, put: keptFile })),
  },
  check_owed: { ...check, by: checkEvents.by },
  check_started: { ...check, task_id: taskId, tree: checkEvents.tree },
  check_finished: {
    ...check,
    by: checkEvents.by,
    outcome: checkEvents.outcome,
    exit_status: z.number().nullable(),
    reason: textOrNull,
    tail: text,
    tree: checkEvents.trees,
    started_at: timestamp,
    told: z.boolean(),
  },
} as const

const waitEvents = {
  wait_registered: {
    id: waitId,
    work_item_id: workItemId.nullable(),
    wake: wait.wake,
    by,
    runtime_cause: wait.runtime_cause,
    reason: text,
    question: wait.question,
    resource: textOrNull,
    source: textOrNull,
    condition: textOrNull,
    delivery_mode: wait.delivery_mode,
    since_seq: count,
    wake_at: wait.wake_at,
    recheck_at: wait.recheck_at,
    released_focus: z.boolean(),
  },
  wait_rearmed: {
    id: waitId,
    reason: text,
    condition: textOrNull,
    recheck_at: wait.recheck_at,
    released_focus: z.boolean(),
  },
  wait_triggered: {
    id: waitId,
    message_id: messageId,
    count,
    by: z.enum(['own_trigger', 'outside']),
    turn_count: count,
  },
  wait_recheck_due: { id: waitId, turn_count: count },
  wait_reviewed: { id: waitId, turn_id: turnId },
  wait_review_undone: { id: waitId, turn_id: turnId },
  wait_resolved: {
    id: waitId,
    by: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('task'), task_id: taskId }),
      z.strictObject({ kind: z.literal('timer'), late_by_ms: z.number() }),
      z.strictObject({ kind: z.literal('operator'), message_id: messageId }),
      z.strictObject({ kind: z.literal('runtime') }),
    ]),
  },
  wait_focus_settled: { id: waitId },
  wait_cancelled: { id: waitId, by, because: text },
} as const

const inTurn = { id: messageId, turn_id: turnId }
const messageEvents = {
  message_admitted: {
    id: messageId,
    provenance: z.strictObject({
      kind: message.kind,
      origin: message.origin,
      delivery_surface: message.delivery_surface,
      admission_context: message.admission_context,
      authority_class: message.authority_class,
    }),
    priority: message.priority,
    body: text,
    images: z.array(imageRecord).readonly().optional(),
    dedupe_key: textOrNull,
    source: textOrNull,
    resource: textOrNull,
    work_item_id: workItemId.nullable(),
    task_id: taskId.nullable(),
    wait_id: waitId.nullable(),
    correlation_id: textOrNull,
    causation_id: textOrNull,
    turn_count: count,
    due_at: timestamp.nullable(),
    consumed_because: textOrNull,
  },
  message_counted: { id: messageId },
  message_bound: { id: messageId, wait_id: waitId, work_item_id: workItemId.nullable() },
  message_claimed: {
    ...inTurn,
    to_coalesce: z.boolean(),
    /** It named no item, and went into a turn about this one. */
    work_item_id: workItemId.optional(),
  },
  message_shown: { ...inTurn, round: count },
  message_interjected: { ...inTurn, round: count },
  message_requeued: { id: messageId, attempts: count },
  message_coalesced: inTurn,
  message_consumed: { id: messageId, turn_id: turnId.nullable(), because: text },
  message_aborted: inTurn,
  message_failed: inTurn,
  message_dropped: { id: messageId, reason: text },
  message_dead: { id: messageId, reason: text },
  message_taken_back: { id: messageId, surface: message.delivery_surface },
} as const

const roundKey = z.string() as unknown as z.ZodType<`turn_${string}:${number}`>
const turnEvents = {
  turn_started: {
    id: turnId,
    work_item_id: workItemId.nullable(),
    cause: turn.cause,
    because: text,
    model: text,
    input_cut: count,
    started_by: turn.started_by,
  },
  turn_bound: { id: turnId, work_item_id: workItemId },
  model_fell_back: { id: turnId, model: text, cause: text },
  turn_ended: {
    id: turnId,
    outcome: turn.outcome.unwrap(),
    reason: textOrNull,
    end_revision: count.nullable(),
    progress: z.boolean(),
    usage,
  },
  request_sent: {
    id: roundKey,
    turn_id: turnId,
    work_item_id: workItemId.nullable(),
    n: count,
    kind: round.kind,
    model: text,
    opening_sha256: sha256.nullable(),
    recapped: count.optional(),
    summary: round.summary,
    notes: listOf(text),
    message_ids: listOf(messageId),
  },
  round_bound: { id: roundKey, work_item_id: workItemId },
  answer_cut: { id: roundKey, answers: count, usage },
  round_recorded: {
    id: roundKey,
    parts: round.parts,
    finish: round.finish.unwrap(),
    finish_word: text.optional(),
    usage,
    model: text,
    sent: round.sent,
  },
  call_recorded: {
    id: callId,
    turn_id: turnId,
    work_item_id: workItemId.nullable(),
    round: count,
    index: count,
    provider_call_id: text,
    tool_name: text,
    input: z.unknown(),
    effect_class: call.effect_class,
  },
  call_started: {
    id: callId,
    intent: z.unknown(),
    task_id: taskId.nullable(),
    work_item_id: workItemId.nullable(),
  },
  call_bound: { id: callId, work_item_id: workItemId },
  call_finished: {
    id: callId,
    result: toolResult as unknown as z.ZodType<ToolResult>,
    result_hash: textOrNull,
    changed_something: z.boolean(),
  },
} as const

const taskEvents = {
  task_queued: {
    id: taskId,
    work_item_id: workItemId.nullable(),
    kind: task.kind,
    label: text,
    cmd: textOrNull,
    child_agent_id: agentId.nullable(),
    workdir: text,
    timeout_ms: task.timeout_ms,
    input: task.input.optional(),
    start_place: z.strictObject({ boot: text, tasks: text }).nullable(),
    output_path: textOrNull,
    held: heldAsked.optional(),
    grant_id: grantId.optional(),
  },
  task_held_again: { id: taskId, held: heldAsked },
  task_decided: {
    id: taskId,
    answer: z.strictObject({
      allowed: z.boolean(),
      words: text,
      surface: message.delivery_surface,
    }),
    start_place: z.strictObject({ boot: text, tasks: text }).nullable(),
  },
  task_started: { id: taskId, pid: z.int().nullable(), started_at: timestamp },
  task_promoted: { id: taskId },
  task_readopted: { id: taskId, pid: z.int().nullable() },
  task_asked: { id: taskId, asking: task.asking.unwrap() },
  task_answered: { id: taskId },
  task_cancelling: { id: taskId, survivors: task.survivors, because: text },
  task_ended: {
    id: taskId,
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted']),
    reason: textOrNull,
    exit_status: task.exit_status,
    output_bytes: count,
    ended_at: timestamp,
  },
  task_changes_seen: { id: taskId, changes: taskChanges },
} as const

/** In the order of `tableOf`. */
export const eventFields = {
  ...agentEvents,
  ...itemEvents,
  ...waitEvents,
  ...messageEvents,
  ...turnEvents,
  ...taskEvents,
  ...otherFields,
} as const
