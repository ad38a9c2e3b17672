/** The grammar of `holon context`. */
import type { Command } from 'commander'
import type { Action, Add } from './grammar.ts'

const place = 'a turn or one of its requests: turn_7f3a, turn_7f3a:12 (default: the newest)'

export function addContext(program: Command, add: Add, action: Action): void {
  const context = add(program, 'context', 'what the model was sent: show, cost, diff')
  const show = add(context, 'show', 'what a request was made of, section by section')
    .argument('[request]', place)
    .option('--agent <name>', 'whose newest turn (default: main)')
    .option('--text', 'the whole text instead')
  show.action((request: string | undefined, options: object) =>
    action(show, async (given) =>
      (await import('./contexts.ts')).contextShow(given, request, options),
    )(),
  )
  const cost = add(context, 'cost', 'tokens from a cache, and what broke the prefix')
    .argument('[turn]', 'a turn (default: the newest)')
    .option('--agent <name>', 'whose newest turn (default: main)')
  cost.action((turn: string | undefined, options: object) =>
    action(cost, async (given) =>
      (await import('./contexts.ts')).contextCost(given, turn, options),
    )(),
  )
  const diff = add(context, 'diff', 'how one request differs from another')
    .argument('<request>', 'the one before, like turn_7f3a:12')
    .argument('<request>', 'the one after, like turn_7f3a:13')
  diff.action((one: string, other: string) =>
    action(diff, async (given) => (await import('./contexts.ts')).contextDiff(given, one, other))(),
  )
}
