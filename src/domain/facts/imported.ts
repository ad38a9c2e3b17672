/**
 * Where an item came from that was brought here in a file, and what that means. Its words were
 * written elsewhere: until the operator has looked at it and picked it, no agent sees it, nothing
 * can be said about it, and no turn is about it. The pick makes its objective the operator's own.
 */
import type { AgentId } from '../ids.ts'
import type { Candidates } from './ranking.ts'
import { no, type Rejection } from '../rejection.ts'
import { isUnadopted, type By, type WorkItem } from '../state/work-item.ts'

/** Lists of candidates never change, and most looks find the one of the look before. */
const adopted = new WeakMap<
  Candidates['waiting_for_operator'],
  Candidates['waiting_for_operator']
>()

/** What an agent may be told of its items. All that is unadopted waits for the operator. */
export function seenByAgent(all: Candidates): Candidates {
  const list = all.waiting_for_operator
  const seen = adopted.get(list) ?? list.filter(({ item }) => !isUnadopted(item))
  adopted.set(list, seen)
  return { ...all, waiting_for_operator: seen }
}

/** The refusal of whatever touches such an item, unless the operator does. */
export function notAdopted(
  item: Pick<WorkItem, 'id' | 'imported'> | undefined,
  by: By,
): Rejection | null {
  if (by === 'operator' || item === undefined || !isUnadopted(item)) return null
  return no('item_not_adopted', `${item.id} was imported, and the operator has not picked it.`)
}

/** What the operator may do to it before it is picked: all but making an agent act on it. */
export function closedUntilPicked(item: WorkItem | undefined, agent: AgentId): Rejection | null {
  if (item === undefined || item.agent_id !== agent || !isUnadopted(item)) return null
  return no('item_not_adopted', `${item.id} was imported and is not picked yet.`)
}
