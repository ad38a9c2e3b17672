/**
 * The arguments of a command, apart: words in their order, and flags, each in every spelling that
 * means the same. Of a program whose grammar is not known, words and flags as they stand.
 */
import type { ShellWord } from './command.ts'
import { grammars, type ProgramGrammar } from './grammars.ts'

export type ReadArguments = {
  /** Null: its grammar is not known, and all arguments are words. */
  program: string | null
  words: readonly ShellWord[]
  flags: ReadonlySet<string>
  /** How words begin that may turn out to be flags. */
  open_flags: readonly string[]
}

const unknown: ShellWord = { starts: '' }

/** Of words that were read before; many rules ask for the same ones. */
const known = new WeakMap<readonly ShellWord[], ReadArguments>()

export function readArguments(argv: readonly ShellWord[]): ReadArguments {
  const read = known.get(argv) ?? argumentsOf(argv)
  known.set(argv, read)
  return read
}

function argumentsOf(argv: readonly ShellWord[]): ReadArguments {
  const [first, ...args] = argv
  const name = typeof first === 'string' ? first.slice(first.lastIndexOf('/') + 1) : ''
  const grammar = Object.hasOwn(grammars, name) ? grammars[name] : undefined
  if (grammar === undefined) {
    const plain = args.filter((arg) => typeof arg === 'string')
    const flags = new Set(plain.filter((arg) => arg.startsWith('-')).flatMap(ofLong))
    return { program: null, words: args, flags, open_flags: openOf(args) }
  }
  return { program: name, ...readBy(grammar, name, args) }
}

/** `--a=b` is `--a` too. */
const ofLong = (arg: string): string[] => {
  const at = arg.indexOf('=')
  return arg.startsWith('--') && at > 0 ? [arg, arg.slice(0, at)] : [arg]
}

const openOf = (args: readonly ShellWord[]): string[] =>
  args
    .filter((arg) => typeof arg !== 'string')
    .map(({ starts }) => starts)
    .filter((starts) => starts === '' || starts.startsWith('-'))

function readBy(
  grammar: ProgramGrammar,
  name: string,
  args: readonly ShellWord[],
): Omit<ReadArguments, 'program'> {
  const words: ShellWord[] = []
  const flags = new Set<string>()
  const add = (flag: string) => {
    for (const one of spellings(grammar, flag)) flags.add(one)
  }
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined) break
    if (typeof arg !== 'string') {
      words.push(arg)
    } else if (arg === '--') {
      words.push(...args.slice(at + 1))
      return { words, flags: withForced(name, words, flags), open_flags: openOf(args.slice(0, at)) }
    } else if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
    } else {
      const taken = arg.startsWith('--')
        ? readLong(grammar, arg, add)
        : readShort(grammar, arg, add)
      if (taken === 'value') at += 1
      if (taken === 'unknown' && !startsDash(args[at + 1])) words.push(unknown)
    }
  }
  return { words, flags: withForced(name, words, flags), open_flags: openOf(args) }
}

const startsDash = (word: ShellWord | undefined): boolean =>
  word === undefined || (typeof word === 'string' && word.startsWith('-'))

/** What the next word is: the option's value, another argument, or nobody knows. */
type Taken = 'nothing' | 'value' | 'unknown'

function readLong(grammar: ProgramGrammar, arg: string, add: (flag: string) => void): Taken {
  const at = arg.indexOf('=')
  const flag = at < 0 ? arg : arg.slice(0, at)
  const known = [...grammar.values, ...grammar.switches]
  const meant = known.includes(flag) || !grammar.shortens ? [flag] : longs(known, flag)
  for (const one of meant.length === 0 ? [flag] : meant) add(one)
  if (at >= 0) return 'nothing'
  if (meant.some((one) => grammar.values.includes(one))) return 'value'
  return meant.length > 0 && meant.every((one) => grammar.switches.includes(one))
    ? 'nothing'
    : 'unknown'
}

const longs = (known: readonly string[], flag: string): string[] =>
  known.filter((one) => one.startsWith(flag))

function readShort(grammar: ProgramGrammar, arg: string, add: (flag: string) => void): Taken {
  if (!grammar.bundles || grammar.switches.includes(arg)) {
    add(arg)
    return takenBy(grammar, arg)
  }
  for (let at = 1; at < arg.length; at += 1) {
    const flag = `-${arg[at]}`
    add(flag)
    const taken = takenBy(grammar, flag)
    if (at === arg.length - 1) return taken
    // What follows the letter without a gap is its value.
    if (taken === 'value') return 'nothing'
  }
  return 'nothing'
}

/** A letter that has a value with one subcommand and none with another is not known. */
function takenBy({ values, switches }: ProgramGrammar, flag: string): Taken {
  if (values.includes(flag)) return switches.includes(flag) ? 'unknown' : 'value'
  return switches.includes(flag) ? 'nothing' : 'unknown'
}

/** Every way to write a flag of this grammar. */
function spellings(grammar: ProgramGrammar, flag: string): string[] {
  const long = /^-[^-]$/.test(flag) ? grammar.letters[flag.slice(1)] : undefined
  const letters = Object.entries(grammar.letters).filter(([, long]) => long === flag)
  return [flag, ...(long === undefined ? [] : [long]), ...letters.map(([letter]) => `-${letter}`)]
}

/** What a rule's flag means to the program: itself, in every spelling. */
export function flagsOf(program: string | null, flag: string): readonly string[] {
  const grammar = program === null ? undefined : grammars[program]
  return grammar === undefined ? [flag] : spellings(grammar, flag)
}

/** `git push` is told by a word as well: `+ref` forces, `:ref` deletes. */
function withForced(name: string, words: readonly ShellWord[], flags: Set<string>): Set<string> {
  if (name !== 'git' || words[0] !== 'push') return flags
  for (const word of words.slice(1)) {
    const starts = typeof word === 'string' ? word : word.starts
    const flag = starts.startsWith('+') ? 'f' : starts.startsWith(':') ? 'd' : null
    for (const one of flag ? spellings(grammars['git'] ?? empty, `-${flag}`) : []) flags.add(one)
  }
  return flags
}

const empty: ProgramGrammar = {
  values: [],
  switches: [],
  letters: {},
  shortens: false,
  bundles: false,
}
