/**
 * The command line: every command, its flags and its help. Each command's code is loaded when it is
 * used, so that a run loads nothing of the reads. Returns the exit code; never exits by itself.
 */
import { Command, CommanderError, Option } from 'commander'
import { makeContext } from './context.ts'
import { asFailure, exits, failureText, tokenExplained, usage, type CliFailure } from './failure.ts'
import type { Action, Add } from './grammar.ts'
import { examplesOf } from './help-examples.ts'
import { exitLines, explainArguments } from './help-exits.ts'
import type { CliPorts } from './ports.ts'
import { addCompletion, addExports, addInit, addReplay } from './program-admin.ts'
import { addAgents, addTasks, addWorktrees } from './program-agents.ts'
import { addChecks } from './program-checks.ts'
import { addContext } from './program-context.ts'
import { addDaemon } from './program-daemon.ts'
import { addOutside, addUpkeep } from './program-outside.ts'
import { addTui } from './program-tui.ts'
import { safeJson } from '../present/safe.ts'
import type { GlobalFlags } from './settings.ts'

export async function main(argv: readonly string[], ports: CliPorts): Promise<number> {
  let exit: number = exits.done
  let flags: GlobalFlags = {}
  const program = build(ports, (command, use) => async () => {
    flags = command.optsWithGlobals()
    exit = await use(makeContext(ports, flags))
  })
  try {
    if (argv.length === 0) {
      ports.err(program.helpInformation())
      return exits.usage
    }
    await program.parseAsync([...argv], { from: 'user' })
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

/** Where the help is that fits these words. */
function helpFor(program: Command, argv: readonly string[]): string {
  const command = program.commands.find((one) => argv.includes(one.name()))
  return command === undefined
    ? 'holon --help shows the commands'
    : `holon ${command.name()} --help shows how it is used`
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
export function build(ports: CliPorts, action: Action): Command {
  const program = new Command('holon')
  program
    .description('Long-lived agents that work, wait, resume and report.')
    .version(ports.version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions(false)
    .configureOutput({
      writeOut: (text) => ports.out(text),
      writeErr: (text) => ports.err(text),
      outputError: () => {},
      getOutHelpWidth: () => Math.max(60, ports.terminal.columns() || 100),
    })
    .addHelpText('after', `${exitLines('')}${examplesOf('holon')}`)
  addGlobals(program)
  const add: Add = (parent, name, about) => {
    const command = parent.command(name).description(about)
    command.helpOption('--help', 'print this help')
    const full = pathOf(command)
    const exit = exitLines(full.slice('holon '.length))
    command.addHelpText('after', `\n${globalLine}\n${exit}${examplesOf(full)}`)
    return command
  }
  addRun(program, add, action)
  addInit(program, add, action)
  addActs(program, add, action)
  addWork(program, add, action)
  addReads(program, add, action)
  addContext(program, add, action)
  addOutside(program, add, action)
  addDaemon(program, add, action)
  addUpkeep(program, add, action)
  addTui(program, add, action)
  addConfig(program, add, action)
  addCompletion(program, add, action)
  explainArguments(program)
  return program
}

const globalLine =
  'Every command takes --home, --json, --quiet, --plain, --wide, --utc, --no-color, --ascii.'

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`

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

function addRun(program: Command, add: Add, action: Action): void {
  const run = add(program, 'run', 'say something to an agent, or run a runbook, and see it through')
    .argument('[text...]', 'what is to be done, a runbook file (.md), or - for standard input')
    .option(
      '--agent <name>',
      'the agent (default: main, or runbooks for a runbook; made at first use)',
    )
    .option('--model <provider/model>', 'its model from now on (HOLON_MODEL)')
    .option('--workspace <folder>', 'the folder it works in from now on')
    .option('--resume', 'send nothing; go on with everything open')
    .option('--no-input', 'never ask; exit 3 when a question is open')
  run.action((words: string[], options: object) =>
    action(run, async (context) => {
      const { run } = await import('./run.ts')
      return run(context, words, options)
    })(),
  )
}

function addActs(program: Command, add: Add, action: Action): void {
  const send = add(program, 'send', 'send a message to an agent, an item or a question')
    .argument('<text>', 'the message')
    .option('--agent <name>', 'the agent (default: main)')
    .option('--wait <wait>', 'the question it answers')
    .option('--work-item <item>', 'the item it is about')
    .option('--now', 'into the turn that runs, at its next safe point')
    .option('--start', 'start the agent when it is stopped')
  send.action((text: string, options: object) =>
    action(send, async (context) => (await import('./act.ts')).send(context, text, options))(),
  )
  const back = add(program, 'take-back', 'take a message back that no turn has read').argument(
    '<message>',
    'as send printed it, like msg_7f3a',
  )
  back.action((message: string) =>
    action(back, async (context) => (await import('./act.ts')).takeBack(context, message))(),
  )
  const answer = add(program, 'answer', 'answer a question')
    .argument('<wait|item>', 'the question, or the item that asks it')
    .argument('<text>', 'the answer')
  answer.action((target: string, text: string) =>
    action(answer, async (context) => (await import('./act.ts')).answer(context, target, text))(),
  )
}

function addWork(program: Command, add: Add, action: Action): void {
  const work = add(
    program,
    'work',
    'work items: list, show, create, update, check, unblock, pick, complete',
  )
  const list = add(work, 'list', 'open items and what each waits for')
    .option('--all', 'completed items too')
    .option('--agent <name>', 'only this agent')
  list.action((options: object) =>
    action(list, async (context) => (await import('./work.ts')).workList(context, options))(),
  )
  const show = add(work, 'show', 'one item whole: plan, todos, wait, report')
    .argument('<item>')
    .option('--trace', 'its process notes, and its turns with what each did')
  show.action((item: string, { trace }: { trace?: boolean }) =>
    action(show, async (context) =>
      trace === true
        ? (await import('./work-trace.ts')).workTrace(context, item)
        : (await import('./work.ts')).workShow(context, item),
    )(),
  )
  const create = add(work, 'create', 'a new item, for the agent to work on')
    .argument('<objective>', 'what is to be achieved')
    .option('--agent <name>', 'the agent (default: main)')
    .option('--check <name=command...>', 'a command that must succeed once it is completed')
  withBudget(create)
  create.action((objective: string, options: object) =>
    action(create, async (context) =>
      (await import('./item-acts.ts')).createItem(context, objective, options),
    )(),
  )
  const update = withBudget(
    add(work, 'update', 'change it: objective, plan status, todos, budget')
      .argument('<item>')
      .option('--objective <text>', 'what is to be achieved')
      .option('--plan-status <status>', 'draft, ready or needs_input')
      .option('--question <text>', 'with needs_input: what its plan needs to know')
      .option('--todo <todo...>', 'all of its todos: "[x] done", "[>] under way", "to do"; none'),
  )
  update.action((item: string, options: object) =>
    action(update, async (context) =>
      (await import('./item-acts.ts')).updateItem(context, item, options),
    )(),
  )
  const onItem = (verb: 'unblock' | 'pick' | 'complete', about: string) => {
    const command = add(work, verb, about).argument('<item>')
    command.action((item: string, options: object) =>
      action(command, async (context) =>
        (await import('./act.ts')).onItem(context, verb, item, options),
      )(),
    )
    return command
  }
  addChecks(work, add, action)
  onItem('unblock', 'clear its blocker and its wait: it may go on')
  onItem('pick', 'put it in focus').option('--reason <text>', 'why it goes first')
  onItem('complete', 'complete it yourself').option('--report <text>', 'the report')
}

const withBudget = (command: Command): Command =>
  command
    .option('--max-tokens <n>', 'tokens it may use, children included; none: no limit')
    .option('--max-usd <n>', 'US dollars, where the price of the model is known')
    .option('--max-rounds <n>', 'requests to the model')
    .option('--deadline <time>', 'until then: 2026-12-01T09:00')

function addReads(program: Command, add: Add, action: Action): void {
  const why = add(program, 'why', 'why an item is as it is, and what comes next')
    .argument('<item>')
    .option('--history', 'the decisions that chose it or passed it over, newest first')
  why.action((item: string, options: object) =>
    action(why, async (context) => (await import('./why.ts')).why(context, item, options))(),
  )
  addReplay(program, add, action)
  addExports(program, add, action)
  addInbox(program, add, action)
  addTasks(program, add, action)
  addWaits(program, add, action)
  addAgents(program, add, action)
  addWorktrees(program, add, action)
  const briefs = add(program, 'briefs', 'what agents reported, replied and asked')
    .option('--agent <name>', 'only this agent')
    .option('--work-item <item>', 'only this item')
    .option('--limit <n>', 'the newest so many (default: 20)')
  briefs.action((options: object) =>
    action(briefs, async (context) => (await import('./briefs.ts')).briefs(context, options))(),
  )
  const events = add(program, 'events', 'the events of the home, in order')
    .option('--follow', 'go on as they come')
    .option('--after <seq>', 'only those behind this sequence number')
    .option('--limit <n>', 'at most so many (default: the newest 100)')
    .option('--agent <name>', 'only this agent')
    .option('--work-item <item>', 'only this item')
  events.action((options: object) =>
    action(events, async (context) => (await import('./events.ts')).events(context, options))(),
  )
  const search = add(program, 'search', 'everything that has these words, the best first')
    .argument('<words...>', 'words, "phrases" in quotes, and prefix*')
    .option('--agent <name>', 'only this agent')
    .option('--kind <kinds>', 'only these kinds: report,plan,message,call,file, …')
    .option('--limit <n>', 'at most so many (default: 20)')
  search.action((words: string[], options: object) =>
    action(search, async (context) =>
      (await import('./search.ts')).search(context, words, options),
    )(),
  )
  const doctor = add(program, 'doctor', 'whether everything is well').option(
    '--verify',
    'refold the whole ledger and compare',
  )
  doctor.action((options: object) =>
    action(doctor, async (context) => (await import('./doctor.ts')).doctor(context, options))(),
  )
}

function addInbox(program: Command, add: Add, action: Action): void {
  const inbox = add(program, 'inbox', 'what needs you; snooze, dismiss')
  inbox.action(action(inbox, async (context) => (await import('./inbox.ts')).inbox(context)))
  const snooze = add(inbox, 'snooze', 'put an entry away for a while, unless it changes')
    .argument('<entry>', 'what it is about, like wait_3c1e')
    .option('--for <duration>', 'for so long: 30m, 2h, 1d')
    .option('--until <time>', 'until then: 2026-12-01T09:00')
  snooze.action((entry: string, options: object) =>
    action(snooze, async (context) =>
      (await import('./inbox.ts')).snooze(context, entry, options),
    )(),
  )
  const dismiss = add(inbox, 'dismiss', 'put an entry away until it changes').argument(
    '<entry>',
    'what it is about, like wait_3c1e',
  )
  dismiss.action((entry: string) =>
    action(dismiss, async (context) => (await import('./inbox.ts')).dismiss(context, entry))(),
  )
}

function addWaits(program: Command, add: Add, action: Action): void {
  const waits = add(program, 'waits', 'what is waited for, and what wakes it; cancel').option(
    '--agent <name>',
    'only this agent',
  )
  waits.action((options: object) =>
    action(waits, async (context) => (await import('./waits.ts')).waits(context, options))(),
  )
  const cancel = add(waits, 'cancel', 'cancel a wait').argument('<wait>')
  cancel.action((wait: string) =>
    action(cancel, async (context) => (await import('./act.ts')).cancelWait(context, wait))(),
  )
}

function addConfig(program: Command, add: Add, action: Action): void {
  const config = add(program, 'config', 'settings: show, path, get, set, unset')
  const show = add(config, 'show', 'every setting and where it comes from')
  show.action(
    action(show, async (context) => (await import('./config-command.ts')).configShow(context)),
  )
  const path = add(config, 'path', 'where config.json is')
  path.action(
    action(path, async (context) =>
      (await import('./config-command.ts')).configPathCommand(context),
    ),
  )
  const get = add(config, 'get', 'one value of config.json').argument('<key>')
  get.action((key: string) =>
    action(get, async (context) => (await import('./config-command.ts')).configGet(context, key))(),
  )
  const set = add(config, 'set', 'write one value into config.json')
    .argument('<key>', 'a key, like model or providers.local.base_url')
    .argument('<value>', 'text, or JSON for lists and objects')
  set.action((key: string, value: string) =>
    action(set, async (context) =>
      (await import('./config-command.ts')).configSet(context, key, value),
    )(),
  )
  const unset = add(config, 'unset', 'take one value out of config.json').argument('<key>')
  unset.action((key: string) =>
    action(unset, async (context) =>
      (await import('./config-command.ts')).configUnset(context, key),
    )(),
  )
}
