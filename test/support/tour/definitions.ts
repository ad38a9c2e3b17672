/**
 * Where a source defines a function: `name`, `#name`, or `app.post` for the handler that a route
 * is registered with. A position inside its body, for whoever wants to know when it runs.
 */
import { codeOf } from '../../tidy-source.ts'

const escaped = (text: string): string => text.replaceAll(/[.*+?^$()|[\]{}\\]/g, '\\$&')

type Head = { head: RegExp; braced: boolean }

/** A function, a method, or a constant or property that holds an arrow. */
function headsOf(name: string): Head[] {
  const it = escaped(name)
  if (name.includes('.')) return [{ head: new RegExp(`^ *${it}\\(`, 'gm'), braced: false }]
  const arrows = [`^ *(?:export )?const ${it}(?=[:\\s][^\\n]*=)`, `^ +${it}:(?= (?:async )?\\()`]
  const bodies = [`^ *(?:export )?(?:async )?function ${it}(?=[<(])`, `^ +(?:async )?${it}(?=[<(])`]
  return [
    ...arrows.map((head) => ({ head: new RegExp(head, 'gm'), braced: false })),
    ...bodies.map((head) => ({ head: new RegExp(head, 'gm'), braced: true })),
  ]
}

/**
 * Behind the brace that opens the body, or behind the arrow; undefined where there is none, as
 * behind a call, which looks like the head of a method.
 */
function bodyAt(code: string, from: number, braced: boolean): number | undefined {
  let depth = 0
  for (let at = from; at < code.length && depth >= 0; at++) {
    const char = code.charAt(at)
    const opens = braced ? ' {\n' : '=>'
    if (depth === 0 && code.startsWith(opens, at)) return at + 2
    if (depth === 0 && at > from && char === '\n' && code.charAt(at - 1) !== '=') return undefined
    if ('({['.includes(char)) depth += 1
    if (')}]'.includes(char)) depth -= 1
  }
  return undefined
}

const codes = new Map<string, string>()
function codeIn(source: string): string {
  const code = codes.get(source) ?? codeOf(source)
  codes.set(source, code)
  return code
}

/** The bodies of all functions of this name, by position. */
export function bodiesOf(source: string, name: string): number[] {
  const code = codeIn(source)
  return headsOf(name).flatMap(({ head, braced }) =>
    [...code.matchAll(head)].flatMap(
      ({ 0: found, index }) => bodyAt(code, index + found.length, braced) ?? [],
    ),
  )
}
