/**
 * `holon run`: takes the home, checks everything that can be refused, says one thing to one agent
 * (or nothing, with `--resume`), prints what happens until nothing is pending, and leaves. The
 * session is in session.ts, the rule of when it ends in state.ts.
 */
import type { Agent } from '../../protocol/records/records.ts'
import type { Config } from '../../protocol/config.ts'
import { usualAgents } from '../../protocol/usual-agents.ts'
import { configPath, readConfig } from '../command/config-file.ts'
import type { Context } from '../command/context.ts'
import {
  CliFailure,
  exits,
  noAgent,
  problemWords,
  refused,
  usage,
  type Exit,
} from '../command/failure.ts'
import type { OwnedHome } from '../command/run-ports.ts'
import { RunSession } from './session.ts'
import {
  checkModel,
  checkRunbook,
  chooseModel,
  chooseWorkspace,
  readTarget,
  type RunOptions,
  type RunTarget,
} from './target.ts'
import { modelSetting, tilde } from '../command/settings.ts'

export async function run(
  context: Context,
  words: readonly string[],
  options: RunOptions,
): Promise<Exit> {
  const { ports, home } = context
  const target = await checkRunbook(context, await readTarget(context, words, options))
  const { config } = await readConfig(ports, home.value)
  if (target.kind === 'resume' && (await hasNothing(context))) {
    if (context.flags.json !== true) ports.err(`nothing is open in ${home.value}\n`)
    return exits.done
  }
  // A daemon is asked to do it and is followed; without one this process owns the home itself.
  const served = (await ports.daemon.running(home.value)) !== null
  const attached = served ? await ports.daemon.attach(home.value) : null
  const owned = attached ?? (await ports.own({ home: home.value, config }))
  let how: 'safe_point' | 'now' = 'safe_point'
  let said: string | null = null
  try {
    const { agents, left_out } = await prepare(context, owned, { target, options, config })
    const guarded = await firstRunWords(context, owned, agents, config)
    const warnings = [...left_out, ...(await smallWindows(config, agents)), ...guarded]
    const ask = options.input !== false
    // Without a daemon nothing went on while nobody followed.
    const goesOn = attached !== null && target.kind === 'resume'
    const missed = goesOn ? await missedBy(context, agents) : []
    const session = new RunSession(context, owned, { target, agents, ask, warnings, missed })
    const exit = await session.run()
    how = session.closing
    said = session.fault
    return exit
  } finally {
    await owned.close(how).catch((error: unknown) => {
      // What ended the run also meets the last commit: it is said once.
      if (!(error instanceof Error && error.message === said)) throw error
    })
  }
}

/** Windows are known where the configuration gives them; its schema is loaded only then. */
async function smallWindows(config: Config, agents: readonly Agent[]): Promise<string[]> {
  if (config.models === undefined) return []
  const { smallWindow } = await import('../command/small-window.ts')
  return agents.flatMap(({ model }) => smallWindow(config, model) ?? [])
}

/** What keeps its commands in, where a language model thinks for an agent for the first time. */
async function firstRunWords(
  { ports, home }: Context,
  { host }: OwnedHome,
  agents: readonly Agent[],
  config: Config,
): Promise<string[]> {
  const isNew = ({ id, model }: Agent) => {
    const pacing = host.facts(id)?.row('pacing', id)
    return model !== 'runbook' && (pacing?.kind !== 'agent' || pacing.turn_count === 0)
  }
  if (config.sandbox !== undefined || !agents.some(isNew)) return []
  const { firstRunLine } = await import('../command/guards.ts')
  return [firstRunLine(await ports.guards(home.value, config)) ?? []].flat()
}

const missedBy = async (context: Context, agents: readonly Agent[]) =>
  (await import('./missed.ts')).missedReports(context, agents)

async function hasNothing({ ports, home }: Context): Promise<boolean> {
  const reader = await ports.open_reader(home.value).catch((error: unknown) => {
    // Only an owner can read the ledger of an earlier program: this run is to be it.
    if (error instanceof Error && 'code' in error && error.code === 'older_schema')
      return 'unread' as const
    throw error
  })
  if (reader === 'unread') return false
  if (reader === null) return true
  try {
    return (await reader.agents()).length === 0
  } finally {
    await reader.close()
  }
}

type Asked = { target: RunTarget; options: RunOptions; config: Config }

/** The agents this run follows, with their settings stored; a sentence on each it leaves out. */
type Prepared = { agents: Agent[]; left_out: string[] }

/** Nothing is admitted before. */
async function prepare(context: Context, owned: OwnedHome, asked: Asked): Promise<Prepared> {
  const known = (await owned.agents()).filter((agent) => agent.state !== 'deleted')
  const { target, options } = asked
  if (target.kind !== 'resume') {
    const id = options.agent ?? usualAgents[target.kind]
    const agent = known.find((one) => one.id === id) ?? null
    return { agents: [await configure(context, owned, asked, { id, agent })], left_out: [] }
  }
  const resumed =
    options.agent === undefined ? known : known.filter((one) => one.id === options.agent)
  if (resumed.length === 0 && options.agent !== undefined) {
    throw noAgent(
      options.agent,
      known.map((agent) => agent.id),
    )
  }
  if (resumed.length !== 1 && (options.model ?? options.workspace) !== undefined) {
    throw usage('which_agent', 'there are several agents', 'say whose setting it is with --agent')
  }
  return resume(context, owned, asked, resumed)
}

/** One that cannot be asked, for want of a model or of its key, does not keep the others. */
async function resume(
  context: Context,
  owned: OwnedHome,
  asked: Asked,
  resumed: readonly Agent[],
): Promise<Prepared> {
  const agents: Agent[] = []
  const failures: { id: string; failure: CliFailure }[] = []
  for (const agent of resumed) {
    try {
      agents.push(await configure(context, owned, asked, { id: agent.id, agent }))
    } catch (error) {
      if (!(error instanceof CliFailure) || error.exit !== exits.usage) throw error
      failures.push({ id: agent.id, failure: error })
    }
  }
  const [first] = failures
  if (agents.length === 0 && first !== undefined) throw first.failure
  const left_out = failures.map(
    ({ id, failure }) => `agent ${id} is left out: ${problemWords(failure.problem)}`,
  )
  return { agents, left_out }
}

async function configure(
  context: Context,
  owned: OwnedHome,
  { target, options, config }: Asked,
  { id, agent }: { id: string; agent: Agent | null },
): Promise<Agent> {
  const file = tilde(context.ports, configPath(context.home.value))
  const given = modelSetting(context.ports, options.model, config, file)
  const chosen = chooseModel(target, given, agent?.model ?? null)
  if ('refused' in chosen)
    throw usage('runbook_agent', `agent ${id} ${chosen.refused}`, chosen.hint)
  if ('missing' in chosen) throw usage('no_model', chosen.missing, chosen.hint)
  await checkModel(owned, chosen.model)
  const workspace = await chooseWorkspace(context, {
    flag: options.workspace,
    configured: config.workspace,
    agent,
  })
  const made = await owned.host.ensureAgent({
    id,
    ...(chosen.store ? { model: chosen.model } : {}),
    ...(config.fallback_model === undefined ? {} : { fallback_model: config.fallback_model }),
    ...(workspace === null ? {} : { workspace }),
  })
  if (!made.ok) throw refused(made)
  return made.agent
}
