/**
 * Every command of a shell line, from its syntax tree: behind separators, in substitutions, loops
 * and functions, behind programs that run another one. What nobody can say before it runs is a
 * command that is not certain; nothing is left out.
 */
import { computesUnknown } from './arithmetic.ts'
import type { ShellCommand, ShellDoubt, ShellRedirect, ShellWord } from './command.ts'
import { joinFolder } from './folders.ts'
import { assigners, decidesWhatRuns } from './names.ts'
import { openCommand } from './open.ts'
import type { ShellOpening } from './opening.ts'
import type { ReadSyntax, SyntaxNode } from './syntax.ts'
import { isTorn } from './torn.ts'
import { textOf, wordOf, wordText } from './words.ts'

/** Lines within lines. */
const DEEPEST = 8

/** Characters of the part that is in doubt. */
const SHOWN = 80

/** Commands of one line; more of them are not a line that a person reads. */
const MOST = 500

export function commandsOf(text: string, read: ReadSyntax): ShellCommand[] {
  const line = new ShellLine(read)
  line.read(text, { folder: null, env_names: [], wrapped_by: [] }, 0)
  return line.commands()
}

/** What holds for the commands that come next. */
type Scope = {
  folder: ShellWord | null
  env_names: readonly string[]
  wrapped_by: readonly string[]
}

type Found = Omit<ShellCommand, 'certain' | 'doubt' | 'in_doubt'> & { doubt: ShellDoubt | null }

const lost: ShellWord = { starts: '' }

class ShellLine {
  readonly #read: ReadSyntax
  readonly #found: Found[] = []
  /** Of the whole line, which is in doubt from its first command on; the first has the words. */
  #doubt: { doubt: ShellDoubt; in_doubt: string } | null = null
  /** A folder is changed where the order of commands is not that of the text. */
  #isMoved = false

  constructor(read: ReadSyntax) {
    this.#read = read
  }

  commands(): ShellCommand[] {
    if (this.#found.length > MOST) this.#doubts('too_deep')
    if (this.#doubt !== null && this.#found.length === 0) {
      this.#add([], [], nowhere, this.#doubt.doubt)
    }
    return this.#found.slice(0, MOST).map(({ doubt: own, ...found }) => {
      const folder = this.#isMoved ? lost : found.folder
      const command = { ...found, folder }
      const doubt = own === null ? this.#doubt : { doubt: own, in_doubt: null }
      return doubt === null
        ? { ...command, certain: true }
        : { ...command, certain: false, ...doubt }
    })
  }

  /** All of the line is in doubt, by this part of it. */
  #doubts(doubt: ShellDoubt, in_doubt = 'the line'): void {
    this.#doubt ??= { doubt, in_doubt: in_doubt.slice(0, SHOWN).toWellFormed() }
  }

  read(text: string, scope: Scope, depth: number): void {
    const read = depth > DEEPEST ? ({ ok: false, doubt: 'too_deep' } as const) : this.#read(text)
    if (!read.ok) {
      this.#add([], [], scope, read.doubt)
      this.#doubts(read.doubt)
      return
    }
    // A word that goes on in the next line is two words to the parser.
    if (!read.whole || /\S\\\r?\n\S/.test(text)) this.#doubts('unparsed')
    this.#visit({ text, depth }, read.root, { ...scope })
  }

  #add(
    argv: readonly ShellWord[],
    redirects: readonly ShellRedirect[],
    { folder, env_names, wrapped_by }: Scope,
    doubt: ShellDoubt | null = null,
  ): void {
    this.#found.push({ argv, folder, env_names, redirects, wrapped_by, doubt })
  }

  #visit(of: Text, node: SyntaxNode, scope: Scope): void {
    if (isTorn(of.text, node)) this.#doubts('unparsed')
    if (computesUnknown(of.text, node)) this.#doubts('runs_text', textOf(of.text, node))
    switch (node.type) {
      case 'command':
        return this.#command(of, node, [], [], scope)
      case 'redirected_statement':
        return this.#redirected(of, node, scope)
      case 'list':
        return this.#list(of, node, scope)
      case 'program':
      case 'compound_statement':
        return this.#statements(of, node, scope)
      case 'subshell':
      case 'command_substitution':
      case 'process_substitution':
        return this.#statements(of, node, { ...scope })
      case 'pipeline':
        return node.children.forEach((child) => this.#visit(of, child, { ...scope }))
      case 'function_definition':
        this.#doubts('redefined', textOf(of.text, node))
        return this.#apart(of, node, scope)
      case 'declaration_command':
      case 'unset_command':
      case 'test_command':
        this.#assigns(node.children.map((child) => wordOf(of.text, child)))
        return this.#inside(of, node, scope)
      case 'variable_assignment':
        return void this.#assignment(of, node, scope)
      case 'for_statement':
        this.#assigns(
          node.children
            .filter(({ type }) => type === 'variable_name')
            .map((child) => textOf(of.text, child)),
        )
        return this.#apart(of, node, scope)
      case 'if_statement':
      case 'while_statement':
      case 'case_statement':
      case 'c_style_for_statement':
      case 'do_group':
        return this.#apart(of, node, scope)
      case 'expansion':
        // `${x@P}` runs what stands in the variable.
        if (/@P\s*\}$/.test(textOf(of.text, node))) {
          this.#doubts('runs_text', textOf(of.text, node))
        }
        return this.#inside(of, node, scope)
      default:
        return this.#inside(of, node, scope)
    }
  }

  #inside(of: Text, node: SyntaxNode, scope: Scope): void {
    for (const child of node.children) this.#visit(of, child, scope)
  }

  /** Where a folder that is changed holds for commands that stand before. */
  #apart(of: Text, node: SyntaxNode, scope: Scope): void {
    const own = { ...scope }
    this.#inside(of, node, own)
    if (own.folder !== scope.folder) this.#isMoved = true
  }

  /** Behind a statement that changed the folder, it may have failed to. */
  #statements(of: Text, node: SyntaxNode, scope: Scope): void {
    for (const child of node.children) {
      const { folder } = scope
      this.#visit(of, child, scope)
      if (scope.folder !== folder && child !== node.children.at(-1)) scope.folder = lost
    }
  }

  #list(of: Text, node: SyntaxNode, scope: Scope): void {
    const { folder } = scope
    for (const child of node.children) {
      if (child.type === '||' && scope.folder !== folder) scope.folder = lost
      this.#visit(of, child, scope)
    }
  }

  /** `a > x b`: what stands behind the file is an argument again. */
  #redirected(of: Text, node: SyntaxNode, scope: Scope): void {
    const redirects: ShellRedirect[] = []
    const behind: SyntaxNode[] = []
    for (const child of node.children) {
      if (child.field === 'redirect') this.#redirect(of, child, scope, redirects, behind)
    }
    const [body] = node.children.filter(({ field }) => field === 'body')
    if (body?.type === 'command') return this.#command(of, body, behind, redirects, scope)
    // Of a list only the last command has it, where the others have led.
    const before = { ...scope }
    if (body) this.#visit(of, body, scope)
    const at = body?.type === 'list' ? scope : before
    if (behind.length > 0) this.#doubts('unparsed')
    const argv = behind.map((word) => wordOf(of.text, word))
    this.#run(of, argv, redirects, { ...at })
  }

  #redirect(
    of: Text,
    node: SyntaxNode,
    scope: Scope,
    redirects: ShellRedirect[],
    behind: SyntaxNode[],
  ): void {
    const [to, ...more] = node.children.filter(({ field }) => field === 'destination')
    if (node.type === 'file_redirect' && to !== undefined) {
      const sign = node.children.find(({ type }) => /[<>]/.test(type))?.type ?? '>'
      const word = wordOf(of.text, to)
      const isDescriptor = sign.endsWith('&') && typeof word === 'string' && /^(\d+|-)$/.test(word)
      const op = sign.includes('>>') ? 'append' : sign === '<' ? 'read' : 'write'
      if (!isDescriptor && !sign.startsWith('<&')) redirects.push({ op, to: word })
      behind.push(...more)
    }
    if (node.type === 'heredoc_redirect') {
      behind.push(...node.children.filter(({ field }) => field === 'argument'))
      for (const child of node.children) {
        if (child.type === 'file_redirect') this.#redirect(of, child, scope, redirects, behind)
      }
    }
    this.#inside(of, node, scope)
  }

  #command(
    of: Text,
    node: SyntaxNode,
    behind: readonly SyntaxNode[],
    given: readonly ShellRedirect[],
    scope: Scope,
  ): void {
    const redirects: ShellRedirect[] = []
    const words: SyntaxNode[] = []
    const names: string[] = []
    for (const child of node.children) {
      if (child.type === 'variable_assignment') names.push(...this.#assignment(of, child, scope))
      else if (child.type.endsWith('_redirect')) {
        this.#redirect(of, child, scope, redirects, words)
      } else {
        words.push(child)
        this.#visit(of, child, { ...scope })
      }
    }
    const inOrder = [...words, ...behind].sort((a, b) => a.start - b.start)
    const env_names = [...new Set([...scope.env_names, ...names])].sort()
    const argv = inOrder.map((word) => wordOf(of.text, word))
    const own = { ...scope, env_names }
    this.#run(of, argv, [...redirects, ...given], own)
    scope.folder = own.folder
  }

  /** The names it sets. */
  #assignment(of: Text, node: SyntaxNode, scope: Scope): string[] {
    const [name] = node.children
    this.#inside(of, node, scope)
    // A value that is used as a number later is run as far as it is an index.
    if (/\$\(|`/.test(literals(of.text, node))) {
      this.#doubts('runs_text', textOf(of.text, node))
    }
    if (name === undefined) return []
    const text = textOf(of.text, name.type === 'subscript' ? (name.children[0] ?? name) : name)
    this.#assigns([text])
    return [text]
  }

  /** Words of which any may be the name of a variable. */
  #assigns(words: readonly ShellWord[]): void {
    for (const word of words) {
      const text = typeof word === 'string' ? word : word.starts
      const [name = ''] = text.split(/[[=+]/, 1)
      if (decidesWhatRuns(name)) this.#doubts('environment', name)
      if (typeof word === 'string' && /\$\(|`/.test(word)) this.#doubts('runs_text', word)
    }
  }

  /** One command, and what is behind it where it runs another one. */
  #run(
    of: Text,
    argv: readonly ShellWord[],
    redirects: readonly ShellRedirect[],
    scope: Scope,
  ): void {
    if (argv.length === 0) {
      if (redirects.length > 0) this.#add([':'], redirects, scope)
      return
    }
    const [first] = argv
    if (typeof first === 'string' && assigners.has(first)) this.#assigns(argv.slice(1))
    for (const opening of openCommand(argv)) this.#opened(of, opening, argv, redirects, scope)
  }

  #opened(
    of: Text,
    opening: ShellOpening,
    argv: readonly ShellWord[],
    redirects: readonly ShellRedirect[],
    scope: Scope,
  ): void {
    const names = 'names' in opening ? opening.names : []
    this.#assigns(names)
    const inner = (by: string): Scope => ({
      folder: opening.of === 'line' && opening.remote ? lost : scope.folder,
      env_names: [...new Set([...scope.env_names, ...names])].sort(),
      wrapped_by: [...scope.wrapped_by, by],
    })
    switch (opening.of) {
      case 'itself': {
        const folder = opening.folder ? joinFolder(scope.folder, opening.folder) : scope.folder
        return this.#add(opening.argv, redirects, { ...scope, folder }, opening.doubt)
      }
      case 'command': {
        if (scope.wrapped_by.length > DEEPEST) return this.#add([], [], scope, 'too_deep')
        return this.#run(of, opening.argv, redirects, inner(opening.by))
      }
      case 'line':
        if (redirects.length > 0) this.#add([':'], redirects, scope)
        return this.read(opening.text, inner(opening.by), of.depth + 1)
      case 'move':
        scope.folder = joinFolder(scope.folder, opening.to)
        return
      case 'doubt':
        this.#doubts(opening.doubt, argv.map(wordText).join(' '))
    }
  }
}

type Text = { text: string; depth: number }

const nowhere: Scope = { folder: null, env_names: [], wrapped_by: [] }

/** What stands in single quotes, or behind backslashes: only a second reading would run it. */
function literals(text: string, node: SyntaxNode): string {
  if (node.type === 'raw_string' || node.type === 'ansi_c_string') return textOf(text, node)
  if (node.type === 'word') return textOf(text, node)
  if (node.type === 'string') return textOf(text, node).includes('\\') ? textOf(text, node) : ''
  return node.children.map((child) => literals(text, child)).join(' ')
}
