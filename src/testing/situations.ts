/**
 * Small rows for tests of what a model sees: each builder takes only what the test is about and
 * fills in the rest. Times count in minutes before `now`; candidates are derived by the domain.
 */
import type { EarlierRound, ItemView, Situation } from '../context/situation.ts'
import { AgentFacts } from '../domain/agent-facts.ts'
import type { Agent } from '../domain/agent.ts'
import type { Call, ToolResult } from '../domain/call.ts'
import type { WorkItemId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { PlanDescriptor } from '../domain/plan.ts'
import { callbackEvent, localPrompt } from '../domain/provenance.ts'
import { candidates } from '../domain/rank.ts'
import { projectItem } from '../domain/readiness.ts'
import type { Task } from '../domain/task.ts'
import { minute, plus, type Timestamp } from '../domain/time.ts'
import { noUsage, roundId, type AssistantPart, type Round, type Turn } from '../domain/turn.ts'
import type { Wait } from '../domain/wait.ts'
import type { WorkItem } from '../domain/work-item.ts'
import { plainQuestion } from '../domain/question.ts'

export const now: Timestamp = '2026-11-21T12:00:00.000Z'

/** `minutes` before `now`. */
export const before = (minutes: number): Timestamp => plus(now, -minutes * minute)

export const anAgent = (more: Partial<Agent> = {}): Agent => ({
  id: 'main',
  preset: 'public_named',
  visibility: 'public',
  ownership: 'self_owned',
  lineage_parent_agent_id: null,
  supervisor_agent_id: null,
  supervising_task_id: null,
  state: 'active',
  current_work_item_id: null,
  model: 'scripted/one',
  fallback_model: null,
  workspace: { mode: 'inherit', root: '/repo' },
  template: null,
  inherited_sha256: null,
  draws_on: null,
  budget: null,
  created_at: before(600),
  ...more,
})

export const anItem = (id: WorkItemId, more: Partial<WorkItem> = {}): WorkItem => ({
  id,
  agent_id: 'main',
  revision: 1,
  objective: `Objective of ${id}`,
  state: 'open',
  plan_status: 'draft',
  input_wanted: null,
  todo_list: [],
  blocked_by: null,
  plan_artifact: { path: planPath(id), sha256: null, bytes: 0, good_sha256: null },
  result_summary: null,
  result_brief_id: null,
  report_draft: null,
  budget: null,
  checks: [],
  created_at: before(120),
  updated_at: before(60),
  completed_at: null,
  changed_seq: 1,
  ...more,
})

export const planPath = (id: WorkItemId): string => `/holon/agents/main/work-items/${id}/plan.md`

export const aPlan = (
  id: WorkItemId,
  preview = '',
  more: Partial<PlanDescriptor> = {},
): PlanDescriptor => ({
  path: planPath(id),
  sha256: null,
  bytes: preview.length,
  updated_at: before(30),
  preview,
  preview_complete: true,
  ...more,
})

export const aWait = (id: Wait['id'], more: Partial<Wait> = {}): Wait => ({
  id,
  agent_id: 'main',
  work_item_id: null,
  wake: 'external',
  by: 'agent',
  runtime_cause: null,
  reason: `reason of ${id}`,
  question: more.wake === 'operator_input' ? plainQuestion(more.reason ?? `reason of ${id}`) : null,
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
  outside_trigger_count: 0,
  triggered_turn_count: null,
  reviewed_trigger_count: 0,
  reviewed_at: null,
  last_review: null,
  released_focus: false,
  focus_settled: false,
  created_at: before(50),
  resolved_at: null,
  cancelled_at: null,
  changed_seq: 1,
  ...more,
})

const admitted = (id: Message['id'], body: string): Omit<Message, keyof typeof callbackEvent> => ({
  id,
  agent_id: 'main',
  inbox_seq: 1,
  priority: 'next',
  body,
  dedupe_key: null,
  source: null,
  resource: null,
  work_item_id: null,
  task_id: null,
  wait_id: null,
  correlation_id: null,
  causation_id: null,
  status: 'claimed',
  status_reason: null,
  attempts: 0,
  due_at: null,
  came: 1,
  turn_id: 'turn_now',
  to_coalesce: false,
  round: null,
  turn_count: 0,
  created_at: before(1),
})

/** A local prompt of the operator. */
export const aPrompt = (id: Message['id'], body: string, more: Partial<Message> = {}): Message => ({
  ...admitted(id, body),
  ...localPrompt('cli_prompt'),
  ...more,
})

/** A callback's body: external content. */
export const anEvent = (id: Message['id'], body: string, more: Partial<Message> = {}): Message => ({
  ...admitted(id, body),
  ...callbackEvent,
  priority: 'normal',
  ...more,
})

export const aTask = (id: Task['id'], more: Partial<Task> = {}): Task => ({
  id,
  agent_id: 'main',
  work_item_id: null,
  kind: 'command',
  label: 'npm test',
  cmd: 'npm test',
  child_agent_id: null,
  workdir: '/repo',
  timeout_ms: null,
  input: 'none',
  start_place: null,
  asking: null,
  status: 'running',
  reason: null,
  exit_status: null,
  promoted: true,
  survivors: [],
  output: { path: `/holon/tasks/${id}/stdout`, bytes: 1204 },
  created_at: before(3),
  started_at: before(3),
  ended_at: null,
  ...more,
})

export const aTurn = (more: Partial<Turn> = {}): Turn => ({
  id: 'turn_now',
  agent_id: 'main',
  work_item_id: null,
  cause: { kind: 'message', message_id: 'msg_1' },
  because: 'a message',
  state: 'open',
  outcome: null,
  reason: null,
  model: 'scripted/one',
  input_cut: 1,
  started_by: 'input',
  end_revision: null,
  end_seq: null,
  progress: null,
  usage: noUsage,
  started_at: now,
  ended_at: null,
  ...more,
})

export const succeededWith = (
  tool_name: string,
  summary: string,
  result: unknown = {},
): ToolResult => ({ tool_name, status: 'success', summary, result })

/** A finished call; `suffix` is the end of its id and so the code of its blocks. */
export const aCall = (
  tool_name: string,
  input: unknown,
  result: ToolResult,
  more: Partial<Call> & { suffix?: string } = {},
): Call => {
  const { suffix = '0000beef', ...rest } = more
  return {
    id: `call_${suffix}`,
    turn_id: 'turn_now',
    agent_id: 'main',
    work_item_id: null,
    round: 1,
    index: 0,
    provider_call_id: `toolu_${suffix}`,
    tool_name,
    input,
    effect_class: 'pure',
    state: 'finished',
    intent: null,
    task_id: null,
    result,
    result_hash: null,
    changed_something: false,
    attempts: 1,
    started_at: before(10),
    finished_at: before(10),
    ...rest,
  }
}

/** A recorded round with words and calls, its parts made from both. */
export const aRound = (
  n: number,
  text: string,
  calls: readonly Call[] = [],
  more: Partial<Round> = {},
): EarlierRound => {
  const turn = more.turn_id ?? 'turn_now'
  const parts: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }]
  for (const { provider_call_id, tool_name, input } of calls) {
    const input_json = JSON.stringify(input)
    parts.push({ type: 'tool_call', provider_call_id, tool_name, input_json })
  }
  const round: Round = {
    id: roundId(turn, n),
    turn_id: turn,
    agent_id: 'main',
    work_item_id: null,
    n,
    kind: 'work',
    state: 'recorded',
    model: 'scripted/one',
    opening_sha256: null,
    notes: [],
    message_ids: [],
    parts,
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: null,
    requested_at: before(10),
    recorded_at: before(10),
    ...more,
  }
  return { round, calls: calls.map((call, index) => ({ ...call, round: n, index })), messages: [] }
}

export type Given = Partial<Omit<Situation, 'item' | 'candidates'>> & {
  items?: readonly WorkItem[]
  waits?: readonly Wait[]
  /** The item in focus. */
  focus?: WorkItemId
  /** The turn's item, with what its view has beyond the rows. */
  about?: { id: WorkItemId } & Partial<Omit<ItemView, 'projection'>>
}

/** A situation from rows: what the runtime reads at the start of a turn. */
export function aSituation(given: Given = {}): Situation {
  const { items = [], waits = [], focus = null, about, ...more } = given
  const agent = anAgent({ current_work_item_id: focus, ...more.agent })
  const facts = new AgentFacts('main')
  facts.include('agents', agent)
  for (const item of items) facts.include('work_items', item)
  for (const wait of waits) facts.include('waits', wait)
  const own = items.find(({ id }) => id === about?.id)
  const active = waits.find((w) => w.work_item_id === about?.id && w.status === 'active') ?? null
  const item: ItemView | null =
    about === undefined || own === undefined
      ? null
      : {
          projection: projectItem(own, active, focus, now),
          plan: about.plan ?? aPlan(own.id),
          waits: about.waits ?? waits.filter((w) => w.work_item_id === own.id),
          tasks: about.tasks ?? [],
        }
  return {
    now,
    turn: aTurn({ work_item_id: about?.id ?? null }),
    offered: null,
    plan_texts: {},
    messages: [],
    coalesced: null,
    woken_by: [],
    agent_waits: [],
    earlier: [],
    rounds: [],
    running_tasks: [],
    plan_text: null,
    trigger_url: null,
    agent_home: '/holon/agents/main',
    context_window: 200_000,
    ...more,
    agent,
    item,
    candidates: candidates(facts, now),
  }
}
