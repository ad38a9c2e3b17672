/**
 * Whether a syntax tree says something of a text that the text does not bear out: a parser of bash
 * is not bash. A word has no gap in it, and between the words of a command there is nothing else.
 */
import type { SyntaxNode } from './syntax.ts'

/** Of one node, not of those below it. */
export function isTorn(text: string, node: SyntaxNode): boolean {
  switch (node.type) {
    case 'word':
      return /[\s;&|<>()`]/.test(text.slice(node.start, node.end).replace(/\\[\s\S]/g, ''))
    case 'command':
      return node.children.some((child, at) => {
        const before = node.children[at - 1]
        return before !== undefined && !isGap(text.slice(before.end, child.start))
      })
    // Two substitutions, read as one.
    case '``':
      return true
    default:
      return false
  }
}

const isGap = (between: string): boolean => /^([ \t]|\\\r?\n)*$/.test(between)
