/**
 * `why`: what holds an item, what happens next and when, worked out from present facts by asking
 * the scheduler itself (contracts 5). One sentence and the values behind it; nothing is stored, and
 * every screen says the same words.
 */
import type { Considered } from './decision.ts'
import type { Facts } from './facts.ts'
import { itemPacing, openTurn } from './facts.ts'
import type { WorkItemId } from './ids.ts'
import { limits } from './limits.ts'
import { itemReady } from './pacing.ts'
import { project, type CandidateClass, type Projection, type SchedulingState } from './readiness.ts'
import { decideNext, type Next } from './schedule.ts'
import { survey, type Survey } from './survey.ts'
import { earliest, plus, type Timestamp } from './time.ts'
import { considered, verdictOf } from './verdicts.ts'
import { recheckDue, unreviewed, type Wait } from './wait.ts'

export type Why = {
  state: SchedulingState
  candidate_class: CandidateClass
  /** The first rule that keeps it from running now, with the values compared. */
  why: string
  /** What makes it go on. */
  next: string
  /** When that happens by itself; null: nothing is due. */
  when: Timestamp | null
  /** Since when the item has cost nothing; null: a turn is about it now. */
  cost_since: Timestamp | null
  decision: { do: string; because: string }
  considered: readonly Considered[]
  sentence: string
}

/** How a moment is written: the CLI passes its clock format, the default is the timestamp. */
export type ShowTime = (at: Timestamp) => string

/** Null when the item is not among the facts. `running`: the open turn has a live lease. */
export function why(
  facts: Facts,
  work_item_id: WorkItemId,
  now: Timestamp,
  running: boolean,
  show: ShowTime = (at) => at,
): Why | null {
  const p = project(facts, work_item_id, now)
  if (!p) return null
  const s = survey(facts, now, running)
  const next = decideNext(s)
  const view: View = { facts, s, next, p, show }
  const told = tell(view)
  const turn = openTurn(facts)
  return {
    state: p.scheduling_state,
    candidate_class: p.candidate_class,
    why: turn?.work_item_id === p.item.id ? 'a turn is about it' : verdictOf(facts, s, p, next),
    next: told.next,
    when: told.when,
    cost_since: turn?.work_item_id === p.item.id ? null : costSince(facts, p),
    decision: { do: decisionName(next), because: next.because },
    considered: considered(facts, s, next),
    sentence: `${headline(p.item.objective)} ${told.is}`,
  }
}

type View = { facts: Facts; s: Survey; next: Next; p: Projection; show: ShowTime }
/** What the item is doing, what makes it go on, and when that comes by itself. */
type Told = { is: string; next: string; when: Timestamp | null }

const costSince = (facts: Facts, { item }: Projection): Timestamp =>
  itemPacing(facts, item.id).last_turn_ended_at ?? item.completed_at ?? item.created_at

const decisionName = (next: Next): string =>
  next.do === 'start_turn' ? `start_turn(${next.start.rule})` : next.do

/** The objective's first line, without the full stop that would end our sentence. */
const headline = (objective: string): string =>
  (objective.split('\n', 1)[0] ?? '').trim().replace(/\.+$/, '')

const quoted = (text: string): string => `"${text.replaceAll(/\s+/g, ' ').trim()}"`

/** Foreign words at the end of our sentence: theirs ends it, or we do. */
function said(text: string): string {
  const words = quoted(text)
  return /[.?!…]"$/.test(words) ? words : `${words}.`
}

function tell(view: View): Told {
  const { p, show } = view
  const { reason, item } = p
  if (isInTurn(view)) return inTurn(view)
  switch (reason.code) {
    case 'completed':
      return {
        is:
          `was completed at ${show(reason.at)}` +
          (item.result_brief_id === null ? ' without a report.' : '; its report was delivered.'),
        next: 'nothing: a completed item stays completed',
        when: null,
      }
    case 'wait':
      return p.candidate_class === 'triggered_blocked'
        ? review(view, reason.wait)
        : waiting(view, reason.wait)
    case 'blocked_by':
      return {
        is:
          `is blocked since ${show(item.updated_at)}: ${said(reason.text)} ` +
          'Nothing wakes it; it needs a person.',
        next: `it goes on when its blocker is cleared: holon work unblock ${item.id}`,
        when: null,
      }
    case 'needs_input':
      return {
        is: `waits for your input to its plan since ${show(item.updated_at)}.`,
        next: 'your message about it starts a turn; the agent then changes plan_status',
        when: null,
      }
    case 'budget':
      return {
        is: 'waits for you: its budget is spent.',
        next: 'it goes on when the limit is raised',
        when: null,
      }
    case 'nothing_holds_it':
      return runnable(view)
  }
}

const isInTurn = ({ s, p }: View): boolean => s.turn?.work_item_id === p.item.id

/** The open turn is about it: working, held, or to be taken up again. */
function inTurn(view: View): Told {
  const { s, show } = view
  const turn = s.turn
  if (!turn) throw new Error('no turn is open')
  if (s.running) {
    return {
      is: `is being worked on in ${turn.id} since ${show(turn.started_at)}.`,
      next: 'the turn goes on',
      when: s.now,
    }
  }
  return (
    agentHolds(view) ?? {
      is: `is in ${turn.id}, which was interrupted and goes on next.`,
      next: 'the turn goes on where it stopped',
      when: s.now,
    }
  )
}

/** The agent itself cannot run now: stopped, or held. */
function agentHolds({ s, show }: View): Told | null {
  if (s.stopped) {
    return {
      is: 'can run, but its agent is stopped.',
      next: 'it goes on when the agent is started',
      when: null,
    }
  }
  if (!s.hold || s.running) return null
  const { reason, wake_at } = s.hold
  const until = wake_at === null ? 'until you start it again' : `until ${show(wake_at)}`
  return {
    is: `can run, but its agent is held ${until}: ${said(reason)}`,
    next: wake_at === null ? 'it goes on when the agent is started' : 'it goes on by itself',
    when: wake_at,
  }
}

/** A wait with nothing new to show. */
function waiting({ s, show }: View, wait: Wait): Told {
  const since = `since ${show(wait.created_at)}`
  const reason = said(wait.reason)
  const stopped = s.stopped ? ' Its agent is stopped.' : ''
  const recheck =
    wait.recheck_at !== null && wait.recheck_consumed_at === null ? wait.recheck_at : null
  const look = recheck === null ? '' : `; at ${show(recheck)} the agent looks at it anyway`
  switch (wait.wake) {
    case 'operator_input':
      return {
        is: `waits for you ${since}: ${reason}${stopped}`,
        next: `your answer resumes it at once${look}: holon send --wait ${wait.id} "…"`,
        when: recheck,
      }
    case 'task_result':
      return {
        is: `waits for ${wait.resource} ${since}: ${reason}${stopped}`,
        next: `the end of ${wait.resource} resumes it${look}`,
        when: recheck,
      }
    case 'timer':
      return {
        is: `waits until ${show(wait.wake_at ?? wait.created_at)}: ${reason}${stopped}`,
        next: 'the time resumes it',
        when: earliest([wait.wake_at, recheck]),
      }
    case 'external': {
      const came =
        wait.trigger_count === 0 ? '' : ` It came ${times(wait.trigger_count)}, and was looked at.`
      return {
        is: `waits for ${eventOf(wait)} ${since}: ${reason}${came}${stopped}`,
        next: `an event makes the agent look at it${look}`,
        when: recheck,
      }
    }
    case 'system':
      throw new Error(`a system wait ${wait.id} on an item`)
  }
}

const eventOf = (wait: Wait): string =>
  [wait.source, wait.resource].filter((part) => part !== null).join(' ') || 'any event'

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** A wait that was triggered, or whose recheck is due: the agent is to look at it. */
function review(view: View, wait: Wait): Told {
  const { s, show, next } = view
  const what = unreviewed(wait)
    ? `${eventOf(wait)} came ${times(wait.trigger_count - wait.reviewed_trigger_count)}`
    : recheckDue(wait, s.now)
      ? `its recheck is due since ${show(wait.recheck_at ?? s.now)}`
      : 'there is something to look at'
  const is = (then: string) => `waits, and ${what}; ${then}.`
  if (s.stopped) {
    const then = 'its agent is stopped'
    return { is: is(then), next: 'the agent looks at it when it is started', when: null }
  }
  if (s.running) return { is: is('a turn runs first'), next: 'the agent looks at it', when: null }
  if (s.hold) {
    const until = s.hold.wake_at === null ? 'until you start it' : `until ${show(s.hold.wake_at)}`
    const when = s.hold.wake_at
    return { is: is(`its agent is held ${until}`), next: 'the agent then looks at it', when }
  }
  const chosen =
    next.do === 'start_turn' &&
    next.start.rule === 'review_triggered' &&
    next.start.reviews.some((r) => r.wait.id === wait.id)
  if (chosen) return { is: is('the agent looks at it next'), next: 'a review', when: s.now }
  const due = wait.reviewed_at === null ? null : plus(wait.reviewed_at, limits.review_pause.value)
  if (due !== null && due > s.now) {
    const then = `the agent looks at it at ${show(due)}, a minute after the last time`
    return { is: is(then), next: 'a review', when: due }
  }
  return { is: is(`first comes this: ${next.because}`), next: 'a review', when: null }
}

/** Nothing holds the item: what else keeps it, first rule first. */
function runnable(view: View): Told {
  const { s, next, p, facts } = view
  if (s.running && s.turn) {
    const about = s.turn.work_item_id === null ? 'the inbox or the queue' : s.turn.work_item_id
    const is = `can run; ${s.turn.id} about ${about} runs first.`
    return { is, next: 'it is considered when that turn ends', when: null }
  }
  const held = agentHolds(view)
  if (held) return held
  if (next.do === 'start_turn') return runsAfter(view, next)
  const ready = itemReady(facts, p.item, s.now)
  if (!ready.ready) return restsUntil(view, ready.until)
  if (s.bucketEmpty) return outOfTurns(view)
  return queueWaits(view)
}

function restsUntil({ facts, s, p, show }: View, until: Timestamp | null): Told {
  const count = itemPacing(facts, p.item.id).no_progress
  const turns = count === 1 ? 'its last turn' : `its last ${count} turns`
  return {
    is: `can run, and rests until ${show(until ?? s.now)}: ${turns} made no progress.`,
    next: p.focus === 'current' ? 'it is taken up again' : 'it is offered to the agent again',
    when: until,
  }
}

function outOfTurns({ s, show }: View): Told {
  const back = earliest(s.moments.filter((m) => m.kind === 'backoff').map((m) => m.at))
  return {
    is:
      'can run, but its agent used up its turns' +
      (back === null ? '.' : `; one comes back at ${show(back)}.`),
    next: 'it goes on then; any word from you gives all turns back',
    when: back,
  }
}

/** Ready, but the queue as a whole is backed off or the operator was asked about it. */
function queueWaits({ s, show }: View): Told {
  if (s.queue.ready) return { is: 'can run.', next: 'it is considered next', when: null }
  if (s.queue.until === null) {
    return {
      is: 'can run; the agent took nothing from its queue three times and asked you.',
      next: 'any word from you sets the queue going again',
      when: null,
    }
  }
  return {
    is: `can run; the queue is offered again at ${show(s.queue.until)}.`,
    next: 'the queue is offered to the agent, which picks',
    when: s.queue.until,
  }
}

/** A turn starts next: about this item, offering it, or about something that goes first. */
function runsAfter({ s, p }: View, next: Next & { do: 'start_turn' }): Told {
  const { start } = next
  const first = (what: string): Told => ({
    is: `can run; ${what} goes first.`,
    next: 'it is considered when that turn ends',
    when: null,
  })
  switch (start.rule) {
    case 'recover':
      return first(`${start.turn.id}, which was interrupted,`)
    case 'message': {
      const about = start.message.work_item_id
      if (about === p.item.id || (about === null && p.focus === 'current')) {
        return { is: `runs next: ${next.because}.`, next: 'a turn about it', when: s.now }
      }
      return first(`a message (${next.because})`)
    }
    case 'continue_current':
      return start.work_item_id === p.item.id
        ? { is: `runs next: ${next.because}.`, next: 'a turn about it', when: s.now }
        : first(`${start.work_item_id} is in focus and`)
    case 'review_triggered':
      return first('a wait with something new')
    case 'queued_available':
      return start.work_item_ids.includes(p.item.id)
        ? {
            is: 'is in the queue, which is offered to the agent next.',
            next: 'the agent picks from its queue',
            when: s.now,
          }
        : first('another item of the queue')
  }
}
