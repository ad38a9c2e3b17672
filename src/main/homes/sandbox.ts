/**
 * Confinement as `config.json` asks for it: what the commands of a home are started with, and for
 * `holon doctor` whether this machine can.
 */
import { join } from 'node:path'
import type { ConfinementOptions } from '../../exec/commands/confinement.ts'
import type { ConfinementState } from '../../exec/ports.ts'
import type { Config } from '../../protocol/config.ts'
import { clock, env, expanded } from '../machine/machine.ts'

/** Nothing where confinement is not asked for. */
export function confinementOf(
  home: string,
  { sandbox }: Config,
): { confinement?: ConfinementOptions } {
  if (sandbox === undefined) return {}
  const { network = 'none', writable = [] } = sandbox
  return {
    confinement: { folder: join(home, 'sandbox'), network, writable: writable.map(expanded) },
  }
}

/** Tries the canaries, in an existing home. */
export async function sandboxState(home: string, config: Config): Promise<ConfinementState> {
  if (config.sandbox === undefined) return { state: 'off' }
  const { createProcesses } = await import('../../exec/commands/processes.ts')
  const tasks_folder = join(home, 'tasks')
  const asked = confinementOf(home, config)
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
