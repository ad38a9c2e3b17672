/**
 * What keeps the agents of a home in, as its `config.json`, its `policy.json` and its ledger say it
 * together: what commands are started with, for `holon doctor`, `holon init` and the first run
 * whether this machine can, and which hosts commands reach where some are listed. They are the list
 * and the rules of the files as they are at this moment, so that a changed rule holds from the next
 * connection; a policy that cannot be read refuses every host, with the reason.
 */
import { join } from 'node:path'
import type { Guards } from '../../cli/command/guards.ts'
import type { PolicyStanding } from '../../cli/command/policy-ports.ts'
import {
  confiningOf,
  homeAge,
  homePreset,
  type HomeAge,
  type PresetFile,
  type SandboxChoice,
} from '../../domain/policy/in-force.ts'
import { askedHost, ruleOnHost } from '../../domain/policy/host.ts'
import type { PolicyRule } from '../../domain/policy/rule.ts'
import { sourceWords } from '../../domain/policy/words.ts'
import type { ConfinementOptions } from '../../exec/commands/confinement.ts'
import type { ConfinementState, HostGate, HostVerdict } from '../../exec/ports.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import type { Config } from '../../protocol/config.ts'
import { clock, env, expanded } from '../machine/machine.ts'

/**
 * What commands may connect to where nobody said it: who starts out installs packages and fetches,
 * and what asks a host by itself is asked about by the policy.
 */
const usualNetwork = 'open'

export function choiceOf({ sandbox }: Pick<Config, 'sandbox'>): SandboxChoice {
  if (sandbox === undefined) return 'unset'
  return sandbox === 'off' ? 'off' : 'asked'
}

/** Of the home whose ledger is open. */
export const ageIn = async (reader: Pick<LedgerReads, 'madeAtSchema'>): Promise<HomeAge> =>
  homeAge(await reader.madeAtSchema())

/** A home without a ledger is made by whoever opens it first: now. */
export async function ageOf(home: string): Promise<HomeAge> {
  const [{ openHomeReader }, { LedgerFault }] = await Promise.all([
    import('./reader.ts'),
    import('../../ledger/port.ts'),
  ])
  try {
    const reader = await openHomeReader(home)
    if (reader === null) return 'new'
    try {
      return await ageIn(reader)
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (error instanceof LedgerFault && error.code === 'older_schema') return 'existing'
    throw error
  }
}

/** Who judges hosts of a home; null where none are listed. */
export function hostsOf(config: Config, rulesNow: RulesNow): HostGate | null {
  const network = askedOf(config)?.network ?? 'none'
  return typeof network === 'string' ? null : hostGate(network.allow, rulesNow)
}

const askedOf = ({ sandbox }: Config) => (sandbox === 'off' ? undefined : sandbox)

/** Nothing where no command is to be confined. `gate`: who judges the hosts that are listed. */
export function confinementOf(
  home: string,
  config: Config,
  { age, gate }: { age: HomeAge; gate: HostGate | null },
): { confinement?: ConfinementOptions } {
  const confining = confiningOf(age, choiceOf(config))
  if (confining.whom === 'nobody') return {}
  const { whom } = confining
  const asked = askedOf(config)
  const { network: of = asked === undefined ? usualNetwork : 'none', writable = [] } = asked ?? {}
  const network = typeof of === 'string' ? of : { allow: of.allow, gate: gate ?? nobody }
  const folder = join(home, 'sandbox')
  return { confinement: { folder, whom, network, writable: writable.map(expanded) } }
}

/** Where no command is started. */
const nobody: HostGate = {
  judge: async () => ({ ok: false, why: 'no host is judged here' }),
}

/** Tries the canaries: in the home where there is one, else beside it, and leaves nothing there. */
export async function confinementState(
  home: string,
  config: Config,
  age: HomeAge,
): Promise<ConfinementState> {
  const { existsSync, mkdtempSync, realpathSync, rmSync } = process.getBuiltinModule('node:fs')
  const { tmpdir } = process.getBuiltinModule('node:os')
  const isThere = existsSync(join(home, 'ledger'))
  const place = isThere ? home : realpathSync(mkdtempSync(join(tmpdir(), 'holon-tries-')))
  const asked = confinementOf(place, config, { age, gate: null })
  if (asked.confinement === undefined) return { state: 'off' }
  try {
    const { createProcesses } = await import('../../exec/commands/processes.ts')
    const tasks_folder = join(place, 'tasks')
    const processes = createProcesses({ tasks_folder, clock, parent_env: env, ...asked })
    try {
      return await processes.confinement()
    } finally {
      await processes.close()
    }
  } finally {
    if (!isThere) rmSync(place, { recursive: true, force: true })
  }
}

/** What holds in a home now. Rejects with faults of its ledger. */
export async function guardsOf(home: string, config: Config): Promise<Guards> {
  const age = await ageOf(home)
  const machine = await confinementState(home, config, age)
  const { ownNow } = await import('./policy-good.ts')
  return guardsFrom({ age, choice: choiceOf(config), machine, own: await ownNow(home) })
}

export type GuardFacts = {
  age: HomeAge
  choice: SandboxChoice
  machine: ConfinementState
  own: { written: PresetFile; refused: PolicyStanding | null }
}

export function guardsFrom({ age, choice, machine, own }: GuardFacts): Guards {
  const confining = confiningOf(age, choice)
  const because = confining.whom === 'nobody' ? confining.because : 'chosen'
  const sandbox = machine.state === 'off' ? { state: 'off' as const, because } : machine
  const { written, refused } = own
  if (refused !== null) return { age, sandbox, policy: { is: 'refused', refused } }
  const preset = homePreset(age, choice, machine.state === 'on', written)
  return { age, sandbox, policy: preset === null ? { is: 'none' } : { is: 'in_force', preset } }
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
