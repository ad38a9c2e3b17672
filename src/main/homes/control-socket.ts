/**
 * The control endpoint of a home beside its port: a socket in the home that only its user can open,
 * so nobody else's connections are in the way. Where none can be made, the port is all there is.
 */
import { chmod } from 'node:fs/promises'
import { files, socketPath } from '../machine/machine.ts'
import type { Telemetry } from './telemetry.ts'

/**
 * Only the owner of the home calls it: what lies there is from a process that died. Whoever listens
 * removes it when it ends. Why there is none is told to the log; a run has none.
 */
export async function openControlSocket(
  home: string,
  open: { listenAt(path: string): Promise<void> },
  log: Telemetry['log'] | null,
): Promise<void> {
  // A named pipe is another thing, with another way to say who may open it.
  if (process.platform === 'win32') return
  const path = socketPath(home)
  try {
    await files.remove(path)
    await open.listenAt(path)
    await chmod(path, 0o600)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log?.warn('this home has no control socket', { reason })
  }
}
