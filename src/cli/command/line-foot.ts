/**
 * A line that is being typed, on one row of a terminal: all of it, or the end of what is
 * before the cursor. Looks at no more of a long line than a row can show. Pure.
 */
import { graphemes } from '../../present/text/graphemes.ts'
import { safe } from '../../present/text/safe.ts'
import { width } from '../../present/text/width.ts'

/** Characters that are looked at for each cell: a picture of two cells may have a dozen. */
const perCell = 16
const leastRoom = 8

export type Typed = { text: string; cursor: number }

/** What was drawn at the foot: cells of each of its lines, and how far back its cursor stands. */
export type FootDrawn = { cells: readonly number[]; back: number }

/**
 * Moves to the first of the lines that were drawn, with nothing behind it. A window that was made
 * narrower has broken them: they stand on more rows than they were drawn on.
 */
export function erasing({ cells, back }: FootDrawn, columns: number): string {
  const rows = (of: number) => Math.max(1, Math.ceil(of / columns))
  const last = cells.at(-1) ?? 0
  const before = cells.slice(0, -1).reduce((sum, one) => sum + rows(one), 0)
  const above = before + rows(last - back) - 1
  if (above > 0) return `\r\u001b[${above}A\u001b[J`
  return rows(last) > 1 ? '\r\u001b[J' : '\r\u001b[K'
}

/** The row, and how many cells its cursor stands before its end. `mark` stands for a line break. */
export function lineFoot(
  prompt: string,
  { text, cursor }: Typed,
  { columns, mark }: { columns: number; mark: '⏎' | ' ' },
): { line: string; back: number } {
  const room = Math.max(leastRoom, columns - width(prompt) - 2)
  const most = room * perCell
  const drawn = (part: string) => safe(part.replaceAll('\n', mark).replaceAll('\t', ' '))
  if (text.length <= most) {
    const whole = drawn(text)
    const back = width(drawn(text.slice(cursor)))
    if (width(whole) <= room) return { line: prompt + whole, back }
  }
  const from = Math.max(0, cursor - most)
  const parts = [...graphemes.segment(text.slice(from, cursor))].map(({ segment }) => segment)
  // The first may be the rest of one that was cut.
  if (from > 0) parts.shift()
  let shown = ''
  let used = 0
  for (const part of parts.toReversed()) {
    const next = drawn(part)
    used += width(next)
    if (used >= room) break
    shown = next + shown
  }
  return { line: `${prompt}…${shown}`, back: 0 }
}
