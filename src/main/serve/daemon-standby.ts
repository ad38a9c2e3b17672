/** Starts the daemon's standby on its listening sockets, and tells the log what becomes of it. */
import type { ServeSettings } from '../../cli/command/daemon-ports.ts'
import { programBeside } from '../../exec/program.ts'
import { startStandby, type Standby, type StandbyNotice } from '../../exec/daemon/standby.ts'
import type { Listening } from '../../http/server.ts'
import { ownHosts } from '../../http/gate/own-hosts.ts'
import { clock } from '../machine/machine.ts'
import type { Telemetry } from '../homes/telemetry.ts'

/** Null on a system whose listening sockets cannot be handed on. */
export function standBy(
  { home, config }: ServeSettings,
  listening: Listening,
  log: Telemetry['log'],
): Standby | null {
  const descriptors = listening.descriptors()
  if (descriptors.length === 0) return null
  return startStandby({
    program: programBeside('standby', import.meta.url),
    home,
    descriptors,
    hosts: [...ownHosts(listening.port, config.http?.hosts ?? [])],
    clock,
    onNotice: (notice) => tell(notice, log),
  })
}

function tell(notice: StandbyNotice, log: Telemetry['log']): void {
  switch (notice.kind) {
    case 'relieved':
      return log.warn('the daemon was silent', { silent_ms: notice.silent_ms })
    case 'lost': {
      const { reason, again_ms } = notice
      return log.warn('there is no standby', { reason, again_ms })
    }
  }
}
