/**
 * What an operator may ask of the owner of a home, as one schema: every client sends these to the
 * process that holds the ledger, or carries them out itself when nobody does. The rules know the
 * same union as `OperatorAct`; the two are held equal where both are known, in operator.test.ts.
 */
import { z } from 'zod'
import { presetNames } from '../../domain/policy/rule.ts'
import { missedPolicies, overlapPolicies } from '../../domain/state/schedule.ts'
import { deliveryModes } from '../../domain/state/wait.ts'
import { planStatuses, todoStates } from '../../domain/state/work-item.ts'
import { checkGiven } from '../records/check-record.ts'
import { revertOutcome } from '../records/revert-record.ts'

const common = {
  agent_id: z.string(),
  /** Of a request that came with an idempotency key: the same again is carried out once. */
  receipt: z.strictObject({ id: z.string(), request_sha256: z.string() }).optional(),
}
const onItem = { ...common, work_item_id: z.string() }
const onWait = { ...common, wait_id: z.string() }
const onSchedule = { ...common, schedule_id: z.string() }
const surface = z.enum(['cli_prompt', 'run_once', 'tui', 'http_control']).optional()
const limits = {
  max_tokens: z.number().nullable().optional(),
  max_usd: z.number().nullable().optional(),
  max_rounds: z.number().nullable().optional(),
}
const budget = z
  .strictObject({ ...limits, deadline: z.string().nullable().optional() })
  .nullable()
  .optional()
const spending = z.strictObject(limits).nullable().optional()
const spendChange = z.strictObject({ day: spending, all: spending }).nullable()
const policyPreset = z.enum(presetNames)
const todoList = z.array(z.strictObject({ text: z.string(), state: z.enum(todoStates) })).optional()
const planStatus = z.enum(planStatuses).optional()
const workspace = z
  .strictObject({ mode: z.enum(['inherit', 'worktree', 'explicit_root']), root: z.string() })
  .optional()
const scheduleSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('once'), at: z.string() }),
  z.strictObject({ kind: z.literal('cron'), expression: z.string(), time_zone: z.string() }),
])
const policies = {
  missed: z.enum(missedPolicies).optional(),
  overlap: z.enum(overlapPolicies).optional(),
}
const received = {
  ...common,
  via: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('trigger'), trigger_id: z.string() }),
    z.strictObject({ kind: z.literal('webhook'), webhook: z.string() }),
  ]),
  body: z.string(),
  sender_id: z.string().optional(),
  also_from: z.array(z.string()).optional(),
  source: z.string().optional(),
  resource: z.string().optional(),
  summary: z.string().optional(),
  content_type: z.string().optional(),
}

const itemActs = [
  z.strictObject({
    do: z.literal('create_item'),
    ...common,
    objective: z.string(),
    plan: z.string().optional(),
    plan_status: planStatus,
    question: z.string().optional(),
    todo_list: todoList,
    blocked_by: z.string().optional(),
    budget,
    checks: z.array(checkGiven).optional(),
  }),
  z.strictObject({
    do: z.literal('import_item'),
    ...common,
    file: z.string(),
    again: z.boolean().optional(),
  }),
  z.strictObject({
    do: z.literal('update_item'),
    ...onItem,
    expected_revision: z.number().optional(),
    objective: z.string().optional(),
    plan_status: planStatus,
    question: z.string().optional(),
    todo_list: todoList,
    blocked_by: z.string().nullable().optional(),
    budget,
    checks: z.array(checkGiven).optional(),
  }),
  z.strictObject({ do: z.literal('pick'), ...onItem, reason: z.string().optional() }),
  z.strictObject({ do: z.literal('complete'), ...onItem, report: z.string().optional() }),
  z.strictObject({ do: z.literal('unblock'), ...onItem }),
  z.strictObject({
    do: z.literal('run_checks'),
    ...onItem,
    names: z.array(z.string()).optional(),
  }),
  z.strictObject({
    do: z.literal('answer_check'),
    ...onItem,
    name: z.string(),
    run: z.number(),
    passed: z.boolean(),
    words: z.string().optional(),
  }),
] as const

const messageActs = [
  z.strictObject({
    do: z.literal('send'),
    ...common,
    text: z.string(),
    images: z.array(z.strictObject({ base64: z.string() })).optional(),
    work_item_id: z.string().optional(),
    wait_id: z.string().optional(),
    priority: z.enum(['interject', 'next']).optional(),
    start: z.boolean().optional(),
    surface,
  }),
  z.strictObject({
    do: z.literal('answer_held'),
    ...common,
    task_id: z.string(),
    bound_hash: z.string(),
    choice: z.string(),
    text: z.string().optional(),
    surface,
  }),
  z.strictObject({
    do: z.literal('answer'),
    ...onWait,
    bound_hash: z.string(),
    choice: z.string().optional(),
    text: z.string().optional(),
    start: z.boolean().optional(),
    surface,
  }),
  z.strictObject({ do: z.literal('take_back'), ...common, message_id: z.string(), surface }),
  z.strictObject({ do: z.literal('cancel_wait'), ...onWait }),
  z.strictObject({
    do: z.literal('trigger'),
    ...common,
    wait_id: z.string().optional(),
    source: z.string().optional(),
    resource: z.string().optional(),
    body: z.string(),
    delivery_id: z.string().optional(),
  }),
] as const

const deliveryActs = [
  z.strictObject({ do: z.literal('deliver'), ...received }),
  z.strictObject({ do: z.literal('dead_letter'), ...received, reason: z.string() }),
  z.strictObject({
    do: z.literal('redeliver'),
    ...common,
    delivery_id: z.string(),
    source: z.string().optional(),
    resource: z.string().optional(),
    summary: z.string().optional(),
  }),
] as const

const grantActs = [
  z.strictObject({ do: z.literal('revoke_grant'), ...common, grant_id: z.string() }),
] as const

const triggerActs = [
  z.strictObject({
    do: z.literal('create_trigger'),
    ...common,
    label: z.string(),
    source: z.string().optional(),
    resource: z.string().optional(),
    delivery_mode: z.enum(deliveryModes).optional(),
  }),
  z.strictObject({
    do: z.enum(['reset_trigger', 'revoke_trigger']),
    ...common,
    trigger_id: z.string(),
  }),
] as const

const scheduleActs = [
  z.strictObject({
    do: z.literal('create_schedule'),
    ...common,
    label: z.string(),
    text: z.string(),
    spec: scheduleSpec,
    work_item_id: z.string().optional(),
    ...policies,
  }),
  z.strictObject({
    do: z.literal('change_schedule'),
    ...onSchedule,
    label: z.string().optional(),
    text: z.string().optional(),
    work_item_id: z.string().nullable().optional(),
    spec: scheduleSpec.optional(),
    ...policies,
  }),
  z.strictObject({
    do: z.enum(['pause_schedule', 'resume_schedule', 'remove_schedule']),
    ...onSchedule,
  }),
] as const

const agentActs = [
  z.strictObject({
    do: z.literal('create_agent'),
    ...common,
    model: z.string().optional(),
    fallback_model: z.string().optional(),
    workspace,
    template: z.string().optional(),
    policy_preset: policyPreset.optional(),
  }),
  z.strictObject({
    do: z.literal('configure_agent'),
    ...common,
    model: z.string().optional(),
    fallback_model: z.string().nullable().optional(),
    workspace,
    budget: spendChange.optional(),
    policy_preset: policyPreset.nullable().optional(),
  }),
  z.strictObject({ do: z.enum(['start_agent', 'stop_agent', 'delete_agent']), ...common }),
] as const

const attention = { ...common, attention_id: z.string(), fingerprint: z.string() }
const attentionActs = [
  z.strictObject({ do: z.literal('snooze'), ...attention, until: z.string() }),
  z.strictObject({ do: z.literal('dismiss'), ...attention }),
] as const

const machineActs = [
  z.strictObject({
    do: z.literal('start_task'),
    ...common,
    cmd: z.string(),
    workdir: z.string().optional(),
    work_item_id: z.string().optional(),
  }),
  z.strictObject({ do: z.literal('stop_task'), ...common, task_id: z.string() }),
  z.strictObject({
    do: z.literal('task_input'),
    ...common,
    task_id: z.string(),
    text: z.string(),
    end: z.boolean().optional(),
  }),
  z.strictObject({
    do: z.enum(['snapshot_worktree', 'restore_worktree', 'discard_worktree', 'remove_worktree']),
    ...common,
    worktree_id: z.string(),
  }),
  z.strictObject({
    do: z.literal('revert_files'),
    ...onItem,
    files: z.array(z.string()).optional(),
    undo: z.boolean().optional(),
  }),
  /** Ends the open turn `run_id`, and stops the agent unless `stop` is false. */
  z.strictObject({
    do: z.literal('abort'),
    ...common,
    run_id: z.string(),
    stop: z.boolean().optional(),
  }),
] as const

export const operatorCommand = z.discriminatedUnion('do', [
  ...itemActs,
  ...messageActs,
  ...deliveryActs,
  ...grantActs,
  ...triggerActs,
  ...scheduleActs,
  ...agentActs,
  ...attentionActs,
  ...machineActs,
])
export type OperatorCommand = z.infer<typeof operatorCommand>

export const operatorReply = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    message_id: z.string().nullable(),
    /** Waits that the act ended or triggered. */
    resolved: z.array(z.string()),
    triggered: z.array(z.string()),
    /** What the act made or changed: an item, an agent, a trigger, a delivery, a schedule. */
    id: z.string().nullable(),
    /** One sentence for a person. */
    said: z.string(),
    warnings: z.array(z.object({ kind: z.string(), message: z.string() })),
    /** Of a revert: every file that it was about. */
    files: z.array(revertOutcome).optional(),
  }),
  z.strictObject({
    ok: z.literal(false),
    code: z.string(),
    message: z.string(),
    hint: z.string(),
  }),
])
export type OperatorReply = z.infer<typeof operatorReply>
