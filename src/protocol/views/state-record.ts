/**
 * The snapshot a client starts from (docs/spec/http.md#reads): what is open now, within the limits
 * of a prompt, how much there is of it in all, and the seq from which the event stream goes on. It
 * is as long as what a first screen shows, however much work there is.
 */
import { z } from 'zod'
import { promptLimit } from '../../domain/facts/candidates.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import { agentRecord } from '../records/agent-record.ts'
import { addUsage, noUsage, roundUsage } from '../../domain/state/turn.ts'
import type { AgentView } from '../agent-view.ts'
import { attentionRecord } from './attention.ts'
import { agentId, count, orNull, timestamp, turnId, workItemId } from '../scalar.ts'
import { taskRecord } from '../records/task-record.ts'
import { lifeShape, usage, type SignsOfLife } from '../records/turn-record.ts'
import { waitRecord } from '../records/wait-record.ts'
import { workItemRecord } from '../records/work-item-record.ts'

const countsOfAgent = z
  .strictObject({
    agent_id: agentId,
    current_runnable: count,
    triggered_blocked: count,
    queued_runnable: count,
    waiting_for_operator: count,
    blocked: count,
    completed: count,
    active_waits: count,
    running_tasks: count,
    queued_messages: count,
  })
  .meta({ id: 'AgentCounts' })
export type AgentCounts = z.infer<typeof countsOfAgent>

const openTurn = z
  .strictObject({
    id: turnId,
    agent_id: agentId,
    work_item_id: orNull(workItemId),
    number: count.describe('The how many-eth turn of its agent it is.'),
    because: z.string(),
    model: z.string(),
    started_at: timestamp,
    rounds: count.describe('Requests so far.'),
    usage: usage.describe('Of the answers so far.'),
    ...lifeShape,
  })
  .meta({ id: 'OpenTurn' })
export type OpenTurnRecord = z.infer<typeof openTurn>

export const stateRecord = z
  .strictObject({
    now: timestamp,
    last_seq: count.describe('Global seq of the last event: follow the stream from here.'),
    agents: z.array(agentRecord),
    work_items: z.array(workItemRecord).describe('Of each agent and class, as many as a prompt.'),
    counts: z.array(countsOfAgent),
    turns: z.array(openTurn).describe('Those that are open: what works now.'),
    tasks: z.array(taskRecord).describe('Those that have not ended.'),
    waits: z.array(waitRecord).describe('Of the agents and of the items that are here.'),
    attention: z.array(attentionRecord).describe('The most urgent.'),
    attention_total: count,
  })
  .meta({ id: 'State' })
export type StateRecord = z.infer<typeof stateRecord>

/** The first of each class, by rank: what a prompt would show. */
export function shownItems({ survey }: AgentView): Projection[] {
  return Object.entries(survey.candidates).flatMap(([name, list]) =>
    list.slice(0, promptLimit[name as keyof typeof promptLimit]),
  )
}

/** The open turn of the agent, with what its rounds have used so far. */
export function openTurnOf({ agent, facts, turn, turn_count }: AgentView, life: SignsOfLife) {
  if (turn === null) return null
  const rounds = [...facts.rows('rounds')].filter(({ turn_id }) => turn_id === turn.id)
  return {
    id: turn.id,
    agent_id: agent.id,
    work_item_id: turn.work_item_id,
    number: turn_count,
    because: turn.because,
    model: turn.model,
    started_at: turn.started_at,
    rounds: rounds.length,
    usage: rounds.map(roundUsage).reduce(addUsage, noUsage),
    ...life,
  } satisfies OpenTurnRecord
}

export function countsOf({ agent, facts, survey }: AgentView, completed: number): AgentCounts {
  const { candidates } = survey
  let [active_waits, running_tasks, queued_messages] = [0, 0, 0]
  for (const wait of facts.rows('waits')) if (wait.status === 'active') active_waits += 1
  for (const task of facts.rows('tasks')) if (task.ended_at === null) running_tasks += 1
  for (const { status } of facts.rows('messages')) if (status === 'queued') queued_messages += 1
  return {
    agent_id: agent.id,
    current_runnable: candidates.current_runnable.length,
    triggered_blocked: candidates.triggered_blocked.length,
    queued_runnable: candidates.queued_runnable.length,
    waiting_for_operator: candidates.waiting_for_operator.length,
    blocked: candidates.blocked.length,
    completed,
    active_waits,
    running_tasks,
    queued_messages,
  }
}
