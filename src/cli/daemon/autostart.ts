/**
 * `holon service show`: the file that makes the system's service manager run the daemon at login.
 * It is printed, with what to do with it; nothing is written and nobody is started.
 */
import { printJson, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { safe } from '../../present/text/safe.ts'
import {
  launchdPlist,
  serviceFileName,
  serviceName,
  systemdUnit,
  type ServiceFile,
} from './autostart-files.ts'
import { tilde } from '../command/settings.ts'

export function show(context: Context, { manager }: { manager?: string }): Exit {
  const { ports, home } = context
  const { service } = ports.daemon
  const kind = managerOf(manager) ?? service.platform
  if (kind === null) {
    const hint = 'name one with --manager systemd or --manager launchd'
    throw usage('no_service_manager', 'this system has neither systemd nor launchd', hint)
  }
  const name = serviceName(home.value, ports.default_home)
  const path = `${service.folders[kind]}/${serviceFileName(kind, name)}`
  const file = printable({
    name,
    command: service.command,
    home: home.value,
    log_path: ports.daemon.log_path(home.value),
    path: service.path,
  })
  const text = kind === 'systemd' ? systemdUnit(file, tilde(ports, path)) : launchdPlist(file)
  if (context.flags.json === true) printJson(context, { manager: kind, name, path, text })
  else ports.out(text)
  return exits.done
}

/** A line break in a name would be a setting of its own, and a terminal obeys what it prints. */
function printable(file: ServiceFile): ServiceFile {
  const words = [...file.command, file.home, file.log_path, file.path]
  const odd = words.find((word) => safe(word) !== word)
  if (odd === undefined) return file
  const hint = 'name a home, and a PATH, of characters that can be seen'
  throw usage('odd_name', `no service file can name ${safe(odd)}`, hint)
}

function managerOf(text: string | undefined): 'systemd' | 'launchd' | null {
  if (text === undefined) return null
  if (text === 'systemd' || text === 'launchd') return text
  throw usage('bad_manager', `--manager ${text} is not known`, 'it is systemd or launchd')
}
