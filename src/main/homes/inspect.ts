/**
 * What the checks of a home that this process owns look at. Most runs check nothing, so what does
 * the looking is loaded when the first check is run.
 */
import { join } from 'node:path'
import type { Inspect } from '../../exec/inspect/inspect-port.ts'
import { env } from '../machine/machine.ts'

export function inspectOf(home: string): Inspect {
  let opened: Promise<Inspect> | null = null
  const real = () =>
    (opened ??= import('../../exec/inspect/inspect.ts').then(({ createInspect }) =>
      createInspect({ parent_env: env, scratch_folder: join(home, 'worktrees', '.scratch') }),
    ))
  return {
    get: async (url, most) => (await real()).get(url, most),
    tree: async (folder) => (await real()).tree(folder),
    machine: async (ms) => (await real()).machine(ms),
    repository: async (folder, ms) => (await real()).repository(folder, ms),
  }
}
