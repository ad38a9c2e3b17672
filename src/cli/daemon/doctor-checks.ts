/**
 * Further checks of `holon doctor`: the keys of providers, what confines commands, and the
 * invariants of the ledger as it stands. Each says what is, and what to do where it is not well.
 */
import type { Config } from '../../protocol/config.ts'
import type { Context } from '../command/context.ts'
import { policyCheckOf, type Guards } from '../command/guards.ts'
import type { HomeReader } from '../command/ports.ts'
import { expand, tilde } from '../command/settings.ts'
import { unreadable } from '../command/unreadable.ts'

export type DoctorCheck = {
  level: 'ok' | 'warn' | 'fail'
  name: string
  says: string
  do: string | null
}

export const ok = (name: string, says: string): DoctorCheck => ({
  level: 'ok',
  name,
  says,
  do: null,
})

/** Bytes of a file with one key. */
const largestKey = 65_536

/**
 * One line for each provider with a key of its own. That a file is open to others is told by the
 * check of the secrets; here, whether there is a key at all. What it is is never looked at.
 */
export async function keyChecks({ ports }: Context, config: Config): Promise<DoctorCheck[]> {
  const checks = Object.entries(config.providers ?? {}).map(async ([id, provider]) => {
    const name = `key ${id}`
    const { api_key_file, api_key_env } = provider
    if (api_key_file !== undefined) {
      const path = ports.absolute(expand(ports, api_key_file))
      const shown = tilde(ports, path)
      const read = await ports.read_text(path, largestKey)
      if (read.ok && read.text.trim() !== '') return [ok(name, shown)]
      const says = read.ok
        ? `${shown} is empty`
        : `${shown}: ${unreadable(read.why, 'it is larger than a key')}`
      return [bad(name, says, 'put the key into that file, mode 0600, or run holon init')]
    }
    if (api_key_env === undefined) return []
    if (ports.setup.key_in(api_key_env) !== null) return [ok(name, `in ${api_key_env}`)]
    const says = `${api_key_env} is not set here`
    return [warn(name, says, `set ${api_key_env} where the daemon is started`)]
  })
  return (await Promise.all(checks)).flat()
}

const bad = (name: string, says: string, remedy: string): DoctorCheck => {
  return { level: 'fail', name, says, do: remedy }
}
const warn = (name: string, says: string, remedy: string): DoctorCheck => {
  return { level: 'warn', name, says, do: remedy }
}

/** What is asked about, and the agents of which nothing is. */
export async function policyCheck(reader: HomeReader, guards: Guards): Promise<DoctorCheck> {
  const agents = await reader.agents()
  const open = agents.flatMap(({ id, state, policy_preset }) =>
    policy_preset === 'open' && state !== 'deleted' ? [id] : [],
  )
  return { name: 'policy', ...policyCheckOf(guards, open) }
}

/** Each hook that could not be asked, or that an agent could write. */
export async function hookChecks(
  { ports, home }: Context,
  config: Config,
  workspaces: readonly string[],
): Promise<DoctorCheck[]> {
  const { hooks = [], sandbox } = config
  if (hooks.length === 0) return []
  const asked = sandbox === 'off' ? undefined : sandbox
  const shared = (asked?.writable ?? []).map((path) => expand(ports, path))
  const writable = [...workspaces, ...shared, `${home.value}/agents`]
  const problems = await ports.hook_problems(config, writable)
  if (problems.length === 0) return [ok('hooks', hooks.map(({ run: [first] }) => first).join(', '))]
  return problems.map(({ program, message, hint }) => bad('hook', `${program}: ${message}`, hint))
}

const isBug = 'this is a bug of holon: keep the home and report it'

/** What must hold of the rows at any moment; with `history` of the events too. */
export async function invariantCheck(reader: HomeReader, history: boolean): Promise<DoctorCheck> {
  const broken = await reader.invariants({ history })
  const [first, ...rest] = broken
  if (first === undefined) {
    return ok('invariants', `hold for every agent${history ? ', in its history too' : ''}`)
  }
  const more = rest.length === 0 ? '' : `; and ${rest.length} more`
  return bad('invariants', `${first}${more}`, isBug)
}
