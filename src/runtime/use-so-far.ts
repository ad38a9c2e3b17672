/**
 * What the ledger knows of a use so far, where a meter begins: the answered requests of an item, of
 * its children, or of one child. What retention took is counted along.
 */
import type { Facts } from '../domain/facts/facts.ts'
import type { AgentId, WorkItemId } from '../domain/ids.ts'
import { addUse, noUse, type Use } from '../domain/state/meter.ts'
import type { UseSoFar } from '../domain/budgets/settle.ts'
import type { SpendFilter } from '../ports/ledger-filters.ts'
import type { Ledger } from '../ledger/port.ts'
import type { ModelSource } from './ports.ts'

type Reads = Pick<Ledger, 'spend' | 'list'>

/** Delegations of one item that are looked at; an agent has eight children at a time. */
const delegationsRead = 1_000

export async function useSoFar(ledger: Reads, item: string): Promise<UseSoFar> {
  const work_item_id = item as WorkItemId
  const used = await spentBy(ledger, { by: [], work_item_id })
  const delegations = await ledger.list('delegations', { work_item_id, limit: delegationsRead })
  const drawn = await Promise.all(
    delegations.map(async ({ id, child_agent_id }) => ({
      delegation_id: id,
      used: await spentOfAgent(ledger, child_agent_id),
    })),
  )
  return { used, drawn }
}

/** All of an agent: a private child works for one item of its parent only. */
export const spentOfAgent = (ledger: Reads, agent_id: AgentId): Promise<Use> =>
  spentBy(ledger, { by: [], agent_id })

async function spentBy(ledger: Reads, filter: SpendFilter): Promise<Use> {
  const groups = await ledger.spend(filter)
  return groups.reduce(
    (sum, { input_tokens, output_tokens, usd, unpriced, requests }) =>
      addUse(sum, {
        tokens: input_tokens + output_tokens,
        usd: usd ?? 0,
        unpriced,
        rounds: requests,
      }),
    noUse,
  )
}

/** The agent's model, when its price is not known. */
export function unpricedModel(models: ModelSource, facts: Facts | null): string | null {
  const model = facts?.row('agents', facts.agent_id)?.model ?? null
  if (model === null) return null
  const price = models.price(model, {
    input_tokens: 1_000,
    output_tokens: 1_000,
    reasoning_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  })
  return price === null ? model : null
}
