/**
 * Markdown as lines of styled text at a width (docs/spec/screens.md#markdown): what agents write is
 * read by `marked`, and drawn with weight and indent alone. Only safe text comes in, nothing of it
 * becomes a control sequence or a link, and no picture is fetched. What cannot be read in bounded
 * time, and what the reader fails on, stands as it was written. Pure.
 */
import { Lexer, type Token, type Tokens } from 'marked'
import type { Safe } from '../text/safe.ts'
import { isReadable } from './bounds.ts'
import { inlineLines } from './inline.ts'
import { chopped, joined, part, wrapped, type ProseLine, type ProseStyle } from './spans.ts'
import { tableLines } from './table-lines.ts'

type Pen = { columns: number; ascii: boolean }

/** Quotes and lists in each other: deeper stands as it was written. */
const deepest = 8
/** Cells that a line has at least, however deep it stands. */
const least = 12

export function markdownLines(lines: readonly Safe[], pen: Pen): ProseLine[] {
  const text = lines.join('\n')
  const tokens = isReadable(text) ? tokensOf(text) : null
  if (tokens === null) return lines.flatMap((line) => wrapped([part(line, 'plain')], pen.columns))
  return trimmed(blocks(tokens, pen, 0)).map(joined)
}

/** One line of Markdown without its marks. */
export function withoutMarks(line: Safe): Safe {
  const [first = []] = markdownLines([line], { columns: Number.MAX_SAFE_INTEGER, ascii: true })
  return first.map(({ text }) => text).join('') as Safe
}

/** Null: the reader gave up, as it does where its stack is at its end. */
function tokensOf(text: string): readonly Token[] | null {
  try {
    return new Lexer({ gfm: true }).lex(text)
  } catch {
    return null
  }
}

function blocks(tokens: readonly Token[], pen: Pen, depth: number): ProseLine[] {
  return tokens.flatMap((token) => {
    const lines = block(token, pen, depth)
    return lines.length > 0 && token.raw.endsWith('\n\n') ? [...lines, []] : lines
  })
}

/** The library's tokens are open: one of a kind that is not known here stands as it was written. */
function block(token: Token, pen: Pen, depth: number): ProseLine[] {
  const { columns, ascii } = pen
  if (token.type === 'space') return [[]]
  if (token.type === 'def' || token.type === 'checkbox') return []
  if (depth > deepest) return plain(token.raw, columns)
  if (token.type === 'heading') return inline(token, columns, 'bold')
  if (token.type === 'hr') return [[part((ascii ? '-' : '─').repeat(Math.min(columns, 40)), 'dim')]]
  if (token.type === 'code') {
    const text = (token as Tokens.Code).text.split('\n')
    return text.flatMap((one) =>
      chopped([part(one, 'code')], inside(columns)).map((line) => after('  ', line)),
    )
  }
  if (token.type === 'blockquote') {
    const lines = trimmed(blocks((token as Tokens.Blockquote).tokens, narrower(pen), depth + 1))
    return lines.map((line) => [part(ascii ? '| ' : '│ ', 'dim'), ...line])
  }
  if (token.type === 'list') return listLines(token as Tokens.List, pen, depth)
  if (token.type === 'table') return tableLines(token as Tokens.Table, columns, ascii ? '-' : '─')
  if (token.type === 'html') return plain(token.raw.trimEnd(), columns)
  return inline(token, columns, 'plain')
}

function listLines(list: Tokens.List, pen: Pen, depth: number): ProseLine[] {
  const first = typeof list.start === 'number' ? list.start : 1
  return list.items.flatMap((item, n) => {
    const bullet = list.ordered ? `${first + n}. ` : pen.ascii ? '- ' : '• '
    const lead = item.task ? `${bullet}[${item.checked === true ? 'x' : ' '}] ` : bullet
    const room = { ...pen, columns: Math.max(least, pen.columns - lead.length) }
    const lines = trimmed(blocks(item.tokens, room, depth + 1))
    const gap: ProseLine[] = list.loose && n < list.items.length - 1 ? [[]] : []
    const indent = ' '.repeat(lead.length)
    const all = (lines.length === 0 ? [[]] : lines).map((line, at) =>
      at === 0 ? after(lead, line) : after(indent, line),
    )
    return [...all, ...gap]
  })
}

function inline(token: Token, columns: number, style: ProseStyle): ProseLine[] {
  const tokens = 'tokens' in token ? token.tokens : undefined
  if (tokens === undefined) return plain(token.raw, columns)
  return inlineLines(tokens, style).flatMap((line) => wrapped(line, columns))
}

const plain = (text: string, columns: number): ProseLine[] =>
  text.split('\n').flatMap((line) => wrapped([part(line, 'plain')], columns))

const inside = (columns: number): number => Math.max(least, columns - 2)
const narrower = (pen: Pen): Pen => ({ ...pen, columns: inside(pen.columns) })
const after = (lead: string, line: ProseLine): ProseLine =>
  line.length === 0 ? [] : [part(lead, 'plain'), ...line]

/** Without empty lines at its ends, and never two of them together. */
function trimmed(lines: readonly ProseLine[]): ProseLine[] {
  const isBlank = (line: ProseLine | undefined) => line === undefined || line.length === 0
  return lines.filter((line, n) => {
    if (!isBlank(line)) return true
    return !isBlank(lines[n - 1]) && lines.slice(n).some((one) => !isBlank(one))
  })
}
