/** Where a line goes, as words. */
import type { ShellWord } from './command.ts'

/** `to` seen from `from`; null is where the line begins. */
export function joinFolder(from: ShellWord | null, to: ShellWord): ShellWord {
  if (typeof to !== 'string') return { starts: '' }
  if (from === null || to.startsWith('/')) return to
  return typeof from === 'string' ? `${from}/${to}` : { starts: '' }
}
