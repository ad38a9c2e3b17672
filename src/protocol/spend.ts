/**
 * What a work item has used: the sum over its turns. A part the provider did not count, or a price
 * that is not known, makes the sum unknown: null, never zero. Pure.
 */
import { addUsage, noUsage, type Turn, type Usage } from '../domain/state/turn.ts'

export type Spend = { turns: number; usage: Usage }

/** Per work item; turns without an item are left out. */
export function spendByItem(turns: Iterable<Turn>): Map<string, Spend> {
  const found = new Map<string, Spend>()
  for (const turn of turns) {
    if (turn.work_item_id === null) continue
    const before = found.get(turn.work_item_id) ?? { turns: 0, usage: noUsage }
    found.set(turn.work_item_id, {
      turns: before.turns + 1,
      usage: addUsage(before.usage, turn.usage),
    })
  }
  return found
}
