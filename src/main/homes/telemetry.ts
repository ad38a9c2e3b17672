/**
 * What the daemon tells about itself: its log, its metrics, and traces where the environment asks
 * for them. Loaded by the daemon only. Made before the home is taken, so that taking it is timed
 * and told of; what is counted at a scrape is given later, by `watch`.
 */
import { readdir } from 'node:fs/promises'
import type { ServeSettings } from '../../cli/command/daemon-ports.ts'
import type { Facts } from '../../domain/facts/facts.ts'
import { systemLogFiles } from '../../exec/daemon/log-files.ts'
import type { AccessLogEntry } from '../../http/app.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { HostNotice } from '../../runtime/ports.ts'
import { openLogFile } from '../../telemetry/log-file.ts'
import { logDelivery, logHttp, logNotices } from '../../telemetry/log-notices.ts'
import type { Redact } from '../../telemetry/log-line.ts'
import { createLog, type Log } from '../../telemetry/log.ts'
import { countLive } from '../../telemetry/live-counts.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import type { DeliverySeen } from '../../telemetry/observations.ts'
import { startTracing } from '../../telemetry/tracing.ts'
import { tools } from '../../tools/registry.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { clock, env } from '../machine/machine.ts'
import { logToStandardError } from '../machine/outputs.ts'

/** What a scrape looks at. */
export type ScrapeSources = {
  facts(): Iterable<Facts>
  streams(): number
  is_degraded(): boolean
}

export type Telemetry = {
  log: Log
  /** The same ledger, with its commits timed. */
  timed(ledger: Ledger): Ledger
  watch(watched: ScrapeSources): void
  notice(notice: HostNotice): void
  answered(answered: AccessLogEntry): void
  /** A delivery that left no row: it came again, or was not signed as it must. */
  delivery(seen: DeliverySeen): void
  requestFailed(error: unknown, request: string): void
  metrics(): Promise<string>
  close(): Promise<void>
}

export async function telemetryOf(settings: ServeSettings, redact: Redact): Promise<Telemetry> {
  const sink = sinkOf(settings)
  const log = createLog({ clock, level: settings.log_level, redact, write: sink.write })
  let watched: ScrapeSources = { facts: () => [], streams: () => 0, is_degraded: () => false }
  const metrics = createMetrics({
    clock,
    version: packageJson.version,
    tool_names: tools.map(({ name }) => name),
    process: processReads,
    counts: () => countLive(watched.facts()),
    stream_clients: () => watched.streams(),
    is_degraded: () => watched.is_degraded(),
    log_lines_lost: sink.lost,
  })
  const tracing = await startTracing(env, {
    clock,
    redact,
    version: packageJson.version,
    problem_changed: (problem) =>
      problem === null ? log.info('traces arrive again') : log.warn(problem),
  })
  const told = logNotices(log)
  return {
    log,
    timed: (ledger) => ({
      ...ledger,
      commit: metrics.timed((...changes) => ledger.commit(...changes)),
    }),
    watch: (given) => {
      watched = given
    },
    notice(notice) {
      told(notice)
      metrics.notice(notice)
      tracing?.notice(notice)
    },
    answered({ method, route, status, ms }) {
      const seen = { method, route: route === '?' ? null : route, status, ms }
      metrics.http(seen)
      logHttp(log, seen)
    },
    delivery(seen) {
      metrics.delivery(seen)
      logDelivery(log, seen)
    },
    requestFailed(error, request) {
      // A fault of the world is told in a sentence; where a bug was thrown is half of what it is.
      const isFault = error instanceof Error && 'retry' in error
      const reason = isFault
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error)
      log.error('a request failed', { request, reason })
    },
    metrics: () => metrics.text(),
    close: async () => {
      await tracing?.close()
    },
  }
}

function sinkOf({ log_path }: ServeSettings) {
  if (log_path !== null) return openLogFile(log_path, systemLogFiles)
  return logToStandardError()
}

const processReads = {
  started_at: performance.timeOrigin,
  cpu: () => process.cpuUsage(),
  memory: () => process.memoryUsage(),
  loop_active: () => performance.eventLoopUtilization().active,
  open_files: () =>
    readdir('/proc/self/fd').then(
      (names) => names.length,
      () => null,
    ),
}
