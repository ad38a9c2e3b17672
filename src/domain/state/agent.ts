/**
 * Agent: identity, lifecycle, focus and settings. Exactly one lane each: at most one open turn.
 */
import type { AgentId, TaskId, WaitId, WorkItemId } from '../ids.ts'
import type { PresetName } from '../policy/rule.ts'
import type { SpendBudget } from './spend-budget.ts'
import type { Timestamp } from '../time.ts'
import type { By, Readiness } from './work-item.ts'

export type Workspace = { mode: 'inherit' | 'worktree' | 'explicit_root'; root: string }

export type Agent = {
  id: AgentId
  preset: 'public_named' | 'private_child'
  visibility: 'public' | 'private'
  ownership: 'self_owned' | 'parent_supervised'
  lineage_parent_agent_id: AgentId | null
  supervisor_agent_id: AgentId | null
  supervising_task_id: TaskId | null
  state: 'active' | 'stopped' | 'deleted'
  current_work_item_id: WorkItemId | null
  model: string | null
  fallback_model: string | null
  workspace: Workspace
  template: string | null
  /** Blob of the context a fork came with; null: it started from its handoff alone. */
  inherited_sha256: string | null
  /** Of an agent made in a turn that a budget pays for: the item of its parent that has it. */
  draws_on: WorkItemId | null
  /** What it and the agents made under it may spend; null: nothing was said. */
  budget: SpendBudget | null
  /** How far its calls are let without asking, where the operator said it; else as the home's. */
  policy_preset?: PresetName | null
  created_at: Timestamp
}

/** Whether an agent of another maker thinks for it: it has tools and permissions of its own. */
export const isForeignModel = (model: string | null): boolean => model?.startsWith('acp/') === true

export type SwitchKind =
  | 'explicit_pick'
  | 'explicit_focus_override'
  | 'wait_resolved'
  | 'operator_pick'

export type ReleaseCause = 'completed' | 'blocked' | 'needs_input' | 'waiting'

export type AgentEvent =
  | {
      type: 'agent_created'
      id: AgentId
      model: string | null
      workspace: Workspace
      preset: Agent['preset']
      /** Of an agent that another one made, or a template shaped. */
      lineage_parent_agent_id?: AgentId
      supervisor_agent_id?: AgentId
      supervising_task_id?: TaskId
      template?: string
      inherited_sha256?: string
      draws_on?: WorkItemId
    }
  | {
      type: 'agent_configured'
      id: AgentId
      model?: string
      fallback_model?: string | null
      workspace?: Workspace
      budget?: SpendBudget | null
      policy_preset?: PresetName | null
    }
  | { type: 'agent_started' | 'agent_stopped'; id: AgentId; by: By }
  /** Final: the name is never used again. */
  | { type: 'agent_deleted'; id: AgentId; by: By }
  | {
      type: 'work_item_picked'
      id: AgentId
      previous_work_item_id: WorkItemId | null
      current_work_item_id: WorkItemId
      reason: string | null
      previous_readiness: Readiness | null
      current_readiness: Readiness
      switch_kind: SwitchKind
      reason_required: boolean
      reason_missing: boolean
      wait_id: WaitId | null
    }
  | { type: 'focus_released'; id: AgentId; work_item_id: WorkItemId; cause: ReleaseCause }

export function evolveAgent(
  agent: Agent | null,
  event: AgentEvent,
  meta: { at: Timestamp },
): Agent {
  if (event.type === 'agent_created') {
    return {
      id: event.id,
      preset: event.preset,
      visibility: event.preset === 'public_named' ? 'public' : 'private',
      ownership: event.preset === 'public_named' ? 'self_owned' : 'parent_supervised',
      lineage_parent_agent_id: event.lineage_parent_agent_id ?? null,
      supervisor_agent_id: event.supervisor_agent_id ?? null,
      supervising_task_id: event.supervising_task_id ?? null,
      state: 'active',
      current_work_item_id: null,
      model: event.model,
      fallback_model: null,
      workspace: event.workspace,
      template: event.template ?? null,
      inherited_sha256: event.inherited_sha256 ?? null,
      draws_on: event.draws_on ?? null,
      budget: null,
      created_at: meta.at,
    }
  }
  if (agent === null) throw new Error(`${event.type} before agent_created: ${event.id}`)
  if (agent.state === 'deleted') throw new Error(`${event.type} after ${event.id} was deleted`)
  switch (event.type) {
    case 'agent_configured': {
      const { type: _, id: __, ...settings } = event
      return { ...agent, ...settings }
    }
    case 'agent_started':
      return { ...agent, state: 'active' }
    case 'agent_stopped':
      return { ...agent, state: 'stopped' }
    case 'agent_deleted':
      return { ...agent, state: 'deleted', current_work_item_id: null }
    case 'work_item_picked':
      return { ...agent, current_work_item_id: event.current_work_item_id }
    case 'focus_released':
      return { ...agent, current_work_item_id: null }
  }
}
