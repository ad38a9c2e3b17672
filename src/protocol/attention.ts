/**
 * What needs a person: opened and closed by facts, the same list on every client (contracts 13).
 * An entry stands here only while there is something a person can do about it now. Pure.
 */
import { toMs, type Timestamp } from '../domain/time.ts'
import type { Turn } from '../domain/turn.ts'
import { activeWaitsOf, projections, queuedEvents, type AgentView } from './agent-view.ts'
import type { Can } from './why.ts'

export type AttentionKind =
  | 'question'
  | 'blocked'
  | 'needs_input'
  | 'held'
  | 'failed_turn'
  | 'arrived'
  | 'cancelling'

export type Attention = {
  /** The id of the noun it is about: closing that closes the entry. */
  id: string
  kind: AttentionKind
  agent_id: string
  work_item_id: string | null
  /** One sentence. */
  text: string
  since: Timestamp
  can: readonly Can[]
}

/** Questions first, then what stands still, oldest first inside each kind. */
export function attentionOf(views: readonly AgentView[], lastTurns: readonly Turn[]): Attention[] {
  const all = views.flatMap((view) => [
    ...questions(view),
    ...stuckItems(view),
    ...holds(view),
    ...failedTurns(view, lastTurns),
    ...arrivals(view),
    ...cancelling(view),
  ])
  const order: readonly AttentionKind[] = [
    'question',
    'held',
    'failed_turn',
    'needs_input',
    'blocked',
    'arrived',
    'cancelling',
  ]
  return all.sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || toMs(a.since) - toMs(b.since),
  )
}

export function questions({ facts, agent }: AgentView): Attention[] {
  return activeWaitsOf(facts)
    .filter((wait) => wait.wake === 'operator_input')
    .map((wait) => ({
      id: wait.id,
      kind: 'question',
      agent_id: agent.id,
      work_item_id: wait.work_item_id,
      text: wait.reason,
      since: wait.created_at,
      can: [{ label: 'answer', cli: `holon answer ${wait.id} <text>` }],
    }))
}

/** Open items that nothing but a person can move, and that asked no question. */
function stuckItems(view: AgentView): Attention[] {
  return projections(view).flatMap((p): Attention[] => {
    const { item, reason } = p
    const base = { id: item.id, agent_id: item.agent_id, work_item_id: item.id }
    if (reason.code === 'blocked_by') {
      const cli =
        view.agent.model === 'runbook' ? 'holon run --resume' : `holon work unblock ${item.id}`
      const can = [{ label: 'let it go on', cli }]
      return [{ ...base, kind: 'blocked', text: reason.text, since: item.updated_at, can }]
    }
    if (reason.code === 'needs_input') {
      const can = [{ label: 'answer', cli: `holon send --work-item ${item.id} <text>` }]
      const text = 'its plan needs your input'
      return [{ ...base, kind: 'needs_input', text, since: item.updated_at, can }]
    }
    return []
  })
}

/** Holds that no time ends. Those with a time end by themselves. */
const holds = ({ facts, agent }: AgentView): Attention[] =>
  activeWaitsOf(facts)
    .filter((wait) => wait.wake === 'system' && wait.wake_at === null)
    .map((wait) => ({
      id: wait.id,
      kind: 'held',
      agent_id: agent.id,
      work_item_id: null,
      text: wait.reason,
      since: wait.created_at,
      can: [{ label: 'try again, once it is settled', cli: 'holon run --resume' }],
    }))

/** The agent's last turn failed; the next turn closes the entry. */
function failedTurns({ agent, turn }: AgentView, lastTurns: readonly Turn[]): Attention[] {
  const last = lastTurns.find((one) => one.agent_id === agent.id)
  if (turn !== null || last?.outcome !== 'failed') return []
  return [
    {
      id: last.id,
      kind: 'failed_turn',
      agent_id: agent.id,
      work_item_id: last.work_item_id,
      text: `the last turn failed: ${last.reason ?? 'no reason is recorded'}`,
      since: last.ended_at ?? last.started_at,
      can: [{ label: 'say it again, or differently', cli: 'holon send <text>' }],
    },
  ]
}

/** Events that came for an agent that cannot take them. */
function arrivals({ facts, agent, survey }: AgentView): Attention[] {
  const first = queuedEvents(facts)[0]
  if (!survey.stopped || first === undefined) return []
  const from = first.source ?? 'an outside source'
  return [
    {
      id: first.id,
      kind: 'arrived',
      agent_id: agent.id,
      work_item_id: first.work_item_id,
      text: `${from} sent an event, but ${agent.id} is ${agent.state}`,
      since: first.created_at,
      can: [{ label: 'start the agent', cli: `holon agents start ${agent.id}` }],
    },
  ]
}

const cancelling = ({ facts, agent }: AgentView): Attention[] =>
  [...facts.rows('tasks')]
    .filter((task) => task.status === 'cancelling' && task.survivors.length > 0)
    .map((task) => ({
      id: task.id,
      kind: 'cancelling',
      agent_id: agent.id,
      work_item_id: task.work_item_id,
      text: `${task.label} does not end: ${task.survivors.join(', ')} still run`,
      since: task.started_at ?? task.created_at,
      can: [{ label: 'stop it again', cli: `holon tasks stop ${task.id}` }],
    }))
