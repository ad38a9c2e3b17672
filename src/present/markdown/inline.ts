/**
 * The words of a block: emphasis as styles, links as their text and their target, pictures as a
 * word about them, HTML as it stands. A line break of the text stays one. Pure.
 */
import type { Token } from 'marked'
import { part, type ProseLine, type ProseSpan, type ProseStyle } from './spans.ts'

/** Emphasis in each other: deeper stands as it was written. */
const deepest = 8

/** Lines, before they are broken to a width. */
export function inlineLines(tokens: readonly Token[], style: ProseStyle): ProseLine[] {
  const lines: ProseSpan[][] = [[]]
  for (const span of spansOf(tokens, style, 0)) {
    const [first = '', ...rest] = span.text.split('\n')
    if (first !== '') lines.at(-1)?.push(part(first, span.style))
    for (const more of rest) lines.push(more === '' ? [] : [part(more, span.style)])
  }
  return lines
}

/** With the line breaks that are in it. */
type Piece = { text: string; style: ProseStyle }
const piece = (text: string, style: ProseStyle): Piece => ({ text, style })

function spansOf(tokens: readonly Token[], style: ProseStyle, depth: number): Piece[] {
  return tokens.flatMap((token) => spanOf(token, style, depth))
}

/** The library's tokens are open: one of a kind that is not known here stands as it was written. */
function spanOf(token: Token, style: ProseStyle, depth: number): Piece[] {
  const inner = (as: ProseStyle): Piece[] =>
    depth >= deepest || !('tokens' in token) || token.tokens === undefined
      ? [piece(token.raw, style)]
      : spansOf(token.tokens, as, depth + 1)
  if (token.type === 'strong') return inner(both(style, 'bold'))
  if (token.type === 'em') return inner(both(style, 'italic'))
  if (token.type === 'del') return inner('struck')
  if (token.type === 'codespan') return [piece(textOf(token), 'code')]
  if (token.type === 'br') return [piece('\n', style)]
  if (token.type === 'escape') return [piece(textOf(token), style)]
  if (token.type === 'checkbox') return []
  if (token.type === 'link') return [...inner(style), ...target(token)]
  if (token.type === 'image') return [piece(`[picture: ${textOf(token)}]`, 'dim'), ...target(token)]
  if (token.type === 'text' && 'tokens' in token && token.tokens !== undefined) return inner(style)
  return [piece(token.type === 'text' ? textOf(token) : token.raw, style)]
}

const textOf = (token: Token): string =>
  'text' in token && typeof token.text === 'string' ? token.text : token.raw

/** Where it leads, as text, unless the link is its own target. */
function target(token: Token): Piece[] {
  const href = 'href' in token && typeof token.href === 'string' ? token.href : ''
  return href === '' || textOf(token) === href.replace(/^mailto:/, '')
    ? []
    : [piece(` (${href})`, 'dim')]
}

function both(style: ProseStyle, added: 'bold' | 'italic'): ProseStyle {
  const other = added === 'bold' ? 'italic' : 'bold'
  return style === other || style === 'bold_italic' ? 'bold_italic' : added
}
