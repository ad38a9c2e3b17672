/**
 * `holon service install|uninstall|show`: the file that makes the system's service manager run the
 * daemon at login. It is written and named; the manager itself is only called with `--now`.
 */
import { problemOf } from '../protocol/problem.ts'
import { printJson, printLines, type Context } from './context.ts'
import { CliFailure, exits, usage, type Exit } from './failure.ts'
import {
  launchdLabel,
  launchdPlist,
  serviceFileName,
  serviceName,
  systemdUnit,
} from './autostart-files.ts'
import { tilde } from './settings.ts'

export type ServiceOptions = { print?: boolean; now?: boolean; manager?: string }

type Manager = 'systemd' | 'launchd'
type Service = { manager: Manager; name: string; path: string; text: string }

export async function install(context: Context, options: ServiceOptions): Promise<Exit> {
  const { ports } = context
  const service = serviceOf(context, options)
  if (options.print === true) {
    ports.out(service.text)
    return exits.done
  }
  await refuseForeign(context, service)
  await ports.write_private(service.path, service.text)
  const commands = startCommands(service)
  if (options.now === true) await runAll(context, commands)
  if (context.flags.json === true) printJson(context, { path: service.path, name: service.name })
  else {
    const name = tilde(ports, service.path)
    const next = commands.map((words, at) => `${at === 0 ? 'do    ' : '      '}${words.join(' ')}`)
    printLines(context, [
      `${name} is written`,
      ...(options.now === true ? [] : next),
      ...notes(service),
    ])
  }
  return exits.done
}

export async function uninstall(context: Context, options: ServiceOptions): Promise<Exit> {
  const { ports } = context
  const service = serviceOf(context, options)
  await refuseForeign(context, service)
  if (options.now === true) await runAll(context, stopCommands(service))
  await ports.daemon.service.remove(service.path)
  if (context.flags.json === true) printJson(context, { path: service.path, name: service.name })
  else {
    const first = stopCommands(service).map((words) => `do    ${words.join(' ')}`)
    const name = tilde(ports, service.path)
    printLines(context, [`${name} is removed`, ...(options.now === true ? [] : first)])
  }
  return exits.done
}

/** The file as it is, or as it would be; exit 3 when none is installed. */
export async function show(context: Context, options: ServiceOptions): Promise<Exit> {
  const { ports } = context
  const service = serviceOf(context, options)
  const there = await ports.read_text(service.path, largest)
  const text = there.ok ? there.text : null
  const state = text === null ? 'absent' : text === service.text ? 'current' : 'different'
  if (context.flags.json === true) {
    printJson(context, { path: service.path, name: service.name, state, text })
  } else {
    const says = {
      absent: 'is not installed: holon service install',
      current: 'is installed and current',
      different: 'is installed, and another than holon service install would write now',
    }[state]
    printLines(context, [`${tilde(ports, service.path)} ${says}`])
    if (text !== null) ports.out(text)
  }
  return text === null ? exits.waits : exits.done
}

const largest = 64 * 1024

function serviceOf(context: Context, { manager }: ServiceOptions): Service {
  const { ports, home } = context
  const { service } = ports.daemon
  const kind = managerOf(manager) ?? service.platform
  if (kind === null) {
    const hint = 'name one with --manager systemd or --manager launchd, and --print'
    throw usage('no_service_manager', 'this system has neither systemd nor launchd', hint)
  }
  const name = serviceName(home.value, ports.default_home)
  const file = {
    command: service.command,
    home: home.value,
    log_path: ports.daemon.log_path(home.value),
    path: service.path,
  }
  const text = kind === 'systemd' ? systemdUnit(file) : launchdPlist(name, file)
  const folder = service.folders[kind]
  return { manager: kind, name, path: `${folder}/${serviceFileName(kind, name)}`, text }
}

function managerOf(text: string | undefined): Manager | null {
  if (text === undefined) return null
  if (text === 'systemd' || text === 'launchd') return text
  throw usage('bad_manager', `--manager ${text} is not known`, 'it is systemd or launchd')
}

/** A file of that name which serves another home, or was written by somebody else, is kept. */
async function refuseForeign(context: Context, service: Service): Promise<void> {
  const { ports, home } = context
  const there = await ports.read_text(service.path, largest)
  if (!there.ok || there.text === service.text) return
  const ours = there.text.includes('holon service install')
  const sameHome =
    there.text.includes(`HOLON_HOME=${home.value}"`) ||
    there.text.includes(`<string>${home.value}</string>`)
  if (ours && sameHome) return
  const detail = `${service.path} is there already, and not for this home`
  throw new CliFailure(
    exits.failed,
    problemOf('service_exists', detail, 'look at it, and remove it yourself', 409),
  )
}

function startCommands({ manager, name, path }: Service): string[][] {
  return manager === 'systemd'
    ? [
        ['systemctl', '--user', 'daemon-reload'],
        ['systemctl', '--user', 'enable', '--now', `${name}.service`],
      ]
    : [['launchctl', 'load', '-w', path]]
}

function stopCommands({ manager, name, path }: Service): string[][] {
  return manager === 'systemd'
    ? [['systemctl', '--user', 'disable', '--now', `${name}.service`]]
    : [['launchctl', 'unload', '-w', path]]
}

const notes = ({ manager, name }: Service): string[] => [
  manager === 'systemd'
    ? 'without a login it starts with   loginctl enable-linger'
    : `it is known as ${launchdLabel(name)}`,
  'keys in your shell do not reach it: name files in providers.<id>.api_key_file',
]

async function runAll(context: Context, commands: readonly string[][]): Promise<void> {
  for (const [command = '', ...args] of commands) {
    const exit = await context.ports.daemon.service.run(command, args)
    if (exit === 0) continue
    const detail = `${[command, ...args].join(' ')} ended with exit ${exit}`
    throw new CliFailure(exits.failed, problemOf('service_manager_failed', detail, null, 503))
  }
}
