/**
 * Brief: text delivered to the operator (docs/spec/nouns.md#briefs). `result` is a completion
 * report and nothing else, at most one per item; `failure` comes from the runtime.
 */
import type { AgentId, BriefId, MessageId, TaskId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import type { Warning } from './call.ts'
import type { Timestamp } from '../time.ts'

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
export function evolveBrief(
  brief: Brief | null,
  event: BriefEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Brief {
  if (brief !== null) throw new Error(`a second brief ${event.id}`)
  const { type: _, ...given } = event
  return { ...given, agent_id: meta.agent_id, created_at: meta.at }
}
