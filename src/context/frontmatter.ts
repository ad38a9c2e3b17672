/**
 * The block of `key: value` lines at the head of a Markdown file, as far as skills need it: named
 * keys as text, plain, quoted, or as a `|` or `>` block. Of every other key the value is passed
 * over, whatever it is. Nothing is executed, included or given a type; what cannot be read is one
 * sentence with its line, and no guess.
 */
import { contextLimits } from './limits.ts'

/** `fields` has the wanted keys that are there. `notice` continues a sentence about the file. */
export type FrontmatterRead =
  | { ok: true; fields: ReadonlyMap<string, string> }
  | { ok: false; notice: string }

type Value = { ok: true; text: string } | { ok: false; says: string }

/** A key, where it stands (counted from 1), what follows it, and the lines that belong to it. */
type Entry = { key: string; line: number; head: string; rest: string[] }

const fence = /^---[ \t]*$/
const end = /^(?:---|\.\.\.)[ \t]*$/
const keyLine = /^["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?:[ \t]+(.*))?$/

const no = (notice: string): { ok: false; notice: string } => ({ ok: false, notice })

/** Contracts 9 and 10, *Skills*. `text` is the file; only `wanted` keys are looked into. */
export function readFrontmatter(text: string, wanted: readonly string[]): FrontmatterRead {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  if (!fence.test(lines[0] ?? '')) {
    return no('it does not begin with a line "---" and the keys of a skill below it')
  }
  const last = lines.findIndex((line, at) => at > 0 && end.test(line))
  if (last < 0) return no('the block of keys at its head has no line "---" at its end')
  const block = lines.slice(1, last)
  const size = block.reduce((sum, line) => sum + line.length + 1, 0)
  const most = contextLimits.frontmatter.value
  if (size > most) return no(`the block of keys at its head has ${size} characters, over ${most}`)
  const entries = entriesOf(block)
  if (!Array.isArray(entries)) return entries
  const fields = new Map<string, string>()
  for (const { key, line, head, rest } of entries) {
    if (!wanted.includes(key)) continue
    if (fields.has(key)) return no(`it says "${key}" twice, again in line ${line}`)
    const value = valueOf(head.trim(), rest)
    if (!value.ok) return no(`"${key}" in line ${line} ${value.says}`)
    fields.set(key, value.text)
  }
  return { ok: true, fields }
}

function entriesOf(block: readonly string[]): Entry[] | { ok: false; notice: string } {
  const entries: Entry[] = []
  for (const [at, text] of block.entries()) {
    const open = entries.at(-1)
    // A list may stand as far left as the key it belongs to.
    const goes_on = text.trim() === '' || /^[ \t]/.test(text) || /^-(?:[ \t]|$)/.test(text)
    if (goes_on && open !== undefined) open.rest.push(text)
    else if (goes_on || text.startsWith('#')) continue
    else {
      const [, key, head = ''] = keyLine.exec(text) ?? []
      if (key === undefined) return no(`line ${at + 2} is no "key: value"`)
      entries.push({ key, line: at + 2, head, rest: [] })
    }
  }
  return entries
}

function valueOf(head: string, rest: readonly string[]): Value {
  const [first = ''] = head
  switch (first) {
    case '|':
    case '>':
      return blockOf(head, rest)
    case '"':
      return quotedOf(folded([head, ...rest]), doubleQuoted, unescaped)
    case "'":
      return quotedOf(folded([head, ...rest]), singleQuoted, (text) => text.replaceAll("''", "'"))
    case '[':
    case '{':
    case '&':
    case '*':
    case '!':
    case '%':
    case '@':
    case '`':
      return { ok: false, says: 'is no text: write it in double quotes' }
    default:
      return plainOf([head, ...rest])
  }
}

function plainOf(lines: readonly string[]): Value {
  const kept = lines.map((line) => line.replace(/(^|[ \t])#.*$/, ''))
  if (kept.slice(1).some((line) => /^-(?:[ \t]|$)/.test(line.trimStart()))) {
    return { ok: false, says: 'is a list where a text belongs' }
  }
  if (kept[0] === '' && kept.slice(1).some((line) => keyLine.test(line.trim()))) {
    return { ok: false, says: 'has keys of its own where a text belongs' }
  }
  const text = folded(kept)
  return { ok: true, text: /^(?:~|null)$/i.test(text) ? '' : text }
}

const doubleQuoted = /^"((?:[^"\\]|\\[^])*)"[ \t]*(?:#.*)?$/
const singleQuoted = /^'((?:[^']|'')*)'[ \t]*(?:#.*)?$/

function quotedOf(text: string, form: RegExp, meant: (body: string) => string | null): Value {
  const [, body] = form.exec(text) ?? []
  if (body === undefined) return { ok: false, says: 'has a quotation mark that is not closed' }
  const found = meant(body)
  if (found === null) return { ok: false, says: 'has an unknown escape after a backslash' }
  return { ok: true, text: found }
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\u0007',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\u001B',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
}

/** Null where a backslash stands before something that means nothing. */
function unescaped(body: string): string | null {
  let isKnown = true
  const code = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/g
  const text = body.replace(code, (_, x?: string, u?: string, long?: string, one?: string) => {
    const hex = x ?? u ?? long
    const point = hex === undefined ? null : Number.parseInt(hex, 16)
    const found = point === null ? escapes[one ?? ''] : point <= 0x10ffff ? point : undefined
    if (found === undefined) isKnown = false
    return typeof found === 'number' ? String.fromCodePoint(found) : (found ?? '')
  })
  return isKnown ? text : null
}

/** `|` keeps line ends, `>` makes spaces of them; empty lines at the end go either way. */
function blockOf(head: string, rest: readonly string[]): Value {
  const [, style, digit] = /^([|>])(?:[+-]?([1-9])?|([1-9])[+-])[ \t]*(?:#.*)?$/.exec(head) ?? []
  if (style === undefined) return { ok: false, says: `begins with ${head[0]}, and then no block` }
  const indent = /^[ \t]*/.exec(rest.find((line) => line.trim() !== '') ?? '')?.[0].length ?? 0
  const cut = Math.min(indent, Number(digit ?? indent) || indent)
  const lines = rest.map((line) => line.slice(Math.min(cut, line.length - line.trimStart().length)))
  const text = style === '|' ? lines.join('\n') : folded(lines)
  return { ok: true, text: text.trimEnd() }
}

/** Lines of one paragraph become one; an empty line is the end of a paragraph. */
function folded(lines: readonly string[]): string {
  let text = ''
  let gap = ''
  for (const line of lines) {
    const bare = line.trim()
    if (bare === '') gap = text === '' ? '' : '\n'
    else {
      text += text === '' ? bare : `${gap === '' ? ' ' : gap}${bare}`
      gap = ''
    }
  }
  return text
}
