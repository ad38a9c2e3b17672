/** Programs that run others beside what they are for: `find -exec`, and git by its settings. */
import type { ShellDoubt, ShellWord } from './command.ts'
import { joinFolder } from './folders.ts'
import { gitCommands, gitRunners, gitSettings } from './names.ts'
import type { ShellOpening } from './opening.ts'

const runs = new Set(['-exec', '-execdir', '-ok', '-okdir'])

export function openFind(argv: readonly ShellWord[]): ShellOpening[] {
  const isOpen = argv.some((word) => typeof word !== 'string' && word.starts === '')
  const openings: ShellOpening[] = [
    { of: 'itself', argv, doubt: isOpen ? 'unknown_wrapper' : null },
  ]
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at]
    if (typeof word !== 'string' || !runs.has(word)) continue
    const behind = argv.slice(at + 1)
    const end = behind.findIndex((one) => one === ';' || one === '+')
    const inner = behind.slice(0, end < 0 ? behind.length : end).map(foundIn)
    if (inner.length > 0) openings.push({ of: 'command', by: 'find', argv: inner, names: [] })
  }
  return openings
}

/** The name of a file stands in the place of the braces. */
function foundIn(word: ShellWord): ShellWord {
  if (typeof word !== 'string' || !word.includes('{}')) return word
  return { starts: word.slice(0, word.indexOf('{}')) }
}

/** Git by itself runs what its settings, its aliases and some of its options name. */
export function openGit(argv: readonly ShellWord[]): ShellOpening[] {
  let doubt: ShellDoubt | null = null
  let folder: ShellWord | null = null
  let at = 1
  for (; at < argv.length; at += 1) {
    const arg = argv[at]
    if (typeof arg !== 'string' || !arg.startsWith('-')) break
    if (gitRunners.some((one) => arg === one || arg.startsWith(`${one}=`)))
      doubt = 'unknown_wrapper'
    if (arg === '-C') folder = joinFolder(folder, argv[at + 1] ?? { starts: '' })
    if (arg === '-c' && !isQuiet(argv[at + 1])) doubt = 'unknown_wrapper'
    if (/^--(git-dir|work-tree)/.test(arg)) folder = { starts: '' }
    if (hasValue.has(arg)) at += 1
  }
  const [command, ...args] = argv.slice(at)
  if (typeof command === 'string' && (!gitCommands.has(command) || runsGiven(command, args))) {
    doubt = 'unknown_wrapper'
  }
  return [{ of: 'itself', argv, doubt, ...(folder === null ? {} : { folder }) }]
}

const hasValue = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--attr-source'])

const isQuiet = (setting: ShellWord | undefined): boolean =>
  typeof setting === 'string' && gitSettings.some((one) => setting.toLowerCase().startsWith(one))

function runsGiven(command: string, args: readonly ShellWord[]): boolean {
  const plain = args.filter((arg) => typeof arg === 'string')
  if (command === 'submodule' && plain.includes('foreach')) return true
  if (plain.some((arg) => arg.startsWith('ext::'))) return true
  const isShort = (one: string) => one.length === 2
  return plain.some((arg) =>
    gitRunners.some((one) =>
      isShort(one)
        ? shortRunners.get(command) === one && arg.startsWith(one)
        : arg.startsWith('--') && arg.length > 4 && one.startsWith(arg.split('=', 1)[0] ?? ''),
    ),
  )
}

/** What one letter means depends on the command. */
const shortRunners: ReadonlyMap<string, string> = new Map([
  ['rebase', '-x'],
  ['grep', '-O'],
])
