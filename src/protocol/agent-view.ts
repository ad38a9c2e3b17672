/**
 * One agent as a reader sees it: its live rows as facts, what the scheduler says about them now,
 * and its items projected and ranked. Pure; the same rules as the runtime's own.
 */
import { AgentFacts } from '../domain/facts/agent-facts.ts'
import type { Agent } from '../domain/state/agent.ts'
import { candidateClasses } from '../domain/state/decision.ts'
import type { Rows, Table } from '../domain/state/event.ts'
import { activeWaitOf, agentOf, agentPacing, openTurn, type Facts } from '../domain/facts/facts.ts'
import type { TaskId } from '../domain/ids.ts'
import { lateResults } from '../domain/inbox/late-results.ts'
import { isEvent } from '../domain/state/message.ts'
import { meterOf } from '../domain/facts/payer.ts'
import { projectItem, type Projection } from '../domain/facts/readiness.ts'
import { decideNext, type Next } from '../domain/scheduler/next.ts'
import { survey, type Survey } from '../domain/scheduler/survey.ts'
import { earliest, type Timestamp } from '../domain/time.ts'
import type { Turn } from '../domain/state/turn.ts'
import type { Wait } from '../domain/state/wait.ts'
import type { WorkItem } from '../domain/state/work-item.ts'

/** The scheduler is asked at the first look at what it says, and never for what needs only rows. */
export type AgentView = {
  agent: Agent
  facts: Facts
  now: Timestamp
  readonly survey: Survey
  readonly next: Next
  turn: Turn | null
  /** The agent's how many-eth turn is open, or was the last. */
  turn_count: number
  /** A live process works on this home; without one nothing starts by itself. */
  has_owner: boolean
}

/** What was worked out of facts as they still are; empty at first. */
export type SurveyCache = {
  survey: Survey | null
  /** The first moment at which the survey may change by itself. */
  until: Timestamp | null
}
export const newMemo = (): SurveyCache => ({ survey: null, until: null })

export type LiveRowsRead = {
  seq: number
  last_at: Timestamp
  rows: readonly (readonly [Table, Rows[Table]])[]
}

/** Facts from rows that a ledger read. */
export const factsOf = (agent_id: string, live: LiveRowsRead): Facts =>
  AgentFacts.of(agent_id, live)

/** `memo` is of these very facts, and of no later ones. */
export function agentView(
  facts: Facts,
  now: Timestamp,
  has_owner: boolean,
  memo: SurveyCache = newMemo(),
): AgentView {
  let survey: Survey | null = null
  const view: AgentView = {
    agent: agentOf(facts),
    facts,
    now,
    get survey() {
      return (survey ??= surveyNow(view, memo))
    },
    get next() {
      return decideNext(view.survey)
    },
    turn: openTurn(facts),
    turn_count: agentPacing(facts).turn_count,
    has_owner,
  }
  return view
}

function surveyNow({ facts, now, turn, has_owner }: AgentView, memo: SurveyCache): Survey {
  const { survey: kept, until } = memo
  if (kept !== null && kept.now <= now && (until === null || now < until)) return { ...kept, now }
  const seen = survey(facts, now, false)
  // The open turn of a held agent stands still until the hold ends.
  const found = { ...seen, running: turn !== null && has_owner && seen.hold === null }
  memo.survey = found
  memo.until = earliest(seen.moments.map(({ at }) => (at > now ? at : null)))
  return found
}

/** Every item among the facts, in the order of the classes and of the ranking inside each. */
export const projections = ({ survey }: AgentView): Projection[] =>
  candidateClasses.flatMap((candidate_class) => survey.candidates[candidate_class])

/** One item of the agent; `row` is given when it may be too old to be among the facts. */
export function projectionOf(
  view: AgentView,
  id: string,
  row: WorkItem | null = null,
): Projection | null {
  const item = view.facts.row('work_items', id) ?? row
  if (item === null) return null
  const wait = item.state === 'open' ? activeWaitOf(view.facts, item.id) : null
  const meter = meterOf(view.facts, item.id)
  return projectItem(item, wait, view.agent.current_work_item_id, view.now, meter)
}

/** When a runnable item that is not ready now gets ready by itself. */
export function backOffEnd(view: AgentView): Timestamp | null {
  const { current_runnable, queued_runnable } = view.survey.candidates
  if (current_runnable.length + queued_runnable.length === 0) return null
  return earliest(view.survey.moments.map((m) => (m.kind === 'backoff' ? m.at : null)))
}

/** How tasks of a completed item ended that no turn has shown yet, a line each, oldest first. */
export const lateOf = (facts: Facts, { id, state }: Pick<WorkItem, 'id' | 'state'>): string[] =>
  state === 'open'
    ? []
    : lateResults(facts).flatMap(({ work_item_id, body }) =>
        work_item_id === id ? (body.split('\n', 1)[0] ?? '') : [],
      )

/** The tasks of which late results tell. */
export const lateTasks = (facts: Facts): TaskId[] =>
  lateResults(facts).flatMap(({ task_id }) => task_id ?? [])

export const activeWaitsOf = (facts: Facts): Wait[] =>
  [...facts.rows('waits')].filter((wait) => wait.status === 'active')

/** Deliveries that wait in the inbox of an agent, oldest first. */
export const queuedEvents = (facts: Facts) =>
  [...facts.rows('messages')].filter((m) => m.status === 'queued' && isEvent(m))
