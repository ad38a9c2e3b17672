/**
 * Lines of the screen: spans of safe text with a style, laid out by cells. Nothing reaches the
 * screen but through `span`, which makes every text safe; a line is never wider than it is told.
 */
import { safe, type Safe } from '../../present/text/safe.ts'
import { cut, width } from '../../present/text/width.ts'

export type Style =
  | 'plain'
  | 'dim'
  | 'bold'
  | 'italic'
  | 'bold_italic'
  | 'struck'
  | 'inverse'
  | 'red'
  | 'yellow'
  | 'magenta'
  | 'cyan'
  | 'green'
export type TextSpan = { readonly text: Safe; readonly style: Style }
export type Line = readonly TextSpan[]

export const span = (text: string, style: Style = 'plain'): TextSpan => ({
  text: safe(text),
  style,
})
export const line = (text: string, style: Style = 'plain'): Line =>
  text === '' ? [] : [span(text, style)]
export const blank: Line = []

export const widthOf = (of: Line): number => of.reduce((sum, { text }) => sum + width(text), 0)
export const textOf = (of: Line): string => of.map(({ text }) => text).join('')

/** At most so many cells; what is cut off is one `…`. */
export function cutTo(of: Line, cells: number): Line {
  if (widthOf(of) <= cells) return of
  const out: TextSpan[] = []
  let left = cells
  for (const one of of) {
    const wide = width(one.text)
    if (wide < left) {
      out.push(one)
      left -= wide
      continue
    }
    if (left > 0) out.push({ ...one, text: cut(`${one.text}……`, left) as Safe })
    break
  }
  return out
}

export const padTo = (of: Line, cells: number): Line => {
  const room = cells - widthOf(of)
  return room > 0 ? [...of, span(' '.repeat(room))] : of
}

/** The first of two parts gives way: the right one is what a row is read for. */
export function apart(left: Line, right: Line, columns: number): Line {
  const wide = widthOf(right)
  if (wide === 0) return cutTo(left, columns)
  const least = Math.min(widthOf(left), Math.floor(columns * 0.45))
  const kept = cutTo(right, Math.max(8, columns - least - 2))
  const room = columns - widthOf(kept)
  const fit = cutTo(left, Math.max(0, room - 2))
  return [...padTo(fit, room), ...kept]
}

export type Pen = { ascii: boolean; columns: number }

/** `NEEDS YOU 4 ─────────── no cost while waiting`: a heading that fills its line. */
export function rule(title: string, note: string, { ascii, columns }: Pen): Line {
  const dash = ascii ? '-' : '─'
  const head = title === '' ? '' : `${title} `
  const tail = note === '' ? '' : ` ${note}`
  const room = columns - width(head) - width(tail)
  if (room < 3) return cutTo(line(`${head}${note}`, 'bold'), columns)
  return [span(head, 'bold'), span(dash.repeat(room), 'dim'), span(tail, 'dim')]
}

/** Whether nothing on it has changed. */
export const sameLine = (a: Line, b: Line | undefined): boolean =>
  b !== undefined &&
  a.length === b.length &&
  a.every((one, n) => one.text === b[n]?.text && one.style === b[n]?.style)
