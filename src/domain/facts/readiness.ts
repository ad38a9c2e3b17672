/**
 * Readiness: what is derived from a work item and its wait, never stored. One pure function from
 * facts to one record, read by scheduler, tools, prompt, CLI and every other surface alike.
 */
import { budgetNow, type BudgetNow } from './budget.ts'
import type { CandidateClass } from '../state/decision.ts'
import type { WorkItemId } from '../ids.ts'
import type { Meter, Measured } from '../state/meter.ts'
import type { Timestamp } from '../time.ts'
import { approval, recheckDue, unreviewed, waitWords, type Wait } from '../state/wait.ts'
import type { Todo, WorkItem, Imported, ImportedFrom, Readiness } from '../state/work-item.ts'

export type SchedulingState =
  | 'completed'
  | 'waiting_task'
  | 'waiting_operator'
  | 'waiting_timer'
  | 'waiting_external'
  | 'blocked'
  | 'runnable'
/** What holds an open item: a code and the values behind it. */
export type Hold<W = Wait> =
  /** Brought in a file, and not yet picked by the operator. */
  | { code: 'imported'; from: ImportedFrom }
  | { code: 'wait'; wait: W }
  | { code: 'blocked_by'; text: string }
  | { code: 'needs_input' }
  | { code: 'budget'; over: readonly Measured[] }

/** Why an item is in its scheduling state: the first that holds it, or why nothing does. */
export type StateReason = Hold | { code: 'completed'; at: Timestamp } | { code: 'nothing_holds_it' }

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
  /** All that holds it, in the order in which it has to go; the first is the reason. */
  holds: readonly Hold[]
}

type Held = Pick<WorkItem, 'blocked_by' | 'plan_status'> & { imported?: Imported | undefined }
type Asking = { question: { settles: 'plan_status' | null } | null }

/** All that holds an open item, in the order in which it has to go. */
export function holdsOf<W extends Asking>(
  item: Held,
  wait: W | null,
  over: readonly Measured[],
): readonly Hold<W>[] {
  const { imported, blocked_by, plan_status } = item
  // A wait that asks for the plan is what becomes of `needs_input`, and no second hold.
  const isAsked = wait?.question?.settles === 'plan_status'
  const found: (Hold<W> | false)[] = [
    imported?.adopted_at === null && { code: 'imported', from: imported },
    wait !== null && { code: 'wait', wait },
    blocked_by !== null && { code: 'blocked_by', text: blocked_by },
    plan_status === 'needs_input' && !isAsked && { code: 'needs_input' },
    over.length > 0 && { code: 'budget', over },
  ]
  return found.filter((one) => one !== false)
}

/** By the first that holds it: docs/spec/work-item.md#what-is-derived, `scheduling_state`. */
export function schedulingState(
  item: WorkItem,
  wait: Wait | null,
  over: readonly Measured[] = [],
): { state: SchedulingState; reason: StateReason; holds: readonly Hold[] } {
  if (item.state === 'completed') {
    const reason: StateReason = { code: 'completed', at: item.completed_at ?? '' }
    return { state: 'completed', reason, holds: [] }
  }
  const holds = holdsOf(item, wait, over)
  const [first] = holds
  return first === undefined
    ? { state: 'runnable', reason: { code: 'nothing_holds_it' }, holds }
    : { state: stateOf(first), reason: first, holds }
}

function stateOf(hold: Hold): SchedulingState {
  switch (hold.code) {
    case 'wait':
      return stateOfWait(hold.wait)
    case 'blocked_by':
      return 'blocked'
    case 'imported':
    case 'needs_input':
    case 'budget':
      return 'waiting_operator'
  }
}

function stateOfWait(wait: Wait): SchedulingState {
  switch (wait.wake) {
    case 'task_result':
      return wait.source === approval ? 'waiting_operator' : 'waiting_task'
    case 'operator_input':
      return 'waiting_operator'
    case 'timer':
      return 'waiting_timer'
    case 'external':
      return 'waiting_external'
    case 'system':
      throw new Error(`a system wait ${wait.id} on an item; those are the agent's`)
  }
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
  const { state, reason, holds } = schedulingState(item, wait, over)
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
    holds,
  }
}
