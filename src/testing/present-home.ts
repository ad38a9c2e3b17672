/**
 * A home as the designed screens show it: four agents, something of everything that needs a person,
 * work that runs, waits, comes next and is done. Small builders fill in what a test is not about.
 */
import type { Can } from '../protocol/action.ts'
import type { AgentRecord } from '../protocol/agent-record.ts'
import type { Attention } from '../protocol/attention.ts'
import type { StateRecord } from '../protocol/state-record.ts'
import type { TaskRecord } from '../protocol/task-record.ts'
import type { WaitRecord } from '../protocol/wait-record.ts'
import type { WorkItemRecord } from '../protocol/work-item-record.ts'
import { aState } from './present-state.ts'

export const noon = '2026-11-21T14:05:00.000Z'
const ago = (minutes: number): string => new Date(Date.parse(noon) - minutes * 60_000).toISOString()

export const aCan = (key: string, cli: string): Can => ({
  key,
  label: key,
  allowed: true,
  cli,
  method: 'POST',
  path: '/',
  code: null,
  why: null,
})

export const anAgentRecord = (id: string, more: Partial<AgentRecord> = {}): AgentRecord => ({
  id,
  preset: 'public_named',
  visibility: 'public',
  ownership: 'self_owned',
  lineage_parent_agent_id: null,
  supervisor_agent_id: null,
  supervising_task_id: null,
  state: 'active',
  current_work_item_id: null,
  model: 'anthropic/claude-sonnet-4-6',
  fallback_model: null,
  workspace: { mode: 'inherit', root: '/w' },
  template: null,
  inherited_sha256: null,
  draws_on: null,
  budget: null,
  allowance: null,
  created_at: ago(600),
  posture: 'sleep',
  because: 'nothing is to be done',
  until: null,
  unread: null,
  current_run_id: null,
  open_work_items: 1,
  delegations: [],
  can: [],
  ...more,
})

export const anItemRecord = (
  id: `work_${string}`,
  agent_id: string,
  objective: string,
  more: Partial<WorkItemRecord> = {},
): WorkItemRecord => ({
  id,
  agent_id,
  revision: 1,
  objective,
  state: 'open',
  plan_status: 'ready',
  input_wanted: null,
  blocked_by: null,
  result_summary: null,
  result_brief_id: null,
  budget: null,
  checks: [],
  verification: null,
  created_at: ago(300),
  updated_at: ago(60),
  completed_at: null,
  todo_counts: { pending: 3, in_progress: 0, completed: 4 },
  plan_artifact: { path: 'plan.md', bytes: 42 },
  lifecycle: 'open',
  scheduling_state: 'runnable',
  readiness: 'runnable',
  candidate_class: 'queued_runnable',
  focus: 'queued',
  has_active_waits: false,
  has_triggered_waits: false,
  current_todo: null,
  blocker: null,
  wait: null,
  meter: null,
  spend: null,
  late: [],
  can: [],
  ...more,
})

export const aWaitRecord = (
  id: `wait_${string}`,
  agent_id: string,
  more: Partial<WaitRecord> = {},
): WaitRecord => ({
  id,
  agent_id,
  work_item_id: null,
  wake: 'timer',
  by: 'agent',
  runtime_cause: null,
  reason: 'it has to wait',
  question: null,
  resource: null,
  source: null,
  condition: null,
  delivery_mode: 'enqueue_message',
  status: 'active',
  since_seq: 1,
  wake_at: null,
  recheck_at: null,
  recheck_ms: null,
  rechecks: 0,
  trigger_count: 0,
  last_triggered_at: null,
  reviewed_trigger_count: 0,
  released_focus: true,
  created_at: ago(62),
  resolved_at: null,
  cancelled_at: null,
  bound_hash: null,
  can: [],
  ...more,
})

export const anEntry = (
  id: string,
  kind: Attention['kind'],
  agent_id: string,
  text: string,
  more: Partial<Attention> = {},
): Attention => ({
  id,
  kind,
  agent_id,
  work_item_id: null,
  text,
  choices: [],
  since: ago(3),
  bound_hash: null,
  snoozed: null,
  can: [aCan('snooze', `holon inbox snooze ${id} --for 2h`)],
  ...more,
})

export const aTaskRecord = (id: `task_${string}`, more: Partial<TaskRecord> = {}): TaskRecord => ({
  id,
  agent_id: 'default',
  work_item_id: 'work_7f3a',
  kind: 'command',
  label: 'npm test',
  cmd: 'npm test',
  child_agent_id: null,
  workdir: '/w',
  timeout_ms: null,
  input: 'none',
  asking: null,
  status: 'running',
  reason: null,
  exit_status: null,
  promoted: false,
  survivors: [],
  output: { path: '/w/out', bytes: 1_400 },
  created_at: ago(2),
  started_at: '2026-11-21T14:03:48.000Z',
  ended_at: null,
  last_sign_of_life_at: '2026-11-21T14:04:57.000Z',
  gives_up_at: null,
  can: [],
  ...more,
})

const usage = {
  input_tokens: 14_900,
  output_tokens: 3_300,
  reasoning_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  usd: 0.31,
}

const done = (at: string, usd: number): Partial<WorkItemRecord> => ({
  state: 'completed',
  lifecycle: 'completed',
  completed_at: at,
  scheduling_state: 'completed',
  readiness: 'completed',
  candidate_class: 'completed_recent',
  focus: 'none',
  spend: { turns: 2, ...usage, usd },
})

const waits = (wait: WaitRecord, scheduling_state: 'waiting_timer' | 'waiting_task') => {
  const { bound_hash: _, can: __, ...fields } = wait
  const more: Partial<WorkItemRecord> = {
    wait: fields,
    scheduling_state,
    readiness: 'blocked',
    candidate_class: 'blocked',
    has_active_waits: true,
  }
  return more
}

const timer = aWaitRecord('wait_40aa', 'default', {
  work_item_id: 'work_09e1',
  wake_at: '2026-11-21T14:35:00.000Z',
})
const port = aWaitRecord('wait_51d0', 'default', {
  work_item_id: 'work_3e90',
  wake: 'task_result',
  resource: 'task_91c2',
  created_at: ago(9),
})

/** What `GET /state` says of it. */
// oxlint-disable-next-line max-lines-per-function -- it is one table
export function designedState(more: Partial<StateRecord> = {}): StateRecord {
  const question = anEntry('wait_3c1e', 'question', 'release', 'Approve the changelog for 2.4.0?', {
    work_item_id: 'work_b210',
    since: ago(121),
    bound_hash: '9b2c41',
    can: [aCan('answer', 'holon answer wait_3c1e <text>'), aCan('snooze', 'holon inbox snooze')],
  })
  return aState({
    now: noon,
    last_seq: 100,
    agents: [
      anAgentRecord('default', { posture: 'noop', current_run_id: 'turn_0007' }),
      anAgentRecord('release', { posture: 'wait:operator' }),
      anAgentRecord('docs', { posture: 'wait:system' }),
      anAgentRecord('ops', { posture: 'stop', state: 'stopped' }),
    ],
    work_items: [
      anItemRecord('work_b210', 'release', 'Release 2.4.0', {
        scheduling_state: 'waiting_operator',
        readiness: 'waiting_for_operator',
        candidate_class: 'waiting_for_operator',
      }),
      anItemRecord('work_7f3a', 'default', 'Upgrade the parser to ES2027 syntax', {
        candidate_class: 'current_runnable',
        focus: 'current',
        budget: { max_tokens: null, max_usd: 2, max_rounds: null, deadline: null },
        spend: { turns: 7, ...usage },
      }),
      anItemRecord(
        'work_09e1',
        'default',
        'Watch CI for flaky tests',
        waits(timer, 'waiting_timer'),
      ),
      anItemRecord('work_3e90', 'default', 'Port the fixtures', waits(port, 'waiting_task')),
      anItemRecord('work_5a77', 'docs', 'Write the migration guide'),
      anItemRecord(
        'work_11bb',
        'docs',
        'Publish the nightly docs',
        done('2026-11-21T11:20:00.000Z', 0.12),
      ),
      anItemRecord(
        'work_22cc',
        'default',
        'Remove dead flags',
        done('2026-11-21T09:48:00.000Z', 0.4),
      ),
    ],
    turns: [
      {
        id: 'turn_0007',
        agent_id: 'default',
        work_item_id: 'work_7f3a',
        number: 7,
        because: 'task_90aa ended',
        model: 'anthropic/claude-sonnet-4-6',
        started_at: '2026-11-21T14:02:19.000Z',
        rounds: 9,
        usage,
        last_sign_of_life_at: null,
        gives_up_at: null,
      },
    ],
    tasks: [
      aTaskRecord('task_a3d0'),
      aTaskRecord('task_91c2', {
        label: 'npm run port',
        promoted: true,
        work_item_id: 'work_3e90',
      }),
    ],
    waits: [timer, port],
    attention: [
      question,
      anEntry('task_dead', 'cancelling', 'default', 'npm publish does not end: 4410 still run', {
        since: ago(14),
      }),
      anEntry(
        'turn_0003',
        'failed_turn',
        'docs',
        'the last turn failed: the provider refused the key (401)',
      ),
      anEntry('msg_0001', 'arrived', 'ops', 'GitHub sent an event, but ops is stopped'),
    ],
    attention_total: 4,
    ...more,
  })
}
