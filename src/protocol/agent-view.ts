/**
 * One agent as a reader sees it: its live rows as facts, what the scheduler says about them now,
 * and its items projected and ranked. Pure; the same rules as the runtime's own.
 */
import type { Agent } from '../domain/agent.ts'
import type { Rows, Table } from '../domain/event.ts'
import { AgentFacts, agentOf, agentPacing, openTurn, type Facts } from '../domain/facts.ts'
import type { WorkItemId } from '../domain/ids.ts'
import { isEvent } from '../domain/message.ts'
import { candidates } from '../domain/rank.ts'
import {
  candidateClasses,
  project,
  projectItem,
  type CandidateClass,
  type Projection,
} from '../domain/readiness.ts'
import { decideNext, type Next } from '../domain/schedule.ts'
import { survey, type Survey } from '../domain/survey.ts'
import { earliest, type Timestamp } from '../domain/time.ts'
import type { Turn } from '../domain/turn.ts'
import type { Wait } from '../domain/wait.ts'
import type { WorkItem } from '../domain/work-item.ts'

export type AgentView = {
  agent: Agent
  facts: Facts
  now: Timestamp
  survey: Survey
  next: Next
  turn: Turn | null
  /** The agent's how many-eth turn is open, or was the last. */
  turn_count: number
  /** A live process works on this home; without one nothing starts by itself. */
  has_owner: boolean
}

export type LiveRowsRead = {
  seq: number
  last_at: Timestamp
  rows: readonly (readonly [Table, Rows[Table]])[]
}

/** Facts from rows that a ledger read. */
export function factsOf(agent_id: string, live: LiveRowsRead): Facts {
  const facts = new AgentFacts(agent_id)
  for (const [table, row] of live.rows) facts.include(table, row)
  facts.seq = live.seq
  facts.last_at = live.last_at
  return facts
}

export function agentView(facts: Facts, now: Timestamp, has_owner: boolean): AgentView {
  const turn = openTurn(facts)
  const seen = survey(facts, now, false)
  // The open turn of a held agent stands still until the hold ends.
  const s = { ...seen, running: turn !== null && has_owner && seen.hold === null }
  return {
    agent: agentOf(facts),
    facts,
    now,
    survey: s,
    next: decideNext(s),
    turn,
    turn_count: agentPacing(facts).turn_count,
    has_owner,
  }
}

/** Every item among the facts, in the order of the classes and of the ranking inside each. */
export function projections(view: AgentView): Projection[] {
  const found = candidates(view.facts, view.now)
  return candidateClasses.flatMap((candidate_class: CandidateClass) => found[candidate_class])
}

/** One item of the agent; `row` is given when it may be too old to be among the facts. */
export function projectionOf(
  view: AgentView,
  id: string,
  row: WorkItem | null = null,
): Projection | null {
  const live = project(view.facts, id as WorkItemId, view.now)
  if (live !== null || row === null) return live
  return projectItem(row, null, view.agent.current_work_item_id, view.now)
}

/** When a runnable item that is not ready now gets ready by itself. */
export function backOffEnd(view: AgentView): Timestamp | null {
  const { current_runnable, queued_runnable } = view.survey.candidates
  if (current_runnable.length + queued_runnable.length === 0) return null
  return earliest(view.survey.moments.map((m) => (m.kind === 'backoff' ? m.at : null)))
}

export const activeWaitsOf = (facts: Facts): Wait[] =>
  [...facts.rows('waits')].filter((wait) => wait.status === 'active')

/** Deliveries that wait in the inbox of an agent, oldest first. */
export const queuedEvents = (facts: Facts) =>
  [...facts.rows('messages')].filter((m) => m.status === 'queued' && isEvent(m))
