/**
 * The parser of shell lines: tree-sitter with the grammar of bash, as WebAssembly, kept in the
 * repository with what its files must hash to (vendor/tree-sitter/README.md). It is loaded when a
 * first line is judged. Whatever becomes of it, a line is then in doubt and nothing else happens.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { ReadSyntax, SyntaxNode, SyntaxRead } from '../../domain/shell/syntax.ts'
import { LINE_DEPTH, LINE_MAX_CHARACTERS, LINE_MS } from './limits.ts'

/** What is used of `web-tree-sitter`. */
type Library = {
  Parser: { init(options: { wasmBinary: Uint8Array }): Promise<void>; new (): Parser }
  Language: { load(bytes: Uint8Array): Promise<unknown> }
}
type Parser = {
  setLanguage(language: unknown): void
  reset(): void
  parse(text: string, old: null, options: { progressCallback: () => boolean }): Tree | null
}
type Tree = { rootNode: { hasError: boolean }; walk(): Cursor; delete(): void }
type Cursor = {
  nodeType: string
  startIndex: number
  endIndex: number
  currentFieldName: string | null
  gotoFirstChild(): boolean
  gotoNextSibling(): boolean
  gotoParent(): boolean
  delete(): void
}

/** SHA-256 of the files, as vendor/tree-sitter/README.md has them. */
const files = {
  'web-tree-sitter.cjs': '743de33347202f863b6714fc7218c455d93f751943d43500500f6c5c65654dce',
  'web-tree-sitter.wasm': 'beca80e44cccbf2299ed4d1e3fa6462a9a6fe818aeebf847547a392227ce4acc',
  'tree-sitter-bash.wasm': '8292919c88a0f7d3fb31d0cd0253ca5a9531bc1ede82b0537f2c63dd8abe6a7a',
} as const

/** Beside the sources, and beside the bundle, which is a folder deeper than `dist`. */
function vendorFolder(): string {
  const up = import.meta.url.endsWith('.ts') ? '../../../' : '../../'
  return fileURLToPath(new URL(`${up}vendor/tree-sitter/`, import.meta.url))
}

/** Throws where a file is missing or is another one. */
function checked(folder: string, name: keyof typeof files): Uint8Array {
  const bytes = readFileSync(`${folder}/${name}`)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== files[name]) throw new Error(`${folder}/${name} is not the file that was looked at`)
  return bytes
}

export type ParserOptions = { folder?: string; monotonic: () => number }

/** Does not reject: without a parser every line is in doubt, and `problem` says why. */
export async function openShellParser(
  options: ParserOptions,
): Promise<{ read: ReadSyntax; problem: string | null }> {
  try {
    const folder = options.folder ?? vendorFolder()
    checked(folder, 'web-tree-sitter.cjs')
    const library = createRequire(import.meta.url)(`${folder}/web-tree-sitter.cjs`) as Library
    await library.Parser.init({ wasmBinary: checked(folder, 'web-tree-sitter.wasm') })
    const language = await library.Language.load(checked(folder, 'tree-sitter-bash.wasm'))
    const parser = new library.Parser()
    parser.setLanguage(language)
    return { read: readingWith(parser, options.monotonic), problem: null }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { read: () => ({ ok: false, doubt: 'no_parser' }), problem }
  }
}

/** A parser that threw once may be in any state: it is not asked again. */
export function readingWith(parser: Parser, monotonic: () => number): ReadSyntax {
  let isDead = false
  return (text) => {
    if (text.length > LINE_MAX_CHARACTERS) return { ok: false, doubt: 'too_long' }
    if (isDead) return { ok: false, doubt: 'no_parser' }
    try {
      return parse(parser, text, monotonic() + LINE_MS, monotonic)
    } catch {
      isDead = true
      return { ok: false, doubt: 'no_parser' }
    }
  }
}

function parse(parser: Parser, text: string, until: number, monotonic: () => number): SyntaxRead {
  const progressCallback = () => monotonic() > until
  const tree = parser.parse(text, null, { progressCallback })
  if (tree === null) {
    parser.reset()
    return { ok: false, doubt: 'unparsed' }
  }
  const cursor = tree.walk()
  try {
    const seen = { deep: false }
    const root = valueOf(cursor, 0, seen)
    if (seen.deep) return { ok: false, doubt: 'too_deep' }
    // What is missing is an error, too.
    return { ok: true, root, whole: !tree.rootNode.hasError }
  } finally {
    cursor.delete()
    tree.delete()
  }
}

function valueOf(cursor: Cursor, depth: number, seen: { deep: boolean }): SyntaxNode {
  const { nodeType: type, startIndex: start, endIndex: end, currentFieldName: field } = cursor
  const children: SyntaxNode[] = []
  if (depth > LINE_DEPTH) seen.deep = true
  else if (cursor.gotoFirstChild()) {
    do children.push(valueOf(cursor, depth + 1, seen))
    while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }
  return { type, field, start, end, children }
}
