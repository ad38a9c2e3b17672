/**
 * What runs next, and why. The order of the lines in `next` is the policy
 * (docs/spec/scheduler.md#order): the first that applies wins, and its `because` is what the
 * ledger, the CLI and every screen show.
 */
import type { Facts } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Message } from '../state/message.ts'
import type { SchedulingState } from '../facts/readiness.ts'
import { survey, type Review, type Survey } from './survey.ts'
import { earliest, type Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'

/** What a new or resumed turn is started for. */
export type Start =
  | { rule: 'recover'; turn: Turn }
  | { rule: 'message'; message: Message }
  | { rule: 'continue_current'; work_item_id: WorkItemId }
  | { rule: 'review_triggered'; reviews: readonly Review[] }
  | { rule: 'queued_available'; work_item_ids: readonly WorkItemId[] }

export type WaitingFor = 'system' | 'operator' | 'task' | 'external' | 'timer' | 'backoff'

export type Next =
  | { do: 'stop'; because: string }
  | { do: 'noop'; because: string }
  | { do: 'wait'; for: WaitingFor; until: Timestamp | null; because: string }
  | { do: 'start_turn'; start: Start; because: string }
  | { do: 'sleep'; until: Timestamp | null; because: string }

/** Decides from durable facts only; `running` says that the open turn has a live lease. */
export const next = (facts: Facts, now: Timestamp, running: boolean): Next =>
  decideNext(survey(facts, now, running))

export function decideNext(s: Survey): Next {
  if (s.stopped) return { do: 'stop', because: 'the agent is stopped' }
  if (s.running) return { do: 'noop', because: 'a turn is running' }
  if (s.hold) {
    const { reason, wake_at } = s.hold
    return { do: 'wait', for: 'system', until: wake_at, because: `the agent is held: ${reason}` }
  }
  if (s.turn) {
    return start({ rule: 'recover', turn: s.turn }, `${s.turn.id} is open without a live lease`)
  }

  const fast = s.lanes.fast[0]
  if (fast) return start({ rule: 'message', message: fast }, messageSentence(fast))

  const passed = passedOver(s)
  if (passed) return passed

  if (s.current && s.currentReady?.ready) {
    return start(
      { rule: 'continue_current', work_item_id: s.current.item.id },
      `the current item is runnable: ${s.currentReady.because}`,
    )
  }

  const normal = s.lanes.normal[0]
  if (normal) return start({ rule: 'message', message: normal }, messageSentence(normal))

  if (s.reviews.length > 0) return review(s.reviews)

  if (s.readyQueue.length > 0 && s.queue.ready && !s.bucketEmpty) {
    const ids = s.readyQueue.map((projection) => projection.item.id)
    const count = ids.length === 1 ? '1 queued item is' : `${ids.length} queued items are`
    return start(
      { rule: 'queued_available', work_item_ids: ids },
      `${count} ready: ${s.queue.because}`,
    )
  }

  const background = s.lanes.background[0]
  if (background) {
    return start({ rule: 'message', message: background }, messageSentence(background))
  }
  return waiting(s)
}

const start = (what: Start, because: string): Next => ({ do: 'start_turn', start: what, because })

/** What was passed over by ten turns goes before the current item, once. */
function passedOver(s: Survey): Next | null {
  const limit = limits.passed_over.value
  const message = s.lanes.normal.find((m) => s.turn_count - m.turn_count >= limit)
  if (message) {
    const turns = s.turn_count - message.turn_count
    return start(
      { rule: 'message', message },
      `${messageSentence(message)}; passed over by ${turns} turns`,
    )
  }
  const late = s.reviews.filter((r) => r.passed_over >= limit)
  return late.length > 0 ? review(late) : null
}

function review(all: readonly Review[]): Next {
  const first = all[0]
  if (!first) throw new Error('a review of nothing')
  const reviews =
    first.work_item_id === null
      ? all.filter((r) => r.work_item_id === null)
      : all.filter((r) => r.work_item_id !== null).slice(0, limits.prompt_triggered.value)
  const what = first.work_item_id ?? 'the agent'
  return start({ rule: 'review_triggered', reviews }, reviewSentence(first, what))
}

function reviewSentence(r: Review, what: string): string {
  const { wait } = r
  switch (r.kind) {
    case 'triggered':
      return `${wait.id} of ${what} was triggered ${wait.trigger_count} times`
    case 'recheck':
      return `the recheck of ${wait.id} of ${what} is due since ${wait.recheck_at}`
    case 'ended':
      return `${wait.id} of ${what} ended at ${wait.resolved_at}`
  }
}

export function messageSentence(message: Message): string {
  switch (message.kind) {
    case 'operator_prompt':
      return message.wait_id === null ? 'the operator spoke' : 'the operator answered'
    case 'task_result':
    case 'task_status':
      return `${message.task_id} ended`
    case 'callback_event':
    case 'webhook_event':
      return `${message.source ?? 'an outside source'} sent an event`
    case 'timer_tick':
      return 'a schedule came due'
    case 'internal_followup':
      return 'the runtime has something to tell'
    case 'delegation':
      return 'the parent agent delegated work'
  }
}

/** Rules 11 and 12: nothing can be done now about any open item, or there is none. */
function waiting(s: Survey): Next {
  const { candidates: c } = s
  const parked = [c.triggered_blocked, c.waiting_for_operator, c.blocked]
  const runnable = c.current_runnable.length + c.queued_runnable.length
  const count = parked.reduce((sum, list) => sum + list.length, runnable)
  const until = earliest(s.moments.map((moment) => moment.at))
  if (count === 0) {
    const because =
      s.unpaid === null
        ? 'no open item, no message'
        : `what came waits: the budget of ${s.unpaid.payer}, which pays for it, is used up`
    return { do: 'sleep', until, because }
  }
  const first = s.moments.find((moment) => moment.at === until)
  // Each of the lists may be long: it is looked through as far as it must be.
  const anyIs = (state: SchedulingState) =>
    parked.some((list) => list.some((item) => item.scheduling_state === state))
  const what: WaitingFor =
    runnable > 0 && until !== null && first?.kind !== 'deadline'
      ? 'backoff'
      : first?.kind === 'timer' || anyIs('waiting_timer')
        ? 'timer'
        : anyIs('waiting_task')
          ? 'task'
          : anyIs('waiting_external')
            ? 'external'
            : 'operator'
  const items = count === 1 ? '1 open item' : `${count} open items`
  const look = until === null ? '' : `, next look at ${until}`
  return { do: 'wait', for: what, until, because: `${items}, none can go on${look}` }
}
