/**
 * Where an item came from that was brought here in a file, and what that means. Its words were
 * written elsewhere: until the operator has looked at it and picked it, no agent sees it, nothing
 * can be said about it, and no turn is about it. The pick makes its objective the operator's own.
 */
import type { AgentId, WorkItemId } from './ids.ts'
import type { Candidates } from './ranking.ts'
import type { Timestamp } from './time.ts'
import { no, type Rejection } from './verdict.ts'
import type { By, WorkItem } from './work-item.ts'

export type ImportedFrom = {
  /** Names of the home it came from: they name nothing here. */
  agent_id: string
  work_item_id: string
  exported_at: Timestamp
  /** The blob of the file it came in, as it was kept here. */
  file_sha256: string
}

export type Imported = ImportedFrom & {
  /** When the operator picked it; null: not yet. */
  adopted_at: Timestamp | null
}

export type AdoptedEvent = { type: 'work_item_adopted'; id: WorkItemId; by: 'operator' }

/** Brought in, and not yet picked by the operator. */
export const isUnadopted = ({ imported }: Pick<WorkItem, 'imported'>): boolean =>
  imported !== undefined && imported.adopted_at === null

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
