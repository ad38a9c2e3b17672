/** The syntax tree of a shell line as plain data, and who makes it. */
import type { ShellDoubt } from './command.ts'

export type SyntaxNode = {
  /** As the grammar of bash names it: `command`, `word`, `&&`. */
  type: string
  /** Its role in the node above, or null. */
  field: string | null
  /** Where its text is, in UTF-16 units. */
  start: number
  end: number
  children: readonly SyntaxNode[]
}

export type SyntaxRead =
  /** `whole`: every part of the text has its place in the tree. */
  { ok: true; root: SyntaxNode; whole: boolean } | { ok: false; doubt: ShellDoubt }

/** Bounded in time and in the length of the text. Does not throw. */
export type ReadSyntax = (text: string) => SyntaxRead
