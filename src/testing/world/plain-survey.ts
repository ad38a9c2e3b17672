/**
 * What the survey says about items and waits, worked out the long way: every row looked at, every
 * class sorted, nothing kept. The measure for the ranking, which keeps what has not changed.
 */
import { candidateClasses } from '../../domain/state/decision.ts'
import { agentPacing, type Facts } from '../../domain/facts/facts.ts'
import { limits } from '../../domain/limits.ts'
import { isOverBudget } from '../../domain/facts/payer.ts'
import { rank } from '../../domain/facts/candidates.ts'
import { projectItem } from '../../domain/facts/readiness.ts'
import { taskResultId, type TaskId } from '../../domain/ids.ts'
import {
  eventDueAt,
  reviewKind,
  unpaid,
  type Review,
  type Survey,
} from '../../domain/scheduler/survey.ts'
import { levelOf, stockOf } from '../../domain/waits/stock.ts'
import { earliest, plus, type Timestamp } from '../../domain/time.ts'
import { recheckDue, type Wait } from '../../domain/state/wait.ts'

type Times = { first: Timestamp | null; ahead: Timestamp | null }

const timesOf = (all: readonly Timestamp[], now: Timestamp): Times => ({
  first: earliest(all),
  ahead: earliest(all.filter((at) => at > now)),
})

/** The same parts of a survey, in the same shape. */
export const partsOf = ({ now, candidates, hold, reviews, moments }: Survey) => {
  const of = (kind: string) => moments.flatMap((one) => (one.kind === kind ? one.at : []))
  const reviewed = reviews.map(({ wait, kind }) => [wait.id, kind])
  const times = { timer: timesOf(of('timer'), now), external: timesOf(of('external'), now) }
  return { candidates, hold, reviewed, ...times }
}

export function plainParts(facts: Facts, now: Timestamp): ReturnType<typeof partsOf> {
  const agent = facts.row('agents', facts.agent_id)
  const active = [...facts.rows('waits')].filter((wait) => wait.status === 'active')
  const projections = [...facts.rows('work_items')].map((item) => {
    const wait = active.find(({ work_item_id }) => work_item_id === item.id) ?? null
    const current = agent?.current_work_item_id ?? null
    const held = item.state === 'open' ? wait : null
    return projectItem(item, held, current, now, facts.row('meters', item.id) ?? null)
  })
  const classes = candidateClasses.map((name) => {
    const members = projections.filter(({ candidate_class }) => candidate_class === name)
    return [name, rank(name, members)] as const
  })
  const { reviewed, later } = plainReviews(facts, now)
  const held = unpaid(facts, now)
  const rechecks = active.flatMap(({ recheck_at }) => recheck_at ?? []).filter((at) => at > now)
  const events = [...facts.rows('messages')].flatMap((message) =>
    message.status === 'queued' &&
    !isOverBudget(facts, message.work_item_id, now) &&
    !held?.messages.includes(message)
      ? (eventDueAt(facts, message) ?? [])
      : [],
  )
  const external = [...rechecks, ...later, ...events.filter((at) => at > now)]
  const timers = active.flatMap(({ wake, wake_at }) => (wake === 'timer' ? (wake_at ?? []) : []))
  const holds = active.filter(
    ({ wake, wake_at }) => wake === 'system' && (wake_at === null || wake_at > now),
  )
  return {
    candidates: Object.fromEntries(classes) as Survey['candidates'],
    hold: holds[0] ?? null,
    reviewed,
    timer: timesOf(timers, now),
    external: timesOf(external, now),
  }
}

/** Waits that want a review now, and when those come up that were reviewed just now. */
function plainReviews(facts: Facts, now: Timestamp) {
  const pacing = facts.row('pacing', facts.agent_id)
  const atAgent = pacing?.kind === 'agent' ? pacing.agent_review_at : null
  const due: [wait: Wait, kind: Review['kind']][] = []
  const later: Timestamp[] = []
  const held = unpaid(facts, now)
  for (const wait of facts.rows('waits')) {
    const kind = reviewKind(wait, now)
    const result = wait.wake === 'task_result' && taskResultId(wait.resource as TaskId)
    const message = result ? facts.row('messages', result) : undefined
    const reader = message?.work_item_id ?? null
    const isOver = reader !== null && facts.row('work_items', reader)?.state !== 'open'
    const queued = message?.status === 'queued' && !isOver
    if (kind === null || (kind === 'ended' && queued)) continue
    if (kind === 'recheck' && levelOf(stockOf(agentPacing(facts), 'bucket'), now) === 0) continue
    if (isOverBudget(facts, wait.work_item_id, now) || held?.waits.includes(wait)) continue
    const last = wait.work_item_id === null ? (atAgent ?? wait.reviewed_at) : wait.reviewed_at
    const at = last === null ? now : plus(last, limits.review_pause.value)
    if (at > now) later.push(at)
    else due.push([wait, kind])
  }
  const since = (wait: Wait) => `${wait.reviewed_at ?? wait.created_at} ${wait.id}`
  due.sort(([a], [b]) => (since(a) < since(b) ? -1 : 1))
  return { reviewed: due.map(([wait, kind]) => [wait.id, kind]), later }
}

/** Whether a timer or a hold is over, or a recheck fell due that no event tells of yet. */
export const plainDue = (facts: Facts, now: Timestamp): boolean =>
  [...facts.rows('waits')].some(
    (wait) =>
      wait.status === 'active' &&
      ((wait.wake_at !== null && wait.wake_at <= now) ||
        (recheckDue(wait, now) && wait.triggered_turn_count === null)),
  )
