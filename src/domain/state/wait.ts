/**
 * Wait: why an item, or a whole agent, is paused and what may wake it (docs/spec/wait.md).
 * "Triggered" is derived from the counters; a wait stays active across repeated triggers.
 */
import { isForeignModel, type Agent } from './agent.ts'
import type { AgentId, MessageId, TaskId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Question } from './question.ts'
import { between, plus, type Timestamp } from '../time.ts'
import type { By } from './work-item.ts'

export const wakes = ['operator_input', 'task_result', 'external', 'timer'] as const
export type Wake = (typeof wakes)[number]
export const deliveryModes = ['enqueue_message', 'wake_hint'] as const
export type DeliveryMode = (typeof deliveryModes)[number]

/** Why the runtime itself made a wait, or null for one of the agent's. */
export type RuntimeCause =
  | 'no_progress'
  | 'self_started_limit'
  | 'queue_no_progress'
  | 'bucket_empty'
  | 'trigger_turns_used'
  | 'provider_world'
  | 'provider_setup'
  | 'disk_full'
  /** An agent used up what the item that it draws on leaves it. */
  | 'budget'
  /** A budget of an agent or of the home is used up, or the operator is asked for want of one. */
  | 'spending'
  | 'requests_unasked'
  /** What came of a completed item's work waits: the budget that pays for it is used up. */
  | 'budget_left'

export type Wait = {
  id: WaitId
  agent_id: AgentId
  work_item_id: WorkItemId | null
  wake: Wake | 'system'
  by: By
  runtime_cause: RuntimeCause | null
  reason: string
  /** What is asked, of a wait for the operator; null for every other one. */
  question: Question | null
  /** A task id for `task_result`; a stable name of the external thing for `external`. */
  resource: string | null
  source: string | null
  condition: string | null
  delivery_mode: DeliveryMode
  status: 'active' | 'resolved' | 'cancelled'
  since_seq: number
  wake_at: Timestamp | null
  /** The next look, whether anything came or not; after one that changed nothing again. */
  recheck_at: Timestamp | null
  /** After how long, at first; null: never. */
  recheck_ms: number | null
  /** Looks in a row since something changed or came: each doubles the time to the next. */
  rechecks: number
  trigger_count: number
  last_triggered_at: Timestamp | null
  /** `trigger_count` after the last event that did not come by the agent's own trigger. */
  outside_trigger_count: number
  /**
   * The agent's turn count when the oldest unreviewed trigger came, or the recheck fell due: how
   * often it was passed over.
   */
  triggered_turn_count: number | null
  reviewed_trigger_count: number
  reviewed_at: Timestamp | null
  /** The turn that reviewed it last and what held before: a turn without a request undoes it. */
  last_review: { turn_id: TurnId; before: ReviewState } | null
  released_focus: boolean
  /**
   * What its end had still to do is done: focus came back, or the chance is over; the turn that
   * showed the end of an agent-level wait has ended.
   */
  focus_settled: boolean
  created_at: Timestamp
  resolved_at: Timestamp | null
  cancelled_at: Timestamp | null
  changed_seq: number
}

export type ReviewState = Pick<
  Wait,
  'reviewed_trigger_count' | 'triggered_turn_count' | 'reviewed_at' | 'recheck_at' | 'rechecks'
>

export type WaitResolvedBy =
  | { kind: 'task'; task_id: TaskId }
  | { kind: 'timer'; late_by_ms: number }
  | { kind: 'operator'; message_id: MessageId }
  | { kind: 'runtime' }

/** By what it came: the agent's own trigger, whose URL its commands have, or anything else. */
export type TriggeredBy = 'own_trigger' | 'outside'

export type WaitEvent =
  | {
      type: 'wait_registered'
      id: WaitId
      work_item_id: WorkItemId | null
      wake: Wake | 'system'
      by: By
      runtime_cause: RuntimeCause | null
      reason: string
      question: Question | null
      resource: string | null
      source: string | null
      condition: string | null
      delivery_mode: DeliveryMode
      since_seq: number
      wake_at: Timestamp | null
      recheck_at: Timestamp | null
      released_focus: boolean
    }
  | {
      type: 'wait_rearmed'
      id: WaitId
      reason: string
      condition: string | null
      recheck_at: Timestamp | null
      released_focus: boolean
    }
  | {
      type: 'wait_triggered'
      id: WaitId
      message_id: MessageId
      count: number
      by: TriggeredBy
      turn_count: number
    }
  | { type: 'wait_recheck_due'; id: WaitId; turn_count: number }
  | { type: 'wait_reviewed'; id: WaitId; turn_id: TurnId }
  | { type: 'wait_review_undone'; id: WaitId; turn_id: TurnId }
  | { type: 'wait_resolved'; id: WaitId; by: WaitResolvedBy }
  | { type: 'wait_focus_settled'; id: WaitId }
  | { type: 'wait_cancelled'; id: WaitId; by: By; because: string }

export function evolveWait(
  wait: Wait | null,
  event: WaitEvent,
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Wait {
  if (event.type === 'wait_registered') return registered(event, meta)
  if (wait === null) throw new Error(`${event.type} before wait_registered: ${event.id}`)
  if (wait.status !== 'active' && !afterTheEnd.has(event.type)) {
    throw new Error(`${event.type} after ${wait.id} was ${wait.status}`)
  }
  const moved = { ...wait, changed_seq: meta.seq }
  switch (event.type) {
    case 'wait_rearmed':
      return {
        ...moved,
        reason: event.reason,
        condition: event.condition,
        ...rechecksFrom(event.recheck_at, meta.at),
        released_focus: wait.released_focus || event.released_focus,
        triggered_turn_count: unreviewed(wait) ? wait.triggered_turn_count : null,
      }
    case 'wait_triggered':
      return {
        ...moved,
        trigger_count: event.count,
        last_triggered_at: meta.at,
        outside_trigger_count: event.by === 'outside' ? event.count : wait.outside_trigger_count,
        triggered_turn_count: wait.triggered_turn_count ?? event.turn_count,
      }
    case 'wait_recheck_due':
      return { ...wait, triggered_turn_count: wait.triggered_turn_count ?? event.turn_count }
    case 'wait_reviewed':
      return reviewed(wait, event.turn_id, meta.at)
    case 'wait_review_undone':
      return { ...wait, ...wait.last_review?.before, last_review: null }
    case 'wait_resolved': {
      const ended = { ...moved, status: 'resolved', resolved_at: meta.at } as const
      // The end of an agent-level wait is itself to be shown, whatever was shown before.
      return wait.work_item_id === null ? { ...ended, reviewed_at: null, last_review: null } : ended
    }
    case 'wait_focus_settled':
      return { ...wait, focus_settled: true }
    case 'wait_cancelled':
      return { ...moved, status: 'cancelled', cancelled_at: meta.at }
  }
}

function registered(
  event: WaitEvent & { type: 'wait_registered' },
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Wait {
  const { type: _, ...given } = event
  return {
    ...given,
    agent_id: meta.agent_id,
    status: 'active',
    ...rechecksFrom(given.recheck_at, meta.at),
    trigger_count: 0,
    last_triggered_at: null,
    outside_trigger_count: 0,
    triggered_turn_count: null,
    reviewed_trigger_count: 0,
    reviewed_at: null,
    last_review: null,
    focus_settled: false,
    created_at: meta.at,
    resolved_at: null,
    cancelled_at: null,
    changed_seq: meta.seq,
  }
}

/** Everything there is to show was shown by this turn; what held before is kept for its undoing. */
function reviewed(wait: Wait, turn_id: TurnId, at: Timestamp): Wait {
  return {
    ...wait,
    reviewed_trigger_count: wait.trigger_count,
    triggered_turn_count: null,
    reviewed_at: at,
    last_review: {
      turn_id,
      before: {
        reviewed_trigger_count: wait.reviewed_trigger_count,
        triggered_turn_count: wait.triggered_turn_count,
        reviewed_at: wait.reviewed_at,
        recheck_at: wait.recheck_at,
        rechecks: wait.rechecks,
      },
    },
    ...nextRecheck(wait, at),
  }
}

const rechecksFrom = (recheck_at: Timestamp | null, now: Timestamp) => ({
  recheck_at,
  recheck_ms:
    recheck_at === null ? null : Math.max(limits.review_pause.value, between(now, recheck_at)),
  rechecks: 0,
})

/**
 * A look that shows what came begins with the first interval again; one that the recheck itself
 * asked for is repeated after twice the time, up to an hour or its own interval.
 */
function nextRecheck(wait: Wait, at: Timestamp): Pick<Wait, 'recheck_at' | 'rechecks'> {
  const { recheck_at, recheck_ms, rechecks } = wait
  const came = unreviewed(wait)
  if (recheck_at === null || recheck_ms === null || (!came && recheck_at > at)) {
    return { recheck_at, rechecks }
  }
  const most = Math.max(limits.recheck_most.value, recheck_ms)
  const after = came ? recheck_ms : Math.min(recheck_ms * 2 ** Math.min(rechecks, 30), most)
  return { recheck_at: plus(at, after), rechecks: came ? 0 : rechecks + 1 }
}

/** What may still happen to a wait that has ended. */
const afterTheEnd: ReadonlySet<WaitEvent['type']> = new Set([
  'wait_reviewed',
  'wait_review_undone',
  'wait_focus_settled',
])

/** Triggers of a wait that no turn has shown yet. */
export const unreviewed = (wait: Wait): boolean => wait.trigger_count > wait.reviewed_trigger_count

/** How often a wait was triggered, and how much of it no turn has shown; null: never. */
export function triggeredWords({
  trigger_count: all,
  reviewed_trigger_count: seen,
}: Pick<Wait, 'trigger_count' | 'reviewed_trigger_count'>): string | null {
  if (all === 0) return null
  const fresh = all - seen
  const often = all === 1 ? 'once' : `${all} times`
  if (fresh <= 0) return `triggered ${often}, looked at`
  return `triggered ${often}, ${fresh < all ? `${fresh} new` : all === 1 ? 'new' : 'all new'}`
}

/** What no turn has shown yet came by the agent's own trigger, all of it. */
export const onlyOwnTriggers = (wait: Wait): boolean =>
  unreviewed(wait) && wait.outside_trigger_count <= wait.reviewed_trigger_count

/** What no turn has shown yet came from outside, some of it. */
export const isTriggeredOutside = (wait: Wait): boolean =>
  unreviewed(wait) && !onlyOwnTriggers(wait)

/** The time of the next look has come, and no turn has shown it yet. */
export const recheckDue = (wait: Wait, now: Timestamp): boolean =>
  wait.recheck_at !== null && wait.recheck_at <= now

/** Whether an event is about what an external wait names; a field the wait leaves out takes any. */
export const matches = (
  wait: Pick<Wait, 'source' | 'resource'>,
  event: { source: string | null; resource: string | null },
): boolean =>
  (wait.source === null || wait.source === event.source) &&
  (wait.resource === null || wait.resource === event.resource)

/**
 * The wait that an agent's question replaced, in the commit that asked it: it wakes nobody, and
 * what it was for may still be to come.
 */
export const givenUpFor = (question: Wait, waits: readonly Wait[]): Wait | null =>
  waits.findLast(
    ({ status, by, wake, work_item_id, cancelled_at }) =>
      status === 'cancelled' &&
      by === 'agent' &&
      wake !== 'operator_input' &&
      work_item_id === question.work_item_id &&
      cancelled_at === question.created_at,
  ) ?? null

/** The source of a wait for a task that is held: a person's yes is what it waits for. */
export const approval = 'approval'

/** What a wait says to whoever reads of it: the question, where one is asked, else its reason. */
export const waitWords = ({ question, reason }: Pick<Wait, 'question' | 'reason'>): string =>
  question?.text ?? reason

/** The same with what must be true to go on, where its agent said that. */
export const awaitedWords = (wait: Pick<Wait, 'question' | 'reason' | 'condition'>): string =>
  wait.question !== null || wait.condition === null
    ? waitWords(wait)
    : `${wait.reason}; condition: ${wait.condition}`

/** Whether a question goes past the supervisor: a foreign agent wants a permission. */
export const asksOperator = (
  agent: Pick<Agent, 'model'>,
  wait: Pick<Wait, 'wake' | 'source'>,
): boolean =>
  wait.wake === 'operator_input' && wait.source === 'permission' && isForeignModel(agent.model)

/** Who is to answer: of a private child the agent above it; null: the operator. */
export const askedOf = (
  agent: Pick<Agent, 'model' | 'visibility' | 'supervisor_agent_id'>,
  wait: Pick<Wait, 'wake' | 'source'>,
): AgentId | null =>
  agent.visibility === 'private' && !asksOperator(agent, wait) ? agent.supervisor_agent_id : null
