/** The plan file of the open turn's item as it is now: what a turn that may end has to store. */
import { openTurn } from '../../domain/facts/facts.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { plansOf, readPlan } from '../gather/plans.ts'

/** `blobs` gets a text not seen before, for the commit that stores what was read. */
export async function planNow(env: AgentPorts, blobs: NewBlob[]): Promise<PlanStored | null> {
  const facts = env.facts()
  const id = openTurn(facts)?.work_item_id ?? null
  const item = id === null ? undefined : facts.row('work_items', id)
  if (!item || item.state === 'completed') return null
  const plans = plansOf(env, blobs)
  return (await readPlan(plans, item)).stored
}
