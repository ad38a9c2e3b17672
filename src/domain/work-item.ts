/**
 * WorkItem: the durable thread of work. Its row, the events that make it, and their fold.
 * What is derived from it (readiness, candidate class) is in readiness.ts and never stored.
 */
import { evolveChecks, type Check, type CheckEvent } from './check.ts'
import type { AgentId, BriefId, WorkItemId } from './ids.ts'
import type { AdoptedEvent, Imported, ImportedFrom } from './imported.ts'
import type { Timestamp } from './time.ts'

export const todoStates = ['pending', 'in_progress', 'completed'] as const
export type Todo = { text: string; state: (typeof todoStates)[number] }

export const planStatuses = ['draft', 'ready', 'needs_input'] as const
export type PlanStatus = (typeof planStatuses)[number]

/**
 * Limits an item may spend before it waits for the operator; null: no limit (contracts 12). What
 * was spent is in meter.ts, what comes of it in budget.ts.
 */
export type Budget = {
  max_tokens: number | null
  max_usd: number | null
  max_rounds: number | null
  deadline: Timestamp | null
}

/** What the ledger keeps of the plan file; the body is only ever in the file and its snapshots. */
export type PlanStored = {
  path: string
  sha256: string | null
  bytes: number
  /** The last text of the file that was whole, kept as a blob under this hash. */
  good_sha256: string | null
}

export type WorkItem = {
  id: WorkItemId
  agent_id: AgentId
  revision: number
  objective: string
  state: 'open' | 'completed'
  plan_status: PlanStatus
  todo_list: readonly Todo[]
  blocked_by: string | null
  plan_artifact: PlanStored
  result_summary: string | null
  result_brief_id: BriefId | null
  budget: Budget | null
  /** What the operator wants to see of it once it is completed, and what that showed. */
  checks: readonly Check[]
  created_at: Timestamp
  updated_at: Timestamp
  completed_at: Timestamp | null
  /** Event seq of the last change: "has it changed since?" without relying on clocks. */
  changed_seq: number
  /** Absent: it was made here. */
  imported?: Imported
}

/** Who did it: the agent by a tool call, the operator, or the runtime. */
export type By = 'agent' | 'operator' | 'runtime'

export type WorkItemChanges = Partial<
  Pick<WorkItem, 'objective' | 'plan_status' | 'todo_list' | 'blocked_by' | 'budget' | 'checks'>
>

export type WorkItemEvent =
  | {
      type: 'work_item_created'
      id: WorkItemId
      by: By
      objective: string
      plan_status: PlanStatus
      todo_list: readonly Todo[]
      plan: PlanStored
      budget: Budget | null
      /** Absent: none. */
      checks?: readonly Check[]
      /** It was brought here in a file. Absent: it is made here. */
      imported?: ImportedFrom
    }
  | AdoptedEvent
  | { type: 'work_item_updated'; id: WorkItemId; by: By; changed: WorkItemChanges }
  | { type: 'plan_changed'; id: WorkItemId; plan: PlanStored }
  | {
      type: 'work_item_completed'
      id: WorkItemId
      by: By
      result_summary: string | null
      brief_id: BriefId | null
      completed_with_unfinished_todos: boolean
      unfinished_todo_count: number
      pending_todo_count: number
      in_progress_todo_count: number
    }
  | { type: 'work_item_reported'; id: WorkItemId; result_summary: string; brief_id: BriefId }
  | CheckEvent

export function evolveWorkItem(
  item: WorkItem | null,
  event: WorkItemEvent,
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): WorkItem {
  if (event.type === 'work_item_created') {
    return {
      id: event.id,
      agent_id: meta.agent_id,
      revision: 1,
      objective: event.objective,
      state: 'open',
      plan_status: event.plan_status,
      todo_list: event.todo_list,
      blocked_by: null,
      plan_artifact: event.plan,
      result_summary: null,
      result_brief_id: null,
      budget: event.budget,
      checks: event.checks ?? [],
      created_at: meta.at,
      updated_at: meta.at,
      completed_at: null,
      changed_seq: meta.seq,
      ...(event.imported ? { imported: { ...event.imported, adopted_at: null } } : {}),
    }
  }
  if (item === null) throw new Error(`${event.type} before work_item_created: ${event.id}`)
  if (item.state === 'completed' && !afterCompletion.has(event.type)) {
    throw new Error(`${event.type} after the completion of ${event.id}`)
  }
  const moved = {
    ...item,
    revision: item.revision + 1,
    updated_at: meta.at,
    changed_seq: meta.seq,
  }
  switch (event.type) {
    case 'check_owed':
    case 'check_started':
    case 'check_finished':
      if (item.state === 'open') throw new Error(`${event.type} before the end of ${event.id}`)
      return { ...moved, checks: evolveChecks(item.checks, event, meta.at) }
    case 'work_item_adopted':
      if (!item.imported) throw new Error(`${event.id} was made here and is adopted`)
      return { ...moved, imported: { ...item.imported, adopted_at: meta.at } }
    case 'work_item_updated':
      return { ...moved, ...event.changed }
    case 'plan_changed':
      return { ...moved, plan_artifact: event.plan }
    case 'work_item_completed':
      return {
        ...moved,
        state: 'completed',
        completed_at: meta.at,
        result_summary: event.result_summary,
        result_brief_id: event.brief_id,
      }
    case 'work_item_reported':
      return { ...moved, result_summary: event.result_summary, result_brief_id: event.brief_id }
  }
}

/** What may still be learnt of a completed item; nothing of it reopens. */
const afterCompletion: ReadonlySet<WorkItemEvent['type']> = new Set([
  'work_item_reported',
  'check_owed',
  'check_started',
  'check_finished',
])
