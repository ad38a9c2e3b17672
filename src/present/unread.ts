/** What keeps words to an agent or an item from being read, by what a screen holds. Pure. */
import { itemUnread, type Unread } from '../protocol/records/records.ts'
import type { Presentation } from './presentation.ts'

type Target = { agent_id: string; work_item_id: string | null }

export function unreadAt(
  { state }: Presentation,
  { agent_id, work_item_id }: Target,
): Unread | null {
  const agent = state.agents.find(({ id }) => id === agent_id)
  const item = state.work_items.find(({ id }) => id === work_item_id)
  return agent?.unread ?? itemUnread(work_item_id, item?.meter?.over ?? [])
}
