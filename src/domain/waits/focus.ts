/**
 * Focus: one pointer per agent to the open item it works on (docs/spec/work-item.md#focus). It
 * moves by a pick, by the operator, by release in the mutation that makes the item non-runnable,
 * and by itself in one explained case: exactly the wait through which it was lost has resolved.
 */
import type { ReleaseCause } from '../state/agent.ts'
import type { Warning } from '../state/call.ts'
import { agentOf, openTurn, type Draft } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { notAdopted } from '../facts/imported.ts'
import { limits } from '../limits.ts'
import { overWords } from '../facts/budget.ts'
import { outsideInput } from './pacing.ts'
import { project } from '../facts/candidates.ts'
import { rankingOf } from '../facts/ranking.ts'
import type { Hold, Projection } from '../facts/readiness.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import { waitWords, type Wait } from '../state/wait.ts'
import { isUnadopted, type WorkItem } from '../state/work-item.ts'

/** Lets go of the item if it is in focus. Says whether it was. */
export function releaseFocus(d: Draft, item: WorkItemId, cause: ReleaseCause): boolean {
  if (agentOf(d).current_work_item_id !== item) return false
  d.emit({ type: 'focus_released', id: d.agent_id, work_item_id: item, cause })
  return true
}

export type Picked = {
  ok: true
  changed: boolean
  current: Projection
  previous: Projection | null
  warnings: readonly Warning[]
}

/** An item of this agent that may still change, or the refusal. */
export function openItem(d: Draft, id: WorkItemId): WorkItem | Rejection {
  const item = d.row('work_items', id)
  if (!item || item.agent_id !== d.agent_id) {
    return no('work_item_not_found', `${id} is not a work item of ${d.agent_id}.`)
  }
  if (item.state === 'completed') {
    return no('work_item_completed', `${id} was completed at ${item.completed_at}.`)
  }
  return item
}

/** PickWorkItem, and the operator's pick. Picking the current item again writes nothing. */
export function pickItem(
  d: Draft,
  command: { work_item_id: WorkItemId; by: 'agent' | 'operator'; reason: string | null },
): Picked | Rejection {
  const item = openItem(d, command.work_item_id)
  if ('ok' in item) return item
  const closed = notAdopted(item, command.by)
  if (closed) return closed
  const reasonLength = command.reason?.length ?? 0
  if (reasonLength > limits.reason.value) return overLimit(limits.reason, reasonLength)
  const turn = openTurn(d)
  if (command.by === 'operator' && turn !== null) {
    return no('turn_running', `${turn.id} is running; focus is the agent's until it ends.`)
  }
  // Whoever picks it has looked at it: from here on its words are the operator's own.
  if (isUnadopted(item)) d.emit({ type: 'work_item_adopted', id: item.id, by: 'operator' })
  const previousId = agentOf(d).current_work_item_id
  const before = previousId === null ? null : project(d, previousId, d.now)
  const target = mustProject(d, item.id)
  const changed = previousId !== item.id
  const reason = command.reason?.trim() || null
  const reason_required = changed && before?.readiness === 'runnable'
  if (changed) {
    d.emit({
      type: 'work_item_picked',
      id: d.agent_id,
      previous_work_item_id: previousId,
      current_work_item_id: item.id,
      reason,
      previous_readiness: before?.readiness ?? null,
      current_readiness: target.readiness,
      switch_kind:
        command.by === 'operator'
          ? 'operator_pick'
          : reason_required
            ? 'explicit_focus_override'
            : 'explicit_pick',
      reason_required,
      reason_missing: reason_required && reason === null,
      wait_id: null,
    })
  }
  if (turn !== null && turn.work_item_id !== item.id) {
    d.emit({ type: 'turn_bound', id: turn.id, work_item_id: item.id })
  }
  if (command.by === 'operator') outsideInput(d, item.id, 'operator')
  const current = mustProject(d, item.id)
  const previous = changed && previousId !== null ? project(d, previousId, d.now) : null
  const warnings = pickWarnings(current, reason_required && reason === null)
  return { ok: true, changed, current, previous, warnings }
}

function pickWarnings(current: Projection, reasonMissing: boolean): Warning[] {
  const warnings: Warning[] = []
  if (current.readiness !== 'runnable') {
    warnings.push({ kind: 'picked_not_runnable', message: whatHolds(current) })
  }
  if (reasonMissing) {
    warnings.push({
      kind: 'reason_missing',
      message: 'You left a runnable item without giving a reason; give one next time.',
    })
  }
  return warnings
}

/** All that holds a non-runnable item, and how each is cleared. */
const whatHolds = ({ scheduling_state, holds }: Projection): string =>
  [`The item is ${scheduling_state}.`, ...holds.map(howCleared)].join(' ')

function howCleared(hold: Hold): string {
  switch (hold.code) {
    case 'wait': {
      const { id, wake, question } = hold.wait
      const words = waitWords(hold.wait)
      if (question?.settles === 'plan_status') return planHolds(words)
      return (
        `${id} (${wake}) holds it: "${words}". ` +
        'UpdateWorkItem with blocked_by null cancels the wait and clears a blocker.'
      )
    }
    case 'blocked_by':
      return `blocked_by holds it: "${hold.text}". UpdateWorkItem with blocked_by null clears it.`
    case 'needs_input':
      return planHolds(null)
    case 'imported':
      return "It was imported, and only the operator's pick lets it go on."
    case 'budget':
      return `${overWords(hold.over)} Only the operator can raise it.`
  }
}

const planHolds = (asked: string | null): string =>
  `plan_status needs_input holds it${asked === null ? '' : `: "${asked}"`}. ` +
  'An answer clears it, and so does UpdateWorkItem with plan_status draft or ready.'

/** What must be there because the caller just saw it. */
export function mustProject(d: Draft, id: WorkItemId): Projection {
  const projection = project(d, id, d.now)
  if (!projection) throw new Error(`no row for ${id}`)
  return projection
}

/**
 * Gives focus back to an item that lost it through exactly this resolved wait, if the item is
 * runnable and nothing is in focus; while a turn is open this is left to the commit that ends it.
 */
export function returnFocus(d: Draft, wait: Wait): void {
  if (!wait.released_focus || wait.focus_settled || wait.work_item_id === null) return
  const turn = openTurn(d)
  if (turn !== null) return
  const item = project(d, wait.work_item_id, d.now)
  if (item?.readiness === 'runnable' && agentOf(d).current_work_item_id === null) {
    d.emit({
      type: 'work_item_picked',
      id: d.agent_id,
      previous_work_item_id: null,
      current_work_item_id: wait.work_item_id,
      reason: null,
      previous_readiness: null,
      current_readiness: 'runnable',
      switch_kind: 'wait_resolved',
      reason_required: false,
      reason_missing: false,
      wait_id: wait.id,
    })
  }
  d.emit({ type: 'wait_focus_settled', id: wait.id })
}

/** At the end of a turn: the waits that resolved while it ran, oldest first. */
export function returnFocusAfterTurn(d: Draft): void {
  const resolved = [...rankingOf(d).releasedWaits()].sort((a, b) => a.changed_seq - b.changed_seq)
  for (const wait of resolved) returnFocus(d, wait)
}
