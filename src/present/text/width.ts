/**
 * How many terminal cells a text takes, counted by grapheme, and cutting to a number of cells with
 * `…`. Emoji and East Asian wide characters take two.
 */
import { graphemes, oneCellEach } from './graphemes.ts'

const wide = new RegExp(
  '\\p{Emoji_Presentation}|\\ufe0f|[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf' +
    '\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff00-\\uff60' +
    '\\uffe0-\\uffe6\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]',
  'u',
)
const noWidth = /^\p{Mark}+$/u

export function width(text: string): number {
  if (oneCellEach.test(text)) return text.length
  let cells = 0
  for (const { segment } of graphemes.segment(text)) cells += cellsOf(segment)
  return cells
}

const cellsOf = (grapheme: string): number =>
  noWidth.test(grapheme) ? 0 : wide.test(grapheme) ? 2 : 1

/** At most `cells` cells; what is cut off is one `…`. */
export function cut(text: string, cells: number): string {
  if (width(text) <= cells) return text
  if (cells <= 0) return ''
  let out = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const next = used + cellsOf(segment)
    if (next > cells - 1) break
    out += segment
    used = next
  }
  return `${out.trimEnd()}…`
}

export const padEnd = (text: string, cells: number): string =>
  text + ' '.repeat(Math.max(0, cells - width(text)))

export const padStart = (text: string, cells: number): string =>
  ' '.repeat(Math.max(0, cells - width(text))) + text

/** Breaks a line between words so that none is wider than `cells`; its indent is kept. */
export function wrap(line: string, cells: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? ''
  const lines: string[] = []
  let at = ''
  for (const word of line.slice(indent.length).split(' ')) {
    const next = at === '' ? indent + word : `${at} ${word}`
    if (at !== '' && width(next) > cells) {
      lines.push(at)
      at = indent + word
    } else at = next
  }
  return [...lines, at]
}

/** Between words where there are any; a word that is longer than a line is cut where it ends. */
export function wrapped(text: string, cells: number): string[] {
  return wrap(text, cells).flatMap((one) => {
    const out: string[] = []
    let rest = one
    while (width(rest) > cells) {
      const part = cut(rest, cells + 1).slice(0, -1)
      const taken = part === '' ? rest.slice(0, 1) : part
      out.push(taken)
      rest = rest.slice(taken.length)
    }
    return [...out, rest]
  })
}
