/**
 * `why`: what holds an item, what happens next and when, worked out from present facts by asking
 * the scheduler itself (docs/spec/scheduler.md#decisions). One record with one sentence, true for
 * every state; nothing is stored, and every screen says these words.
 */
import type { Considered, CandidateClass } from '../state/decision.ts'
import type { AgentId, WorkItemId } from '../ids.ts'
import { itemPacing } from '../facts/facts.ts'
import type { Question } from '../state/question.ts'
import type { Projection, SchedulingState } from '../facts/readiness.ts'
import type { Next } from '../scheduler/next.ts'
import type { Timestamp } from '../time.ts'
import { startsAbout, type AgentSnapshot, type Explanation, type ItemSnapshot } from './told.ts'
import { alsoHeld, completed, heldBy, type AlsoHeld } from './held.ts'
import { inTurn, runnable } from './runnable.ts'
import { considered, verdictOf } from '../scheduler/excluded.ts'
import { sentenceOf } from './sentence.ts'

export type Why = Explanation & {
  work_item_id: WorkItemId
  agent_id: AgentId
  objective: string
  state: SchedulingState
  candidate_class: CandidateClass
  /** What it asks now, with the answers that are offered. */
  question: Question | null
  /** What holds it beside that, in the order in which it has to go. */
  also: readonly AlsoHeld[]
  /** Objective, `why` and `detail` as one sentence. */
  sentence: string
  /** Since when nothing was spent on it; null: a turn is about it now. */
  cost_since: Timestamp | null
  /** The first rule that keeps it from running now, with the values compared. */
  verdict: string
  /** What the scheduler says about the whole agent now. */
  decision: { do: string; because: string }
  considered: readonly Considered[]
}

/** Of any item of the agent, also one too old to be among the facts. */
export function why(seen: AgentSnapshot, p: Projection): Why {
  const { facts, survey, next } = seen
  const view: ItemSnapshot = { ...seen, p }
  const told = tell(view)
  const { id, agent_id, objective } = p.item
  return {
    work_item_id: id,
    agent_id,
    objective,
    state: p.scheduling_state,
    candidate_class: p.candidate_class,
    question: p.lifecycle === 'open' ? (p.wait?.question ?? null) : null,
    ...told,
    also: alsoHeld(view, isInTurn(view) ? null : p.reason),
    sentence: sentenceOf({ objective, ...told }),
    cost_since: costSince(view),
    verdict: verdict(view),
    decision: { do: decisionName(next), because: next.because },
    considered: considered(facts, survey, next),
  }
}

function tell(view: ItemSnapshot): Explanation {
  const { reason } = view.p
  if (reason.code === 'completed') return completed(view, reason.at)
  const { turn } = view.survey
  if (turn && isInTurn(view)) return inTurn(view, turn)
  return reason.code === 'nothing_holds_it' ? runnable(view) : heldBy(view, reason)
}

const isInTurn = ({ survey, p }: ItemSnapshot): boolean => survey.turn?.work_item_id === p.item.id

/** In a turn that does not go on now, nothing was spent since the agent's last commit. */
function costSince(view: ItemSnapshot): Timestamp | null {
  const { facts, survey, p } = view
  if (isInTurn(view)) return survey.running ? null : facts.last_at
  const { item } = p
  return itemPacing(facts, item.id).last_turn_ended_at ?? item.completed_at ?? item.created_at
}

function verdict(view: ItemSnapshot): string {
  const { facts, survey, next, p } = view
  if (isInTurn(view)) return 'a turn is about it'
  if (startsAbout(view)) return 'chosen'
  return verdictOf(facts, survey, p, next)
}

const decisionName = (next: Next): string =>
  next.do === 'start_turn' ? `start_turn(${next.start.rule})` : next.do
