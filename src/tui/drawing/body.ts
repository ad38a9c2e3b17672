/**
 * The body of a screen: rows one below the other, each with its lines, its subject and what may be
 * done to it. The frame shows the part of it that fits; keys move from row to row.
 */
import type { Can } from '../../protocol/actions/action.ts'
import type { Line } from './line.ts'
import type { ScreenLocation } from '../model/model.ts'

export type BodyRow = {
  /** Null: a heading, or what cannot be selected. */
  readonly id: string | null
  readonly lines: readonly Line[]
  /** The entry that it is a line of: what space closes. */
  readonly folds?: string
  /** Where enter goes. */
  readonly opens?: ScreenLocation
  readonly agent_id?: string
  readonly work_item_id?: string | null
  readonly can?: readonly Can[]
  readonly cli?: string | null
  /** The whole text, for copying. */
  readonly text?: string
}

export const heading = (...lines: readonly Line[]): BodyRow => ({ id: null, lines })

export const selectable = (rows: readonly BodyRow[]): BodyRow[] =>
  rows.filter((row) => row.id !== null)

/** The selected row: the one with this id, else the first, or at the end the last. */
export function selectedRow(
  rows: readonly BodyRow[],
  selected: string | null,
  atEnd: boolean,
): BodyRow | null {
  const all = selectable(rows)
  const found = selected === null ? undefined : all.find(({ id }) => id === selected)
  return found ?? (atEnd ? all.at(-1) : all[0]) ?? null
}

export const heightOf = (rows: readonly BodyRow[]): number =>
  rows.reduce((sum, { lines }) => sum + lines.length, 0)

/** Lines before the row. */
export function lineOf(rows: readonly BodyRow[], row: BodyRow): number {
  let at = 0
  for (const one of rows) {
    if (one === row) return at
    at += one.lines.length
  }
  return 0
}

/** The first line to show, as near to `top` as keeps the row in sight. */
export function scrolled(
  rows: readonly BodyRow[],
  row: BodyRow | null,
  { top, height, follow }: { top: number; height: number; follow: boolean },
): number {
  const last = Math.max(0, heightOf(rows) - height)
  if (follow) return last
  const kept = Math.min(Math.max(0, top), last)
  if (row === null) return kept
  const from = lineOf(rows, row)
  // A heading right above the first row comes into sight with it.
  const first = from <= 2 ? 0 : from
  if (from < kept) return first
  const to = from + Math.min(row.lines.length, height)
  return to > kept + height ? to - height : kept
}
