/**
 * An OTLP/HTTP collector on the loopback: keeps the spans it is sent, as plain records. It may
 * also keep silent (`hangs`: a connection is accepted and never answered) or refuse, with the usual
 * words or with none.
 */
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import { serveLoopback } from './loopback.ts'

type AnyValue = {
  stringValue?: string
  boolValue?: boolean
  intValue?: number | string
  doubleValue?: number
  arrayValue?: { values: AnyValue[] }
}
type KeyValue = { key: string; value: AnyValue }
type Link = { traceId: string; spanId: string }

export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  /** 1 internal, 3 client, 5 consumer. */
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code: number; message?: string }
  links: Link[]
  events: { name: string }[]
  attributes: Record<string, unknown>
}

export type Collector = {
  /** The base address, as `OTEL_EXPORTER_OTLP_ENDPOINT` wants it. */
  url: string
  spans: CollectedSpan[]
  resource: Record<string, unknown>
  /** Paths and content types of the requests so far. */
  requests: string[]
  /** Every request body as text. */
  bodies: string[]
  /** Resolves when the first request came in. */
  reached: Promise<void>
}

type Wire = {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: KeyValue[] })[] }[]
  }[]
}

export async function openCollector(
  t: TestContext,
  how: 'answers' | 'hangs' | 'refuses' | 'refuses_wordless' = 'answers',
): Promise<Collector> {
  const reached = Promise.withResolvers<void>()
  const collector: Collector = {
    url: '',
    spans: [],
    resource: {},
    requests: [],
    bodies: [],
    reached: reached.promise,
  }
  const { port } = await serveLoopback(t, (request, response) => {
    void read(request).then((body) => {
      collector.requests.push(`${request.url} ${request.headers['content-type']}`)
      collector.bodies.push(body)
      reached.resolve()
      if (how === 'hangs') return
      if (how === 'answers') take(collector, JSON.parse(body) as Wire)
      if (how === 'refuses_wordless') {
        // Node's server would put the usual words for none.
        request.socket.end('HTTP/1.1 400 \r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
        return
      }
      response.writeHead(how === 'answers' ? 200 : 400, { 'content-type': 'application/json' })
      response.end('{}')
    })
  })
  collector.url = `http://127.0.0.1:${port}`
  return collector
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}

function take(collector: Collector, { resourceSpans }: Wire): void {
  for (const { resource, scopeSpans } of resourceSpans) {
    Object.assign(collector.resource, record(resource.attributes))
    for (const { spans } of scopeSpans) {
      for (const span of spans) {
        collector.spans.push({ ...span, attributes: record(span.attributes) })
      }
    }
  }
}

const record = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

function plain(value: AnyValue): unknown {
  if (value.intValue !== undefined) return Number(value.intValue)
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plain)
  return value.stringValue ?? value.boolValue ?? value.doubleValue
}
