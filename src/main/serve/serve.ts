/**
 * The daemon: takes the home, opens its HTTP API, lets the laps run, and says where it is. In this
 * order, so that whatever can be refused is refused before an agent works: the lock, the modes of
 * secret files, the port, then recovery. `door.json` is written when it is ready.
 */
import type { Serving, ServeSettings } from '../../cli/command/daemon-ports.ts'
import type { Application } from '../../http/app.ts'
import type { UpkeepPort } from '../../http/request/ports.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { HostNotice } from '../../runtime/ports.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { atWork } from '../machine/started.ts'
import { ensureToken, readDoorAddress, readToken, writeDoor } from '../homes/control.ts'
import { openControlSocket } from '../homes/control-socket.ts'
import { headStart } from '../machine/defer-setup.ts'
import { homePort } from '../homes/home-port.ts'
import { clock, doorPath, env, files, pidPath } from '../machine/machine.ts'
import { giveBack, takeHome, type TakenHome } from '../homes/own-home.ts'
import { standBy } from './daemon-standby.ts'
import { startRetention } from './retention.ts'
import { secretsOf } from '../homes/secrets.ts'
import { servedAct } from './served-act.ts'
import { telemetryOf, type Telemetry } from '../homes/telemetry.ts'
import { UpkeepDesk, upkeepPort } from './upkeep-lock.ts'
import { refuseUnsignedWebhooks, webhookPorts } from './webhook-secrets.ts'

export async function serve(settings: ServeSettings): Promise<Serving> {
  const { home } = settings
  const { redactor, warnings } = await secretsOf(settings.config)
  const telemetry = await telemetryOf(settings, (text) => redactor.text(text))
  for (const warning of warnings) telemetry.log.warn(warning)
  const daemon = {
    timed: (ledger: Ledger) => telemetry.timed(ledger),
    memory_failed: (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      telemetry.log.error('the search index does not follow', { reason })
    },
  }
  const taken = await takeHome(settings, { redactor, daemon })
  try {
    redactor.register('control_token', await ensureToken(home))
    await refuseUnsignedWebhooks(settings.config)
    const { writePidFile } = await import('../../exec/daemon/daemon.ts')
    await writePidFile(pidPath(home))
    return await opened(settings, taken, telemetry)
  } catch (error) {
    try {
      await files.remove(pidPath(home))
    } finally {
      await giveBack(taken, 'now').catch(() => {
        // What went wrong first is what is told.
      })
    }
    throw error
  }
}

async function opened(
  settings: ServeSettings,
  taken: TakenHome,
  telemetry: Telemetry,
): Promise<Serving> {
  const { home } = settings
  const state = stateAtStart(await taken.ledger.agents())
  const failed = Promise.withResolvers<string>()
  const start = headStart(clock)
  taken.host.subscribe((notice: HostNotice) => {
    if (notice.kind === 'committed') {
      state.agents.add(notice.agent_id)
      taken.memory.wake()
    }
    telemetry.notice(notice)
    start.notice(notice)
    if (notice.kind === 'fault') failed.resolve(notice.message)
  })
  const desk = new UpkeepDesk()
  const upkeep = upkeepPort(desk, taken.ledger, settings)
  const listening = await listen(settings, taken, { telemetry, state, upkeep })
  telemetry.watch({
    facts: () => [...state.agents].flatMap((id) => taken.host.facts(id) ?? []),
    streams: () => listening.streams(),
    is_degraded: () => taken.host.degraded() !== null,
  })
  try {
    await taken.host.open()
    if (state.agents.size > 0) await start.over()
    state.recovering = false
    await listening.answers()
  } catch (error) {
    await Promise.all([listening.close(), telemetry.close()])
    throw error
  }
  const url = urlOf(listening.addresses, listening.port)
  await openControlSocket(home, listening, telemetry.log)
  const { started_at } = state
  await writeDoor(home, { pid: process.pid, port: listening.port, url, started_at })
  const standby = standBy(settings, listening, telemetry.log)
  telemetry.log.info('serving', { url, pid: process.pid, version: packageJson.version })
  atWork()
  // An index that is missing or behind is brought up to date while agents work.
  taken.memory.wake()
  const retention = startRetention({ clock, upkeep, log: telemetry.log })
  const close = async () => {
    telemetry.log.info('stopping')
    retention?.stop()
    const door = files.remove(doorPath(home))
    await Promise.all([door, listening.close(), standby?.close(), desk.stop()])
    try {
      await giveBack(taken, 'safe_point')
    } finally {
      await files.remove(pidPath(home))
    }
    telemetry.log.info('stopped')
    await telemetry.close()
  }
  let closing: Promise<void> | null = null
  return {
    url,
    pid: process.pid,
    failed: failed.promise,
    close(how) {
      state.stopping = true
      closing ??= close()
      return how === 'safe_point' ? closing : taken.host.close('now')
    },
  }
}

type State = { recovering: boolean; stopping: boolean; started_at: string; agents: Set<string> }

const stateAtStart = (agents: readonly { id: string }[]): State => ({
  recovering: true,
  stopping: false,
  started_at: new Date(clock.now()).toISOString(),
  agents: new Set(agents.map(({ id }) => id)),
})

async function listen(
  { home, config, host, port, allow_remote }: ServeSettings,
  taken: TakenHome,
  { telemetry, state, upkeep }: { telemetry: Telemetry; state: State; upkeep: UpkeepPort },
) {
  const { listen } = await import('../../http/server.ts')
  const { host: works, models } = taken
  const usual_model = env['HOLON_MODEL']?.trim() || (config.model ?? null)
  const late: { app: Application | null } = { app: null }
  const build = async (bound: () => number | null): Promise<Application> => {
    const { buildApp } = await import('../../http/app.ts')
    return (late.app = buildApp(
      homePort(taken.ledger, taken.host, {
        home,
        started_at: state.started_at,
        act: servedAct({ host: works, models, usual_model }, telemetry),
        agent_ids: () => [...state.agents],
        ready: () => taken.host.ready() && !state.stopping,
        metrics: () => telemetry.metrics(),
        upkeep,
        redactor: () => Promise.resolve(taken.redactor),
        search: (asked) => taken.memory.search(null, asked),
      }),
      {
        clock,
        control_token: () => readToken(home),
        port: bound,
        hosts: config.http?.hosts ?? [],
        recovering: () => state.recovering,
      },
      {
        version: packageJson.version,
        webhooks: webhookPorts(config, telemetry),
        on_answer: (answered) => telemetry.answered(answered),
        on_error: (error, request) => telemetry.requestFailed(error, request),
      },
    ))
  }
  const listening = await listen(build, {
    port,
    ...(host === null ? {} : { addresses: [host] }),
    allow_remote,
    has_token: (await readToken(home)) !== null,
    lingers: lingering(home, telemetry.log),
    clock,
  })
  taken.host.listens(urlOf(listening.addresses, listening.port))
  return { ...listening, streams: () => late.app?.streams() ?? 0 }
}

/** Whether a port was this home's when its last daemon was killed; its standby ends at once. */
function lingering(home: string, log: Telemetry['log']) {
  let told = false
  return async (port: number): Promise<boolean> => {
    const left = await readDoorAddress(home)
    if (left?.port !== port) return false
    if (!told) log.info('the port of the last daemon is not free yet', { port })
    told = true
    return true
  }
}

/** How a client on this machine reaches it: a wildcard is no address to go to. */
function urlOf([first = '127.0.0.1']: readonly string[], port: number): string {
  const reach: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const host = reach[first] ?? first
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
