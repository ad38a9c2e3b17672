/**
 * `holon init`: the set-up, and where a person sits at the terminal and a daemon serves the home,
 * the screen behind it.
 */
import type { Context } from '../command/context.ts'
import type { Exit } from '../command/failure.ts'
import { setUp, type InitOptions } from '../setup/init.ts'
import { tui } from './tui.ts'

export async function init(context: Context, options: InitOptions): Promise<Exit> {
  const { there, exit, starts, words_to, says } = await setUp(context, options)
  const { terminal, environment } = context.ports
  const isSeen = terminal.stdin && terminal.stdout && environment.term !== 'dumb'
  const isAsked = context.flags.json !== true && options.input !== false
  if (!isSeen || !isAsked || starts === 'no') return exit
  return words_to === null ? tui(there, null) : tui(there, { words_to }, says)
}
