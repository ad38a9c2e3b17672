/**
 * `holon serve`: owns the home and serves it until it is told to stop. A stop does no more than a
 * kill would leave: nothing is accepted any more, each lap goes to its next safe point, and what is
 * open stays open for the next start. It runs with no agent as well as with a thousand.
 */
import { safeLine } from '../../present/text/safe.ts'
import { readConfig } from '../command/config-file.ts'
import { printJson, type Context } from '../command/context.ts'
import type { Serving } from '../command/daemon-ports.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { logLevelSetting, tilde } from '../command/settings.ts'

export type ServeOptions = {
  host?: string
  port?: string
  allowRemote?: boolean
  logLevel?: string
  logFile?: string
}

export const usualPort = 7777

/** Milliseconds in which the laps must reach a safe point; then it leaves as a kill would. */
const stopPatience = 9_000
/** Milliseconds that leaving at once may take. */
const leaveAtOnce = 500

export async function serve(context: Context, options: ServeOptions): Promise<Exit> {
  const { ports, home } = context
  const { config, path } = await readConfig(ports, home.value)
  const stopped = Promise.withResolvers<'stop'>()
  const again = Promise.withResolvers<'again'>()
  let stops = 0
  const stopListening = ports.daemon.on_stop(() => {
    stops += 1
    if (stops === 1) stopped.resolve('stop')
    else again.resolve('again')
  })
  try {
    const begun = ports.daemon.serve({
      home: home.value,
      config,
      host: options.host ?? config.http?.host ?? null,
      port: portOf(options.port) ?? config.http?.port ?? usualPort,
      allow_remote: options.allowRemote === true,
      log_level: logLevelSetting(ports, options.logLevel, config, path).value,
      log_path: options.logFile === undefined ? null : ports.absolute(options.logFile),
    })
    const serving = await Promise.race([begun, stopped.promise])
    // Not begun yet: leaving now is what a kill would do, and that is always safe.
    if (serving === 'stop') return exits.done
    ready(context, serving)
    const end = await Promise.race([stopped.promise, serving.failed])
    if (end !== 'stop') {
      ports.err(`holon: the runtime gave up: ${safeLine(end)}\n`)
      await left(context, serving.close('now'), leaveAtOnce)
      return exits.failed
    }
    await stop(context, serving, again.promise)
    return exits.done
  } finally {
    stopListening()
  }
}

function ready(context: Context, { url, pid }: Serving): void {
  const { ports, home, flags } = context
  if (flags.json === true) {
    printJson(context, { ready: { url, pid, home: home.value } })
    return
  }
  ports.out(`holon serves ${safeLine(tilde(ports, home.value))} on ${url} (pid ${pid})\n`)
}

async function stop(context: Context, serving: Serving, again: Promise<'again'>): Promise<void> {
  const closing = serving.close('safe_point').then(() => 'closed' as const)
  const end = await Promise.race([closing, again, timeUp(context, stopPatience)])
  if (end === 'closed') return
  // What the polite end still reports has no listener any more.
  closing.catch(() => {})
  await left(context, serving.close('now'), leaveAtOnce)
}

/** Waits for the end of it, but not for long: whatever is left is as after a kill. */
async function left(context: Context, closing: Promise<void>, patience: number): Promise<void> {
  const quiet = closing.catch(() => {})
  await Promise.race([quiet, timeUp(context, patience)])
}

function timeUp({ ports }: Context, ms: number): Promise<'late'> {
  const { promise, resolve } = Promise.withResolvers<'late'>()
  ports.clock.after(ms, () => resolve('late'))
  return promise
}

export function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw usage('bad_port', `--port ${text} is no port`, 'give a number from 0 to 65535; 0: any free')
}
