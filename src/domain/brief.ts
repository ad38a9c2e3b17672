/**
 * Brief: text delivered to the operator (docs/spec/nouns.md#briefs). `result` is a completion
 * report and nothing else, at most one per item; `failure` comes from the runtime.
 */
import type { AgentId, BriefId, MessageId, TaskId, TurnId, WaitId, WorkItemId } from './ids.ts'
import type { Warning } from './call.ts'
import type { Draft } from './facts.ts'
import type { Timestamp } from './time.ts'

export type BriefKind = 'progress' | 'reply' | 'question' | 'result' | 'failure'

export type Brief = {
  id: BriefId
  agent_id: AgentId
  kind: BriefKind
  text: string
  turn_id: TurnId | null
  work_item_id: WorkItemId | null
  wait_id: WaitId | null
  message_id: MessageId | null
  task_id: TaskId | null
  warnings: readonly Warning[]
  created_at: Timestamp
}

export type BriefEvent = { type: 'brief_delivered' } & Omit<Brief, 'agent_id' | 'created_at'>

/** Delivers a brief; what it is not about is left out. */
export function deliverBrief(
  d: Draft,
  brief: Pick<BriefEvent, 'kind' | 'text'> & Partial<Omit<BriefEvent, 'type'>>,
): void {
  const { id = d.mint('brief'), turn_id = null, work_item_id = null, wait_id = null } = brief
  const { kind, text, message_id = null, task_id = null, warnings = [] } = brief
  const about = { turn_id, work_item_id, wait_id, message_id, task_id }
  d.emit({ type: 'brief_delivered', id, kind, text, ...about, warnings })
}

export function evolveBrief(
  brief: Brief | null,
  event: BriefEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Brief {
  if (brief !== null) throw new Error(`a second brief ${event.id}`)
  const { type: _, ...given } = event
  return { ...given, agent_id: meta.agent_id, created_at: meta.at }
}
