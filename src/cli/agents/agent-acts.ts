/** What is done to agents: made, configured, started, stopped, aborted, deleted. */
import { act, mustExist } from '../command/act.ts'
import { budgetOf, type BudgetFlags } from '../command/budget-flags.ts'
import { reading, viewsOf, type Context } from '../command/context.ts'
import { refused, usage, type Exit } from '../command/failure.ts'
import { expand } from '../command/settings.ts'
import { presetNames } from '../../protocol/records/policy-record.ts'

export async function onAgent(
  context: Context,
  verb: 'start' | 'stop' | 'delete',
  agent: string,
): Promise<Exit> {
  await mustExist(context, agent)
  return act(context, { do: `${verb}_agent`, agent_id: agent })
}

type SpendFlags = Omit<BudgetFlags, 'deadline'> & { per?: string }

export type AgentOptions = {
  model?: string
  fallbackModel?: string
  workspace?: string
  preset?: string
  /** With `--preset open`, which nobody is to get by a slip. */
  dangerously?: boolean
}

export async function createAgent(
  context: Context,
  agent: string,
  { template, ...options }: AgentOptions & { template?: string },
): Promise<Exit> {
  return act(context, {
    do: 'create_agent',
    agent_id: agent,
    ...(await settingsOf(context, options)),
    ...presetOf(options),
    ...(template === undefined ? {} : { template }),
  })
}

/** Stores the settings given; they hold from the next turn. */
export async function configureAgent(
  context: Context,
  agent: string,
  { fallback, ...options }: AgentOptions & SpendFlags & { fallback?: boolean },
): Promise<Exit> {
  await mustExist(context, agent)
  const settings = await settingsOf(context, options)
  const none = fallback === false ? { fallback_model: null } : {}
  const unset = options.preset === 'home' ? { policy_preset: null } : presetOf(options)
  const more = { ...none, ...spendOf(options), ...unset }
  if (Object.keys({ ...settings, ...more }).length === 0) {
    const hint =
      'give --model, --fallback-model, --no-fallback, --workspace, --preset or a limit of a budget'
    throw usage('nothing_to_update', `no setting of ${agent} is given`, hint)
  }
  return act(context, { do: 'configure_agent', agent_id: agent, ...settings, ...more })
}

/** The limits given, of the day or in all. */
function spendOf({ per = 'all', ...flags }: SpendFlags) {
  if (per !== 'day' && per !== 'all') {
    throw usage('bad_limit', `--per ${per} is neither day nor all`, 'write --per day, or leave it')
  }
  const limits = budgetOf(flags)
  return limits === null ? {} : { budget: { [per]: limits } }
}

/** `open` is not to be had by a slip. */
function presetOf({ preset, dangerously = false }: AgentOptions) {
  const policy_preset = presetNames.find((name) => name === preset)
  if (policy_preset === undefined && preset !== undefined) {
    const hint = `give one of ${presetNames.join(', ')}; home, where it is configured`
    throw usage('bad_preset', `--preset ${preset} is none`, hint)
  }
  if (policy_preset === 'open' && !dangerously) {
    const says = 'with preset open nothing that the agent does is asked about'
    const hint =
      'give --dangerously too, where that is meant; alone asks nobody and refuses instead'
    throw usage('bad_preset', says, hint)
  }
  if (policy_preset !== 'open' && dangerously) {
    throw usage('bad_preset', '--dangerously is for --preset open', 'leave it out')
  }
  return policy_preset === undefined ? {} : { policy_preset }
}

async function settingsOf({ ports }: Context, { model, fallbackModel, workspace }: AgentOptions) {
  const root = workspace === undefined ? null : ports.absolute(expand(ports, workspace))
  if (root !== null && !(await ports.folder_exists(root))) {
    throw usage('workspace_missing', `there is no folder ${root}`, 'make it, or name another')
  }
  return {
    ...(model === undefined ? {} : { model }),
    ...(fallbackModel === undefined ? {} : { fallback_model: fallbackModel }),
    ...(root === null ? {} : { workspace: { mode: 'explicit_root' as const, root } }),
  }
}

/** Ends the turn that is open now, as it is named to the rules: one that began since is left. */
export async function abort(
  context: Context,
  agent: string,
  { stop = true }: { stop?: boolean },
): Promise<Exit> {
  const turn = await reading(context, async (reader, moment) => {
    const [view] = await viewsOf(reader, moment, agent)
    return view?.turn ?? null
  })
  if (turn === null) {
    const message = `${agent} has no open turn, so there is nothing to abort`
    const hint = `holon agents shows what each does; holon agents stop ${agent} keeps it from more`
    throw refused({ code: 'run_stale', message, hint })
  }
  return act(context, { do: 'abort', agent_id: agent, run_id: turn.id, stop })
}
