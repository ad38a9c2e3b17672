/**
 * From what a call is about to reach to the action that is judged: lines become commands, names
 * become programs of the machine, and paths the places they really are. Whoever knows the machine
 * answers `ActionPlaces`; the rest is a function.
 */
import { readArguments } from '../shell/arguments.ts'
import type { ShellCommand, ShellWord } from '../shell/command.ts'
import { commandsOf } from '../shell/commands.ts'
import { builtins } from '../shell/names.ts'
import type { ReadSyntax } from '../shell/syntax.ts'
import type {
  ActionBody,
  ActionCommand,
  ActionGit,
  ActionHost,
  ActionPath,
  ActionProgram,
  Area,
} from './action.ts'

/** What a call is about to do to the machine, in its own words. */
export type Reach = {
  lines: readonly { text: string; folder: string }[]
  writes: readonly string[]
  urls: readonly string[]
}

/**
 * Contract: no answer throws, and each is of the moment; absolute paths. `program` is asked for no
 * name of the shell's own.
 */
export interface ActionPlaces {
  /** Of a file that may not be there yet: where it would be. */
  place(path: string): { real_path: string; area: Area }
  program(name: string, folder: string): ActionProgram
}

export type BuiltAction = Pick<ActionBody, 'commands' | 'paths' | 'hosts' | 'git'>

export function builtOf(reach: Reach, read: ReadSyntax, places: ActionPlaces): BuiltAction {
  const commands: ActionCommand[] = []
  const paths: ActionPath[] = reach.writes.map((path) => ({ op: 'write', ...places.place(path) }))
  for (const { text, folder } of reach.lines) {
    for (const found of commandsOf(text, read)) {
      const cwd = cwdOf(found.folder, folder)
      commands.push(onMachine(found, cwd, places))
      paths.push(...redirected(found, cwd, places))
    }
  }
  const hosts = reach.urls.flatMap((url) => hostOf(url) ?? [])
  return { commands, paths, hosts, git: commands.flatMap(gitOf) }
}

function cwdOf(moved: ShellWord | null, folder: string): string | null {
  if (moved === null) return folder
  return typeof moved === 'string' ? under(folder, moved) : null
}

const under = (folder: string, path: string): string =>
  path.startsWith('/') ? path : `${folder}/${path}`

function onMachine(found: ShellCommand, cwd: string | null, places: ActionPlaces): ActionCommand {
  const { folder: _, ...rest } = found
  const [name] = found.argv
  const place = cwd === null ? null : places.place(cwd)
  const isKnown = typeof name === 'string' && (cwd !== null || !name.includes('/'))
  return { ...rest, program: programOf(isKnown ? name : null, cwd, places), cwd: place }
}

function programOf(name: string | null, cwd: string | null, places: ActionPlaces): ActionProgram {
  if (name === null) return { kind: 'absent' }
  return builtins.has(name) ? { kind: 'builtin' } : places.program(name, cwd ?? '/')
}

/** Of a file whose name is not known it is known that one is written: outside, for all we know. */
function redirected(found: ShellCommand, cwd: string | null, places: ActionPlaces): ActionPath[] {
  return found.redirects.flatMap(({ op, to }): ActionPath[] => {
    if (op === 'read' || to === '/dev/null') return []
    if (typeof to === 'string' && (cwd !== null || to.startsWith('/'))) {
      if (/^\/dev\/(stdout|stderr|tty)$/.test(to)) return []
      return [{ op: 'write', ...places.place(under(cwd ?? '/', to)) }]
    }
    const real_path = typeof to === 'string' ? to : `${to.starts}…`
    const as = typeof to === 'string' || to.as === undefined ? {} : { as: to.as }
    return [{ op: 'write', real_path, area: 'outside', ...as }]
  })
}

function hostOf(url: string): ActionHost | null {
  // `URL` brings names into one form: lower case, punycode, numbers of IPv4 as four.
  const parsed = URL.parse(url)
  if (parsed === null) return null
  const usual = parsed.protocol === 'http:' ? 80 : 443
  const name = parsed.hostname.replace(/\.$/, '')
  return { name, port: parsed.port === '' ? usual : Number(parsed.port) }
}

const exchanges: Readonly<Record<string, ActionGit['op']>> = {
  push: 'push',
  fetch: 'fetch',
  pull: 'fetch',
  clone: 'clone',
}

function gitOf({ argv }: ActionCommand): ActionGit[] {
  const [name] = argv
  if (typeof name !== 'string' || !name.endsWith('git')) return []
  const { program, words } = readArguments(argv)
  const [command, remote, ref] = words
  if (program !== 'git' || typeof command !== 'string') return []
  const op = Object.hasOwn(exchanges, command) ? exchanges[command] : undefined
  const known = (word: ShellWord | undefined) => (typeof word === 'string' ? word : null)
  return op === undefined ? [] : [{ op, remote: known(remote), ref: known(ref) }]
}
