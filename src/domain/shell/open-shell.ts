/** A shell within the line: the text it is given, a file, or what comes from elsewhere. */
import type { ShellDoubt, ShellWord } from './command.ts'
import { likeBash } from './names.ts'
import type { ShellOpening } from './opening.ts'

export function openShell(name: string, argv: readonly ShellWord[]): ShellOpening[] {
  const given = operandsOf(argv.slice(1))
  const doubtful = (doubt: ShellDoubt): ShellOpening => ({ of: 'itself', argv, doubt })
  switch (given.is) {
    case 'looks':
      return [{ of: 'itself', argv, doubt: null }]
    case 'elsewhere':
      return [doubtful('runs_text')]
    case 'file':
      return [{ of: 'itself', argv, doubt: null }]
    case 'text': {
      const line: ShellOpening = {
        of: 'line',
        by: name,
        text: given.text,
        remote: false,
        names: [],
      }
      return likeBash.has(name) ? [line] : [doubtful('runs_text'), line]
    }
  }
}

type Given = { is: 'text'; text: string } | { is: 'file' | 'elsewhere' | 'looks' }

/** Options of which nothing else is read: no start file, no prompt. */
const quiet = new Set(['--login', '--posix', '--norc', '--noprofile', '--restricted', '--verbose'])

function operandsOf(args: readonly ShellWord[]): Given {
  let isText = false
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (typeof arg !== 'string') return { is: 'elsewhere' }
    if (arg === '--help' || arg === '--version') return { is: 'looks' }
    if (arg === '--' || arg === '-') return operand(args[at + 1], isText)
    if (arg.startsWith('--')) {
      if (!quiet.has(arg)) return { is: 'elsewhere' }
    } else if (/^[-+][a-zA-Z]+$/.test(arg)) {
      if (/[is]/.test(arg)) return { is: 'elsewhere' }
      if (arg.startsWith('-') && arg.includes('c')) isText = true
      if (/[oO]$/.test(arg)) at += 1
    } else return operand(arg, isText)
  }
  return { is: 'elsewhere' }
}

function operand(word: ShellWord | undefined, isText: boolean): Given {
  if (typeof word !== 'string') return { is: 'elsewhere' }
  if (isText) return { is: 'text', text: word }
  return { is: word === '' || /^\/(dev|proc)\//.test(word) ? 'elsewhere' : 'file' }
}
