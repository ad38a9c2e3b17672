/**
 * Rows for tests: each is what the fold makes of the event that begins it, with what the test is
 * about laid over it. Times count in minutes before `now`.
 */
import type { EarlierRound } from '../context/sections/situation.ts'
import type { Agent } from '../domain/state/agent.ts'
import type { Call, ToolResult } from '../domain/state/call.ts'
import { evolve, type Event, type Rows, type Table } from '../domain/state/event.ts'
import type { WorkItemId } from '../domain/ids.ts'
import type { Message } from '../domain/state/message.ts'
import type { PlanDescriptor } from '../domain/state/plan.ts'
import { callbackEvent } from '../domain/state/provenance.ts'
import type { Task } from '../domain/state/task.ts'
import { minute, plus, type Timestamp } from '../domain/time.ts'
import { noUsage, type AssistantPart, type Round, type Turn } from '../domain/state/turn.ts'
import type { Trigger } from '../domain/state/trigger.ts'
import type { Wait } from '../domain/state/wait.ts'
import type { WorkItem } from '../domain/state/work-item.ts'
import { agentCreated, callRecorded, itemCreated, messageAdmitted } from './events.ts'
import { requestSent, taskQueued, triggerCreated, turnStarted, waitRegistered } from './events.ts'

export const now: Timestamp = '2026-11-21T12:00:00.000Z'

/** `minutes` before `now`. */
export const before = (minutes: number): Timestamp => plus(now, -minutes * minute)

/** The row that an event of `main` begins. */
const begun = <T extends Table>(_: T, event: Event, at: Timestamp): Rows[T] =>
  evolve(null, event, { at, seq: 1, agent_id: 'main' }) as Rows[T]

export const anAgent = (more: Partial<Agent> = {}): Agent => ({
  ...begun('agents', agentCreated('main'), before(600)),
  model: 'scripted/one',
  workspace: { mode: 'inherit', root: '/repo' },
  ...more,
})

export const anItem = (id: WorkItemId, more: Partial<WorkItem> = {}): WorkItem => ({
  ...begun('work_items', itemCreated({ id, objective: `Objective of ${id}` }), before(120)),
  plan_artifact: { path: planPath(id), sha256: null, bytes: 0, good_sha256: null },
  updated_at: before(60),
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

export const aWait = (id: Wait['id'], more: Partial<Wait> = {}): Wait => {
  const { wake = 'external', reason = `reason of ${id}` } = more
  const event = waitRegistered({ id, wake, reason, since_seq: 1 })
  return { ...begun('waits', event, before(50)), ...more }
}

const claimed = (event: Event): Message => ({
  ...begun('messages', event, before(1)),
  status: 'claimed',
  turn_id: 'turn_now',
})

/** A local prompt of the operator. */
export const aPrompt = (id: Message['id'], body: string, more: Partial<Message> = {}): Message => ({
  ...claimed(messageAdmitted({ id, body })),
  ...more,
})

/** A callback's body: external content. */
export const anEvent = (id: Message['id'], body: string, more: Partial<Message> = {}): Message => ({
  ...claimed(messageAdmitted({ id, body, provenance: callbackEvent, priority: 'normal' })),
  ...more,
})

export const aTask = (id: Task['id'], more: Partial<Task> = {}): Task => ({
  ...begun('tasks', taskQueued({ id, label: 'npm test', cmd: 'npm test' }), before(3)),
  workdir: '/repo',
  start_place: null,
  status: 'running',
  promoted: true,
  output: { path: `/holon/tasks/${id}/stdout`, bytes: 1204 },
  started_at: before(3),
  ...more,
})

export const aTurn = (more: Partial<Turn> = {}): Turn => ({
  ...begun('turns', turnStarted({ id: 'turn_now', because: 'a message', input_cut: 1 }), now),
  cause: { kind: 'message', message_id: 'msg_1' },
  model: 'scripted/one',
  usage: noUsage,
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
  const named = { id: `call_${suffix}`, provider_call_id: `toolu_${suffix}` } as const
  return {
    ...begun('calls', callRecorded('turn_now', 1, 0, { ...named, tool_name, input }), before(10)),
    state: 'finished',
    result,
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
  const parts: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }]
  for (const { provider_call_id, tool_name, input } of calls) {
    const input_json = JSON.stringify(input)
    parts.push({ type: 'tool_call', provider_call_id, tool_name, input_json })
  }
  const event = requestSent(more.turn_id ?? 'turn_now', n, { model: 'scripted/one' })
  const round: Round = {
    ...begun('rounds', event, before(10)),
    state: 'recorded',
    parts,
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    recorded_at: before(10),
    ...more,
  }
  return { round, calls: calls.map((call, index) => ({ ...call, round: n, index })), messages: [] }
}

/** A trigger of an agent, made at a time. */
export const aTrigger = (agent_id: string, more: Partial<Trigger> = {}): Trigger => ({
  ...begun('triggers', triggerCreated({ id: 'trig_0001' }), '2026-01-05T09:00:00.000Z'),
  agent_id,
  ...more,
})
