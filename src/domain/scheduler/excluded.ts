/**
 * Verdicts: for each candidate that was not chosen, the first rule that excluded it, with the
 * values compared. Stored with a decision and shown by `why` (docs/spec/scheduler.md#decisions).
 */
import { measuredWords } from '../facts/budget.ts'
import { candidateClasses, type Considered } from '../state/decision.ts'
import type { Facts } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { itemReady, mayDraw } from '../waits/pacing.ts'
import { promptLimit } from '../facts/candidates.ts'
import type { Projection } from '../facts/readiness.ts'
import type { Next } from './next.ts'
import type { Survey } from './survey.ts'
import type { Timestamp } from '../time.ts'
import { triggeredWords, unreviewed } from '../state/wait.ts'

/** The items a decision is about. */
export function chosenItems(next: Next): readonly (WorkItemId | null)[] {
  if (next.do !== 'start_turn') return []
  switch (next.start.rule) {
    case 'recover':
      return [next.start.turn.work_item_id]
    case 'message':
      return [next.start.message.work_item_id]
    case 'continue_current':
      return [next.start.work_item_id]
    case 'review_triggered':
      return next.start.reviews.map((review) => review.work_item_id)
    case 'queued_available':
      return next.start.work_item_ids
  }
}

/** The candidates a prompt may show, each with its verdict, and one count per further class. */
export function considered(facts: Facts, s: Survey, next: Next): Considered[] {
  const chosen = new Set(chosenItems(next))
  const all = s.candidates
  const list: Considered[] = []
  for (const candidate_class of candidateClasses) {
    const members = all[candidate_class]
    const shown = members.slice(0, promptLimit[candidate_class])
    for (const projection of shown) {
      const { id } = projection.item
      const verdict = chosen.has(id) ? 'chosen' : verdictOf(facts, s, projection, next)
      list.push({ work_item_id: id, candidate_class, verdict })
    }
    const more = members.length - shown.length
    if (more > 0) list.push({ candidate_class, more })
  }
  return list
}

/** Why this item is not what runs now: the first rule that excludes it. */
export function verdictOf(facts: Facts, s: Survey, p: Projection, next: Next): string {
  const held = holds(p, s.now)
  if (held !== null) return held
  if (s.stopped) return 'rule 1: the agent is stopped'
  if (s.running) return 'rule 2: a turn is running'
  if (s.hold) return `rule 3: the agent is held until ${s.hold.wake_at ?? 'it is started'}`
  if (next.do === 'start_turn' && next.start.rule === 'recover') {
    return 'rule 4: an open turn goes on first'
  }
  if (next.do === 'start_turn' && next.start.rule === 'message') {
    return `a message goes first: ${next.start.message.id}`
  }
  const ready = itemReady(facts, p.item, s.now)
  if (p.candidate_class === 'current_runnable') {
    if (!ready.ready) return `rule 6: ${ready.because}`
    if (!mayDraw(facts, p.item.id, s.now)) return 'rule 6: the bucket of turns is empty'
    return 'rule 6: it runs next'
  }
  if (next.do === 'start_turn' && next.start.rule === 'continue_current') {
    return `rule 6 goes before rule 9: ${next.start.work_item_id} is in focus and ready`
  }
  if (next.do === 'start_turn' && next.start.rule === 'review_triggered') {
    return `rule 8 goes before rule 9: ${next.start.reviews[0]?.wait.id} wants a review`
  }
  if (!ready.ready) return `rule 9: ${ready.because}`
  if (s.bucketEmpty) return 'rule 9: the bucket of self-started turns is empty'
  if (!s.queue.ready) return `rule 9: ${s.queue.because}`
  return 'rule 9: it is offered next'
}

/** What holds a non-runnable item, or null for one that could run. */
function holds(p: Projection, now: Timestamp): string | null {
  const { reason } = p
  switch (reason.code) {
    case 'completed':
      return `completed at ${reason.at}`
    case 'wait': {
      const { wait } = reason
      if (p.candidate_class === 'triggered_blocked') {
        return unreviewed(wait)
          ? `rule 8: ${wait.id} was ${triggeredWords(wait)}`
          : `rule 8: the recheck of ${wait.id} is due since ${wait.recheck_at} (now ${now})`
      }
      const until = wait.wake_at === null ? '' : ` until ${wait.wake_at}`
      const recheck = wait.recheck_at === null ? '' : `, looked at again at ${wait.recheck_at}`
      return `${wait.id} (${wait.wake}) is active${until}${recheck}`
    }
    case 'blocked_by':
      return 'blocked_by is set'
    case 'needs_input':
      return 'plan_status is needs_input'
    case 'imported':
      return 'it was imported, and the operator has not picked it'
    case 'budget':
      return `over its budget: ${reason.over.map(measuredWords).join(', ')}`
    case 'nothing_holds_it':
      return null
  }
}
