/** The real ports of the daemon's commands; what each needs is loaded when it is used. */
import { tmpdir } from 'node:os'
import { realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DaemonPorts, ServicePorts } from '../../cli/command/daemon-ports.ts'
import { lastingPath } from '../../cli/daemon/autostart-files.ts'
import { Api, type Fetch } from '../../client/api.ts'
import { ownerOf, readDoor, readToken } from '../homes/control.ts'
import {
  clock,
  configFolder,
  env,
  ids,
  logPath,
  pidPath,
  socketPath,
  userHome,
} from '../machine/machine.ts'

export const daemonPorts: DaemonPorts = {
  serve: async (settings) => (await import('../serve/serve.ts')).serve(settings),
  async running(home) {
    const [owner, { readPidFile }] = await Promise.all([
      ownerOf(home),
      import('../../exec/daemon/daemon.ts'),
    ])
    if (owner === null) return null
    const pid = await readPidFile(pidPath(home))
    return pid === owner.pid ? pid : null
  },
  api: apiOf,
  async reading_api(home) {
    const found = await apiOf(home)
    if (found !== null) return { api: found.api, close: () => Promise.resolve() }
    return (await import('../homes/offline.ts')).offlineApi(home)
  },
  async attach(home) {
    const [found, door, { openHomeReader }, { attach }] = await Promise.all([
      apiOf(home),
      readDoor(home),
      import('../homes/reader.ts'),
      import('../../cli/run/attached.ts'),
    ])
    const reader = await openHomeReader(home)
    if (found === null || door === null || reader === null) return null
    const { api, fetch } = found
    const now = () => new Date(clock.now()).toISOString()
    return attach({ reader, api, stream: { fetch, clock }, door, now })
  },
  async launch(home, words) {
    const [{ launchDetached }, { makeHomeFolder }, { guarded }] = await Promise.all([
      import('../../exec/daemon/daemon.ts'),
      import('../../ledger/home-folder.ts'),
      import('../../ledger/sqlite/fault.ts'),
    ])
    // The log is in the home, so there must be one; a folder that cannot be is told here.
    await guarded(`Making the home ${home}`, () => makeHomeFolder(home))
    const [command = process.execPath, ...program] = ourselves()
    if (!isHolon(program[0])) throw new Error(`${program[0]} is not Holon: it would start itself`)
    return launchDetached({
      command,
      args: [...program, ...words],
      env,
      cwd: home,
      log_path: logPath(home),
    })
  },
  async terminate(pid) {
    return (await import('../../exec/daemon/daemon.ts')).terminate(pid)
  },
  sign: async (...of) => (await import('./webhook-signature.ts')).sign(...of),
  log_path: logPath,
  log_lines: async (path, count) =>
    (await import('../../exec/daemon/daemon-log.ts')).lastLines(path, count),
  log_follow: async (path, signal, onText) =>
    (await import('../../exec/daemon/daemon-log.ts')).followLog(path, clock, signal, onText),
  on_stop(listener) {
    const signals = ['SIGTERM', 'SIGINT'] as const
    for (const signal of signals) process.on(signal, listener)
    return () => {
      for (const signal of signals) process.off(signal, listener)
    }
  },
  service: servicePorts(),
}

async function apiOf(home: string) {
  const door = await readDoor(home)
  const { url, started_at, pid } = door?.address ?? {}
  if (url === undefined || started_at === undefined || pid === undefined) return null
  const { keptAliveFetch } = await import('../../models/transport/fetch.ts')
  const kept = keptAliveFetch(socketPath(home))
  const fetch: Fetch = (url, init) => kept.fetch(url, init)
  const api = new Api(
    { fetch, clock, mint_key: () => ids.mint('key'), token: () => readToken(home) },
    { base_url: url },
  )
  return { api, fetch, address: { pid, url, started_at } }
}

/** The words that start this program again: by absolute paths, whatever they were before. */
function ourselves(): string[] {
  const [node = process.execPath, program = ''] = process.argv
  return [node, program]
}

/**
 * Whether the program is one that `serve` is a word of. A test that uses the commands in its own
 * process is none, and would start itself as a daemon, which runs the test, without end.
 */
const isHolon = (program = ''): boolean =>
  ['holon.mjs', 'main.ts'].includes(basename(realpathSync(program)))

function servicePorts(): ServicePorts {
  const managers: Readonly<Record<string, 'systemd' | 'launchd'>> = {
    linux: 'systemd',
    darwin: 'launchd',
  }
  return {
    platform: managers[process.platform] ?? null,
    command: ourselves(),
    folders: {
      systemd: join(configFolder, 'systemd', 'user'),
      launchd: join(userHome, 'Library', 'LaunchAgents'),
    },
    path: lastingPath(env['PATH'] ?? '', tmpdir()),
  }
}
