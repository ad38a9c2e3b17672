/**
 * Where a shell computes, a name is more than its value: what stands in it is read as an expression
 * again, and an index in that runs what it substitutes, while an assignment may set any variable.
 * So an expression is known beforehand only where it has numbers and nothing else.
 */
import type { SyntaxNode } from './syntax.ts'
import { textOf } from './words.ts'

const compares: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** Whether the node itself, its children apart, computes with what is not known beforehand. */
export function computesUnknown(text: string, node: SyntaxNode): boolean {
  const parts = node.children
  const between = (opening: string, closing: string): boolean => {
    const from = parts.find(({ type }) => type === opening)
    const to = parts.findLast(({ type }) => type === closing)
    return from !== undefined && hasNames(text.slice(from.end, to?.start ?? node.end))
  }
  switch (node.type) {
    case 'arithmetic_expansion':
      return between('$((', '))') || between('$[', ']')
    case 'compound_statement':
    case 'c_style_for_statement':
      return between('((', '))')
    case 'subscript':
      return between('[', ']')
    case 'expansion':
      return between(':', '}')
    case 'test_command':
      // `[` takes numbers alone.
      return parts[0]?.type === '[[' && parts.some((part) => comparesNames(text, part))
    case 'unary_expression':
      return /^-v\b.*\[/s.test(textOf(text, node))
    case 'declaration_command':
      return parts.some((part) => part.type === 'word' && /^-\w*i/.test(textOf(text, part)))
    default:
      return false
  }
}

function comparesNames(text: string, node: SyntaxNode): boolean {
  const isOne = node.children.some((part) => {
    return part.type === 'test_operator' && compares.has(textOf(text, part))
  })
  return node.children.some(
    (part) =>
      comparesNames(text, part) ||
      (isOne && part.type !== 'test_operator' && hasNames(textOf(text, part))),
  )
}

/** Letters and substitutions; a status, a count and a number in base 16 are numbers. */
const hasNames = (expression: string): boolean =>
  /[A-Za-z_$`]/.test(expression.replaceAll(/\$[?#$!]|\b0[xX][0-9a-fA-F]+\b/g, ''))
