/**
 * Delegation: the link between a parent's work item, the child agent it was handed to, and the
 * child's own item (docs/spec/agent.md#delegation). It routes the child's result to the parent's
 * item, whatever the parent is doing by then. The row is the parent's.
 */
import type { AgentId, DelegationId, TaskId, WorkItemId } from '../ids.ts'
import type { TaskEnd } from './task.ts'
import type { Timestamp } from '../time.ts'

export type Delegation = {
  id: DelegationId
  /** The parent, whose row it is. */
  agent_id: AgentId
  /** What the parent was at work on; null: a turn without an item. */
  work_item_id: WorkItemId | null
  child_agent_id: AgentId
  /** The first item the child made; null while it made none. */
  child_work_item_id: WorkItemId | null
  /** Supervises the child; its end is the delegation's. */
  task_id: TaskId
  state: 'active' | TaskEnd
  result_summary: string | null
  created_at: Timestamp
  ended_at: Timestamp | null
}

export type DelegationEvent =
  | {
      type: 'delegation_made'
      id: DelegationId
      work_item_id: WorkItemId | null
      child_agent_id: AgentId
      task_id: TaskId
    }
  | { type: 'delegation_bound'; id: DelegationId; child_work_item_id: WorkItemId }
  | {
      type: 'delegation_ended'
      id: DelegationId
      state: TaskEnd
      result_summary: string | null
    }

export function evolveDelegation(
  delegation: Delegation | null,
  event: DelegationEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Delegation {
  if (event.type === 'delegation_made') {
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      child_work_item_id: null,
      state: 'active',
      result_summary: null,
      created_at: meta.at,
      ended_at: null,
    }
  }
  if (delegation === null) throw new Error(`${event.type} before delegation_made: ${event.id}`)
  if (delegation.state !== 'active') {
    throw new Error(`${event.type} after ${event.id} was ${delegation.state}`)
  }
  switch (event.type) {
    case 'delegation_bound':
      if (delegation.child_work_item_id !== null) throw new Error(`${event.id} is bound already`)
      return { ...delegation, child_work_item_id: event.child_work_item_id }
    case 'delegation_ended': {
      const { state, result_summary } = event
      return { ...delegation, state, result_summary, ended_at: meta.at }
    }
  }
}
