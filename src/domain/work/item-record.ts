/**
 * The record of a work item as every reader gets it: the stored fields of
 * docs/spec/work-item.md#what-is-derived, the plan as it is now, and the projection. Tools, prompt,
 * CLI and API print this and nothing else.
 */
import type { PlanDescriptor } from '../state/plan.ts'
import type { Projection } from '../facts/readiness.ts'
import { verificationOf } from '../facts/verification.ts'
import type { Wait } from '../state/wait.ts'

export type ItemRecord = { [field: string]: unknown }

/** The record; `todo_list` and `checks` may be left out of long lists. */
export function itemRecord(
  projection: Projection,
  plan: PlanDescriptor | null,
  options: { include_todo_list: boolean },
): ItemRecord {
  const { item, wait } = projection
  const {
    changed_seq: _,
    report_draft: __,
    claim: ___,
    plan_artifact,
    todo_list,
    checks,
    ...stored
  } = item
  return {
    ...stored,
    ...(options.include_todo_list ? { todo_list, checks } : {}),
    // A completion nobody asked checks of is a claim, and there is nothing more to say of it.
    verification: item.checks.length === 0 ? null : verificationOf(item),
    todo_counts: todoCounts(projection),
    plan_artifact: plan ?? { path: plan_artifact.path, bytes: plan_artifact.bytes },
    lifecycle: projection.lifecycle,
    scheduling_state: projection.scheduling_state,
    readiness: projection.readiness,
    candidate_class: projection.candidate_class,
    focus: projection.focus,
    has_active_waits: projection.has_active_waits,
    has_triggered_waits: projection.has_triggered_waits,
    current_todo: projection.current_todo,
    blocker: projection.blocker,
    wait: wait === null ? null : waitRecord(wait),
    ...(projection.budget === null ? {} : { meter: projection.budget }),
  }
}

function todoCounts({ item }: Projection) {
  const count = (state: string) => item.todo_list.filter((todo) => todo.state === state).length
  return {
    pending: count('pending'),
    in_progress: count('in_progress'),
    completed: count('completed'),
  }
}

/** A wait as readers get it: docs/spec/wait.md, without the runtime's own bookkeeping. */
export function waitRecord(wait: Wait): ItemRecord {
  const {
    changed_seq: _,
    last_review: __,
    triggered_turn_count: ___,
    focus_settled: ____,
    reviewed_at: _____,
    outside_trigger_count: ______,
    ...fields
  } = wait
  return fields
}
