/**
 * Whether the tokens of a rule are what a command begins with. A name stands for the program that
 * the command's PATH finds, so a script of that name in the workspace is another one.
 */
import { flagsOf, readArguments, type ReadArguments } from '../shell/arguments.ts'
import type { ShellWord } from '../shell/command.ts'
import { speakers, usualPath } from '../shell/names.ts'
import { isOfAgents, type ActionCommand } from './action.ts'
import type { Match } from './part.ts'
import type { RunToken, Verdict } from './rule.ts'

type Is = Match['is']

export function matchRun(
  tokens: readonly RunToken[],
  command: ActionCommand,
  decide: Verdict,
): Match {
  const [first, ...rest] = tokens
  if (first === undefined) return { is: 'no', length: 0 }
  const direct = all([matchProgram(first, command, decide), () => restOf(rest, command.argv)])
  const is = direct === 'no' && decide !== 'allow' ? behind(first, rest, command) : direct
  return { is, length: is === 'no' ? 0 : tokens.length }
}

/**
 * A rule whose first token has none of these is not about the command; null: that is not known.
 */
export function namesIn({ argv, program, wrapped_by }: ActionCommand): string[] | null {
  const [first, ...args] = argv
  if (typeof first !== 'string') return null
  const path = program.kind === 'found' ? program.real_path : first
  const names = ['*', first, baseOf(first), path, baseOf(path), ...wrapped_by]
  if (onlySpeaks(first)) return names
  for (const word of args) {
    if (typeof word !== 'string') return null
    names.push(baseOf(word))
    if (gaps.test(word)) names.push(...word.split(gaps).map(baseOf))
  }
  return names
}

/** Its arguments are not run. */
const onlySpeaks = (program: string): boolean => speakers.has(program.replace(usualPath, ''))

/** Between words, where an argument has several. */
const gaps = /[\s=;&|()]+/

/** A program that is not known to leave its arguments alone may run what stands in them. */
function behind(
  first: RunToken,
  rest: readonly RunToken[],
  { argv, wrapped_by }: ActionCommand,
): Is {
  const [program, ...args] = argv
  if (rest.length === 0 && wrapped_by.some((one) => namesOf(first).includes(one))) return 'yes'
  if (typeof program === 'string' && onlySpeaks(program)) return 'no'
  const isThere = args.some((word, at) => {
    const named = couldName(word, namesOf(first))
    return named === 'whole' ? restOf(rest, args.slice(at)) !== 'no' : named === 'part'
  })
  return isThere ? 'maybe' : 'no'
}

/** `part`: what would be the arguments is not known. */
function couldName(word: ShellWord, names: readonly string[]): 'whole' | 'part' | null {
  if (typeof word !== 'string') {
    const { starts } = word
    const isOpen = starts === '' || starts.includes('/')
    return isOpen || names.some((name) => name.startsWith(starts)) ? 'part' : null
  }
  if (names.includes(baseOf(word))) return 'whole'
  return word.split(gaps).some((one) => names.includes(baseOf(one))) ? 'part' : null
}

function restOf(tokens: readonly RunToken[], argv: readonly ShellWord[]): Is {
  if (tokens.length === 0) return 'yes'
  const given = readArguments(argv)
  let at = 0
  let is: Is = 'yes'
  for (const token of tokens) {
    const flags = asFlags(token, given)
    if (flags === null && is === 'yes') {
      const word = given.words[at]
      at += 1
      is = matchWord(token, word)
    } else if (flags !== null) {
      is = all([is, () => hasFlag(flags, given)])
    }
    if (is === 'no') return 'no'
  }
  return is
}

/** Both, where the second is asked only if the first is not `no`. */
function all([first, second]: [Is, () => Is]): Is {
  if (first === 'no') return 'no'
  const then = second()
  return then === 'no' ? 'no' : first === 'yes' ? then : 'maybe'
}

/** The token as flags in any order; null: a word that stands in its place. */
function asFlags(token: RunToken, { program }: ReadArguments): readonly string[] | null {
  if (typeof token === 'string') {
    return token.startsWith('-') && program !== null ? flagsOf(program, token) : null
  }
  return 'any' in token ? token.any.flatMap((flag) => flagsOf(program, flag)) : null
}

export function namesOf(token: RunToken): readonly string[] {
  if (typeof token === 'string') return [token]
  return 'any' in token ? token.any : token
}

function matchWord(token: RunToken, word: ShellWord | undefined): Is {
  if (word === undefined) return 'no'
  const names = namesOf(token)
  if (typeof word === 'string') return names.includes(word) ? 'yes' : 'no'
  // It may be several words, or none at all: then what follows stands here.
  return word.starts === '' || names.some((name) => name.startsWith(word.starts)) ? 'maybe' : 'no'
}

function hasFlag(flags: readonly string[], given: ReadArguments): Is {
  if (flags.some((flag) => given.flags.has(flag))) return 'yes'
  return given.open_flags.some((starts) => flags.some((flag) => couldBe(starts, flag)))
    ? 'maybe'
    : 'no'
}

/** `-r…` could be `-rf`: letters of one dash stand together. */
const couldBe = (starts: string, flag: string): boolean =>
  flag.startsWith(starts) || (/^-[^-]/.test(starts) && /^-[^-]/.test(flag))

function matchProgram(token: RunToken, command: ActionCommand, decide: Verdict): Is {
  const names = namesOf(token)
  const [word] = command.argv
  if (word === undefined) return 'maybe'
  if (typeof word !== 'string') return decide === 'allow' ? 'no' : 'maybe'
  const { program } = command
  if (names.includes('*')) return decide === 'allow' ? found(command) : 'yes'
  const path = program.kind === 'found' ? program.real_path : null
  if (names.some((name) => name.includes('/') && (name === path || name === word))) return 'yes'
  const named = names.includes(baseOf(word))
  if (decide === 'allow') return named ? found(command) : 'no'
  const elsewhere = word.includes('/') && program.kind === 'found' && isOfAgents(program.area)
  if (named && !elsewhere) return 'yes'
  return path !== null && !elsewhere && names.includes(baseOf(path)) ? 'yes' : 'no'
}

/** Whether the name of the program is that of the machine's own. */
function found({ program }: ActionCommand): Is {
  switch (program.kind) {
    case 'builtin':
      return 'yes'
    case 'absent':
      return 'no'
    case 'found':
      return program.by === 'search' && !isOfAgents(program.area) ? 'yes' : 'no'
  }
}

const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
