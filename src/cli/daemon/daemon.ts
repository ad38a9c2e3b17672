/**
 * `holon start`, `stop`, `status` and `logs`: the daemon of a home in the background. Only the
 * process that really owns the home as its daemon is ever signalled.
 */
import { failureSentence, type ApiFailure } from '../../client/api.ts'
import { problemOf } from '../../protocol/problem.ts'
import { counted } from '../../present/lines/call-line.ts'
import { logText } from '../../present/lines/log-text.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { clockSeconds, since } from '../../present/text/span.ts'
import { printJson, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import type { LaunchEnd } from '../../ports/daemon.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'
import { portOf } from './serve.ts'
import { logLevelSetting, tilde } from '../command/settings.ts'

export type StartOptions = {
  host?: string
  port?: string
  allowRemote?: boolean
  logLevel?: string
}

/** Milliseconds in which a daemon gets ready; opening a large home takes less than one. */
const startPatience = 60_000
/** Milliseconds in which a daemon stops: its own patience, and some. */
const stopPatience = 15_000
const lookEvery = 50
/** Lines of the log that a failed start prints. */
const lastLinesShown = 10

export async function start(context: Context, options: StartOptions): Promise<Exit> {
  const { ports, home } = context
  const { daemon } = ports
  // What is wrong with the words is said here, not in a log.
  portOf(options.port)
  logLevelSetting(ports, options.logLevel, {}, '')
  const before = await daemon.running(home.value)
  if (before !== null) return already(context, before)
  const owner = await ports.owner(home.value)
  if (owner !== null) throw ownedByRun(owner.pid)
  const launched = await daemon.launch(home.value, [
    ...['serve', '--home', home.value, '--log-file', daemon.log_path(home.value)],
    ...(options.host === undefined ? [] : ['--host', options.host]),
    ...(options.port === undefined ? [] : ['--port', options.port]),
    ...(options.allowRemote === true ? ['--allow-remote'] : []),
    ...(options.logLevel === undefined ? [] : ['--log-level', options.logLevel]),
  ])
  const state: { end: LaunchEnd | null } = { end: null }
  const ended = launched.ended.then((end) => (state.end = end))
  const giveUpAt = ports.clock.monotonic() + startPatience
  while (ports.clock.monotonic() < giveUpAt && state.end === null) {
    const found = await readyDaemon(context, launched.pid)
    if (found !== null) {
      launched.release()
      return begun(context, found)
    }
    await Promise.race([ended, pause(context)])
  }
  launched.release()
  throw await notStarted(context, state.end)
}

async function readyDaemon(context: Context, pid: number | null) {
  const { daemon } = context.ports
  const found = await daemon.api(context.home.value)
  if (found === null || found.address.pid !== pid) return null
  return (await found.api.get('/readyz')).ok ? found.address : null
}

function begun(context: Context, { pid, url }: { pid: number; url: string }): Exit {
  const { ports, home } = context
  if (context.flags.json === true) printJson(context, { ready: { url, pid, home: home.value } })
  else {
    const name = safeLine(tilde(ports, home.value))
    printLines(context, [`holon serves ${name} on ${url} (pid ${pid})`])
  }
  return exits.done
}

async function already(context: Context, pid: number): Promise<Exit> {
  const found = await context.ports.daemon.api(context.home.value)
  if (context.flags.json === true && found !== null) return begun(context, found.address)
  const where = found === null ? ', and is starting' : ` on ${found.address.url}`
  printLines(context, [`it runs already: pid ${pid}${where}`])
  return exits.done
}

const ownedByRun = (pid: number): CliFailure =>
  new CliFailure(
    exits.owned,
    problemOf(
      'owned',
      `process ${pid} owns this home and is not its daemon`,
      'a holon run is at work: let it end, or end it with ctrl+c there',
      503,
    ),
  )

/** What its log says last is what went wrong. */
async function notStarted(context: Context, end: LaunchEnd | null): Promise<CliFailure> {
  const { daemon } = context.ports
  const path = daemon.log_path(context.home.value)
  const lines = complaintsIn(await daemon.log_lines(path, lastLinesShown))
  const how =
    end === null
      ? `it is not ready after ${startPatience / 1_000} s, and goes on starting`
      : (end.problem ?? (end.signal === null ? `exit ${end.code}` : `signal ${end.signal}`))
  const problem = problemOf(
    'daemon_not_started',
    `the daemon did not start: ${how}`,
    `the end of ${tilde(context.ports, path)} says why`,
    503,
  )
  const exit = end?.code === exits.owned ? exits.owned : exits.failed
  return new CliFailure(
    exit,
    problem,
    lines.flatMap((line) => safeLines(line)).map((line) => `  ${line}`),
  )
}

/** What the end of a log complains of: what went well before says nothing about a failed start. */
function complaintsIn(lines: readonly string[]): string[] {
  const well = lines.findLastIndex((line) => /^\{"level":"(debug|info)"/.test(line))
  const last = lines.slice(well + 1)
  // The same failure of an earlier start is the same failure.
  return last.filter((line, n) => line !== last[n + 1])
}

function pause({ ports }: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  ports.clock.after(lookEvery, resolve)
  return promise
}

/** Ends the daemon and waits until the home is free. A home without one is a success. */
export async function stop(context: Context): Promise<Exit> {
  const { ports, home } = context
  const { daemon } = ports
  const pid = await daemon.running(home.value)
  if (pid === null) {
    const owner = await ports.owner(home.value)
    if (owner !== null) throw ownedByRun(owner.pid)
    if (context.flags.json === true) printJson(context, { stopped: null })
    else printLines(context, ['no daemon runs'])
    return exits.done
  }
  await daemon.terminate(pid)
  const giveUpAt = ports.clock.monotonic() + stopPatience
  while ((await daemon.running(home.value)) === pid) {
    if (ports.clock.monotonic() >= giveUpAt) {
      const detail = `pid ${pid} was asked to stop and still runs after ${stopPatience / 1_000} s`
      const hint = `kill -9 ${pid} is safe: nothing acknowledged is lost`
      throw new CliFailure(exits.failed, problemOf('daemon_still_runs', detail, hint, 503))
    }
    await pause(context)
  }
  if (context.flags.json === true) printJson(context, { stopped: pid })
  else printLines(context, [`pid ${pid} has stopped; commands it started go on`])
  return exits.done
}

type Status = {
  running: boolean
  pid: number | null
  url: string | null
  started_at: string | null
  ready: boolean
  /** Why it is not ready, or cannot write. */
  problem: string | null
  agents: number
  open_work_items: number
  last_event: { global_seq: number; at: string; type: string; agent_id: string } | null
}

export async function status(context: Context): Promise<Exit> {
  const found = await statusOf(context)
  const exit = found.running ? exits.done : exits.waits
  if (context.flags.json === true) {
    printJson(context, found)
    return exit
  }
  const zone = zoneOf(context)
  const last = found.last_event
  const at = found.started_at === null ? '' : `, up ${since(found.started_at, zone)}`
  printLines(context, [
    found.running
      ? `daemon  pid ${found.pid}${at}${found.url === null ? '' : `, ${found.url}`}`
      : 'daemon  not running',
    ...(found.running
      ? [`ready   ${found.ready ? 'yes' : `no: ${safeLine(found.problem ?? '')}`}`]
      : []),
    `home    ${safeLine(tilde(context.ports, context.home.value))}: ` +
      `${counted(found.agents, 'agent')}, ${counted(found.open_work_items, 'open item')}`,
    last === null
      ? 'last    nothing has happened yet'
      : `last    ${clockSeconds(last.at, zone)} ${last.type} of ${last.agent_id}, ` +
        `event ${last.global_seq}`,
    ...(found.running ? [] : ['do      holon start']),
  ])
  return exit
}

/** The daemon answers for itself; the rest is read beside it, so that it is there without one. */
async function statusOf(context: Context): Promise<Status> {
  const { ports, home } = context
  const pid = await ports.daemon.running(home.value)
  const found = pid === null ? null : await ports.daemon.api(home.value)
  const answer = found === null ? null : await found.api.get('/readyz')
  const starting = pid === null ? null : 'it is starting'
  if (answer?.ok === false && pid !== null) refuseSilence(pid, answer.failure)
  const problem = answer === null ? starting : answer.ok ? null : failureSentence(answer.failure)
  const kept = await reading(context, async (reader) => {
    const agents = (await reader.agents()).filter(({ state }) => state !== 'deleted')
    const lives = await Promise.all(agents.map(({ id }) => reader.live(id)))
    const open = lives
      .flatMap((live) => live?.rows ?? [])
      .filter(([table, row]) => table === 'work_items' && 'state' in row && row.state === 'open')
    const last = await reader.lastGlobalSeq()
    const [event] = last === 0 ? [] : await reader.events({ after: last - 1, limit: 1 })
    return { agents: agents.length, open_work_items: open.length, event }
  })
  const { event } = kept
  return {
    running: pid !== null,
    pid,
    url: found?.address.url ?? null,
    started_at: found?.address.started_at ?? null,
    ready: answer?.ok === true,
    problem,
    agents: kept.agents,
    open_work_items: kept.open_work_items,
    last_event:
      event === undefined
        ? null
        : {
            global_seq: event.global_seq,
            at: event.at,
            type: event.event.type,
            agent_id: event.agent_id,
          },
  }
}

/**
 * Of a daemon that hangs, most often on its disk, nothing more is read: its files are on that disk,
 * and this process would hang as well.
 */
function refuseSilence(pid: number, failure: ApiFailure): void {
  const answeredBy = failure.kind === 'problem' && failure.problem.code === 'unresponsive'
  if (!answeredBy && failure.kind !== 'timeout') return
  const says = failureSentence(failure).replace(/^The daemon has/, 'has')
  const detail = `the daemon (pid ${pid}) runs and ${answeredBy ? says : `gives ${says}`}`
  throw new CliFailure(exits.failed, problemOf('unresponsive', detail))
}

function noLog({ ports }: Context, path: string): CliFailure {
  const detail = `there is no log in ${tilde(ports, path)}`
  const hint = 'holon start writes one; holon serve logs to its own stderr'
  return new CliFailure(exits.failed, problemOf('no_log', detail, hint, 404))
}

/** What others wrote is made visible, in words and in JSON. */
function shown(context: Context, text: string): string {
  const lines = text.replace(/\n$/, '').split('\n')
  const inWords = (line: string) => logText(line, context.ids, zoneOf(context))
  const safe = context.flags.json === true ? safeLine : inWords
  return `${lines.map((line) => safe(line)).join('\n')}\n`
}

export type LogsOptions = { follow?: boolean; lines?: string }

const usualLines = 100

/** In words on a terminal; the JSON lines themselves into a pipe, and with `--json` anywhere. */
export async function logs(context: Context, options: LogsOptions): Promise<Exit> {
  const { ports, home } = context
  const path = ports.daemon.log_path(home.value)
  const { lines = String(usualLines) } = options
  if (!/^\d{1,6}$/.test(lines)) {
    throw usage('bad_number', `-n ${lines} is not a count`, 'give a number of lines')
  }
  const print = (text: string) => ports.out(ports.terminal.stdout ? shown(context, text) : text)
  const stopped = new AbortController()
  const stopListening = ports.on_interrupt(() => stopped.abort())
  try {
    const last = await ports.daemon.log_lines(path, Number(lines))
    if (last.length > 0) print(`${last.join('\n')}\n`)
    else if (options.follow !== true) throw noLog(context, path)
    if (options.follow === true) await ports.daemon.log_follow(path, stopped.signal, print)
    return exits.done
  } finally {
    stopListening()
  }
}
