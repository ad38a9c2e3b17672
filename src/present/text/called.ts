/**
 * How hints name the command. Rules, tables and kept texts write it `holon`; where they are printed
 * it gets the name by which it was called, so that a hint works as it stands. A hint begins a line
 * or a column, or follows a colon, a semicolon, a backtick or what a shell puts before a command.
 * Prose, as in "I ran holon work list", is somebody's words and stays.
 */

/** The commands of the program, as `holon <command>` has them. */
export const commandWords: readonly string[] = [
  ...['agents', 'answer', 'backup', 'briefs', 'completion', 'config', 'context', 'doctor'],
  ...[
    'events',
    'export',
    'grants',
    'help',
    'import',
    'inbox',
    'init',
    'logs',
    'policy',
    'replay',
    'restore',
  ],
  ...['retention', 'run', 'schedule', 'search', 'send', 'serve', 'service', 'start', 'status'],
  ...['stop', 'take-back', 'tasks', 'token', 'trigger', 'tui', 'waits', 'webhook', 'why', 'work'],
  'worktree',
]

const usual = 'holon'
const before = ['^ *', ' {2}', '`', '\\$ ', '<\\(', '[:;,│] ', '[,;] (?:or|or run|then) ', '` or ']
const after = `${usual} (?=--[a-z]|(?:${commandWords.join('|')})(?![\\w-]))`
const hint = new RegExp(`(?<=${before.join('|')})${after}`, 'gm')
/** A hint at the right of its line, far from what stands at the left. */
const farHint = new RegExp(`(?<=\\S) {8,}(?=${after})`, 'g')

/** The text with its hints naming the command `called`. */
export function named(text: string, called: string): string {
  if (called === usual || !text.includes(usual)) return text
  const more = called.length - usual.length
  return text
    .replace(farHint, (gap) => gap.slice(0, Math.max(2, gap.length - more)))
    .replace(hint, () => `${called} `)
}
