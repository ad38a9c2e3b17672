/**
 * How much more or less than estimated a provider counts, from the newest recorded request of the
 * agent and model that says both. Derived from rows, so it survives a restart; it decides what fits
 * and never how something is cut.
 */
import type { Round } from '../../domain/state/turn.ts'
import type { AgentPorts } from '../agent-ports.ts'

/** Newest rounds of the agent that are looked at when a turn has none of its own. */
const looked = 5

/** Beyond these bounds the two figures are not about the same text. */
const bounds = { least: 0.5, most: 3 }

/** Of the rounds of a turn; null when none of them says. */
export function factorOf(rounds: readonly { round: Round }[], model: string): number | null {
  for (let at = rounds.length - 1; at >= 0; at -= 1) {
    const round = rounds[at]?.round
    const factor = round?.model === model ? counted(round) : null
    if (factor !== null) return factor
  }
  return null
}

function counted({ sent, usage }: Round): number | null {
  const tokens = usage?.input_tokens ?? null
  if (sent === undefined || tokens === null || sent.estimated <= 0) return null
  const factor = tokens / sent.estimated
  return factor >= bounds.least && factor <= bounds.most ? factor : null
}

/** Of the agent's newest rounds, whatever their turn; 1 when none of them says. */
export async function factorFrom(env: AgentPorts, model: string): Promise<number> {
  const { agent_id } = env
  const rounds = await env.store.ledger.list('rounds', { agent_id, limit: looked })
  return (
    factorOf(
      rounds.map((round) => ({ round })),
      model,
    ) ?? 1
  )
}
