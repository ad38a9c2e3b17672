/**
 * The metrics of the daemon: what `/metrics` answers. Fed by the host's notices, by the HTTP
 * surface and by the ledger's commits; what there is now is read at a scrape. A scrape commits
 * nothing and wakes nobody. No label ever holds an id, a path, a token or a text.
 */
import { Counter, Gauge, Registry } from 'prom-client'
import type { Clock } from '../exec/ports.ts'
import type { HostNotice } from '../runtime/ports.ts'
import { firstLabels, knownLabel, statusClass } from './label.ts'
import type { LiveCounts } from './live-counts.ts'
import { meterNotices } from './metric-notices.ts'
import { metricSet, type MetricSet } from './metric-set.ts'
import { processMetrics, type ProcessReads } from './process-metrics.ts'
import type { DeliverySeen, HttpSeen } from './observations.ts'

/** Contract of the functions: called at each scrape, cheap; a throw fails the scrape alone. */
export type MetricsPorts = {
  clock: Clock
  version: string
  /** The tools there are: a model may name others, which are counted as `other`. */
  tool_names: Iterable<string>
  process: ProcessReads
  counts(): LiveCounts
  stream_clients(): number
  is_degraded(): boolean
  /** Lines the log could not write so far. */
  log_lines_lost(): number
}

export type Metrics = {
  /** A subscriber of the host's notices. */
  notice(notice: HostNotice): void
  http(seen: HttpSeen): void
  /** A delivery that left no row. */
  delivery(seen: DeliverySeen): void
  /** The same commit, counted and timed. */
  timed<C extends unknown[], R extends { ok: boolean }>(
    commit: (...changes: C) => Promise<R>,
  ): (...changes: C) => Promise<R>
  /** The exposition, in the format `content_type` names. */
  text(): Promise<string>
  readonly content_type: string
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export function createMetrics(ports: MetricsPorts): Metrics {
  const { clock } = ports
  const registry = new Registry()
  const metrics = metricSet(registry)
  startAtZero(metrics)
  nowMetrics(registry, ports)
  processMetrics(registry, ports.process, clock)
  const route = firstLabels()
  const method = knownLabel(methods)
  return {
    notice: meterNotices(metrics, clock, ports.tool_names),
    http(seen) {
      const labels = { route: route(seen.route ?? 'unmatched') }
      const status = statusClass(seen.status)
      metrics.http.inc({ ...labels, method: method(seen.method), status })
      metrics.http_seconds.observe(labels, Math.max(0, seen.ms) / 1_000)
    },
    delivery: ({ via, result }) => metrics.deliveries.inc({ via, result }),
    timed:
      (commit) =>
      async (...changes) => {
        const from = clock.monotonic()
        const committed = await commit(...changes)
        if (committed.ok) {
          metrics.commits.inc()
          metrics.commit_seconds.observe((clock.monotonic() - from) / 1_000)
        }
        return committed
      },
    text: () => registry.metrics(),
    content_type: registry.contentType,
  }
}

/** Series that are there from the start, so that the first of a kind shows as an increase. */
function startAtZero({ turns, tasks, deliveries, tokens }: MetricSet): void {
  for (const outcome of ['completed', 'waiting', 'aborted', 'interrupted', 'failed']) {
    turns.inc({ outcome }, 0)
  }
  for (const status of ['completed', 'failed', 'cancelled', 'interrupted']) tasks.inc({ status }, 0)
  for (const via of ['trigger', 'webhook']) {
    for (const result of ['accepted', 'duplicate', 'dead', 'refused']) {
      deliveries.inc({ via, result }, 0)
    }
  }
  for (const kind of ['input', 'output']) tokens.inc({ kind }, 0)
}

/** What there is now. */
function nowMetrics(registry: Registry, ports: MetricsPorts): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `holon_${name}`,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  const counts = new Gauge({
    name: 'holon_agents',
    help: 'Agents that are not deleted.',
    registers,
    // One walk over the facts gives the values of them all: this one is collected first.
    collect() {
      const now = ports.counts()
      this.set(now.agents)
      for (const [name, counted] of Object.entries(live)) counted.set(now[name as Live])
    },
  })
  const alone = (name: string, help: string) =>
    new Gauge({ name: `holon_${name}`, help, registers })
  const live = {
    turns_open: alone('turns_open', 'Turns that are open.'),
    tasks_running: alone('tasks_running', 'Tasks that run or are being stopped.'),
    messages_queued: alone('messages_queued', 'Messages that wait for a turn.'),
    work_items_open: alone('work_items_open', 'Work items that are not completed.'),
    waits_active: alone('waits_active', 'Waits that are active.'),
  }
  type Live = keyof typeof live
  counts.set(0)
  gauge('stream_clients', 'Connected readers of an event stream.', () => ports.stream_clients())
  gauge('degraded', '1 while nothing can be written.', () => Number(ports.is_degraded()))
  registry.registerMetric(
    new Counter({
      name: 'holon_log_lines_lost_total',
      help: 'Log lines that could not be written.',
      registers: [],
      collect() {
        this.reset()
        this.inc(ports.log_lines_lost())
      },
    }),
  )
  new Gauge({
    name: 'holon_build_info',
    help: 'Always 1.',
    labelNames: ['version'],
    registers,
  }).set({ version: ports.version }, 1)
}
