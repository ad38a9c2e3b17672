/**
 * The start of a turn, one commit: the decision, the open turn, the messages it claims, the waits
 * it reviews, the turn drawn from the bucket (docs/spec/scheduler.md, docs/spec/turn.md;
 * docs/spec/recovery.md#a-kill-at-each-step).
 */
import { claims, type Claims } from '../inbox/claim.ts'
import {
  mustTurn,
  activeWaitOf,
  agentPacing,
  itemPacing,
  openTurn,
  type Draft,
} from '../facts/facts.ts'
import { returnFocusAfterTurn } from '../waits/focus.ts'
import type { MessageId, TurnId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { isFromOutside, isOwnTrigger, type Message } from '../state/message.ts'
import { endPayingOn } from '../budgets/settle.ts'
import { dropNotes, giveBackMessages, undoReviews } from './requeue.ts'
import { countTurnStart, paceAgent } from '../waits/pacing.ts'
import { focusFor, isOpenItem } from '../facts/payer.ts'
import { askForInput } from '../waits/plan-question.ts'
import { rankingOf } from '../facts/ranking.ts'
import type { Next, Start } from '../scheduler/next.ts'
import { reviewKind, type Survey } from '../scheduler/survey.ts'
import type { StartedBy, TurnCause } from '../state/turn.ts'
import { considered } from '../scheduler/excluded.ts'
import { isTriggeredOutside, onlyOwnTriggers, type Wait } from '../state/wait.ts'

type Starting = Next & { do: 'start_turn' }

/** Opens the turn that `next` decided on. The commit that carries it fails if one is open. */
export function startTurn(d: Draft, s: Survey, next: Starting, model: string): TurnId {
  if (openTurn(d)) throw new Error('a turn is open already')
  const input_cut = d.seq
  const { cause, item, message_id } = causeOf(d, next.start)
  const claimed = claims(d, startMessage(next.start), item)
  const reviewed = waitsToReview(d, item, next.start)
  const started_by = startedBy(next.start, claimed, reviewed)
  if (!isOpenItem(d, item) && isWord(claimed, reviewed)) endPayingOn(d)
  decided(d, s, next, item, message_id)

  const id = d.mint('turn')
  d.emit({
    type: 'turn_started',
    id,
    work_item_id: item,
    cause,
    because: next.because,
    model,
    input_cut,
    started_by,
  })
  for (const message of claimed.shown) {
    d.emit({ type: 'message_claimed', id: message.id, turn_id: id, to_coalesce: false })
  }
  for (const message of claimed.coalesced) {
    d.emit({ type: 'message_claimed', id: message.id, turn_id: id, to_coalesce: true })
  }
  for (const wait of reviewed) d.emit({ type: 'wait_reviewed', id: wait.id, turn_id: id })
  countTurnStart(d, item, started_by)
  if (reviewed.some((wait) => wait.work_item_id === null)) {
    paceAgent(d, { agent_review_at: d.now })
  }
  return id
}

/** What a turn draws on: anything new from outside makes it free. */
function startedBy(start: Start, claimed: Claims, reviewed: readonly Wait[]): StartedBy {
  const isInput = (message: Message) => message.kind !== 'task_result' && !isOwnTrigger(message)
  const seesInput = [...claimed.shown, ...claimed.coalesced].some(isInput)
  if (seesInput || reviewed.some(isTriggeredOutside)) return 'input'
  const own =
    start.rule === 'message'
      ? isOwnTrigger(start.message)
      : start.rule === 'review_triggered' && start.reviews.some(({ wait }) => onlyOwnTriggers(wait))
  return own ? 'own_trigger' : 'itself'
}

/** Whether anything of it came from outside the agent's own work. */
const isWord = ({ shown, coalesced }: Claims, reviewed: readonly Wait[]): boolean =>
  [...shown, ...coalesced].some(isFromOutside) || reviewed.some(isTriggeredOutside)

const startMessage = (start: Start) => (start.rule === 'message' ? start.message : null)

function causeOf(
  d: Draft,
  start: Start,
): { cause: TurnCause; item: WorkItemId | null; message_id: MessageId | null } {
  const focus = focusFor(d, d.now)
  switch (start.rule) {
    case 'message': {
      const { id, work_item_id } = start.message
      return {
        cause: { kind: 'message', message_id: id },
        item: work_item_id ?? focus,
        message_id: id,
      }
    }
    case 'continue_current': {
      const { work_item_id } = start
      return { cause: { kind: 'continue_current', work_item_id }, item: work_item_id, ...none }
    }
    case 'review_triggered': {
      const item = start.reviews[0]?.work_item_id ?? null
      const wait_ids = start.reviews.map((review) => review.wait.id)
      const cause = { kind: 'review_triggered', work_item_id: item, wait_ids } as const
      return { cause, item, ...none }
    }
    case 'queued_available': {
      const work_item_ids = start.work_item_ids.slice(0, limits.prompt_queued.value)
      return { cause: { kind: 'queued_available', work_item_ids }, item: null, ...none }
    }
    case 'recover':
      throw new Error('an open turn is resumed, not started')
  }
}

const none = { message_id: null }

/**
 * The waits this turn shows as its own: the item's, the review's, and every agent-level wait that
 * ended, was triggered or is due. A line in another item's turn is no review.
 */
function waitsToReview(d: Draft, item: WorkItemId | null, start: Start): Wait[] {
  const shown = new Map<string, Wait>()
  const own = item === null ? null : activeWaitOf(d, item)
  if (own && reviewKind(own, d.now) !== null) shown.set(own.id, own)
  if (start.rule === 'review_triggered') {
    for (const { wait } of start.reviews) shown.set(wait.id, wait)
  }
  for (const wait of rankingOf(d).agentWaits()) {
    if (reviewKind(wait, d.now) !== null) shown.set(wait.id, wait)
  }
  return [...shown.values()]
}

function decided(
  d: Draft,
  s: Survey,
  next: Starting,
  item: WorkItemId | null,
  message_id: MessageId | null,
): void {
  const pacing = agentPacing(d)
  d.emit({
    type: 'decision_made',
    id: d.mint('dec'),
    decision: `start_turn(${next.start.rule})`,
    because: next.because,
    work_item_id: item,
    message_id,
    evidence: [
      `turn ${pacing.turn_count + 1} of the agent`,
      ...(item === null || d.row('work_items', item)?.state !== 'open'
        ? []
        : [`self-started turns about it: ${itemPacing(d, item).self_started}`]),
    ],
    considered: considered(d, s, next),
  })
}

/**
 * A turn that recorded no request is closed and undone: its messages go back to the queue, each
 * with one more attempt, and at the third they are dead, with a brief.
 */
export function abandonTurn(d: Draft): void {
  const turn = mustTurn(d)
  giveBackMessages(d, turn)
  undoReviews(d, turn)
  dropNotes(d)
  d.emit({
    type: 'turn_ended',
    id: turn.id,
    outcome: 'interrupted',
    reason: 'no_request',
    end_revision: null,
    progress: false,
    usage: turn.usage,
  })
  returnFocusAfterTurn(d)
  askForInput(d)
}
