/**
 * The agent that is made when the first words are sent: `main`, as `holon run` makes it, with the
 * model that is set and in the folder one stands in.
 */
import type { FirstAgent } from '../../ports/first-agent.ts'
import { usualAgents } from '../../protocol/usual-agents.ts'
import { readConfig, configPath } from './config-file.ts'
import { reading, viewsOf, type Context } from './context.ts'
import { usage } from './failure.ts'
import { perform } from './act.ts'
import { expand, modelSetting, tilde } from './settings.ts'

/** What it is made with, by the settings as they are now. */
export async function firstAgent(context: Context): Promise<FirstAgent> {
  const { ports, home } = context
  const { config } = await readConfig(ports, home.value)
  const file = tilde(ports, configPath(home.value))
  const { value: model } = modelSetting(ports, undefined, config, file)
  const { workspace: named = ports.working_folder, fallback_model } = config
  const root = ports.absolute(expand(ports, named))
  return { model, fallback_model: fallback_model ?? null, root }
}

/** The agent is there when it resolves. One that is named otherwise is never made by this. */
export async function ensureAgent(context: Context, agent: string): Promise<void> {
  const isMissing = await reading(context, async (reader, moment) => {
    const isUsual = agent === usualAgents.text && (await reader.row('agents', agent)) === null
    if (!isUsual) await viewsOf(reader, moment, agent)
    return isUsual
  })
  if (!isMissing) return
  const { model, fallback_model, root } = await firstAgent(context)
  if (model === null) {
    const hint =
      'holon init sets one up; or set HOLON_MODEL, or: holon config set model <provider/model>'
    throw usage('no_model', `there is no agent "${agent}" yet, and no model to make it with`, hint)
  }
  await perform(context, {
    do: 'create_agent',
    agent_id: agent,
    model,
    ...(fallback_model === null ? {} : { fallback_model }),
    workspace: { mode: 'explicit_root', root },
  })
}
