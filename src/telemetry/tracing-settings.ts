/**
 * Whether traces are sent and where to, by OpenTelemetry's standard environment variables; and the
 * contract of what sends them.
 */
import type { Clock } from '../exec/ports.ts'
import type { HostNotice } from '../runtime/ports.ts'
import type { Redact } from './log-line.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Numbers are null where the environment leaves them to the exporter's defaults. */
export type TracingSettings = {
  /** Where spans are posted, whole: `http://127.0.0.1:4318/v1/traces`. */
  url: string
  content: boolean
  /** Milliseconds in which one batch must arrive. */
  timeout: number | null
  /** Milliseconds between two batches. */
  schedule_delay: number | null
  /** Spans in memory, beyond which new ones are dropped. */
  max_queue_size: number | null
  max_export_batch_size: number | null
}

export type TracingPorts = {
  clock: Clock
  redact: Redact
  version: string
  /**
   * Told once what is wrong with the settings, and once when spans stop reaching the collector (a
   * sentence each); null when they arrive again.
   */
  problem_changed: (problem: string | null) => void
}

export type Tracing = {
  /** A subscriber of the host's notices; it never throws and never waits. */
  notice(notice: HostNotice): void
  /** Sends what is left, for FLUSH_MS at most. Never rejects. */
  close(): Promise<void>
}

/** `settings` null: tracing is off. `problem`: what is wrong with the variables, as a sentence. */
export function tracingSettings(env: Environment): {
  settings: TracingSettings | null
  problem: string | null
} {
  const off = (problem: string | null) => ({ settings: null, problem })
  const value = (name: string) => env[name]?.trim() || undefined
  if (value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return off(null)
  if (value('OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none') return off(null)
  const own = value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const shared = value('OTEL_EXPORTER_OTLP_ENDPOINT')
  const text = own ?? (shared === undefined ? undefined : `${shared.replace(/\/+$/, '')}/v1/traces`)
  if (text === undefined) return off(null)
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    return off('The OTLP endpoint is no http or https address: nothing is traced.')
  }
  const capture = value('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT')
  const settings: TracingSettings = {
    url: text,
    content: capture?.toLowerCase() === 'true',
    timeout: numberOf(
      value('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? value('OTEL_EXPORTER_OTLP_TIMEOUT'),
    ),
    schedule_delay: numberOf(value('OTEL_BSP_SCHEDULE_DELAY')),
    max_queue_size: numberOf(value('OTEL_BSP_MAX_QUEUE_SIZE')),
    max_export_batch_size: numberOf(value('OTEL_BSP_MAX_EXPORT_BATCH_SIZE')),
  }
  const protocol =
    value('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? value('OTEL_EXPORTER_OTLP_PROTOCOL')
  const problem =
    protocol === undefined || protocol === 'http/json'
      ? null
      : `Traces are sent as http/json; ${protocol} is not spoken.`
  return { settings, problem }
}

const numberOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null
