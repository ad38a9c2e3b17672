/** The whole screen as lines: exactly as many as it has rows, none wider than its columns. Pure. */
import { bottomLines } from './footer.ts'
import { namedLine } from '../drawing/called.ts'
import { blank, cutTo, line, padTo, span, type Line } from '../drawing/line.ts'
import { previewCells, viewOf, whyCells, type TuiModel } from '../model/model.ts'
import { dialogLines, helpLines, paletteLines } from './overlay.ts'
import { previewLines, whyPane } from './preview.ts'
import { headerOf, paneCells, standing } from './screen.ts'

/** Less than this is no room for a screen. */
export const least = { columns: 40, rows: 10 } as const

export function frameOf(model: TuiModel): Line[] {
  const { columns, rows } = model.size
  if (columns < least.columns || rows < least.rows) {
    return filled(
      [line(`holon needs ${least.columns}x${least.rows}; this is ${columns}x${rows}`)],
      model,
    )
  }
  const { overlay } = model
  if (overlay?.kind === 'help') return filled(helpLines(model, overlay), model)
  if (overlay?.kind === 'palette') return filled(paletteLines(model, overlay), model)
  if (overlay?.kind === 'dialog') return below(model, dialogLines(model, overlay))
  return below(model, bottomLines(model))
}

/** The bottom is whole at any height: what is above it gives way. */
function below(model: TuiModel, bottom: readonly Line[]): Line[] {
  const room = model.size.rows - bottom.length
  const header = headerOf(model).slice(0, Math.max(0, room))
  const height = Math.max(0, room - header.length)
  return filled([...header, ...middle(model, height), ...bottom], model)
}

function middle(model: TuiModel, height: number): Line[] {
  const { rows, row, top } = standing(model)
  const all = rows.flatMap(({ lines }) => lines)
  const shown = all.slice(top, top + height)
  const pane = [...shown, ...Array.from({ length: height - shown.length }, () => blank)]
  const beside = previewCells(model)
  if (beside === 0) return pane
  const preview = previewLines(model, row, beside - 2)
  if (viewOf(model).place.at === 'task' || preview.length === 0) return pane
  const bar = span(`${model.look.ascii ? '|' : '│'} `, 'dim')
  const next = (left: readonly Line[], cells: number, right: readonly Line[]): Line[] =>
    left.map((one, n) => [...padTo(cutTo(one, cells), cells), bar, ...(right[n] ?? [])])
  const two = next(pane, paneCells(model), preview)
  const third = whyCells(model)
  if (third === 0) return two
  return next(two, model.size.columns - third - 1, whyPane(model, row, third - 2))
}

const filled = (lines: readonly Line[], { size, look }: TuiModel): Line[] => {
  const shown = lines.slice(0, size.rows)
  const cut = shown.map((one) => cutTo(namedLine(one, look.called), size.columns))
  return [...cut, ...Array.from({ length: size.rows - cut.length }, () => blank)]
}
