/**
 * The command line: the groups of commands, the flags that all of them take, and how a line that
 * does not parse is told. Returns the exit code; never exits by itself.
 */
import { Command, CommanderError, Option } from 'commander'
import { makeContext } from './command/context.ts'
import {
  asFailure,
  exits,
  failureText,
  tokenExplained,
  usage,
  type CliFailure,
} from './command/failure.ts'
import {
  addCommand,
  helpBelow,
  writes,
  type CommandAction,
  type Codes,
  type Grammar,
} from './command/grammar.ts'
import type { CliPorts } from './command/ports.ts'
import { setupCommands } from './setup/grammar.ts'
import { agentCommands } from './agents/grammar.ts'
import { workCommands } from './work/grammar.ts'
import { lookCommands } from './look/grammar.ts'
import { daemonCommands } from './daemon/grammar.ts'
import { outsideCommands } from './outside/grammar.ts'
import { runCommands } from './run/grammar.ts'
import { screenCommands } from './screen/grammar.ts'
import { initCommand } from './screen/init-grammar.ts'
import { named } from '../present/text/called.ts'
import { safeJson } from '../present/text/safe.ts'
import type { GlobalFlags } from './command/settings.ts'

export async function main(argv: readonly string[], given: CliPorts): Promise<number> {
  let exit: number = exits.done
  let flags: GlobalFlags = {}
  const ports = argv.includes('--json') ? given : namingHints(given)
  const program = build(ports, (command, use) => async () => {
    flags = command.optsWithGlobals()
    const isExact = exact.has(pathOf(command))
    exit = await use(
      makeContext(isExact ? { ...ports, out: (text) => given.out(text) } : ports, flags),
    )
  })
  try {
    const opens = opensScreen(argv, ports)
    if (argv.length === 0 && !opens) {
      ports.err(program.helpInformation())
      return exits.usage
    }
    await program.parseAsync(opens ? ['tui', ...argv] : helped(program, argv), { from: 'user' })
    return exit
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exits.done
    // A command that only groups others has printed them: which one was meant is not known.
    if (error instanceof CommanderError && error.code === 'commander.help') return exits.usage
    const found =
      error instanceof CommanderError
        ? parseFailure(error, helpFor(program, argv))
        : asFailure(error)
    if (found === null) throw error
    const failure = tokenExplained(found, ports.environment.has_control_token)
    const json = flags.json === true || argv.includes('--json')
    ports.err(`${json ? safeJson(failure.problem) : failureText(failure)}\n`)
    return failure.exit
  }
}

/** Alone, or with no more than how it is to look and where: on a terminal that is the screen. */
function opensScreen(argv: readonly string[], { terminal }: CliPorts): boolean {
  const isLook = (word: string, before: string | undefined) =>
    before === '--home' || lookFlags.test(word)
  return terminal.stdin && terminal.stdout && argv.every((word, n) => isLook(word, argv[n - 1]))
}

const lookFlags = /^--(home(=.*)?|plain|utc|no-color|ascii)$/

/** What it says names the command as it was called: see present/text/called.ts. */
function namingHints(ports: CliPorts): CliPorts {
  const { called } = ports
  if (called === 'holon') return ports
  return {
    ...ports,
    out: (text) => ports.out(named(text, called)),
    err: (text) => ports.err(named(text, called)),
  }
}

/** They print what a file, a command or a request holds, and that stays as it is. */
const exact: ReadonlySet<string> = new Set([
  ...['export', 'logs', 'replay', 'events', 'search', 'tasks output', 'tasks follow'],
  ...['context show', 'config show', 'config get', 'service show'],
  ...['completion'],
])

const pathOf = (command: Command): string => {
  const names = [command.name()]
  for (let at = command.parent; at?.parent; at = at.parent) names.unshift(at.name())
  return names.join(' ')
}

/**
 * `help work diff` is `work diff --help`. Help of a command that is not there is that command: it
 * is refused, with the nearest. What a command would be given does not carry it out.
 */
function helped(program: Command, argv: readonly string[]): string[] {
  const [word, ...rest] = argv
  if (word !== 'help' || rest.length === 0) return [...argv]
  let group = program
  for (const name of rest.filter((one) => !one.startsWith('-'))) {
    const command = commandNamed(group, name)
    const takesWords = group.commands.length === 0 || group.registeredArguments.length > 0
    if (command === undefined && !takesWords) return rest
    if (command === undefined) break
    group = command
  }
  return [...pathOf(group).split(' '), '--help']
}

const commandNamed = (group: Command, name: string): Command | undefined =>
  group.commands.find((one) => one.name() === name || one.aliases().includes(name))

/** Where the help is that fits these words: of the command that they name, groups first. */
function helpFor(program: Command, argv: readonly string[]): string {
  const names: string[] = []
  let group = program
  for (const word of argv) {
    const command = commandNamed(group, word)
    if (command === undefined) continue
    names.push(command.name())
    group = command
  }
  return names.length === 0
    ? 'holon --help shows the commands'
    : `holon ${names.join(' ')} --help shows how it is used`
}

/** `error: unknown option '--modle'\n(Did you mean --model?)` in our words. */
function parseFailure(error: CommanderError, help: string): CliFailure {
  const [first = '', second = ''] = error.message.replace(/^error: /, '').split('\n')
  const near = /\(Did you mean (?:one of )?(.*)\?\)/.exec(second)?.[1]
  const name = first.replace(/'/g, '"').replace(/\.$/, '')
  const code = error.code.replace('commander.', '')
  const hint = near === undefined ? help : `did you mean ${near}?`
  return usage(
    code.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
    name,
    hint,
  )
}

/** The whole grammar; what a command does when it is chosen is the caller's. */
export function build(ports: CliPorts, action: CommandAction): Command {
  const program = new Command('holon')
  program
    .description('Long-lived agents that work, wait, resume and report.')
    .version(ports.version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(...helpLine)
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions(false)
    .configureOutput({
      writeOut: (text) => ports.out(text),
      writeErr: (text) => ports.err(text),
      outputError: () => {},
      getOutHelpWidth: () => Math.max(60, ports.terminal.columns() || 100),
    })
    .addHelpText('after', helpBelow(allCodes, examples))
  addGlobals(program)
  for (const [heading, commands] of groups) {
    program.commandsGroup(`${heading}:`)
    for (const grammar of commands) addCommand(program, grammar, action)
  }
  // Only the program has groups; the commands below it have taken `help` over without one.
  return program.commandsGroup('Set up:').helpCommand(...helpLine)
}

const helpLine = ['help [command]', 'print the help of a command'] as const

const groups: readonly (readonly [heading: string, commands: readonly Grammar[]])[] = [
  ['Set up', [initCommand, ...setupCommands]],
  ['Run and send', runCommands],
  ['Work items', workCommands],
  ['Look', [...lookCommands, ...screenCommands]],
  ['Agents', agentCommands],
  ['From outside', outsideCommands],
  ['Daemon and home', daemonCommands],
]

/** Those that mean the same of every command. */
const allCodes: Codes = {
  ...writes,
  [exits.waits]: 'waits for someone',
  [exits.interrupted]: 'interrupted',
}

const examples = [
  'holon run examples/health.md          a runbook: no key, no cost',
  'holon run "list what is slow in this build" --model anthropic/claude-sonnet-5-5',
  'holon run --resume                          go on with everything open',
  'holon work list                             what is open, and what it waits for',
]

function addGlobals(program: Command): void {
  program
    .option('--home <folder>', 'the home to use (HOLON_HOME; default: the XDG state folder)')
    .option('--json', 'records as JSON; errors as problem documents on stderr')
    .option('--quiet', 'print answers only')
    .option('--plain', 'no colours, no redrawn line, no cutting')
    .option('--wide', 'do not cut columns')
    .option('--utc', 'times in UTC')
    .addOption(new Option('--no-color', 'no colours (NO_COLOR)'))
    .option('--ascii', 'marks in ASCII')
}
