/**
 * Text with a style, and how it is broken into lines of so many cells: between words where there
 * are any, a longer word where it ends. Pure.
 */
import { graphemes } from '../text/graphemes.ts'
import { safe, type Safe } from '../text/safe.ts'
import { width } from '../text/width.ts'

export type ProseStyle = 'plain' | 'bold' | 'italic' | 'bold_italic' | 'code' | 'dim' | 'struck'
export type ProseSpan = { readonly text: Safe; readonly style: ProseStyle }
export type ProseLine = readonly ProseSpan[]

/** Made safe again: a reader of Markdown could put together what was not there before. */
export const part = (text: string, style: ProseStyle): ProseSpan => ({ text: safe(text), style })

export const cellsOf = (line: ProseLine): number =>
  line.reduce((sum, { text }) => sum + width(text), 0)

type Word = { pieces: ProseSpan[]; cells: number; isSpace: boolean }

/** A word may change its style in the middle. */
function wordsOf(line: ProseLine): Word[] {
  const words: Word[] = []
  for (const { text, style } of line) {
    for (const found of text.match(/ +|[^ ]+/g) ?? []) {
      const isSpace = found.startsWith(' ')
      const piece = part(found, style)
      const last = words.at(-1)
      if (last !== undefined && last.isSpace === isSpace) {
        last.pieces.push(piece)
        last.cells += width(found)
      } else words.push({ pieces: [piece], cells: width(found), isSpace })
    }
  }
  return words
}

/** Pieces of at most so many cells, nothing left out. */
export function chopped(line: ProseLine, cells: number): ProseLine[] {
  const out: ProseSpan[][] = [[]]
  let room = cells
  for (const { text, style } of line) {
    let taken = ''
    for (const { segment } of graphemes.segment(text)) {
      const wide = width(segment)
      if (wide > room) {
        if (taken !== '') out.at(-1)?.push(part(taken, style))
        out.push([])
        taken = ''
        room = cells
      }
      taken += segment
      room -= wide
    }
    if (taken !== '') out.at(-1)?.push(part(taken, style))
  }
  return out
}

/** Lines of at most so many cells; the space at which a line is broken is left out. */
export function wrapped(line: ProseLine, cells: number): ProseLine[] {
  const lines: ProseSpan[][] = [[]]
  let used = 0
  let space: Word | null = null
  for (const word of wordsOf(line)) {
    if (word.isSpace) {
      space = word
      continue
    }
    const gap = space === null ? 0 : space.cells
    if (used > 0 && used + gap + word.cells > cells) {
      lines.push([])
      used = 0
    } else if (space !== null) {
      lines.at(-1)?.push(...space.pieces)
      used += gap
    }
    space = null
    const [first = [], ...rest] = chopped(word.pieces, Math.max(1, cells - used))
    lines.at(-1)?.push(...first)
    used += cellsOf(first)
    for (const more of rest) {
      lines.push([...more])
      used = cellsOf(more)
    }
  }
  return lines
}

/** Neighbours of one style are one. */
export function joined(line: ProseLine): ProseLine {
  const out: ProseSpan[] = []
  for (const { text, style } of line) {
    const last = out.at(-1)
    if (last?.style === style) out.splice(-1, 1, part(last.text + text, style))
    else out.push({ text, style })
  }
  return out
}
