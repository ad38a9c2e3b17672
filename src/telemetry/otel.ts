/**
 * Sends spans to a collector over OTLP/HTTP, with OpenTelemetry's SDK. Loaded by tracing.ts only
 * when it is asked for. Spans are queued and sent behind the work's back: a collector that is slow,
 * full or dead costs spans and nothing else.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import type { SpanContext, Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { IdGenerator, SpanExporter } from '@opentelemetry/sdk-trace'
import { FLUSH_MS } from './limits.ts'
import type { Attributes, Span, SpanRef } from './span.ts'
import { spanNotices } from './spans.ts'
import type { Tracing, TracingPorts, TracingSettings } from './tracing-settings.ts'

export function openTracing(settings: TracingSettings, ports: TracingPorts): Tracing {
  const { url, timeout, schedule_delay, max_queue_size } = settings
  const { max_export_batch_size: max_batch_size } = settings
  const exporter = new OTLPTraceExporter({
    url,
    ...(timeout === null ? {} : { timeoutMillis: timeout }),
  })
  const ids = new GivenIds()
  const provider = new TracerProvider({
    idGenerator: ids,
    // What the environment says of the service wins over what we say.
    resource: resourceFromAttributes({
      'service.name': 'holon',
      'service.version': ports.version,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: telling(exporter, ports.problem_changed),
        ...(schedule_delay === null ? {} : { scheduledDelayMillis: schedule_delay }),
        ...(max_queue_size === null ? {} : { maxQueueSize: max_queue_size }),
        ...(max_batch_size === null ? {} : { maxExportBatchSize: max_batch_size }),
      }),
    ],
  })
  const tracer = provider.getTracer('holon', ports.version)
  const { clock, redact } = ports
  return {
    notice: spanNotices({
      clock,
      redact,
      content: settings.content,
      ended: (span) => record(tracer, ids, span),
    }),
    close: () => within(FLUSH_MS, provider.shutdown(), ports),
  }
}

/** Ids come with each span: the SDK asks for them while it starts one, which is synchronous. */
class GivenIds implements IdGenerator {
  next: SpanRef = { trace_id: '', span_id: '' }

  generateTraceId(): string {
    return this.next.trace_id
  }

  generateSpanId(): string {
    return this.next.span_id
  }
}

const kinds = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<Span['kind'], SpanKind>

/** A whole span into the SDK's queue. */
function record(tracer: Tracer, ids: GivenIds, span: Span): void {
  const { trace_id, span_id, parent_id } = span
  ids.next = { trace_id, span_id }
  const parent =
    parent_id === null
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, contextOf({ trace_id, span_id: parent_id }))
  const made = tracer.startSpan(
    span.name,
    {
      kind: kinds[span.kind],
      startTime: new Date(span.start),
      attributes: present(span.attributes),
      links: span.links.map((link) => ({ context: contextOf(link) })),
    },
    parent,
  )
  for (const { name, at, attributes } of span.events) {
    made.addEvent(name, present(attributes), new Date(at))
  }
  if (span.error !== null) made.setStatus({ code: SpanStatusCode.ERROR, message: span.error })
  made.end(new Date(Math.max(span.start, span.end)))
}

const contextOf = ({ trace_id, span_id }: SpanRef): SpanContext => ({
  traceId: trace_id,
  spanId: span_id,
  traceFlags: TraceFlags.SAMPLED,
})

function present(attributes: Attributes): Record<string, string | number | boolean | string[]> {
  const kept: Record<string, string | number | boolean | string[]> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue
    kept[name] = typeof value === 'object' ? [...value] : value
  }
  return kept
}

/** Says once when spans stop arriving and once when they arrive again. */
function telling(exporter: SpanExporter, changed: (problem: string | null) => void): SpanExporter {
  let isDown = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // The exporter gives each failure its error; some of them have no words.
        const { error } = result
        const isFailed = error !== undefined
        const why = error?.message || 'no connection'
        if (isFailed && !isDown) changed(`Spans do not reach the collector: ${why}`)
        if (!isFailed && isDown) changed(null)
        isDown = isFailed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

/** Resolves when the work is done, failed, or the time is up. */
function within(ms: number, work: Promise<void>, { clock }: TracingPorts): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  // What could not be sent was said by the exporter already.
  work.then(resolve, () => resolve()).finally(cancel)
  return promise
}
