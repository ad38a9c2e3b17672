/** What a command is, seen from outside: itself, another command, or a line within the line. */
import type { ShellDoubt, ShellWord } from './command.ts'
import { openFind, openGit } from './open-programs.ts'
import { openShell } from './open-shell.ts'
import type { ShellOpening } from './opening.ts'
import { redefiners, shells, textRunners, usualPath } from './names.ts'
import { closed, wrappers, wrappingWords, type Wrapper } from './wrappers.ts'

const itself = (argv: readonly ShellWord[], doubt: ShellDoubt | null = null): ShellOpening => ({
  of: 'itself',
  argv,
  doubt,
})

export function openCommand(argv: readonly ShellWord[]): ShellOpening[] {
  const [first, ...args] = argv
  if (typeof first !== 'string') return [itself(argv, 'unknown_program')]
  const name = first.replace(usualPath, '')
  if (textRunners.has(name)) return openText(argv, args, name)
  if (redefiners.has(name) && args.length > 0) {
    return [itself(argv), { of: 'doubt', doubt: 'redefined' }]
  }
  if (name === 'cd' || name === 'pushd' || name === 'popd') {
    return [itself(argv), { of: 'move', to: folderOf(name, args) }]
  }
  if (shells.has(name)) return openShell(name, argv)
  if (name === 'find') return openFind(argv)
  if (name === 'git') return openGit(argv)
  if (closed.has(name)) return [itself(argv, 'unknown_wrapper')]
  const words = wrappingWords.find((one) =>
    one.argv.every((word, at) => plainName(argv[at]) === word),
  )
  if (words) return openWrapper(words.as, argv, argv.slice(words.argv.length))
  return Object.hasOwn(wrappers, name) ? openWrapper(name, argv, args) : [itself(argv)]
}

const plainName = (word: ShellWord | undefined): string | null =>
  typeof word === 'string' ? word.replace(usualPath, '') : null

/** Its text is looked at all the same: what is denied in it is denied. */
function openText(
  argv: readonly ShellWord[],
  args: readonly ShellWord[],
  name: string,
): ShellOpening[] {
  const openings: ShellOpening[] = [itself(argv, 'runs_text'), { of: 'doubt', doubt: 'runs_text' }]
  const words = name === 'trap' ? args.slice(0, 1) : name === 'eval' ? args : []
  const text = words.filter((word) => typeof word === 'string')
  if (text.length > 0 && text.length === words.length) {
    openings.push({ of: 'line', by: name, text: text.join(' '), remote: false, names: [] })
  }
  if (name === 'coproc' && args.length > 0)
    openings.push({ of: 'command', by: name, argv: args, names: [] })
  return openings
}

function folderOf(name: string, args: readonly ShellWord[]): ShellWord {
  const [to, ...more] = args.filter((arg) => arg !== '--' && arg !== '-P' && arg !== '-L')
  const isPlain = name === 'cd' && typeof to === 'string' && !/^[-+]/.test(to) && to !== ''
  return isPlain && more.length === 0 ? to : { starts: '' }
}

/** These are more than a way to start: what they run, they run with other rights or elsewhere. */
const ownEffect: ReadonlySet<string> = new Set(['sudo', 'doas', 'ssh', 'npx'])

function openWrapper(
  name: string,
  argv: readonly ShellWord[],
  args: readonly ShellWord[],
): ShellOpening[] {
  const wrapper = wrappers[name]
  if (wrapper === undefined) return [itself(argv)]
  const read = readWrapper(wrapper, args)
  if (read.is === 'doubt') return [itself(argv, 'unknown_wrapper')]
  if (read.is === 'looks' || read.rest.length === 0) return [itself(argv)]
  const { names } = read
  const own = ownEffect.has(name) ? [itself(argv)] : []
  if (wrapper.joins) {
    const words = read.rest.filter((word) => typeof word === 'string')
    if (words.length < read.rest.length) return [itself(argv, 'runs_text')]
    return [...own, { of: 'line', by: name, text: words.join(' '), remote: true, names }]
  }
  const inner = wrapper.adds ? [...read.rest, { starts: '' }] : read.rest
  return [...own, { of: 'command', by: name, argv: inner, names }]
}

type WrapperRead =
  | { is: 'open'; rest: readonly ShellWord[]; names: string[] }
  | { is: 'looks' }
  | { is: 'doubt' }

function readWrapper(wrapper: Wrapper, args: readonly ShellWord[]): WrapperRead {
  const names: string[] = []
  let operands = wrapper.operands
  let at = 0
  let isOver = false
  for (; at < args.length; at += 1) {
    const arg = args[at]
    if (typeof arg !== 'string') {
      // It may be options, or several words; behind all of them it is the program.
      if (operands === 0 && isOver) break
      return { is: 'doubt' }
    }
    if (wrapper.looks?.includes(arg)) return { is: 'looks' }
    if (!isOver && arg === '--') isOver = true
    else if (!isOver && isOption(wrapper, arg)) {
      const taken = optionOf(wrapper, arg)
      if (taken === 'unknown') return { is: 'doubt' }
      if (taken === 'value') {
        at += 1
        if (typeof args[at] !== 'string') return { is: 'doubt' }
      }
    } else if (wrapper.assigns && /^[A-Za-z_]\w*=/.test(arg)) {
      names.push(arg.slice(0, arg.indexOf('=')))
    } else if (operands > 0) operands -= 1
    else break
  }
  return operands > 0 && args.length > 0 && at >= args.length && wrapper.operands > 0
    ? { is: 'open', rest: [], names }
    : { is: 'open', rest: args.slice(at), names }
}

const isOption = ({ switches }: Wrapper, arg: string): boolean =>
  arg.startsWith('-') && (arg !== '-' || switches.includes(arg))

function optionOf({ values, switches }: Wrapper, arg: string): 'nothing' | 'value' | 'unknown' {
  if (switches.includes(arg)) return 'nothing'
  if (values.includes(arg)) return 'value'
  if (arg.startsWith('--')) {
    const [long = ''] = arg.split('=', 1)
    const isKnown = values.includes(long) || switches.includes(long)
    return arg.includes('=') && isKnown ? 'nothing' : 'unknown'
  }
  for (let at = 1; at < arg.length; at += 1) {
    const flag = `-${arg[at]}`
    if (values.includes(flag)) return at === arg.length - 1 ? 'value' : 'nothing'
    if (!switches.includes(flag)) return 'unknown'
  }
  return 'nothing'
}
