/**
 * What agents may spend (docs/spec/budget.md#what-is-made-on-the-way): budgets of an agent, which
 * those it made draw on, and of the home, of a day or in all; and without any the one question
 * after a thousand requests. The sums are the ledger's; here is whom they hold, for how long, and
 * in which words.
 */
import { budgetLine, measuredWords, overOf } from '../facts/budget.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { activeWaits, agentOf, type Draft } from '../facts/facts.ts'
import { activeHold, registerHold } from '../waits/hold.ts'
import type { AgentId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Use, Measured } from '../state/meter.ts'
import { askAboutRequests } from '../scheduler/park.ts'
import {
  spendWindows,
  type SpendBudget,
  type SpendLimits,
  type SpendWindow,
} from '../state/spend-budget.ts'
import { day, fromMs, toMs, type Timestamp } from '../time.ts'
import type { Wait } from '../state/wait.ts'

/** What a budget of an agent, or of the home, is held against. */
export type Purse = {
  /** The agent, with all that it and those it made spend; null: the home. */
  agent_id: AgentId | null
  budget: SpendBudget | null
  used: { readonly [W in SpendWindow]: Use }
  /** Of a public agent: requests since the operator's last word to it or those it made. */
  unasked: number
}

/** What holds an agent that wants to send a request. */
export type Overspent =
  | { by: 'budget'; agent_id: AgentId | null; window: SpendWindow; over: readonly Measured[] }
  /** No budget holds them, and the operator is asked. */
  | { by: 'question'; agent_id: AgentId; requests: number }

/** Of all purses that one agent spends from: those that let no further request start. */
export function overspent(purses: readonly Purse[], now: Timestamp): Overspent[] {
  const found = purses.flatMap(({ agent_id, budget, used }) =>
    spendWindows.flatMap((window): Overspent[] => {
      const over = overOf({ ...(budget?.[window] ?? noLimits), deadline: null }, used[window], now)
      return over.length === 0 ? [] : [{ by: 'budget', agent_id, window, over }]
    }),
  )
  if (purses.some(binds)) return found
  const asks = purses.flatMap(({ agent_id, unasked }): Overspent[] =>
    agent_id !== null && unasked >= limits.requests_unasked.value
      ? [{ by: 'question', agent_id, requests: unasked }]
      : [],
  )
  return [...found, ...asks]
}

const noLimits: SpendLimits = { max_tokens: null, max_usd: null, max_rounds: null }

/** Whether the budget ends anything: dollars of which a part is not known do not. */
function binds({ budget, used }: Purse): boolean {
  return spendWindows.some((window) => {
    const { max_tokens, max_rounds, max_usd } = budget?.[window] ?? noLimits
    const isPriced = max_usd !== null && used[window].unpriced === 0
    return max_tokens !== null || max_rounds !== null || isPriced
  })
}

/** When it ends by itself: a budget of the day at the end of the UTC day; null: by a word only. */
export function endOfHold(over: readonly Overspent[], now: Timestamp): Timestamp | null {
  const ends = over.every((one) => one.by === 'budget' && one.window === 'day')
  return ends ? fromMs((Math.floor(toMs(now) / day) + 1) * day) : null
}

/** Holds the agent before its next request: its open turn stands still until it may go on. */
export function holdForSpending(d: Draft, over: readonly Overspent[]): void {
  const [first] = over
  if (first === undefined) return
  const wake_at = endOfHold(over, d.now)
  const reason = over.map((one) => overspentWords(one)).join(' ')
  const { agent_id: resource, by: source } = first
  const id = registerHold(d, { runtime_cause: 'spending', reason, resource, source, wake_at })
  if (id === null) return
  const asks = over.filter((one) => one.by === 'budget')
  // Of a child its maker is told, and what asks the operator is a question of its own.
  if (agentOf(d).visibility === 'private' || asks.length === 0) return
  const end = wake_at === null ? '' : ` It goes on by itself at ${wake_at}.`
  deliverBrief(d, {
    kind: 'question',
    text: `${d.agent_id} is held. ${reason}${end} Shall it go on? ${asks.map(remedyOf).join(' ')}`,
    wait_id: id,
  })
}

/**
 * Level-triggered, at each lap: a hold for which there is no reason any more ends, and so does the
 * question of an agent when the operator spoke or a budget was set.
 */
export function alignSpending(d: Draft, over: readonly Overspent[]): void {
  const hold = activeHold(d, 'spending')
  const moved = (hold?.wake_at === null) !== (endOfHold(over, d.now) === null)
  if (hold !== null && (over.length === 0 || moved)) end(d, hold)
  if (over.some((one) => one.by === 'question' && one.agent_id === d.agent_id)) return
  for (const wait of [...activeWaits(d)]) {
    if (wait.runtime_cause === 'requests_unasked') end(d, wait)
  }
}

const end = (d: Draft, { id }: Wait): void =>
  d.emit({ type: 'wait_resolved', id, by: { kind: 'runtime' } })

/** Asks the operator, once for all that the agent and those it made have to wait for. */
export function askAboutSpending(d: Draft, over: readonly Overspent[]): void {
  for (const one of over) {
    if (one.by === 'question' && one.agent_id === d.agent_id) askAboutRequests(d, one.requests)
  }
}

/** How every budget that binds these purses stands: `5 of 8 rounds of the home for the day`. */
export const standingWords = (purses: readonly Purse[]): string[] =>
  purses.flatMap(({ agent_id, budget, used }) =>
    spendWindows.flatMap((window) => {
      const limited = budget?.[window] ?? null
      if (limited === null) return []
      const { tokens, usd: known_usd, unpriced, rounds } = used[window]
      const usd = unpriced > 0 ? null : known_usd
      const line = budgetLine(
        { ...limited, deadline: null },
        { used: { tokens, usd, known_usd, rounds } },
      )
      return [`${line} of ${whoseWords({ agent_id, window })}`]
    }),
  )

function whoseWords({ agent_id, window }: { agent_id: AgentId | null; window: SpendWindow }) {
  const whose = agent_id === null ? 'the home' : `${agent_id} and the agents made under it`
  return window === 'day' ? `${whose} for the day` : whose
}

/** `The budget of the home for the day is used up: $5.02 of $5.00.` */
export function overspentWords(one: Overspent): string {
  switch (one.by) {
    case 'budget': {
      const over = one.over.map(measuredWords).join(', ')
      return `The budget of ${whoseWords(one)} is used up: ${over}.`
    }
    case 'question':
      return (
        `${one.agent_id} and the agents made under it sent ${one.requests} requests since the ` +
        `operator's last word to them, and no budget holds them. ${one.agent_id} asks the operator.`
      )
  }
}

const flags = { tokens: '--max-tokens <n>', usd: '--max-usd <n>', rounds: '--max-rounds <n>' }

/** The line that raises it. */
export function remedyOf(one: Overspent & { by: 'budget' }): string {
  const { agent_id, window, over } = one
  if (agent_id === null) return `Raise "budget.${window}" in config.json of the home.`
  const given = over.flatMap(({ what }) => (what === 'deadline' ? [] : flags[what])).join(' ')
  const per = window === 'day' ? ' --per day' : ''
  return `Raise it: holon agents configure ${agent_id} ${given}${per}.`
}
