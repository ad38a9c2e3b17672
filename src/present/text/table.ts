/**
 * Tables as sentences in columns (docs/spec/screens.md#tables): no borders, words left, numbers
 * right, nothing wrapped. On a terminal the widest columns are cut with `…` to fit; in a pipe every
 * value is whole and tabs stand between them.
 */
import type { Safe } from './safe.ts'
import { cut, padEnd, padStart, width } from './width.ts'

export type Column = {
  title: string
  /** Numbers stand right. */
  align?: 'right'
  /** The column may be cut, down to so many cells; without it, it never is. */
  min?: number
}

/** Where a table is printed. `columns`: cells of the terminal; null in a pipe. */
export type Medium = { columns: number | null; wide: boolean }

/** Nothing is drawn narrower than this. */
const narrowest = 40
const gap = 2

export function table(
  columns: readonly Column[],
  rows: readonly (readonly Safe[])[],
  medium: Medium,
): string[] {
  const titles = columns.map((column) => column.title)
  if (medium.columns === null) return [titles, ...rows].map((cells) => cells.join('\t'))
  const all: readonly (readonly string[])[] = [titles, ...rows]
  const natural = columns.map((_, at) => Math.max(...all.map((cells) => width(cells[at] ?? ''))))
  const widths = medium.wide
    ? natural
    : fitted(columns, natural, Math.max(narrowest, medium.columns))
  return all.map((cells) =>
    columns
      .map((column, at) => {
        const cells_ = widths[at] ?? 0
        const text = cut(cells[at] ?? '', cells_)
        return column.align === 'right' ? padStart(text, cells_) : padEnd(text, cells_)
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

/** Takes cells from the widest column that may still give, one by one, until the row fits. */
function fitted(columns: readonly Column[], natural: readonly number[], room: number): number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, cells) => sum + cells, 0) + gap * (columns.length - 1)
  for (let over = total() - room; over > 0; over -= 1) {
    let widest = -1
    columns.forEach((column, at) => {
      const min = column.min
      if (min === undefined || (widths[at] ?? 0) <= min) return
      if (widest < 0 || (widths[at] ?? 0) > (widths[widest] ?? 0)) widest = at
    })
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** Cells of a right part that are never taken from it: it may be a command to copy. */
const rightKeeps = 30

/**
 * A left part and a right part on one line, as far apart as the line is wide. Where both do not
 * fit, the left part keeps up to three fifths of the line, and then the right part is cut.
 */
export function apart(left: string, right: string, columns: number | null): string {
  if (columns === null) return right === '' ? left : `${left}\t${right}`
  if (right === '') return cut(left, columns)
  const room = columns - width(left) - width(right)
  if (room >= gap) return left + ' '.repeat(room) + right
  const kept = Math.min(width(left), Math.floor(columns * 0.6))
  const shown = cut(right, Math.max(rightKeeps, columns - kept - gap))
  const fit = Math.max(12, columns - width(shown) - gap)
  return `${padEnd(cut(left, fit), fit)}${' '.repeat(gap)}${shown}`
}
