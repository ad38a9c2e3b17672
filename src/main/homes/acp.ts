/**
 * Sessions of agents of other makers for a home that this process owns. Most runs have none, so
 * what drives them is loaded when the first is asked for.
 */
import { join } from 'node:path'
import type { AcpSessions } from '../../exec/acp/session.ts'
import type { Processes } from '../../exec/ports.ts'
import { clock, env } from '../machine/machine.ts'

/** The same sessions at every call. `processes` is asked for when the first is needed. */
export function acpSessionsOf(
  home: string,
  processes: () => Processes,
): () => Promise<AcpSessions> {
  let made: Promise<AcpSessions> | null = null
  const tasks_folder = join(home, 'tasks')
  return () =>
    (made ??= import('../../exec/acp/session.ts').then(
      ({ AcpSessions }) =>
        new AcpSessions({ tasks_folder, clock, parent_env: env, processes: processes() }),
    ))
}
