/**
 * What a command is on the command line: its words, its help with examples and exit codes, and
 * where its code is loaded. Each group of commands has its own; `addCommand` makes all of them.
 */
import type { Command } from 'commander'
import type { Context } from './context.ts'
import { exits } from './failure.ts'

export type CommandHandler = (context: Context) => Promise<number> | number

/** What a command does when it is chosen, with the context its flags make. */
export type CommandAction = (command: Command, use: CommandHandler) => () => Promise<void>

/** What each exit code says, of the one list in docs/spec/cli.md#exit-codes. */
export type Codes = Readonly<Record<number, string>>

export type Grammar = {
  name: string
  about: string
  /** As usage writes them, `<item>` or `[text...]`, with what each is. */
  arguments?: Readonly<Record<string, string>>
  options?: Readonly<Record<string, string>>
  /** Options that may be given several times, each with one value. */
  repeated?: Readonly<Record<string, string>>
  examples: readonly string[]
  /** Default: those of a command that reads. */
  exits?: Codes
  /** Given its words, its options and the command itself. `help`: these words say too little. */
  run?(context: Context, ...given: unknown[]): Promise<number | 'help'> | number
  commands?: readonly Grammar[]
}

export const reads: Codes = {
  [exits.done]: 'done',
  [exits.failed]: 'failed, or refused as things are',
  [exits.usage]: 'usage, or there is no such thing',
}

/** Of commands that change a home. */
export const writes: Codes = {
  ...reads,
  [exits.owned]: 'home owned by another process that takes no commands',
}

/** Arguments that are the same thing wherever they stand. */
export const things = {
  item: 'the work item, by its id or the end of it: work_7f3a',
  agent: 'the name of the agent',
  task: 'the task, by its id or the end of it: task_91c2',
  wait: 'the wait, by its id or the end of it: wait_40aa',
  trigger: 'the trigger, by its id or the end of it: trig_40aa',
  grant: 'the grant, by its id or the end of it: grant_40aa',
  schedule: 'the schedule, by its id or the end of it: sched_40aa',
  delivery: 'the delivery, by its id or the end of it: dlv_40aa',
} as const

const globalLine =
  'Every command takes --home, --json, --quiet, --plain, --wide, --utc, --no-color, --ascii.'

export function addCommand(parent: Command, grammar: Grammar, action: CommandAction): void {
  const command = parent.command(grammar.name).description(grammar.about)
  command.helpOption('--help', 'print this help')
  for (const [name, about] of Object.entries(grammar.arguments ?? {})) command.argument(name, about)
  for (const [flags, about] of Object.entries(grammar.options ?? {})) command.option(flags, about)
  for (const [flags, about] of Object.entries(grammar.repeated ?? {})) {
    command.option(flags, about, oneMore)
  }
  const more = helpBelow(grammar.exits ?? reads, grammar.examples)
  command.addHelpText('after', `\n${globalLine}\n${more}`)
  if (grammar.run !== undefined) {
    command.action((...given: unknown[]) =>
      action(command, async (context) => {
        const end = await grammar.run?.(context, ...given)
        // It ends in an error, as every group of commands does without a command.
        return end === 'help' || end === undefined ? command.help({ error: true }) : end
      })(),
    )
  }
  for (const below of grammar.commands ?? []) addCommand(command, below, action)
}

type Values = string[] | undefined

const oneMore = (value: string, before: Values): Values => [...(before ?? []), value]

/** The end of a help: exit codes, then examples. */
export function helpBelow(codes: Codes, examples: readonly string[]): string {
  const lines = Object.entries(codes).map(([code, says]) => `  ${code.padStart(3)}  ${says}`)
  const shown = examples.map((line) => `  ${line}`)
  return `\nExit:\n${lines.join('\n')}\n\nExamples:\n${shown.join('\n')}`
}
