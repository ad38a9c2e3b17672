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
