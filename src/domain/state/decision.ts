/**
 * Decision: what the scheduler chose, why, and what it passed over. Stored whenever it changes
 * something, so that "why did it do that?" has an answer later.
 */
import type { AgentId, DecisionId, MessageId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
export const candidateClasses = [
  'current_runnable',
  'triggered_blocked',
  'queued_runnable',
  'waiting_for_operator',
  'blocked',
  'completed_recent',
] as const

export type CandidateClass = (typeof candidateClasses)[number]

/** One candidate and the first rule that excluded it, with the values compared. */
export type Considered =
  | { work_item_id: WorkItemId; candidate_class: CandidateClass; verdict: string }
  | { candidate_class: CandidateClass; more: number }

export type Decision = {
  id: DecisionId
  agent_id: AgentId
  at: Timestamp
  decision: string
  because: string
  work_item_id: WorkItemId | null
  message_id: MessageId | null
  evidence: readonly string[]
  considered: readonly Considered[]
}

export type DecisionEvent = { type: 'decision_made' } & Omit<Decision, 'agent_id' | 'at'>

export function evolveDecision(
  decision: Decision | null,
  event: DecisionEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Decision {
  if (decision !== null) throw new Error(`a second decision ${event.id}`)
  const { type: _, ...given } = event
  return { ...given, agent_id: meta.agent_id, at: meta.at }
}
