/**
 * Small events for tests of process notes and forks: each builder takes what the test is about. All
 * happen for `work_a` in `turn_1` unless a test says otherwise.
 */
import type { NoteEvent } from '../context/process-notes.ts'
import type { EffectClass } from '../domain/call.ts'
import type { BriefEvent } from '../domain/brief.ts'
import type { Event } from '../domain/event.ts'
import type { BriefId, CallId, MessageId, TaskId, WaitId, WorkItemId } from '../domain/ids.ts'
import type { Provenance } from '../domain/provenance.ts'
import type { TaskEnd } from '../domain/task.ts'
import type { Wake } from '../domain/wait.ts'
import { now } from './situations.ts'
import { plainQuestion } from '../domain/question.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** The events as stored in this order, for one item or for none. */
export const noteEvents = (
  events: readonly Event[],
  work_item_id: WorkItemId | null = 'work_a',
): NoteEvent[] => events.map((event, i) => ({ seq: i + 1, turn_id: 'turn_1', work_item_id, event }))

export const aBrief = (
  id: BriefId,
  kind: BriefEvent['kind'],
  text: string,
  more: Partial<Of<'brief_delivered'>> = {},
): Event => ({
  type: 'brief_delivered',
  id,
  kind,
  text,
  turn_id: 'turn_1',
  work_item_id: 'work_a',
  wait_id: null,
  message_id: null,
  task_id: null,
  warnings: [],
  ...more,
})

export const aWaiting = (
  id: WaitId,
  wake: Wake,
  more: Partial<Of<'wait_registered'>> = {},
): Event => ({
  type: 'wait_registered',
  id,
  work_item_id: 'work_a',
  wake,
  by: 'agent',
  runtime_cause: null,
  reason: `reason of ${id}`,
  question: wake === 'operator_input' ? plainQuestion(more.reason ?? `reason of ${id}`) : null,
  resource: null,
  source: null,
  condition: null,
  delivery_mode: 'enqueue_message',
  since_seq: 1,
  wake_at: null,
  recheck_at: null,
  released_focus: false,
  ...more,
})

export const aMessage = (id: MessageId, provenance: Provenance, body: string): Event => ({
  type: 'message_admitted',
  id,
  provenance,
  priority: 'next',
  body,
  dedupe_key: null,
  source: null,
  resource: null,
  work_item_id: 'work_a',
  task_id: null,
  wait_id: null,
  correlation_id: null,
  causation_id: null,
  turn_count: 0,
  due_at: null,
  consumed_because: null,
})

export const aRecorded = (id: CallId, tool_name: string, effect_class: EffectClass): Event => ({
  type: 'call_recorded',
  id,
  turn_id: 'turn_1',
  work_item_id: 'work_a',
  round: 1,
  index: 0,
  provider_call_id: id,
  tool_name,
  input: {},
  effect_class,
})

export const aFinished = (
  id: CallId,
  tool_name: string,
  summary: string,
  changed_something: boolean,
): Event => ({
  type: 'call_finished',
  id,
  result: { tool_name, status: 'success', summary, result: {} },
  result_hash: null,
  changed_something,
})

export const aQueued = (id: TaskId, kind: 'command' | 'child_agent', label: string): Event => ({
  ...queued,
  id,
  kind,
  label,
})

const queued: Omit<Of<'task_queued'>, 'id' | 'kind' | 'label'> = {
  type: 'task_queued',
  work_item_id: 'work_a',
  cmd: null,
  child_agent_id: null,
  workdir: '/repo',
  timeout_ms: null,
  output_path: '/out',
  start_place: null,
}

export const anEnd = (id: TaskId, status: TaskEnd, exit_status: number | null): Event => ({
  type: 'task_ended',
  id,
  status,
  reason: null,
  exit_status,
  output_bytes: 0,
  ended_at: now,
})
