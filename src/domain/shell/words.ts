/** What a word of a syntax tree is to the program that gets it, as far as that is known. */
import type { ShellWord } from './command.ts'
import type { SyntaxNode } from './syntax.ts'

const unknown: ShellWord = { starts: '' }

export const textOf = (text: string, node: SyntaxNode): string => text.slice(node.start, node.end)

export function wordOf(text: string, node: SyntaxNode): ShellWord {
  const word = readWord(text, node)
  const as = textOf(text, node)
  return typeof word !== 'string' && as.startsWith('~') ? { ...word, as } : word
}

/** An unquoted word may become several, or none; then only what it begins with is known. */
function readWord(text: string, node: SyntaxNode): ShellWord {
  switch (node.type) {
    case 'command_name':
      return node.children.length === 1 && node.children[0]
        ? wordOf(text, node.children[0])
        : pieces(text, node)
    case 'word':
    case 'variable_name':
    case 'number':
    case 'special_variable_name':
    case 'extglob_pattern':
      return node.children.length > 0 ? pieces(text, node) : plain(textOf(text, node))
    case 'raw_string':
      return text.slice(node.start + 1, node.end - 1)
    case 'string':
      return inQuotes(text, node)
    case 'concatenation':
      return pieces(text, node)
    default:
      // Variables, substitutions, `$'…'`, arithmetic, and what the grammar may have more of.
      return unknown
  }
}

/** Pieces without a gap between them are one word, known up to the first that is not. */
function pieces(text: string, node: SyntaxNode): ShellWord {
  let known = ''
  let at = node.start
  for (const child of node.children) {
    // What stands between its parts has no node of its own: a brace, a dollar.
    if (child.start !== at) return { starts: known }
    const word = wordOf(text, child)
    if (typeof word !== 'string') return { starts: known + word.starts }
    known += word
    at = child.end
  }
  const whole = text.slice(node.start, node.end)
  if (at !== node.end || hasBraces(whole)) return { starts: braceless(known) }
  return known
}

/** `{a,b}` and `{1..3}` may stand in several nodes. */
const hasBraces = (whole: string): boolean => /\{.*(,|\.\.)/.test(whole)

const braceless = (known: string): string => known.split('{', 1)[0] ?? ''

/** A text without quotes: backslashes are taken off, and patterns stand for any file. */
function plain(raw: string): ShellWord {
  let known = ''
  for (let at = 0; at < raw.length; at += 1) {
    const char = raw[at] ?? ''
    if (char === '\\') {
      at += 1
      if (raw[at] === '\r' && raw[at + 1] === '\n') at += 1
      else if (raw[at] !== '\n') known += raw[at] ?? ''
    } else if (char === '~' && (known === '' || known.endsWith('=') || known.endsWith(':'))) {
      return { starts: known === '' ? '/' : known }
    } else if ('*?[{!'.includes(char) && isPattern(char, raw, at)) {
      return { starts: known }
    } else if (char === '$' || char === '`') {
      return { starts: known }
    } else known += char
  }
  return known
}

/** Alone, `[` is a program, and braces with nothing to choose from are themselves. */
function isPattern(char: string, raw: string, at: number): boolean {
  if (char === '!') return raw[at + 1] === '('
  if (char === '[') return raw.length > 1
  return char !== '{' || hasBraces(raw.slice(at))
}

function inQuotes(text: string, node: SyntaxNode): ShellWord {
  const parts = node.children.filter(({ type }) => type !== 'string_content' && type !== '"')
  const [first] = parts
  const to = first === undefined ? node.end - 1 : first.start
  const from = text.indexOf('"', node.start) + 1
  // `$"…"` is translated by a file of the machine's.
  if (text[node.start] !== '"') return unknown
  const known = text
    .slice(from, to)
    .replace(/\\(\r?\n|[$`"\\])/g, (_, char: string) => (char.endsWith('\n') ? '' : char))
  return first === undefined ? known : { starts: known }
}

export const wordText = (word: ShellWord): string =>
  typeof word === 'string'
    ? /^[\w@%+=:,./-]+$/.test(word)
      ? word
      : quoted(word)
    : (word.as ?? `${word.starts}…`)

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
