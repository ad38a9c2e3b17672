/** The part of the command line that opens the screen. */
import type { Command } from 'commander'
import type { Action, Add } from './grammar.ts'

export function addTui(program: Command, add: Add, action: Action): void {
  const tui = add(
    program,
    'tui',
    'one screen: what needs you, what works, and why; ? shows its keys',
  ).argument('[subject]', 'an agent or an item to open')
  tui.action((subject?: string) =>
    action(tui, async (context) => (await import('./tui.ts')).tui(context, subject ?? null))(),
  )
}
