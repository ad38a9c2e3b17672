/** The grammar of the screen. */
import type { Grammar } from '../command/grammar.ts'

export const screenCommands: readonly Grammar[] = [
  {
    name: 'tui',
    about: 'one screen: what needs you, what works, and why; holon alone opens it too',
    arguments: { '[subject]': 'an agent or an item to open' },
    examples: [
      'holon tui                                   ? shows the keys; q leaves, agents go on',
      'holon tui work_7f3a                         opens that item; an agent by its name',
      'holon tui --ascii --no-color',
      'holon tui --plain                           lines only, for screen readers',
    ],
    run: async (context, subject?: string) =>
      (await import('./tui.ts')).tui(context, subject ?? null),
  },
]
