/**
 * What the process itself costs, under the names every Prometheus dashboard knows. All of it is
 * read at a scrape: an idle daemon runs no timer for it, which is why the library's own default
 * metrics (one samples every 10 ms) are not used.
 */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Clock } from '../exec/ports.ts'

/** Contract: cheap, may be called at any time, does not throw. */
export type ProcessReads = {
  /** Milliseconds since 1970 at which the process started. */
  started_at: number
  /** Of the process so far, in microseconds. */
  cpu(): { user: number; system: number }
  memory(): { rss: number; heapUsed: number; heapTotal: number; external: number }
  /** Milliseconds in which the event loop had something to do, so far. */
  loop_active(): number
  /** File descriptors open now; null where the machine does not say. */
  open_files(): Promise<number | null>
}

export function processMetrics(registry: Registry, reads: ProcessReads, clock: Clock): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number | Promise<number | null>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read()
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })

  total('process_cpu_seconds_total', 'User and system CPU time.', () => {
    const { user, system } = reads.cpu()
    return (user + system) / 1e6
  })
  gauge('process_start_time_seconds', 'When the process started, since 1970.', () =>
    Math.round(reads.started_at / 1_000),
  )
  gauge('process_resident_memory_bytes', 'Memory in RAM.', () => reads.memory().rss)
  gauge('process_open_fds', 'Open file descriptors.', () => reads.open_files())
  gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', () => reads.memory().heapUsed)
  gauge('nodejs_heap_size_total_bytes', 'JavaScript heap.', () => reads.memory().heapTotal)
  gauge('nodejs_external_memory_bytes', 'Memory outside the heap.', () => reads.memory().external)
  total(
    'holon_event_loop_active_seconds_total',
    'Time in which the event loop had something to do.',
    () => reads.loop_active() / 1_000,
  )
  gauge(
    'holon_event_loop_lag_seconds',
    'How late a timer that was due at once came, at this scrape.',
    () => lag(clock),
  )
}

function lag(clock: Clock): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const from = clock.monotonic()
  clock.after(0, () => resolve((clock.monotonic() - from) / 1_000))
  return promise
}
