/**
 * Confinement as `config.json` asks for it: what the commands of a home are started with, for
 * `holon doctor` whether this machine can, and which hosts they reach where some are listed. Those
 * are the list and the policy of the home as its files are at this moment, so that a changed rule
 * holds from the next connection; a policy that cannot be read refuses every host, with the reason.
 */
import { join } from 'node:path'
import { askedHost, ruleOnHost } from '../../domain/policy/host.ts'
import type { PolicyRule } from '../../domain/policy/rule.ts'
import { sourceWords } from '../../domain/policy/words.ts'
import type { ConfinementOptions } from '../../exec/commands/confinement.ts'
import type { ConfinementState, HostGate, HostVerdict } from '../../exec/ports.ts'
import type { Config } from '../../protocol/config.ts'
import { clock, env, expanded } from '../machine/machine.ts'

/** Who judges hosts of a home; null where none are listed. */
export function hostsOf({ sandbox }: Config, rulesNow: RulesNow): HostGate | null {
  const network = sandbox?.network ?? 'none'
  return typeof network === 'string' ? null : hostGate(network.allow, rulesNow)
}

/** Nothing where confinement is not asked for. */
export function confinementOf(
  home: string,
  { sandbox }: Config,
  gate: HostGate | null,
): { confinement?: ConfinementOptions } {
  if (sandbox === undefined) return {}
  const { network: asked = 'none', writable = [] } = sandbox
  const network = typeof asked === 'string' ? asked : { allow: asked.allow, gate: gate ?? nobody }
  return {
    confinement: { folder: join(home, 'sandbox'), network, writable: writable.map(expanded) },
  }
}

/** Where no command is started. */
const nobody: HostGate = {
  judge: async () => ({ ok: false, why: 'no host is judged here' }),
}

/** Tries the canaries, in an existing home. */
export async function sandboxState(home: string, config: Config): Promise<ConfinementState> {
  if (config.sandbox === undefined) return { state: 'off' }
  const { createProcesses } = await import('../../exec/commands/processes.ts')
  const tasks_folder = join(home, 'tasks')
  const asked = confinementOf(home, config, null)
  const processes = createProcesses({ tasks_folder, clock, parent_env: env, ...asked })
  try {
    return await processes.confinement()
  } finally {
    await processes.close()
  }
}

/** Why commands cannot be confined here; tried beside every home, and nothing is left of it. */
export async function noConfinement(): Promise<string | null> {
  const { mkdtempSync, realpathSync, rmSync } = process.getBuiltinModule('node:fs')
  const { tmpdir } = process.getBuiltinModule('node:os')
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-init-')))
  try {
    const state = await sandboxState(place, { sandbox: {} })
    return state.state === 'unavailable' ? state.why : null
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Characters of what was asked that stand in a sentence of ours. */
const SHOWN = 200

/** Rules about an agent now; never rejects. */
export type RulesNow = (
  agent_id: string,
) => Promise<{ ok: true; rules: readonly PolicyRule[] } | { ok: false; why: string }>

export function hostGate(listed: readonly string[], rulesNow: RulesNow): HostGate {
  return {
    async judge(agent_id, asked) {
      const host = askedHost(asked)
      if (host === null) {
        const shown = JSON.stringify(asked.slice(0, SHOWN))
        return refused(`${shown} is not the name of a host and a port; addresses are not reached`)
      }
      const found = await rulesNow(agent_id)
      if (!found.ok) return refused(`no host is reached: ${found.why}`)
      const ruling = ruleOnHost(host, listed, { rules: found.rules, agent: agent_id })
      if (ruling.allow) return { ok: true, ...host }
      const name = `${host.name}:${host.port}`
      return refused(ruling.rule === null ? unlisted(name) : ruled(name, ruling.rule))
    },
  }
}

const refused = (why: string): HostVerdict => ({ ok: false, why })

const unlisted = (name: string): string =>
  `${name} is not among the hosts that commands may reach. The operator can add it to ` +
  `sandbox.network.allow in config.json, or to policy.json: ` +
  `{ "decide": "allow", "host": ["${name}"] }`

function ruled(name: string, { decide, why, source }: PolicyRule): string {
  const said = why === '' ? '' : `: ${why}`
  const how = decide === 'ask' ? 'asks about, and nobody is asked of a connection' : 'denies'
  return `${name} is not reached: ${sourceWords(source)} ${how}${said}`
}
