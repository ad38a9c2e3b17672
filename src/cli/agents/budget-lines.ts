/**
 * What an agent may spend and what is used of it, as `holon agents show` has it: its own budget,
 * those of the agents it was made under, and the home's, each of which holds it.
 */
import { Holon } from '../../client/holon.ts'
import type { Config } from '../../protocol/config.ts'
import type { AgentView } from '../../protocol/agent-view.ts'
import { budgetLine, spendWindows, type SpendBudget } from '../../protocol/records/records.ts'
import type { SpendRow } from '../../protocol/records/spend-record.ts'
import { lineage } from '../../protocol/views/lineage.ts'
import { readConfig } from '../command/config-file.ts'
import type { Context } from '../command/context.ts'
import { asking } from '../command/records.ts'

type Purse = { of: string; budget: SpendBudget | null; agents: ReadonlySet<string> | null }

/** Items may have their own: `holon work show` says it. */
const noneOf = 'none of the agent or the home'

/** A head and its text for each budget that there is; one line says so where there is none. */
export async function spendLines(
  context: Context,
  mine: AgentView,
  all: readonly AgentView[],
): Promise<(readonly [head: string, text: string])[]> {
  const { config } = await readConfig(context.ports, context.home.value)
  const { day, all: ever } = config.budget ?? {}
  const home = { day: whole(day), all: whole(ever) }
  const purses: Purse[] = [
    ...[...above(mine, all)].map(({ agent: { id, budget } }) => {
      const agents = new Set(under(id, all))
      return { of: id === mine.agent.id ? '' : ` of ${id}`, budget, agents }
    }),
    { of: ' of the home', budget: home, agents: null },
  ]
  // Most have none: then nothing has to be summed up.
  const limited = purses.flatMap(({ of, budget, agents }) =>
    spendWindows.flatMap((window) => {
      const limits = budget?.[window] ?? null
      return limits === null ? [] : [{ of, window, limits, agents }]
    }),
  )
  if (limited.length === 0) return [['budget', noneOf]]
  const found = await asking(context, (api) =>
    new Holon(api).ask('GET /spend', { query: { by: 'agent,day' } }),
  )
  const rows = found?.ok === true ? found.value.spend : []
  const today = mine.now.slice(0, 10)
  const lines = limited.flatMap(({ of, window, limits, agents }) => {
    const paid = rows.filter(
      ({ agent_id, day: on }) =>
        (agents === null || agents.has(agent_id ?? '')) && (window === 'all' || on === today),
    )
    const text = budgetLine({ ...limits, deadline: null }, { used: sumOf(paid) })
    return text === '' ? [] : [`${text} ${window === 'day' ? 'today' : 'in all'}${of}`]
  })
  const told = lines.length === 0 ? [noneOf] : lines
  return told.map((text, at) => [at === 0 ? 'budget' : '', text])
}

type Configured = NonNullable<Config['budget']>['day']

const whole = (limits: Configured): SpendBudget['day'] =>
  limits === undefined
    ? null
    : {
        max_tokens: limits.max_tokens ?? null,
        max_usd: limits.max_usd ?? null,
        max_rounds: limits.max_rounds ?? null,
      }

/** The agent, and those it was made under. */
const above = (view: AgentView, all: readonly AgentView[]): readonly AgentView[] =>
  lineage(all, ({ agent }) => agent, view.agent.id)

/** The agent and all made under it. */
const under = (id: string, all: readonly AgentView[]): string[] =>
  all.flatMap((view) =>
    above(view, all).some(({ agent }) => agent.id === id) ? [view.agent.id] : [],
  )

function sumOf(rows: readonly SpendRow[]) {
  const sum = (of: (row: SpendRow) => number) => rows.reduce((all, row) => all + of(row), 0)
  const known_usd = sum((row) => row.known_usd ?? 0)
  return {
    tokens: sum(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    usd: rows.every(({ unpriced_requests }) => unpriced_requests === 0) ? known_usd : null,
    known_usd,
    rounds: sum(({ requests }) => requests),
  }
}
