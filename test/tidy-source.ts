/**
 * Reads a source file as far as the house rules need: what of it is code rather than comment or
 * text, and what it imports. TypeScript 7 offers no parser to programs, so this is a scanner: it
 * knows strings, templates with substitutions, comments and regular expressions, and no grammar.
 */

export type Import = {
  /** As written: `../domain/limits.ts`, `node:fs`, `zod`. */
  specifier: string
  /** True for `import type` and `export type`, which leave nothing behind at run time. */
  isType: boolean
  /** Position of the quote that opens the specifier. */
  at: number
}

const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const quoted = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const template = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y
const regex = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y

/** What may stand before a regular expression; after anything else a slash divides. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield|void))$/

const matchAt = (pattern: RegExp, source: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/**
 * The source with the inside of comments, strings, templates and regular expressions replaced by
 * spaces. Quotes, line breaks and every position stay where they are.
 */
export function codeOf(source: string): string {
  let code = ''
  const keep = (text: string) => (code += text)
  const blank = (text: string) => (code += text.replace(/[^\n]/g, ' '))
  /** Blanks all but the marks around it, which may be one or two characters at the end. */
  const blankInside = (text: string, opening: number, closing: number) => {
    keep(text.slice(0, opening))
    blank(text.slice(opening, text.length - closing))
    keep(text.slice(text.length - closing))
  }
  /** For each open `${`, how many braces are open inside it. */
  const substitutions: number[] = []
  const continueTemplate = (opening: number) => {
    const text = matchAt(template, source, code.length + opening) ?? source.slice(code.length)
    const opens = text.endsWith('${')
    if (opens) substitutions.push(0)
    blankInside(source.slice(code.length, code.length + opening) + text, opening, opens ? 2 : 1)
  }

  while (code.length < source.length) {
    const at = code.length
    const next = source.charAt(at)
    const depth = substitutions.at(-1)
    const commented = matchAt(comment, source, at)
    if (commented !== undefined) {
      blank(commented)
      continue
    }
    const text = matchAt(quoted, source, at)
    if (text !== undefined) {
      blankInside(text, 1, 1)
    } else if (next === '`') {
      continueTemplate(1)
    } else if (next === '}' && depth === 0) {
      substitutions.pop()
      continueTemplate(1)
    } else if (next === '/' && beforeRegex.test(code.slice(-200).trimEnd())) {
      const pattern = matchAt(regex, source, at)
      if (pattern === undefined) keep(next)
      else blankInside(pattern, 1, 1)
    } else {
      if (depth !== undefined && next === '{') substitutions.push((substitutions.pop() ?? 0) + 1)
      if (depth !== undefined && next === '}') substitutions.push((substitutions.pop() ?? 0) - 1)
      keep(next)
    }
  }
  return code
}

/** Everything a file imports: statements, re-exports, `import()` and `getBuiltinModule()`. */
export function importsOf(source: string, code: string): Import[] {
  const importing = /\b(?:from|import|import\s*\(|getBuiltinModule\s*\(|require\s*\()\s*(?=['"])/g
  return [...code.matchAll(importing)].map((match) => {
    const at = match.index + match[0].length
    const specifier = source.slice(at + 1, source.indexOf(source.charAt(at), at + 1))
    const statement = code
      .slice(0, at)
      .match(/\b(?:import|export)\b(?![\s\S]*\b(?:import|export)\b)[\s\S]*$/)
    return { specifier, isType: /^(?:import|export)\s+type\b/.test(statement?.[0] ?? ''), at }
  })
}

/** The line, counted from 1, on which a position lies. */
export const lineAt = (source: string, at: number): number => source.slice(0, at).split('\n').length
