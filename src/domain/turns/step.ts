/**
 * What an open turn does next: one pure function over its rows, so that a fresh turn and one found
 * after a crash are the same thing (docs/spec/turn.md#recovery). The first that applies wins, top
 * to bottom.
 */
import type { Call } from '../state/call.ts'
import { unreported } from '../work/complete.ts'
import { mustTurn, callsOf, openTurn, roundsOf, type Facts } from '../facts/facts.ts'
import { interjected } from '../facts/interjected.ts'
import { limits } from '../limits.ts'
import { chargedItem, hasReached, isUsedUp, overAllowance } from '../facts/payer.ts'
import { repeatsInARow } from './repeats.ts'
import type { Timestamp } from '../time.ts'
import {
  answerText,
  roundText,
  type Outcome,
  type Round,
  type RoundKind,
  type Turn,
} from '../state/turn.ts'

export type Step =
  /** No request was recorded yet: project the context, then send the first. */
  | { do: 'open' }
  /** A request is recorded and has no answer: send it (again). */
  | { do: 'stream'; round: Round }
  /** Record the intent of this call. */
  | { do: 'start_call'; call: Call }
  /** The intent is recorded, the outcome is not: run it, or settle it by class after a crash. */
  | { do: 'run_call'; call: Call }
  /** `delivers`: text that ended the answer before, though something came meanwhile; mostly ''. */
  | { do: 'request'; kind: RoundKind; delivers: string }
  /** A child whose parent's budget is used up: the turn stands still until more is allowed. */
  | { do: 'hold' }
  /** The answer to the request for a report. */
  | { do: 'report'; text: string }
  | {
      do: 'end'
      outcome: Outcome
      reason: string | null
      text: string
      /** What the operator is told, where the end is no fault of the work. */
      failure?: string
    }

export function nextStep(facts: Facts, now: Timestamp): Step {
  const turn = mustTurn(facts)
  const isOver = isUsedUp(facts, chargedItem(facts, turn), now)
  const step = stepOf(facts, turn, now, isOver)
  if (!asks(step)) return step
  // No further request starts: neither about an item that is over, nor by a child that may not.
  if (isOver) return ended('budget_limit')
  return overAllowance(facts, now).length > 0 ? { do: 'hold' } : step
}

/** Whether the step makes a request; one whose answer broke off is made anew. */
const asks = (step: Step): boolean =>
  step.do === 'open' ||
  step.do === 'request' ||
  (step.do === 'stream' && step.round.cut !== undefined)

function stepOf(facts: Facts, turn: Turn, now: Timestamp, isOver: boolean): Step {
  const rounds = roundsOf(facts, turn)
  const last = rounds.at(-1)
  if (!last) return { do: 'open' }
  if (last.state === 'requested') return { do: 'stream', round: last }
  const calls = callsOf(facts, turn, last.n)
  const open = calls.find((call) => call.state !== 'finished')
  if (open) return { do: open.state === 'recorded' ? 'start_call' : 'run_call', call: open }
  if (last.kind === 'report') return afterReport(last)
  if (calls.length > 0) return afterCalls(facts, turn, rounds, calls, now)
  return afterText(facts, turn, rounds, { now, isOver })
}

function afterCalls(
  facts: Facts,
  turn: Turn,
  rounds: readonly Round[],
  calls: readonly Call[],
  now: Timestamp,
): Step {
  const newest = rounds.at(-1)
  if (newest?.finish === 'content_filter') return withheld(newest, '')
  if (reportIsMissing(facts, turn, calls)) {
    const item = facts.row('work_items', turn.work_item_id ?? '')
    const reached = item !== undefined && hasReached(facts, item, now)
    return reached ? ended('budget_limit') : request('report')
  }
  if (rounds.length >= limits.rounds_per_turn.value) return ended('round_limit')
  if (allFailed(facts, turn, rounds)) return ended('errors')
  if (repeatsInARow(facts, turn) >= limits.repeats.value) return ended('repeats')
  return request('work')
}

/**
 * Whether the end of the newest round's calls may end the turn: what an end has to look at is worth
 * looking at then, and not after every call. Says yes rather too often.
 */
export function mayEndAfterCalls(facts: Facts): boolean {
  const turn = openTurn(facts)
  const rounds = turn ? roundsOf(facts, turn) : []
  const [before, last] = rounds.slice(-2)
  if (!turn || !before || last?.kind === 'report') return true
  const item = turn.work_item_id === null ? null : facts.row('work_items', turn.work_item_id)
  if (item && item.budget !== null) return true
  if (rounds.length >= limits.rounds_per_turn.value) return true
  if (repeatsInARow(facts, turn) >= limits.repeats.value - 1) return true
  return callsOf(facts, turn, before.n).every((call) => call.result?.status === 'error')
}

const request = (kind: RoundKind, delivers = ''): Step => ({ do: 'request', kind, delivers })

const ended = (reason: string): Step => ({ do: 'end', outcome: 'completed', reason, text: '' })

/** The turn's own item was completed in this round, and nothing was promoted. */
export function reportIsMissing(facts: Facts, turn: Turn, calls: readonly Call[]): boolean {
  if (turn.work_item_id === null) return false
  // The steps of a runbook are its report; it is asked for no other.
  return turn.model !== 'runbook' && unreported(facts, calls).includes(turn.work_item_id)
}

/** Ten rounds in a row in which every call failed. */
function allFailed(facts: Facts, turn: Turn, rounds: readonly Round[]): boolean {
  const window = rounds.slice(-limits.failing_rounds.value)
  if (window.length < limits.failing_rounds.value) return false
  return window.every((round) => {
    const calls = callsOf(facts, turn, round.n)
    return calls.length > 0 && calls.every((call) => call.result?.status === 'error')
  })
}

/** Words that are cut or withheld are not promoted; a cut text is still delivered. */
function afterReport(last: Round): Step {
  const text = roundText(last)
  switch (last.finish) {
    case 'length':
      return { do: 'end', outcome: 'completed', reason: 'cut_by_length', text }
    case 'content_filter':
      return { do: 'report', text: '' }
    case 'stop':
    case 'tool_calls':
    case 'unreadable_call':
    case 'other':
    case null:
      return { do: 'report', text }
  }
}

function afterText(
  facts: Facts,
  turn: Turn,
  rounds: readonly Round[],
  { now, isOver }: { now: Timestamp; isOver: boolean },
): Step {
  const last = rounds.at(-1)
  if (!last) throw new Error('an answer without a round')
  const text = answerText(rounds, last)
  const atLimit = isOver || rounds.length >= limits.rounds_per_turn.value
  if (last.finish === 'content_filter') return withheld(last, text)
  if (!atLimit && interjected(facts, now).length > 0) return request('work', text)
  if (last.finish === 'length' && last.kind !== 'continue' && !atLimit) {
    return request('continue')
  }
  if (last.finish === 'unreadable_call') {
    return last.kind === 'again' || atLimit ? unreadable(last, text) : request('again')
  }
  if (text === '') {
    if (!isOver && !owesAnAnswer(facts, turn, rounds)) return ended('silent')
    if (last.kind !== 'again' && !atLimit) return request('again')
    return ended(isOver ? 'budget_limit' : 'empty_answer')
  }
  return {
    do: 'end',
    outcome: 'completed',
    reason: last.finish === 'length' ? 'cut_by_length' : null,
    text,
  }
}

function withheld({ finish_word, model }: Round, text: string): Step {
  const word = finish_word === undefined ? '' : ` (${finish_word})`
  const remedy = 'Change what is asked, or the model.'
  const failure = `${model} ended its answer by its policy${word}. ${remedy}`
  return { do: 'end', outcome: 'failed', reason: 'policy', text, failure }
}

function unreadable({ finish_word = 'unreadable_call', model }: Round, text: string): Step {
  const what = `made calls that its provider could not read (${finish_word}), twice in a row`
  const failure = `${model} ${what}.`
  return { do: 'end', outcome: 'failed', reason: 'unreadable_call', text, failure }
}

/** Whether words of the operator, or of a parent, came into the turn behind its last own text. */
function owesAnAnswer(facts: Facts, turn: Turn, rounds: readonly Round[]): boolean {
  const said = rounds.findLast(
    (round) => roundText(round) !== '' && callsOf(facts, turn, round.n).length === 0,
  )
  for (const message of facts.rows('messages')) {
    const asks = message.kind === 'operator_prompt' || message.kind === 'delegation'
    if (!asks || message.turn_id !== turn.id) continue
    if (said === undefined || said.n < (message.round ?? 1)) return true
  }
  return false
}

/**
 * The newest words of the turn that stood beside calls and were delivered to nobody; null: there
 * are none. Beside a completion or a wait they may have become its report or its question.
 */
export function unsaid(facts: Facts, turn: Turn): string | null {
  const round = roundsOf(facts, turn).findLast((one) => {
    const calls = callsOf(facts, turn, one.n)
    const tells = ({ tool_name, result }: Call) =>
      (tool_name === 'CompleteWorkItem' || tool_name === 'WaitFor') && result?.status === 'success'
    return roundText(one) !== '' && calls.length > 0 && !calls.some(tells)
  })
  return round === undefined ? null : roundText(round)
}
