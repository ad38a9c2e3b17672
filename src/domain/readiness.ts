/**
 * Readiness: what is derived from a work item and its wait, never stored. One pure function from
 * facts to one record, read by scheduler, tools, prompt, CLI and every other surface alike.
 */
import { budgetNow, type BudgetNow, type Measured } from './budget.ts'
import type { WorkItemId } from './ids.ts'
import { isUnadopted, type ImportedFrom } from './imported.ts'
import type { Meter } from './meter.ts'
import type { Timestamp } from './time.ts'
import { recheckDue, unreviewed, waitWords, type Wait } from './wait.ts'
import type { Todo, WorkItem } from './work-item.ts'

export type SchedulingState =
  | 'completed'
  | 'waiting_task'
  | 'waiting_operator'
  | 'waiting_timer'
  | 'waiting_external'
  | 'blocked'
  | 'runnable'

export type Readiness = 'runnable' | 'waiting_for_operator' | 'blocked' | 'completed'

export const candidateClasses = [
  'current_runnable',
  'triggered_blocked',
  'queued_runnable',
  'waiting_for_operator',
  'blocked',
  'completed_recent',
] as const
export type CandidateClass = (typeof candidateClasses)[number]

/** Why an item is in its scheduling state: a code and the values behind it. */
export type StateReason =
  | { code: 'completed'; at: Timestamp }
  | { code: 'wait'; wait: Wait }
  | { code: 'blocked_by'; text: string }
  | { code: 'needs_input' }
  /** Brought in a file, and not yet picked by the operator. */
  | { code: 'imported'; from: ImportedFrom }
  | { code: 'budget'; over: readonly Measured[] }
  | { code: 'nothing_holds_it' }

export type Projection = {
  item: WorkItem
  wait: Wait | null
  lifecycle: 'open' | 'completed'
  scheduling_state: SchedulingState
  readiness: Readiness
  candidate_class: CandidateClass
  /** Queued: it could run and another item, or none, is in focus. */
  focus: 'current' | 'queued' | 'none'
  has_active_waits: boolean
  has_triggered_waits: boolean
  current_todo: Todo | null
  /** `blocked_by`, else what the active wait asks, or why it waits. */
  blocker: string | null
  /** What its budget comes to now; null: it has none. */
  budget: BudgetNow | null
  reason: StateReason
}

/** The first that applies, top to bottom: contracts 2, `scheduling_state`. */
export function schedulingState(
  item: WorkItem,
  wait: Wait | null,
  over: readonly Measured[] = [],
): { state: SchedulingState; reason: StateReason } {
  if (item.state === 'completed') {
    return { state: 'completed', reason: { code: 'completed', at: item.completed_at ?? '' } }
  }
  if (item.imported && isUnadopted(item)) {
    return { state: 'waiting_operator', reason: { code: 'imported', from: item.imported } }
  }
  if (wait !== null) {
    const reason: StateReason = { code: 'wait', wait }
    switch (wait.wake) {
      case 'task_result':
        return { state: 'waiting_task', reason }
      case 'operator_input':
        return { state: 'waiting_operator', reason }
      case 'timer':
        return { state: 'waiting_timer', reason }
      case 'external':
        return { state: 'waiting_external', reason }
      case 'system':
        throw new Error(`a system wait ${wait.id} on an item; those are the agent's`)
    }
  }
  if (item.blocked_by !== null) {
    return { state: 'blocked', reason: { code: 'blocked_by', text: item.blocked_by } }
  }
  if (item.plan_status === 'needs_input') {
    return { state: 'waiting_operator', reason: { code: 'needs_input' } }
  }
  if (over.length > 0) return { state: 'waiting_operator', reason: { code: 'budget', over } }
  return { state: 'runnable', reason: { code: 'nothing_holds_it' } }
}

export function readinessOf(state: SchedulingState): Readiness {
  switch (state) {
    case 'runnable':
      return 'runnable'
    case 'completed':
      return 'completed'
    case 'waiting_operator':
      return 'waiting_for_operator'
    case 'waiting_task':
    case 'waiting_timer':
    case 'waiting_external':
    case 'blocked':
      return 'blocked'
  }
}

export function candidateClass(
  readiness: Readiness,
  isCurrent: boolean,
  wait: Wait | null,
  now: Timestamp,
  isOver = false,
): CandidateClass {
  if (readiness === 'completed') return 'completed_recent'
  if (readiness === 'runnable') return isCurrent ? 'current_runnable' : 'queued_runnable'
  // Over its budget it starts no turn: what came stays to be looked at.
  if (isOver) return readiness
  if (wait !== null && (unreviewed(wait) || recheckDue(wait, now))) return 'triggered_blocked'
  return readiness
}

/** Of a completed item: how many of its todos it left, in words; null: none. */
export function leftTodos({ state, todo_list }: WorkItem): string | null {
  const left = todo_list.filter((todo) => todo.state !== 'completed').length
  if (state !== 'completed' || left === 0) return null
  return `${left} of ${todo_list.length} todos ${left === 1 ? 'is' : 'are'} not finished`
}

/** Of a completed item none is current, whatever its list still says. */
export const currentTodo = (item: WorkItem): Todo | null =>
  item.state === 'completed'
    ? null
    : (item.todo_list.find((todo) => todo.state === 'in_progress') ??
      item.todo_list.find((todo) => todo.state === 'pending') ??
      null)

/** The whole projection of one item from its row, its wait, the agent's focus and its meter. */
export function projectItem(
  item: WorkItem,
  wait: Wait | null,
  current: WorkItemId | null,
  now: Timestamp,
  meter: Meter | null = null,
): Projection {
  const budget = budgetNow(item, meter, now)
  const over = budget?.over ?? []
  const { state, reason } = schedulingState(item, wait, over)
  const readiness = readinessOf(state)
  const isCurrent = current === item.id
  return {
    item,
    wait,
    lifecycle: item.state,
    scheduling_state: state,
    readiness,
    candidate_class: candidateClass(readiness, isCurrent, wait, now, over.length > 0),
    focus: isCurrent ? 'current' : readiness === 'runnable' ? 'queued' : 'none',
    has_active_waits: wait !== null,
    has_triggered_waits: wait !== null && wait.trigger_count > 0,
    current_todo: currentTodo(item),
    blocker: item.blocked_by ?? (wait === null ? null : waitWords(wait)),
    budget,
    reason,
  }
}
