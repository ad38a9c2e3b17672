/**
 * A home as the designed screens show it: four agents, something of everything that needs a person,
 * work that runs, waits, comes next and is done. Small builders fill in what a test is not about.
 */
import type { Can } from '../../protocol/actions/action.ts'
import { projectItem } from '../../domain/facts/readiness.ts'
import type { AgentRecord } from '../../protocol/records/agent-record.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import { taskRecordOf, type TaskRecord } from '../../protocol/records/task-record.ts'
import { waitRecordOf, type WaitRecord } from '../../protocol/records/wait-record.ts'
import { workItemRecordOf, type WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { aState } from './state.ts'
import { anAgent, anItem, aTask, aWait } from '../rows.ts'
import { usageOf } from '../events.ts'

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
  ...anAgent({ id, model: 'anthropic/claude-sonnet-4-6', created_at: ago(600) }),
  workspace: { mode: 'inherit', root: '/w' },
  allowance: null,
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
): WorkItemRecord => {
  const at = { created_at: ago(300), updated_at: ago(60) }
  const row = anItem(id, { agent_id, objective, plan_status: 'ready', ...at })
  const parts = { plan: null, spend: null, late: [], can: [], whole: false }
  return {
    ...workItemRecordOf(projectItem(row, null, null, noon), parts),
    checks: [],
    todo_counts: { pending: 3, in_progress: 0, completed: 4 },
    plan_artifact: { path: 'plan.md', bytes: 42 },
    ...more,
  }
}

export const aWaitRecord = (
  id: `wait_${string}`,
  agent_id: string,
  more: Partial<WaitRecord> = {},
): WaitRecord => {
  const made = { reason: 'it has to wait', released_focus: true, created_at: ago(62) }
  return { ...waitRecordOf(aWait(id, { agent_id, wake: 'timer', ...made }), []), ...more }
}

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

export const aTaskRecord = (id: `task_${string}`, more: Partial<TaskRecord> = {}): TaskRecord => {
  const task = aTask(id, {
    agent_id: 'default',
    work_item_id: 'work_7f3a',
    workdir: '/w',
    promoted: false,
    output: { path: '/w/out', bytes: 1_400 },
    created_at: ago(2),
    started_at: '2026-11-21T14:03:48.000Z',
  })
  const life = { last_sign_of_life_at: '2026-11-21T14:04:57.000Z', gives_up_at: null }
  return { ...taskRecordOf(task, life, []), ...more }
}

const usage = usageOf({ input_tokens: 14_900, output_tokens: 3_300, usd: 0.31 })

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
