/** The plan file of the open turn's item as it is now: what a turn that may end has to store. */
import { openTurn } from '../domain/facts.ts'
import type { PlanStored } from '../domain/work-item.ts'
import type { NewBlob } from '../ledger/port.ts'
import type { LaneEnv } from './lane-env.ts'
import { readPlan } from './plans.ts'

/** `blobs` gets a text not seen before, for the commit that stores what was read. */
export async function planNow(env: LaneEnv, blobs: NewBlob[]): Promise<PlanStored | null> {
  const facts = env.facts()
  const id = openTurn(facts)?.work_item_id ?? null
  const item = id === null ? undefined : facts.row('work_items', id)
  if (!item || item.state === 'completed') return null
  const plans = env.plans(blobs)
  return (await readPlan(plans, item)).stored
}
