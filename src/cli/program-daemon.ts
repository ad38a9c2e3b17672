/** The part of the command line that is about the daemon itself: its commands and their flags. */
import { Option, type Command } from 'commander'
import type { Action, Add } from './grammar.ts'

export function addDaemon(program: Command, add: Add, action: Action): void {
  const serve = listening(add(program, 'serve', 'keep agents alive and serve the HTTP API, here'))
  serve.addOption(
    new Option('--log-file <path>', 'log into a file, and begin a new one when it is large'),
  )
  serve.action((options: object) =>
    action(serve, async (context) => (await import('./serve.ts')).serve(context, options))(),
  )
  const start = listening(add(program, 'start', 'the same in the background'))
  start.action((options: object) =>
    action(start, async (context) => (await import('./daemon.ts')).start(context, options))(),
  )
  const stop = add(program, 'stop', 'stop the daemon; commands it started go on')
  stop.action(action(stop, async (context) => (await import('./daemon.ts')).stop(context)))
  const status = add(program, 'status', 'whether the daemon runs, where, and what it has')
  status.action(action(status, async (context) => (await import('./daemon.ts')).status(context)))
  const logs = add(program, 'logs', 'what the daemon logged')
    .option('--follow', 'go on as it comes')
    .option('-n, --lines <n>', 'the last so many lines (default: 100)')
  logs.action((options: object) =>
    action(logs, async (context) => (await import('./daemon.ts')).logs(context, options))(),
  )
  addService(program, add, action)
}

const listening = (command: Command): Command =>
  command
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'the port (default: 7777; 0: any free one)')
    .option('--allow-remote', 'listen on an address that other machines reach')
    .option('--log-level <level>', 'debug, info, warn or error (HOLON_LOG; default: info)')

function addService(program: Command, add: Add, action: Action): void {
  const service = add(program, 'service', 'run the daemon at login: show')
  const show = add(
    service,
    'show',
    'the unit or property list for this home, and what to do with it',
  )
  show.option('--manager <name>', 'systemd or launchd (default: what this system has)')
  show.action((options: object) =>
    action(show, async (context) => (await import('./autostart.ts')).show(context, options))(),
  )
}
