/**
 * A table at a width: columns as wide as their words, the widest giving way where the line is
 * short, cells broken into lines. Where even narrow columns do not fit, each row is its cells below
 * each other, with the head before each. Pure.
 */
import type { Tokens } from 'marked'
import { inlineLines } from './inline.ts'
import { cellsOf, part, wrapped, type ProseLine, type ProseSpan } from './spans.ts'

const gap = 2
/** Cells of the narrowest column that words are still read in. */
const narrowest = 6

export function tableLines(table: Tokens.Table, columns: number, dash: string): ProseLine[] {
  const head = table.header.map((cell) => inOne(cell, 'bold'))
  const rows = table.rows.map((row) => row.map((cell) => inOne(cell, 'plain')))
  const widths = fitted(
    head.map((cell, n) => Math.max(cellsOf(cell), ...rows.map((row) => cellsOf(row[n] ?? [])))),
    columns,
  )
  if (widths === null) return rows.flatMap((row) => record(head, row, columns))
  const line = (cells: readonly ProseLine[]) => rowLines(cells, widths, table.align)
  const rule = widths.map((cells) => dash.repeat(Math.max(1, cells))).join(' '.repeat(gap))
  return [...line(head), [part(rule, 'dim')], ...rows.flatMap(line)]
}

const inOne = ({ tokens }: Tokens.TableCell, style: 'bold' | 'plain'): ProseLine =>
  inlineLines(tokens, style).flat()

/** Null: it does not fit. */
function fitted(natural: readonly number[], columns: number): number[] | null {
  const room = columns - gap * (natural.length - 1)
  const least = natural.map((cells) => Math.min(cells, narrowest))
  if (sum(least) > room) return null
  // The widest columns share what the others leave.
  let cap = Math.max(...natural, 0)
  while (sum(natural.map((cells) => Math.min(cells, cap))) > room) cap -= 1
  return natural.map((cells) => Math.min(cells, cap))
}

const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0)

function rowLines(
  cells: readonly ProseLine[],
  widths: readonly number[],
  align: Tokens.Table['align'],
): ProseLine[] {
  const broken = widths.map((wide, n) => wrapped(cells[n] ?? [], Math.max(1, wide)))
  const height = Math.max(...broken.map((lines) => lines.length))
  return Array.from({ length: height }, (_, at) => {
    const line: ProseSpan[] = widths.flatMap((wide, n) => {
      const cell = broken[n]?.[at] ?? []
      const free = Math.max(0, wide - cellsOf(cell))
      const left = align[n] === 'right' ? free : align[n] === 'center' ? Math.floor(free / 2) : 0
      const right = n === widths.length - 1 ? 0 : free - left + gap
      return [space(left), ...cell, space(right)]
    })
    return line.filter(({ text }) => text !== '')
  })
}

const space = (cells: number): ProseSpan => part(' '.repeat(cells), 'plain')

function record(head: readonly ProseLine[], row: readonly ProseLine[], columns: number) {
  const lines = row.flatMap((cell, n) =>
    wrapped([...(head[n] ?? []), part(': ', 'bold'), ...cell], columns),
  )
  return [...lines, []]
}
