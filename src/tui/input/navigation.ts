/** Keys that only move: from row to row, by half a page, to an end, to the neighbour item. Pure. */
import { selectable, type BodyRow } from '../drawing/body.ts'
import type { ActionName } from '../model/keys.ts'
import { aView, viewOf, type TuiModel } from '../model/model.ts'
import { bodyHeight } from '../screens/screen.ts'

/** Null: the action moves nothing. */
export function seq(
  model: TuiModel,
  rows: readonly BodyRow[],
  row: BodyRow | null,
  action: ActionName,
): TuiModel | null {
  const half = Math.max(1, Math.floor(bodyHeight(model) / 2))
  const name: string = action
  switch (name) {
    case 'down':
      return by(model, rows, row, 1)
    case 'up':
      return by(model, rows, row, -1)
    case 'half_down':
      return byLines(model, rows, row, half)
    case 'half_up':
      return byLines(model, rows, row, -half)
    case 'first':
      return to(model, selectable(rows)[0], false, 0)
    case 'last':
      return to(model, selectable(rows).at(-1), canFollow(model))
    case 'next_item':
      return neighbour(model, 1)
    case 'previous_item':
      return neighbour(model, -1)
  }
  return null
}

const canFollow = (model: TuiModel): boolean => {
  const { place } = viewOf(model)
  return place.at === 'task' || (place.at === 'item' && place.tab === 'thread')
}

function to(model: TuiModel, row: BodyRow | undefined, follow: boolean, top?: number): TuiModel {
  const view = viewOf(model)
  if (row === undefined) return model
  const next = { ...view, selected: row.id, pointed: true, follow, top: top ?? view.top }
  return { ...model, views: [...model.views.slice(0, -1), next] }
}

function by(
  model: TuiModel,
  rows: readonly BodyRow[],
  row: BodyRow | null,
  step: 1 | -1,
): TuiModel {
  const all = selectable(rows)
  const at = row === null ? -1 : all.indexOf(row)
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))]
  const atEnd = next !== undefined && next === all.at(-1) && step > 0
  // Going up stops following; being at the end again is no wish to follow.
  return to(model, next, atEnd && viewOf(model).follow)
}

function byLines(
  model: TuiModel,
  rows: readonly BodyRow[],
  row: BodyRow | null,
  lines: number,
): TuiModel {
  const all = selectable(rows)
  let at = row === null ? 0 : Math.max(0, all.indexOf(row))
  const step = lines > 0 ? 1 : -1
  for (let left = Math.abs(lines); left > 0; at += step) {
    const next = all[at + step]
    if (next === undefined) break
    left -= Math.max(1, next.lines.length)
  }
  return to(model, all[at], false)
}

/** In the order of the board. */
function neighbour(model: TuiModel, step: 1 | -1): TuiModel {
  const view = viewOf(model)
  const { place } = view
  if (place.at !== 'item' || model.p === null) return model
  const items = model.p.state.work_items
  const at = items.findIndex(({ id }) => id === place.work_item_id)
  const next = items[(at + step + items.length) % Math.max(1, items.length)]
  if (next === undefined) return model
  const opened = aView(
    { ...place, agent_id: next.agent_id, work_item_id: next.id },
    { level: view.level },
  )
  return { ...model, last: view, views: [...model.views.slice(0, -1), opened] }
}
