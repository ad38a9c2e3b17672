/** Which page of history the open thread still needs: gaps first, then what is older. Pure. */
import { oldestOf } from '../present/history/history.ts'
import { feedOf, wants } from '../present/presentation.ts'
import { heightOf } from './drawing/body.ts'
import { previewCells, viewOf, type TuiModel } from './model/model.ts'
import { bodyHeight, bodyOf, standing } from './screens/screen.ts'

/** Events of one page. */
export const pageSize = 200
/** The history of an item is looked for in so many pages by itself; scrolling up reads on. */
const alone = 5

/** `before` null: the newest page. */
export type PageWanted = { key: string; agent_id: string; before: number | null }

export function pageWanted(model: TuiModel): PageWanted | null {
  const { p } = model
  const view = viewOf(model)
  if (p === null) return null
  if (view.place.at !== 'item') return besideList(model)
  const { agent_id, work_item_id } = view.place
  const feed = feedOf(p, agent_id)
  const key = `page ${agent_id}`
  if (feed === null || feed.heard.length === 0) return { key, agent_id, before: null }
  for (const want of wants(p)) {
    if (want.kind === 'page' && want.agent_id === agent_id)
      return { key, agent_id, before: want.to + 1 }
  }
  const oldest = oldestOf(feed) ?? 1
  if (oldest <= 1 || feed.folded > 0) return null
  const wantsOlder = !view.follow && view.top === 0
  const held = feed.heard.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const fills = heightOf(bodyOf(model)) >= bodyHeight(model)
  const looks = held < pageSize * alone && (!fills || work_item_id !== null) && !fills
  return wantsOlder || looks ? { key, agent_id, before: oldest } : null
}

/** The newest page of the agent that a row beside its preview is about. */
function besideList(model: TuiModel): PageWanted | null {
  if (model.p === null || previewCells(model) === 0) return null
  const agent_id = standing(model).row?.agent_id
  const feed = agent_id === undefined ? null : feedOf(model.p, agent_id)
  if (agent_id === undefined || (feed !== null && feed.heard.length > 0)) return null
  return { key: `page ${agent_id}`, agent_id, before: null }
}
