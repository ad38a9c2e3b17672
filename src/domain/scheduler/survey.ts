/**
 * Survey: everything the scheduler looks at, worked out once from the facts: which messages are
 * due, which waits want a review, which items are ready. `next` only reads it, top to bottom.
 */
import {
  activeWaitOf,
  activeWaits,
  agentOf,
  agentPacing,
  openTurn,
  type Facts,
} from '../facts/facts.ts'
import { taskResultId, type TaskId, type WorkItemId } from '../ids.ts'
import { isLate } from '../inbox/late-results.ts'
import { laneOf, type PriorityClass } from '../inbox/claim.ts'
import { limits } from '../limits.ts'
import { isEvent, isFromOutside, isOwnTrigger, type Message } from '../state/message.ts'
import { itemReady, mayDraw, queueReady } from '../waits/pacing.ts'
import type { ItemReadiness } from '../waits/pacing.ts'
import { focusFor, isOpenItem, isOverBudget, isUsedUp, payingOn } from '../facts/payer.ts'
import {
  nextDeadline,
  nextRecheck,
  nextTimers,
  rankingOf,
  type Candidates,
  type Ranked,
} from '../facts/ranking.ts'
import type { Projection } from '../facts/readiness.ts'
import { levelOf, nextBack, stockOf } from '../waits/stock.ts'
import { nextLapse } from '../state/task.ts'
import { nextGrantEnd } from '../state/grant.ts'
import { earliest, plus, type Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import {
  isTriggeredOutside,
  onlyOwnTriggers,
  recheckDue,
  unreviewed,
  type Wait,
} from '../state/wait.ts'

/** A wait that some turn must show: triggered, its recheck due, or ended at agent level. */
export type Review = {
  wait: Wait
  work_item_id: WorkItemId | null
  kind: 'triggered' | 'recheck' | 'ended'
  /** Passed over by so many turns. */
  passed_over: number
}

export type Survey = {
  now: Timestamp
  stopped: boolean
  running: boolean
  turn: Turn | null
  hold: Wait | null
  lanes: Readonly<Record<PriorityClass, readonly Message[]>>
  candidates: Candidates
  current: Projection | null
  currentReady: ItemReadiness | null
  reviews: readonly Review[]
  /** Queued runnable items that are ready, in rank order. */
  readyQueue: readonly Projection[]
  queue: ItemReadiness
  bucketEmpty: boolean
  unpaid: Unpaid | null
  turn_count: number
  /**
   * Moments at which the answer of `next` could change by itself. Of the waits of items only the
   * first of each kind: what comes after it is found at the look which it causes.
   */
  moments: readonly {
    at: Timestamp
    kind: 'timer' | 'backoff' | 'external' | 'system' | 'deadline'
  }[]
}

type Moments = Survey['moments'][number][]

export function survey(facts: Facts, now: Timestamp, running: boolean): Survey {
  const agent = agentOf(facts)
  const pacing = agentPacing(facts)
  const moments: Moments = []
  const ranked = rankingOf(facts).at(now)
  const { candidates: found } = ranked
  const current = found.current_runnable[0] ?? null
  const currentReady = current === null ? null : readiness(facts, current, now, moments)
  const readyQueue = found.queued_runnable.filter(
    (item) => readiness(facts, item, now, moments).ready,
  )
  const queue = queueReady(facts, now)
  if (!queue.ready && queue.until !== null && readyQueue.length > 0) {
    moments.push({ at: queue.until, kind: 'backoff' })
  }
  const deadline = nextDeadline(ranked, now)
  if (deadline !== null) moments.push({ at: deadline, kind: 'deadline' })
  const lapse = earliest([nextLapse(facts), nextGrantEnd(facts)])
  if (lapse !== null && lapse > now) moments.push({ at: lapse, kind: 'timer' })
  const bucket = stockOf(pacing, 'bucket')
  const bucketEmpty = levelOf(bucket, now) === 0
  if (bucketEmpty) moments.push({ at: nextBack(bucket), kind: 'backoff' })
  return {
    now,
    stopped: agent.state !== 'active',
    running,
    turn: openTurn(facts),
    hold: holdOf(facts, now, moments),
    lanes: dueMessages(facts, now, bucketEmpty, moments),
    candidates: found,
    current,
    currentReady,
    reviews: reviews(facts, ranked, bucketEmpty, moments),
    readyQueue,
    queue,
    bucketEmpty,
    unpaid: unpaid(facts, now),
    turn_count: pacing.turn_count,
    moments,
  }
}

function readiness(
  facts: Facts,
  projection: Projection,
  now: Timestamp,
  moments: Moments,
): ItemReadiness {
  const ready = itemReady(facts, projection.item, now)
  if (!ready.ready && ready.until !== null) moments.push({ at: ready.until, kind: 'backoff' })
  if (ready.ready && !mayDraw(facts, projection.item.id, now)) {
    const until = nextBack(stockOf(agentPacing(facts), 'bucket'))
    return { ready: false, until, because: 'the bucket of self-started turns is empty' }
  }
  return ready
}

/** The agent is held: a system wait with no end, or one whose end is still ahead. */
function holdOf(facts: Facts, now: Timestamp, moments: Moments): Wait | null {
  for (const wait of rankingOf(facts).agentWaits()) {
    if (wait.wake !== 'system' || wait.status !== 'active') continue
    if (wait.wake_at !== null) moments.push({ at: wait.wake_at, kind: 'system' })
    if (wait.wake_at === null || wait.wake_at > now) return wait
  }
  return null
}

/** Queued messages that may start a turn now, by lane, oldest first. */
function dueMessages(
  facts: Facts,
  now: Timestamp,
  bucketEmpty: boolean,
  moments: Moments,
): Survey['lanes'] {
  const lanes: Record<PriorityClass, Message[]> = { fast: [], normal: [], background: [] }
  const closed = ownTriggerOpens(facts, now)
  for (const message of facts.rows('messages')) {
    if (message.status !== 'queued' || isLate(facts, message)) continue
    const isResult = message.kind === 'task_result'
    const item = message.work_item_id
    if (isResult && (bucketEmpty || (item !== null && isParked(facts, item)))) continue
    // The question about the budget carries them until the limit is raised.
    if (isOverBudget(facts, item, now) || isUnpaid(facts, message, now)) continue
    if (closed !== null && isOwnTrigger(message)) {
      moments.push({ at: closed, kind: 'backoff' })
      continue
    }
    const due = later(message.due_at, eventDueAt(facts, message))
    if (due !== null && due > now) {
      moments.push({ at: due, kind: 'external' })
      continue
    }
    lanes[laneOf(message.priority)].push(message)
  }
  const rank = (message: Message) => (message.priority === 'interject' ? 0 : 1)
  lanes.fast.sort((a, b) => rank(a) - rank(b) || a.inbox_seq - b.inbox_seq)
  lanes.normal.sort((a, b) => a.inbox_seq - b.inbox_seq)
  lanes.background.sort((a, b) => a.inbox_seq - b.inbox_seq)
  return lanes
}

const later = (a: Timestamp | null, b: Timestamp | null): Timestamp | null =>
  a === null || (b !== null && b > a) ? b : a

/** When the agent's own trigger may start a turn again; null: now. */
function ownTriggerOpens(facts: Facts, now: Timestamp): Timestamp | null {
  const stock = stockOf(agentPacing(facts), 'trigger_turns')
  return levelOf(stock, now) > 0 ? null : nextBack(stock)
}

/** Whether something that its own trigger brought waits for a turn, and may start none now. */
export function ownTriggerHeld(facts: Facts, now: Timestamp): boolean {
  if (ownTriggerOpens(facts, now) === null) return false
  for (const message of facts.rows('messages')) {
    if (message.status === 'queued' && isOwnTrigger(message)) return true
  }
  for (const wait of activeWaits(facts)) if (onlyOwnTriggers(wait)) return true
  return false
}

/**
 * Whether what pays for the message's turn is used up: it is about no open item, and not a word
 * from outside.
 */
const isUnpaid = (facts: Facts, message: Message, now: Timestamp): boolean =>
  isPaidBesides(facts, message, now) && spentPayer(facts, now) !== null

/** A message whose turn is about no open item, and that nobody outside sent. */
const isPaidBesides = (facts: Facts, message: Message, now: Timestamp): boolean =>
  !isOpenItem(facts, message.work_item_id ?? focusFor(facts, now)) && !isFromOutside(message)

/** The same of a look at a wait of the agent itself. */
const isUnpaidReview = (facts: Facts, wait: Wait, now: Timestamp): boolean =>
  isReviewBesides(wait) && spentPayer(facts, now) !== null

const isReviewBesides = (wait: Wait): boolean =>
  wait.work_item_id === null && !isTriggeredOutside(wait)

function spentPayer(facts: Facts, now: Timestamp): WorkItemId | null {
  const payer = payingOn(facts)
  return isUsedUp(facts, payer, now) ? payer : null
}

/** What came of an item's work and starts no turn, since the budget that pays for it is used up. */
export type Unpaid = { payer: WorkItemId; messages: readonly Message[]; waits: readonly Wait[] }

export function unpaid(facts: Facts, now: Timestamp): Unpaid | null {
  const payer = spentPayer(facts, now)
  if (payer === null) return null
  const messages = [...facts.rows('messages')].filter(
    (message) =>
      message.status === 'queued' && !isLate(facts, message) && isPaidBesides(facts, message, now),
  )
  const waits = [...rankingOf(facts).agentWaits()].filter(
    (wait) => reviewKind(wait, now) !== null && isReviewBesides(wait),
  )
  return messages.length + waits.length === 0 ? null : { payer, messages, waits }
}

/** Held by a question of the runtime itself. */
const isParked = (facts: Facts, item: WorkItemId): boolean =>
  activeWaitOf(facts, item)?.by === 'runtime'

/** Items held by a question of the runtime itself. */
export function parkedItems(facts: Facts): Set<WorkItemId> {
  const parked = new Set<WorkItemId>()
  for (const wait of activeWaits(facts)) {
    if (wait.by === 'runtime' && wait.work_item_id !== null) parked.add(wait.work_item_id)
  }
  return parked
}

/** An event of a wait reviewed in the last minute is not due until the minute has passed. */
export function eventDueAt(facts: Facts, message: Message): Timestamp | null {
  if (!isEvent(message) || message.wait_id === null) return null
  const wait = facts.row('waits', message.wait_id)
  if (wait?.status !== 'active' || wait.reviewed_at === null) return null
  return plus(wait.reviewed_at, limits.review_pause.value)
}

/** Waits that want a review now, the one longest without a review first. */
function reviews(facts: Facts, ranked: Ranked, bucketEmpty: boolean, moments: Moments): Review[] {
  const found: Review[] = []
  const pacing = agentPacing(facts)
  const { now } = ranked
  const closed = ownTriggerOpens(facts, now)
  for (const at of nextTimers(ranked, now)) moments.push({ at, kind: 'timer' })
  const recheck = nextRecheck(ranked, now)
  if (recheck !== null) moments.push({ at: recheck, kind: 'external' })
  for (const wait of waitsToShow(facts, ranked)) {
    const kind = reviewKind(wait, now)
    if (closed !== null && onlyOwnTriggers(wait) && !recheckDue(wait, now)) {
      moments.push({ at: closed, kind: 'backoff' })
      continue
    }
    const ofAgent = wait.status === 'active' && wait.work_item_id === null
    if (ofAgent && wait.recheck_at !== null && wait.recheck_at > now) {
      moments.push({ at: wait.recheck_at, kind: 'external' })
    }
    if (ofAgent && wait.wake === 'timer' && wait.wake_at !== null) {
      moments.push({ at: wait.wake_at, kind: 'timer' })
    }
    if (kind === null || (kind === 'ended' && resultIsQueued(facts, wait))) continue
    if (isUnpaidReview(facts, wait, now)) continue
    // It draws on the bucket: the moment at which that has one more is among them already.
    if (kind === 'recheck' && bucketEmpty) continue
    const last =
      wait.work_item_id === null ? (pacing.agent_review_at ?? wait.reviewed_at) : wait.reviewed_at
    const dueAt = last === null ? now : plus(last, limits.review_pause.value)
    if (dueAt > now) {
      moments.push({ at: dueAt, kind: 'external' })
      continue
    }
    const passed_over =
      wait.triggered_turn_count === null ? 0 : pacing.turn_count - wait.triggered_turn_count
    found.push({ wait, work_item_id: wait.work_item_id, kind, passed_over })
  }
  const since = (wait: Wait) => wait.reviewed_at ?? wait.created_at
  return found.sort(
    (a, b) =>
      (since(a.wait) < since(b.wait) ? -1 : since(a.wait) > since(b.wait) ? 1 : 0) ||
      (a.wait.id < b.wait.id ? -1 : 1),
  )
}

/** Those of the agent, and of items those that were triggered or fell due. */
function* waitsToShow(facts: Facts, { candidates }: Ranked): Iterable<Wait> {
  yield* rankingOf(facts).agentWaits()
  for (const { wait } of candidates.triggered_blocked) if (wait !== null) yield wait
}

/** The end of a task that is still to come as a message is shown by the turn that it starts. */
function resultIsQueued(facts: Facts, wait: Wait): boolean {
  if (wait.wake !== 'task_result' || wait.resource === null) return false
  const message = facts.row('messages', taskResultId(wait.resource as TaskId))
  return message?.status === 'queued' && !isLate(facts, message)
}

export function reviewKind(wait: Wait, now: Timestamp): Review['kind'] | null {
  if (wait.wake === 'system') return null
  if (wait.status === 'active') {
    if (unreviewed(wait)) return 'triggered'
    return recheckDue(wait, now) ? 'recheck' : null
  }
  if (wait.status === 'cancelled' || wait.work_item_id !== null) return null
  // An agent-level wait that ended: an operator's answer is shown by its message instead.
  if (wait.by === 'runtime' || wait.wake === 'operator_input') return null
  return wait.reviewed_at === null ? 'ended' : null
}
