/**
 * Every point of a source at which others may act before it goes on: `await`, `for await`, a
 * `.then`, `.catch` or `.finally` that nobody awaits, and `yield` of an async generator. Taken from
 * the syntax, so the table has all of them.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { SyntaxKind as K, type Node } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

export type Await = {
  file: string
  line: number
  /** The function, method or constant it stands in. */
  within: string
  kind: 'await' | 'for await' | 'then' | 'catch' | 'finally' | 'yield'
  /** What is waited for, as offsets of the text. */
  from: number
  to: number
  /** All of it: with the word before what is waited for. */
  start: number
}

export const rooms = ['runtime', 'ledger', 'exec'] as const

type Named = Node & { name?: Node; asteriskToken?: Node; modifiers?: Iterable<Node> }

const functions: readonly K[] = [
  K.FunctionDeclaration,
  K.FunctionExpression,
  K.ArrowFunction,
  K.MethodDeclaration,
]
const naming: readonly K[] = [
  K.FunctionDeclaration,
  K.MethodDeclaration,
  K.VariableDeclaration,
  K.PropertyAssignment,
  K.PropertyDeclaration,
  K.ClassDeclaration,
  K.Constructor,
]

function within(node: Node): string {
  const names: string[] = []
  for (let at = node.parent as Node | undefined; at !== undefined; at = at.parent) {
    // A constant inside of a function holds what was waited for.
    const isHolder = at.kind === K.VariableDeclaration && !holdsFunction(at)
    if (!naming.includes(at.kind) || isHolder) continue
    names.unshift(at.kind === K.Constructor ? 'constructor' : ((at as Named).name?.getText() ?? ''))
  }
  return names.join('.') || 'top'
}

const holdsFunction = (node: Node): boolean => {
  const { initializer } = node as Node & { initializer?: Node }
  return initializer !== undefined && functions.includes(initializer.kind)
}

/** Whether the nearest function around it is an async generator. */
function inAsyncGenerator(node: Node): boolean {
  let at = node.parent as Named | undefined
  while (at !== undefined && !functions.includes(at.kind)) at = at.parent
  const isAsync = [...(at?.modifiers ?? [])].some(({ kind }) => kind === K.AsyncKeyword)
  return at?.asteriskToken !== undefined && isAsync
}

type Parts = Node & {
  expression?: Node & { name?: Node; expression?: Node }
  awaitModifier?: Node
}

/** What is waited for at this node, or null. */
function waitedFor(node: Parts, isAwaited: boolean): [Await['kind'], Node] | null {
  const { expression } = node
  if (expression === undefined) return null
  if (node.kind === K.AwaitExpression) return ['await', expression]
  if (node.kind === K.ForOfStatement && node.awaitModifier) return ['for await', expression]
  if (node.kind === K.YieldExpression) {
    return inAsyncGenerator(node) ? ['yield', expression] : null
  }
  if (node.kind !== K.CallExpression || isAwaited) return null
  const name = expression.name?.getText()
  if (expression.kind !== K.PropertyAccessExpression || !expression.expression) return null
  if (name !== 'then' && name !== 'catch' && name !== 'finally') return null
  return [name, expression.expression]
}

/** All of them, by file and place. */
export function awaitsOf(root: string): Await[] {
  const api = new API({ cwd: root })
  try {
    const openProject = join(root, 'tsconfig.json')
    const [project] = api.updateSnapshot({ openProject }).getProjects()
    const files = globSync(`src/{${rooms.join(',')}}/**/*.ts`, { cwd: root })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => !path.endsWith('.test.ts'))
      .toSorted()
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(join(root, file))
      if (!source) throw new Error(`the project does not have ${file}`)
      return awaitsIn(file, source)
    })
  } finally {
    api.close()
  }
}

function awaitsIn(file: string, source: Node & { text: string }): Await[] {
  const all: Await[] = []
  const walk = (node: Node, isAwaited: boolean): void => {
    const found = waitedFor(node, isAwaited)
    if (found !== null) {
      const [kind, what] = found
      const start = node.getStart()
      const line = source.text.slice(0, start).split('\n').length
      const place = { file, line, within: within(node), kind }
      all.push({ ...place, start, from: what.getStart(), to: what.end })
    }
    // Behind a wait or a call of its own, a chain is the same wait; in a function it is another.
    const goesOn = isAwaited && !functions.includes(node.kind)
    node.forEachChild((child) => walk(child, goesOn || node.kind === K.AwaitExpression))
  }
  walk(source, false)
  return all
}
