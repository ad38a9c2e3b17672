/**
 * What the settings of an agent need from the machine before they are decided (docs/spec/agent.md,
 * docs/spec/cli.md): a workspace that is a folder, and a template that is there. Explicit settings
 * win over the defaults of the template.
 */
import { isAbsolute } from 'node:path'
import { isAgentId } from '../../domain/ids.ts'
import type { DecidedAct } from '../../domain/operator/act.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { agentHome } from '../home.ts'
import type { ActPorts } from './act-ports.ts'
import { copyTemplate, hasTemplate, templateDefaults } from '../children/templates.ts'

type Settings = DecidedAct & { do: 'create_agent' | 'configure_agent' }
type Create = DecidedAct & { do: 'create_agent' }
type Ready<A> = { ok: true; command: A } | Rejection

/** Refuses a workspace that is no folder, before anything of it is stored. */
export async function checkWorkspace(
  { files }: Pick<ActPorts, 'files'>,
  { workspace }: Settings,
): Promise<Rejection | null> {
  if (workspace === undefined) return null
  const { root } = workspace
  if (!isAbsolute(root)) return no('workspace_missing', `${root} is no absolute path.`)
  try {
    // A link to a folder is one: what it leads to is listed.
    await files.list(root)
    return null
  } catch (error) {
    if (error instanceof FileFault) return no('workspace_missing', `${error.message}.`)
    throw error
  }
}

/** The act with the defaults of its template, whose files are in the home of the agent then. */
export async function shaped(ports: ActPorts, command: Create): Promise<Ready<Create>> {
  const { agent_id, template } = command
  if (!isAgentId(agent_id)) return no('agent_id_invalid', `"${agent_id}" cannot name an agent.`)
  const home = agentHome(ports.home, agent_id)
  // The home of an agent that is there, or was, is left alone: the rules refuse the act.
  const isNew = (await ports.store.loaded(agent_id)) === null
  if (template === undefined || !isNew) {
    await ports.files.make_folder(home, 0o700)
    return { ok: true, command }
  }
  if (!(await hasTemplate(ports, template))) {
    return no('template_not_found', `There is no template "${template}".`)
  }
  const read = await templateDefaults(ports, template)
  if (!read.ok) return read
  const wanted = Object.entries(command).filter(([, value]) => value !== undefined)
  await ports.files.make_folder(home, 0o700)
  await copyTemplate(ports, template, home)
  return { ok: true, command: { ...read.defaults, ...Object.fromEntries(wanted) } as Create }
}
