/**
 * What `why` tells of an item that something holds: a wait, a blocker, a plan that needs input; or
 * that is completed.
 */
import { overWords } from '../facts/budget.ts'
import { agentOf, openTurn } from '../facts/facts.ts'
import type { AgentId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Measured } from '../state/meter.ts'
import { heldMessages } from '../budgets/settle.ts'
import { wantedWords } from '../waits/plan-question.ts'
import type { Hold, StateReason } from '../facts/readiness.ts'
import { messageSentence } from '../scheduler/next.ts'
import { earliest, plus, type Timestamp } from '../time.ts'
import { aside, haltOf, haltWords, isAbout, nowUnlessHalted, onceIt } from './told.ts'
import { startsAbout, type Explanation, type ItemSnapshot } from './told.ts'
import {
  awaitedWords,
  recheckDue,
  triggeredWords,
  unreviewed,
  askedOf,
  type Wait,
} from '../state/wait.ts'
import type { ImportedFrom } from '../state/work-item.ts'

export function completed({ facts, p }: ItemSnapshot, at: Timestamp): Explanation {
  const { item } = p
  const report =
    item.result_brief_id !== null
      ? '; its report was delivered'
      : openTurn(facts)?.work_item_id === item.id
        ? '; its report is still to come'
        : ' without a report'
  const next = 'nothing: a completed item stays completed'
  return { why: `was completed at ${at}${report}`, detail: null, since: at, next, when: null }
}

/** What else holds an item, and in which words. */
export type AlsoHeld = { code: Hold['code'] } & Pick<Explanation, 'why' | 'detail'>

/** All that holds it but what was told of it already. */
export const alsoHeld = (view: ItemSnapshot, told: StateReason | null): readonly AlsoHeld[] =>
  view.p.holds
    .filter((hold) => hold !== told)
    .map((hold) => {
      const { why, detail } =
        hold.code === 'wait'
          ? { ...quiet(view, hold.wait), detail: awaitedWords(hold.wait) }
          : heldBy(view, hold)
      return { code: hold.code, why, detail }
    })

/** One of what holds it, and what makes it go on then. */
export function heldBy(view: ItemSnapshot, hold: Hold): Explanation {
  switch (hold.code) {
    case 'imported':
      return unadopted(view, hold.from)
    case 'wait':
      return waiting(view, hold.wait)
    case 'blocked_by':
      return blocked(view, hold.text)
    case 'needs_input':
      return needsInput(view)
    case 'budget':
      return overBudget(view, hold.over)
  }
}

/** What holds it once `hold` is gone; null: it goes on. */
function then({ p }: ItemSnapshot, gone: Hold['code']): string | null {
  const at = p.holds.findIndex(({ code }) => code === gone)
  const next = p.holds[at + 1]
  switch (next?.code) {
    case undefined:
      return null
    case 'imported':
      return 'it waits for you to pick it'
    case 'wait':
      return 'it still waits'
    case 'blocked_by':
      return 'it is still blocked'
    case 'needs_input':
      return 'it asks what its plan needs to know'
    case 'budget':
      return budgetHolds
  }
}

const budgetHolds = 'its budget holds it until you raise it'

/** Then nothing that comes starts a turn about it. */
const isOver = ({ p }: ItemSnapshot): boolean => p.holds.some(({ code }) => code === 'budget')

function blocked(view: ItemSnapshot, text: string): Explanation {
  const since = view.p.item.updated_at
  const is_runbook = agentOf(view.facts).model === 'runbook'
  const cleared = is_runbook
    ? 'once its blocker is cleared'
    : 'once you or the agent clear its blocker'
  const on = `${is_runbook ? 'that step runs again' : 'it goes on'}${onceIt(view)}`
  return {
    why: `is blocked since ${since}`,
    detail: text,
    since,
    ...(spokenTo(view) ?? {
      next: `nothing wakes it: ${cleared}, ${then(view, 'blocked_by') ?? on}`,
      when: null,
    }),
  }
}

/** What a plan that needs input asks by, once the turn has ended. */
const planWait = { wake: 'operator_input', source: null } as const

const whose = (asked: AgentId | null): string => (asked === null ? 'your' : `${asked}'s`)

function needsInput(view: ItemSnapshot): Explanation {
  const since = view.p.item.updated_at
  const who = whose(askedOf(agentOf(view.facts), planWait))
  const halted = haltWords(haltOf(view))
  const over = isOver(view) ? `; then ${budgetHolds}` : onceIt(view)
  return {
    why: `waits for ${who} input to its plan${aside(halted)} since ${since}`,
    detail: wantedWords(view.p.item),
    since,
    ...(spokenTo(view) ?? {
      next:
        view.survey.turn === null
          ? `${who} message about it is the answer${over}`
          : 'it is asked when the open turn ends',
      when: null,
    }),
  }
}

/** Brought in a file: nothing begins before a person has looked at it. */
function unadopted(view: ItemSnapshot, from: ImportedFrom): Explanation {
  const { p } = view
  const { work_item_id, agent_id } = from
  const on = then(view, 'imported') ?? 'its agent goes on with it'
  return {
    why: `was imported and waits for you to pick it since ${p.item.created_at}`,
    detail: `it was ${work_item_id} of ${agent_id}, exported at ${from.exported_at}`,
    since: p.item.created_at,
    next: `look at its objective and plan; once you pick it, ${on}`,
    when: null,
  }
}

/** Over its budget: only a raised limit lets it go on, and what came for it waits with it. */
function overBudget(view: ItemSnapshot, over: readonly Measured[]): Explanation {
  const { facts, p } = view
  const held = heldMessages(facts, p.item.id, view.survey.now)
  const came = held === 0 ? null : held === 1 ? 'a message for it waits' : `${held} messages wait`
  return {
    why: `waits for you${aside(came, haltWords(haltOf(view)))}: its budget is reached`,
    detail: overWords(over, p.budget?.draws_on),
    since: null,
    next: `once you raise the limit it goes on${onceIt(view)}`,
    when: null,
  }
}

/** A wait: to be looked at, or with nothing new to show. */
function waiting(view: ItemSnapshot, wait: Wait): Explanation {
  if (view.p.candidate_class === 'triggered_blocked') return review(view, wait)
  return { ...quiet(view, wait), detail: awaitedWords(wait), ...spokenTo(view) }
}

/** A message about it is there, so that a turn about it starts whatever holds it. */
function spokenTo(view: ItemSnapshot): Pick<Explanation, 'next' | 'when'> | null {
  const { survey, p } = view
  const { fast, normal, background } = survey.lanes
  const message = [...fast, ...normal, ...background].find((one) => isAbout(p, one))
  if (!message) return null
  const first = startsAbout(view)
  const usual = survey.running ? ' after the one that runs' : first ? ' next' : ' in its order'
  const then = `a turn about it starts${onceIt(view, usual)}`
  return {
    next: `${messageSentence(message)}: ${then}`,
    when: first ? nowUnlessHalted(view) : null,
  }
}

function quiet(view: ItemSnapshot, wait: Wait): Omit<Explanation, 'detail'> {
  const halted = haltWords(haltOf(view))
  const since = wait.created_at
  const asks = askedOf(agentOf(view.facts), wait)
  // Over its budget no turn looks at it.
  const recheck = isOver(view) ? null : wait.recheck_at
  const look = recheck === null ? '' : '; its recheck makes the agent look at it'
  switch (wait.wake) {
    case 'operator_input':
      return {
        why: `${asks === null ? 'waits for you' : `asks ${asks}`}${aside(halted)} since ${since}`,
        since,
        next: `${whose(asks)} answer ${resumes(view, ' at once')}${look}`,
        when: recheck,
      }
    case 'task_result':
      return {
        why: `waits for ${wait.resource}${aside(halted)} since ${since}`,
        since,
        next: `the end of ${wait.resource} ${resumes(view)}${look}`,
        when: recheck,
      }
    case 'timer':
      return timer(view, wait, recheck)
    case 'external': {
      const came = triggeredWords(wait)
      return {
        why: `waits for ${eventOf(wait)}${aside(came, halted)} since ${since}`,
        since,
        next: isOver(view)
          ? 'once you raise its budget, an event makes the agent look at it'
          : `an event makes the agent look at it${onceIt(view)}${look}`,
        when: recheck,
      }
    }
    case 'system':
      throw new Error(`a system wait ${wait.id} on an item`)
  }
}

/** What ends the wait is a message about the item, which starts a turn whatever else holds it. */
const resumes = (view: ItemSnapshot, usual = ''): string =>
  isOver(view) ? `ends the wait; then ${budgetHolds}` : `resumes it${onceIt(view, usual)}`

/** The end of a timer starts nothing by itself: an item that something else holds stays held. */
function timer(
  view: ItemSnapshot,
  wait: Wait,
  recheck: Timestamp | null,
): Omit<Explanation, 'detail'> {
  const { survey } = view
  const at = wait.wake_at ?? wait.created_at
  const halted = aside(haltWords(haltOf(view)))
  const since = wait.created_at
  const still = then(view, 'wait')
  if (at <= survey.now) {
    const next =
      still === null
        ? `it goes on${onceIt(view, ' at once')}`
        : `the wait ends${onceIt(view, ' at once')}; then ${still}`
    return { why: `waited until ${at}${halted}`, since, next, when: nowUnlessHalted(view) }
  }
  const early = recheck !== null && recheck < at ? '; its recheck before makes the agent look' : ''
  const ends =
    still === null ? `the time resumes it${onceIt(view)}` : `the wait ends; then ${still}`
  return {
    why: `waits until ${at}${halted}`,
    since,
    next: `${ends}${early}`,
    when: earliest([at, recheck]),
  }
}

const eventOf = (wait: Wait): string =>
  [wait.source, wait.resource].filter((part) => part !== null).join(' ') || 'any event'

/** A wait that was triggered, or whose recheck is due: the agent is to look at it. */
function review(view: ItemSnapshot, wait: Wait): Explanation {
  const { since, what } = newsOf(view, wait)
  const { so, when } = lookedAt(view, wait)
  return {
    why: `${what}; ${so}`,
    detail: null,
    since,
    next: `the agent looks at it${onceIt(view)} and decides whether it goes on`,
    when,
  }
}

function newsOf({ survey }: ItemSnapshot, wait: Wait): { since: Timestamp; what: string } {
  if (unreviewed(wait)) {
    const at = wait.last_triggered_at ?? wait.created_at
    return { since: at, what: `waits for ${eventOf(wait)}, ${triggeredWords(wait)}, last at ${at}` }
  }
  if (!recheckDue(wait, survey.now)) throw new Error(`${wait.id} has nothing to look at`)
  const at = wait.recheck_at ?? survey.now
  return { since: at, what: `waits, and its recheck is due since ${at}` }
}

/** When the agent comes to look, and what comes before. */
function lookedAt(view: ItemSnapshot, wait: Wait): { so: string; when: Timestamp | null } {
  const { survey, next } = view
  const halt = haltOf(view)
  switch (halt?.by) {
    case undefined:
      break
    case 'stopped':
      return { so: 'its agent is stopped', when: null }
    case 'hold':
    case 'budget':
      return { so: haltWords(halt) ?? '', when: halt.until }
    case 'nobody':
      return { so: 'nothing runs now', when: null }
  }
  if (survey.running) return { so: 'a turn runs first', when: null }
  if (startsAbout(view)) {
    return { so: 'the agent looks at it next', when: survey.now }
  }
  const due = wait.reviewed_at === null ? null : plus(wait.reviewed_at, limits.review_pause.value)
  if (due !== null && due > survey.now) {
    return { so: `the agent looks at it at ${due}, a minute after the last time`, when: due }
  }
  return { so: `first comes this: ${next.because}`, when: null }
}
