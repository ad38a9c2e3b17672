/**
 * Events for tests: each builder takes what the test is about and fills in what does not matter.
 * The rows that begin with them are in rows.ts.
 */
import { randomUUIDv7 } from 'node:crypto'
import type { EventOf, EventType } from '../domain/state/event.ts'
import { slotId } from '../domain/ids.ts'
import type { Mint, ReceiptId, ScheduleId, TurnId, WorkItemId } from '../domain/ids.ts'
import { localPrompt } from '../domain/state/provenance.ts'
import { plainQuestion } from '../domain/state/question.ts'
import { done } from '../domain/state/reply.ts'
import type { SlotEvent } from '../domain/state/schedule.ts'
import type { Usage } from '../domain/state/turn.ts'

export const freshMint = ((prefix: string) => `${prefix}_${randomUUIDv7()}`) as Mint &
  ((prefix: string) => string)

/** Makes events of one type, each with a fresh id; what is not given is as it says here. */
const builder =
  <T extends EventType>(type: T, prefix: string, rest: Omit<EventOf<T>, 'type' | 'id'>) =>
  (given: Partial<EventOf<T>> = {}): EventOf<T> =>
    ({ type, id: freshMint(prefix), ...rest, ...given }) as unknown as EventOf<T>

/** The same for an event of what is there already. */
const builderOf =
  <T extends EventType>(type: T, rest: Omit<EventOf<T>, 'type' | 'id'>) =>
  (id: EventOf<T>['id'], given: Partial<EventOf<T>> = {}): EventOf<T> =>
    ({ type, id, ...rest, ...given }) as unknown as EventOf<T>

/** What is not given is not known. */
export const usageOf = (given: Partial<Usage>): Usage => ({
  input_tokens: 1,
  output_tokens: 1,
  reasoning_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  usd: null,
  ...given,
})

const usage = usageOf({})

export const agentCreated = builderOf('agent_created', {
  model: null,
  workspace: { mode: 'inherit', root: '/work' },
  preset: 'public_named',
})

export const itemCreated = builder('work_item_created', 'work', {
  by: 'agent',
  objective: 'water the garden',
  plan_status: 'draft',
  input_wanted: null,
  todo_list: [],
  plan: { path: 'plan.md', sha256: null, bytes: 0, good_sha256: null },
  budget: null,
})

export const itemCompleted = builderOf('work_item_completed', {
  by: 'agent',
  result_summary: null,
  brief_id: null,
  completed_with_unfinished_todos: false,
  unfinished_todo_count: 0,
  pending_todo_count: 0,
  in_progress_todo_count: 0,
})

/** An item is looked at that its blocker holds back. */
export const pickedToLook = (current_work_item_id: WorkItemId): EventOf<'work_item_picked'> => ({
  type: 'work_item_picked',
  id: 'main',
  previous_work_item_id: null,
  current_work_item_id,
  reason: null,
  previous_readiness: null,
  current_readiness: 'blocked',
  switch_kind: 'explicit_pick',
  reason_required: false,
  reason_missing: false,
  wait_id: null,
})

export const messageAdmitted = builder('message_admitted', 'msg', {
  provenance: localPrompt('cli_prompt'),
  priority: 'next',
  body: 'hello',
  dedupe_key: null,
  source: null,
  resource: null,
  work_item_id: null,
  task_id: null,
  wait_id: null,
  correlation_id: null,
  causation_id: null,
  turn_count: 0,
  due_at: null,
  consumed_because: null,
})

const waiting = builder('wait_registered', 'wait', {
  work_item_id: null,
  wake: 'external',
  by: 'agent',
  runtime_cause: null,
  reason: 'rain',
  question: null,
  resource: null,
  source: null,
  condition: null,
  delivery_mode: 'enqueue_message',
  since_seq: 0,
  wake_at: null,
  recheck_at: null,
  released_focus: false,
})

/** A wait for the operator asks for its reason. */
export const waitRegistered = (
  given: Partial<EventOf<'wait_registered'>> = {},
): EventOf<'wait_registered'> =>
  waiting({
    question: given.wake === 'operator_input' ? plainQuestion(given.reason ?? 'rain') : null,
    ...given,
  })

export const turnStarted = builder('turn_started', 'turn', {
  work_item_id: null,
  cause: { kind: 'queued_available', work_item_ids: [] },
  because: 'a test',
  model: 'test/model',
  input_cut: 0,
  started_by: 'input',
})

export const turnEnded = builderOf('turn_ended', {
  outcome: 'completed',
  reason: null,
  end_revision: null,
  progress: true,
  usage,
})

export const requestSent = (
  turn_id: TurnId,
  n: number,
  given: Partial<EventOf<'request_sent'>> = {},
): EventOf<'request_sent'> => ({
  type: 'request_sent',
  id: `${turn_id}:${n}`,
  turn_id,
  work_item_id: null,
  n,
  kind: 'work',
  model: 'test/model',
  opening_sha256: null,
  notes: [],
  message_ids: [],
  ...given,
})

export const roundRecorded = builderOf('round_recorded', {
  parts: [{ type: 'text', text: 'yes' }],
  finish: 'stop',
  usage,
  model: 'test/model',
})

export const callRecorded = (
  turn_id: TurnId,
  round: number,
  index: number,
  given: Partial<EventOf<'call_recorded'>> = {},
): EventOf<'call_recorded'> => ({
  type: 'call_recorded',
  id: freshMint('call'),
  turn_id,
  work_item_id: null,
  round,
  index,
  provider_call_id: `p${index}`,
  tool_name: 'ListWorkItems',
  input: {},
  effect_class: 'pure',
  ...given,
})

export const callFinished = builderOf('call_finished', {
  result: { tool_name: 'ListWorkItems', summary: 'none', status: 'success', result: [] },
  result_hash: null,
  changed_something: false,
})

export const taskQueued = builder('task_queued', 'task', {
  work_item_id: null,
  kind: 'command',
  label: 'sleep',
  cmd: 'sleep 1',
  child_agent_id: null,
  workdir: '/work',
  timeout_ms: null,
  output_path: 'tasks/output',
  start_place: { boot: 'boot', tasks: 'tasks' },
})

export const grantMade = builder('grant_made', 'grant', {
  work_item_id: null,
  scope: {
    kind: 'like_for_agent',
    like: {
      program: '/usr/bin/git',
      name: 'git',
      words: ['push', 'origin'],
      flags: [],
      cwd: '/work',
      confined: false,
      origin: 'operator',
    },
  },
  task_id: 'task_1',
  surface: 'cli_prompt',
  until: null,
})

export const taskEnded = builderOf('task_ended', {
  status: 'completed',
  reason: null,
  exit_status: 0,
  output_bytes: 0,
  ended_at: '2026-01-02T03:05:00.000Z',
})

export const briefDelivered = builder('brief_delivered', 'brief', {
  kind: 'progress',
  text: 'half way',
  turn_id: null,
  work_item_id: null,
  wait_id: null,
  message_id: null,
  task_id: null,
  warnings: [],
})

export const decisionMade = builder('decision_made', 'dec', {
  decision: 'go_idle',
  because: 'nothing to do',
  work_item_id: null,
  message_id: null,
  evidence: [],
  considered: [],
})

export const itemPaced = builderOf('item_paced', {
  pacing: {
    no_progress: 0,
    no_progress_turns: [],
    self_started: 1,
    last_turn_id: null,
    last_turn_ended_at: null,
    last_turn_progress: false,
    end_revision: 0,
    seen_results: [],
    free_turn: false,
    free_turn_at: null,
  },
})

export const agentPaced = builderOf('agent_paced', {
  pacing: {
    turn_count: 1,
    bucket: 500,
    bucket_at: '2026-01-02T03:04:05.000Z',
    trigger_turns: 20,
    trigger_turns_at: '2026-01-02T03:04:05.000Z',
    queue_no_progress: 0,
    queue_turn_ended_at: null,
    queue_turn_end_seq: 0,
    queue_turn_counted: false,
    queue_wait_id: null,
    bucket_wait_id: null,
    trigger_wait_id: null,
    agent_review_at: null,
    holds: 0,
  },
})

export const triggerCreated = (
  given: Partial<EventOf<'trigger_created'>> = {},
): EventOf<'trigger_created'> => trigger({ token_sha256: freshMint('token'), ...given })

const trigger = builder('trigger_created', 'trig', {
  label: 'default',
  by: 'runtime',
  generation: 1,
  token_sha256: '',
  source: null,
  resource: null,
  delivery_mode: null,
})

const received = {
  via: { kind: 'webhook', webhook: 'github' },
  sender_id: null,
  source: 'github',
  resource: null,
  summary: null,
  body_sha256: null,
  content_type: null,
} as const

export const deliveryAccepted = builder('delivery_accepted', 'dlv', {
  message_id: 'msg_1',
  ...received,
})

export const deliveryDead = builder('delivery_dead', 'dlv', { reason: 'no mapping', ...received })

export const scheduleCreated = builder('schedule_created', 'sched', {
  label: 'morning',
  text: 'look at the garden',
  work_item_id: null,
  spec: { kind: 'once', at: '2026-02-01T00:00:00.000Z' },
  missed: 'once',
  overlap: 'skip',
  next_at: '2026-02-01T00:00:00.000Z',
  by: 'operator',
})

export const slotSettled = (schedule_id: ScheduleId, given: Partial<SlotEvent> = {}): SlotEvent => {
  const due_at = given.due_at ?? '2026-02-01T00:00:00.000Z'
  return {
    type: 'slot_settled',
    id: slotId(schedule_id, due_at),
    schedule_id,
    due_at,
    status: 'fired',
    message_id: null,
    late_by_ms: 0,
    missed_count: 0,
    ...given,
  }
}

export const receiptKept = (): EventOf<'receipt_kept'> => ({
  type: 'receipt_kept',
  id: freshMint('rcpt') as ReceiptId,
  request_sha256: 'abc',
  reply: done('Accepted.'),
})

export const snoozed = (id: string, until: string | null) =>
  until === null
    ? ({ type: 'attention_dismissed', id, fingerprint: 'f' } as const)
    : ({ type: 'attention_snoozed', id, until, fingerprint: 'f' } as const)

export const meterOpened = builderOf('meter_opened', {
  kind: 'item',
  used: { tokens: 0, usd: 0, unpriced: 0, rounds: 0 },
  drawn: [],
  allowance: null,
  limits: null,
  draws_on: null,
})
