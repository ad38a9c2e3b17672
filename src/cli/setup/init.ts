/**
 * `holon init`: a home, a model, an agent and a daemon (docs/spec/cli.md). Asked is what nobody can
 * know here: the provider, its key, its model. The rest is said, each with what makes it otherwise.
 * All answers are collected and the model is asked once before anything is written; then each file
 * is written whole, so that leaving at any question leaves everything as it was. Twice is safe:
 * what is there is offered as the answer, and kept.
 */
import type { Config } from '../../protocol/config.ts'
import { problemOf } from '../../protocol/problem.ts'
import { perform } from '../command/act.ts'
import { parseConfig, readConfig } from '../command/config-file.ts'
import { printJson, printLines, reading, type Context } from '../command/context.ts'
import { start, stop } from '../daemon/daemon.ts'
import { portOf } from '../daemon/serve.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'
import type { Guards } from '../command/guards.ts'
import { smallWindow } from '../command/small-window.ts'
import { chooseModel, keyPath, type ModelChoice, type ModelFlags } from './init-model.ts'
import { policyPath, settleConfining, tellPlans, type GoingOn } from './init-commands.ts'
import { Questions } from './init-questions.ts'
import { expand, tilde } from '../command/settings.ts'

export type InitOptions = ModelFlags & {
  agent?: string
  workspace?: string
  /** True with `--start`, false with `--no-start`. */
  start?: boolean
  port?: string
  /** False with `--no-input`. */
  input?: boolean
}

/** `port`: where the daemon is to listen from now on; null: as configured. */
type Answers = {
  home: string
  model: ModelChoice
  agent: Agent
  starts: Starts
  port: number | null
  guards: Guards
  going_on: GoingOn
}
/** `anew`, `stale`: a daemon runs that does not know what is new; it is begun again, or goes on. */
export type Starts = 'no' | 'now' | 'anew' | 'runs' | 'stale'
type Agent = { id: string; root: string; exists: boolean }

/** What was set up, in the home it was said of. */
export async function setUp(context: Context, options: InitOptions) {
  const questions = new Questions(context, options.input !== false)
  try {
    const answers = await ask(context, questions, options)
    const there = { ...context, home: { ...context.home, value: answers.home } }
    const key_file = await write(there, answers)
    questions.tell(`           written: ${tilde(context.ports, answers.home)}/config.json`)
    const quiet = { ...there, flags: { ...there.flags, json: false } }
    const port = options.port === '0' ? { port: options.port } : {}
    if (answers.starts === 'anew') {
      await stop(told(quiet, questions))
      await start(told(quiet, questions), port)
    }
    await makeAgent(there, questions, answers)
    if (answers.starts === 'now') {
      await start(told(quiet, questions), port)
      questions.tell('           keeps agents alive without a terminal; holon stop ends it')
    }
    const { config } = await readConfig(context.ports, answers.home)
    const exit = ready(there, answers, { key: key_file, config })
    const { starts } = answers
    return {
      there,
      exit,
      starts,
      words_to: newcomer(answers),
      says: inOneLine(there, answers),
    }
  } finally {
    questions.close()
  }
}

/** Whom the first words are for: an agent that was made here and has a model. Null: nobody new. */
const newcomer = ({ agent, model, starts }: Answers): string | null =>
  agent.exists || model.chosen === 'none' || starts === 'stale' ? null : agent.id

/** What was not asked, for a screen that stands before the lines that say it. */
function inOneLine({ ports }: Context, { agent, guards }: Answers): string {
  const isOn = guards.sandbox.state === 'on'
  const how = isOn ? 'commands are confined' : 'commands run as you'
  return `works in ${tilde(ports, agent.root)}; ${how}. What changes that stands in the terminal.`
}

/** What `start` says is progress here, not the answer. */
const told = (context: Context, questions: Questions): Context => ({
  ...context,
  ports: { ...context.ports, out: (text) => questions.tell(`6 daemon   ${text.trim()}`) },
})

async function ask(context: Context, questions: Questions, options: InitOptions): Promise<Answers> {
  const { ports } = context
  // Any free one is no port to come back to.
  const port = portOf(options.port) || null
  if (questions.may_ask) {
    questions.tell('This sets up a home, a model and one agent. Nothing is written before the end,')
    questions.tell('and nothing leaves this machine before you name a provider.')
  }
  const home = await homeOf(context, questions)
  const { config } = await readConfig(ports, home)
  const model = await chooseModel(context, questions, options, config)
  const there = { ...context, home: { ...context.home, value: home } }
  const agent = await agentOf(there, questions, options)
  await tellPlans(context, questions, config)
  const confining = await settleConfining(there, questions, config)
  const isNew = model.chosen === 'provider'
  const starts = await startsOf(context, questions, { home, isNew, start: options.start })
  return { home, model, agent, starts, port, ...confining }
}

async function startsOf(
  { ports }: Context,
  questions: Questions,
  { home, isNew, start }: { home: string; isNew: boolean; start: boolean | undefined },
): Promise<Starts> {
  const running = await ports.daemon.running(home)
  if (running === null) {
    if (start === undefined) questions.need('--start or --no-start')
    if (start === false) return 'no'
    return 'now'
  }
  questions.tell(`6 daemon   runs already: pid ${running}`)
  if (!isNew) return 'runs'
  const words = '           it knows what was set when it was started: start it anew?'
  if (start ?? (questions.may_ask && (await questions.yes(words, '--start or --no-start')))) {
    return 'anew'
  }
  questions.tell(
    '           it knows what was set when it was started: holon stop, then holon start',
  )
  return 'stale'
}

async function homeOf(context: Context, questions: Questions): Promise<string> {
  const { ports, home } = context
  const path = ports.absolute(expand(ports, home.value))
  const facts = await ports.home_facts(path)
  if (facts.exists && !facts.is_folder) {
    throw usage('home_is_file', `${path} is a file, not a folder`, 'choose another with --home')
  }
  const another = home.source === 'default' ? '; --home names another' : ''
  questions.tell(`1 home     ${tilde(ports, path)}${facts.exists ? ', is there' : ''}${another}`)
  return path
}

async function agentOf(
  context: Context,
  questions: Questions,
  options: InitOptions,
): Promise<Agent> {
  const { ports } = context
  const id = options.agent ?? 'main'
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(id)) {
    throw usage('bad_agent_name', `--agent ${id} is no name`, 'use a-z, 0-9, . _ -')
  }
  const row = await reading(context, (reader) => reader.row('agents', id))
  if (row?.state === 'deleted') {
    throw usage(
      'agent_deleted',
      `${id} was deleted, and names are never used again`,
      'give --agent',
    )
  }
  const usual = row?.workspace.root ?? ports.working_folder
  const root = ports.absolute(expand(ports, options.workspace ?? usual))
  if (!(await ports.folder_exists(root))) {
    throw usage('workspace_missing', `there is no folder ${root}`, 'make it, or give --workspace')
  }
  const isGit = await ports.folder_exists(`${root}/.git/objects`)
  questions.tell(`4 agent    ${id}, works in ${tilde(ports, root)}${isGit ? ' (git)' : ''}`)
  questions.tell(`           elsewhere: holon agents configure ${id} --workspace <folder>`)
  return { id, root, exists: row !== null }
}

/** The key first: a configuration never names a file that is not there. The path of a new key. */
async function write(context: Context, answers: Answers): Promise<string | null> {
  const { model, port, going_on } = answers
  const { ports, home } = context
  const { config: before, path } = await readConfig(ports, home.value)
  if (going_on === 'watch') {
    await ports.write_private(policyPath(home.value), '{ "preset": "watch" }\n')
  }
  const config: Config = {
    ...before,
    ...(going_on === 'unconfined' ? { sandbox: 'off' as const } : {}),
    ...(port === null ? {} : { http: { ...before.http, port } }),
  }
  if (model.chosen !== 'provider') {
    await ports.write_private(path, `${JSON.stringify(config, null, 2)}\n`)
    return null
  }
  const { id, kind, base_url, source } = model
  const written = source.from === 'typed' ? await writeKey(context, id, source.key) : null
  const file = source.from === 'file' ? source.path : written
  const provider = {
    kind,
    ...(base_url === null ? {} : { base_url }),
    ...(file === null ? {} : { api_key_file: file }),
    ...(source.from === 'environment' ? { api_key_env: source.variable } : {}),
  }
  const changed: Config = {
    ...config,
    model: `${id}/${model.model}`,
    providers: { ...config.providers, [id]: provider },
  }
  const text = `${JSON.stringify(changed, null, 2)}\n`
  await parseConfig(ports, path, text)
  await ports.write_private(path, text)
  return file
}

/** A key of the same provider that another home uses is left alone: this one gets a number. */
async function writeKey(context: Context, id: string, key: string): Promise<string> {
  const { ports } = context
  for (let n = 1; ; n++) {
    const path = keyPath(context, n === 1 ? id : `${id}-${n}`)
    const read = await ports.read_text(path, 65_536)
    if (read.ok && read.text.trim() === key) return path
    if (!read.ok && read.why === 'not_found') {
      await ports.write_private(path, `${key}\n`)
      return path
    }
    if (n >= 1_000) throw new CliFailure(exits.failed, problemOf('io', `${path} is the thousandth`))
  }
}

async function makeAgent(
  context: Context,
  questions: Questions,
  { agent, model, starts }: Answers,
): Promise<void> {
  const { id, root, exists } = agent
  if (starts === 'stale' && model.chosen === 'provider') {
    const act = exists ? 'configure' : 'create'
    const name = `${model.id}/${model.model}`
    return questions.tell(`           and then holon agents ${act} ${id} --model ${name}`)
  }
  const workspace = { mode: 'explicit_root' as const, root }
  const named = model.chosen === 'provider' ? { model: `${model.id}/${model.model}` } : {}
  const settings = { agent_id: id, workspace, ...named }
  await perform(context, { do: exists ? 'configure_agent' : 'create_agent', ...settings })
}

function ready(
  context: Context,
  { home, model, agent, starts }: Answers,
  { key, config }: { key: string | null; config: Config },
): Exit {
  const name = model.chosen === 'provider' ? `${model.id}/${model.model}` : null
  if (context.flags.json === true) {
    const { id, root } = agent
    const kept = model.chosen === 'kept' ? model.model : null
    printJson(context, {
      home,
      model: name ?? kept,
      key_file: key,
      agent: { id, workspace: root },
      daemon_started: starts === 'now' || starts === 'anew',
    })
    return exits.done
  }
  const who = agent.id === 'main' ? '' : ` --agent ${agent.id}`
  const words =
    model.chosen === 'none'
      ? `holon run${who} examples/health.md`
      : `holon run${who} "list what is slow here"`
  const small = smallWindow(config, model.chosen === 'kept' ? model.model : name)
  printLines(context, [
    ...(small === null ? [] : [`${small}.`]),
    `Ready.  Try:  ${words}`,
    ...(key === null ? [] : [`The key is in ${tilde(context.ports, key)}, mode 0600.`]),
  ])
  return exits.done
}
