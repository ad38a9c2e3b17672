/**
 * How waits end: what they waited for happened, their time came, or the operator takes them away.
 * With its end an item may go on, or ask what its plan needs to know.
 */
import { activeWaits, agentPacing, type Draft } from '../facts/facts.ts'
import { returnFocus } from './focus.ts'
import type { WaitId } from '../ids.ts'
import { limits } from '../limits.ts'
import { outsideInput, queueChanged } from './pacing.ts'
import { askForInput } from './plan-question.ts'
import { rankingOf, type Ranking } from '../facts/ranking.ts'
import type { Task } from '../state/task.ts'
import { between, type Timestamp } from '../time.ts'
import { no, type Rejection } from '../rejection.ts'
import { recheckDue, type Wait, type WaitResolvedBy } from '../state/wait.ts'
import { mustWait, settlePlan } from './wait-for.ts'

/** Ends a wait because what it waited for happened; focus may return with it. */
export function resolveWait(d: Draft, wait: Wait, by: WaitResolvedBy, ran: Task | null): void {
  d.emit({ type: 'wait_resolved', id: wait.id, by })
  if (by.kind === 'operator') settlePlan(d, wait, d.row('messages', by.message_id))
  const waited = between(wait.created_at, d.now)
  const ranFor = ran?.started_at && ran.ended_at ? between(ran.started_at, ran.ended_at) : 0
  const exact = by.kind === 'task' || by.kind === 'timer'
  if (exact && Math.max(waited, ranFor) >= limits.outside_input.value) {
    outsideInput(d, wait.work_item_id, 'lasting')
  }
  if (wait.work_item_id !== null) queueChanged(d)
  returnFocus(d, mustWait(d, wait.id))
  askForInput(d)
}

/**
 * Timers and holds whose time has come. A due recheck resolves nothing; its one event says from
 * which turn on it is passed over.
 */
export function fireDue(d: Draft): void {
  if (!anyDue(rankingOf(d), d.now)) return
  for (const wait of [...activeWaits(d)]) {
    if (recheckDue(wait, d.now) && wait.triggered_turn_count === null) {
      d.emit({ type: 'wait_recheck_due', id: wait.id, turn_count: agentPacing(d).turn_count })
    }
    if (wait.wake_at === null || wait.wake_at > d.now) continue
    if (wait.wake === 'timer') {
      const late_by_ms = between(wait.wake_at, d.now)
      resolveWait(d, wait, { kind: 'timer', late_by_ms }, null)
    }
    if (wait.wake === 'system') {
      d.emit({ type: 'wait_resolved', id: wait.id, by: { kind: 'runtime' } })
    }
  }
}

/** The operator takes a wait away. */
export function cancelWait(d: Draft, id: WaitId): { ok: true } | Rejection {
  const wait = d.row('waits', id)
  if (!wait) return no('wait_not_found', `${id} is not a wait of ${d.agent_id}.`)
  if (wait.status !== 'active') return no('wait_not_active', `${id} is ${wait.status}.`)
  d.emit({ type: 'wait_cancelled', id, by: 'operator', because: 'cancelled by the operator' })
  // Who takes the question back has it go on without an answer.
  settlePlan(d, wait, { origin: 'operator' })
  if (wait.work_item_id !== null) queueChanged(d)
  askForInput(d)
  outsideInput(d, wait.work_item_id, 'operator')
  return { ok: true }
}

/** Whether a wait is active whose time has come, or whose recheck fell due and was not told yet. */
export function anyDue(ranking: Ranking, now: Timestamp): boolean {
  const isDue = (wait: Wait) =>
    (wait.wake_at !== null && wait.wake_at <= now) ||
    (recheckDue(wait, now) && wait.triggered_turn_count === null)
  for (const wait of ranking.agentWaits()) if (wait.status === 'active' && isDue(wait)) return true
  const { timers, rechecks } = ranking.at(now)
  if (timers[0] !== undefined && isDue(timers[0])) return true
  for (const wait of rechecks) {
    if ((wait.recheck_at ?? '') > now) return false
    if (isDue(wait)) return true
  }
  return false
}
