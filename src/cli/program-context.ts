/** The grammar of `holon context`. */
import { Option, type Command } from 'commander'
import type { Action, Add } from './grammar.ts'

const place = 'a turn or one of its requests: turn_7f3a, turn_7f3a:12 (default: the newest)'

export function addContext(program: Command, add: Add, action: Action): void {
  const context = add(program, 'context', 'what the model was sent: show')
  const show = add(context, 'show', 'what a request was made of, and what was in a cache')
    .argument('[request]', place)
    .option('--agent <name>', 'whose newest turn (default: main)')
    .option('--text', 'the whole text instead')
    .addOption(
      new Option('--diff <request>', 'instead how it differs from this one').conflicts('text'),
    )
  show.action((request: string | undefined, options: object) =>
    action(show, async (given) =>
      (await import('./contexts.ts')).contextShow(given, request, options),
    )(),
  )
}
