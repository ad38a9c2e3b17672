/**
 * The event stream as a client follows it (docs/spec/http.md#stream): stored events in order, each
 * once, and live frames between them. A broken connection is opened again behind the last event
 * that came; history that is gone, and everything a new try cannot mend, ends it with a value.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { LiveFrame } from '../protocol/live-frame.ts'
import type { StoredEvent } from '../protocol/records/records.ts'
import { answerOf, unreachable, type Api, type ApiFailure, type ApiPorts } from './api.ts'

export type StreamItem =
  /** `seq` is the place to go on behind: the agent's seq on its stream, else the global one. */
  | { kind: 'event'; seq: number; event: StoredEvent }
  /** A sign of what happens just now. It is never repeated. */
  | { kind: 'live'; frame: LiveFrame }
  /** The server is there, and has said everything up to now. */
  | { kind: 'open' }
  /** The connection broke; another try is made after the pause. */
  | { kind: 'broken'; message: string; pause_ms: number }
  /** What follows `after` is not kept any more: read the snapshot, and follow from there. */
  | { kind: 'reload'; snapshot: string }
  /** It is over: refused, or not reached again. */
  | { kind: 'ended'; failure: ApiFailure }

export type StreamOptions = {
  /** `/events`, or `/agents/<agent>/events`. */
  path: string
  /** Only what follows this seq. */
  after: number
  signal: AbortSignal
  /** Tries in a row that may fail before it ends; default: forever. */
  tries?: number
}

/** Milliseconds before the first try after a break, doubled up to the longest. */
const firstPause = 100
const longestPause = 10_000
/** Milliseconds without a byte after which a connection counts as dead: three heartbeats. */
const silence = 15_000
/** Characters of one frame: far above what an event may have. */
const longestFrame = 16 * 1024 * 1024

type Ports = Pick<ApiPorts, 'fetch' | 'clock'>

export async function* follow(
  api: Api,
  ports: Ports,
  options: StreamOptions,
): AsyncGenerator<StreamItem> {
  const { signal } = options
  let after = options.after
  for (let failed = 0; !signal.aborted;) {
    const end: { failure: ApiFailure | null } = { failure: null }
    for await (const item of oneConnection(api, ports, { ...options, after }, end)) {
      if (item.kind === 'event') after = item.seq
      failed = 0
      yield item
    }
    if (signal.aborted) return
    const failure = end.failure ?? broken
    if (failure.kind === 'problem' && failure.status === 410) {
      return yield { kind: 'reload', snapshot: failure.problem.snapshot ?? '/state' }
    }
    failed += 1
    if (!mayRepeat(failure) || failed >= (options.tries ?? Number.POSITIVE_INFINITY)) {
      return yield { kind: 'ended', failure }
    }
    const pause_ms = pauseAfter(failure, failed)
    yield { kind: 'broken', message: messageOf(failure), pause_ms }
    await paused(ports, pause_ms, signal)
  }
}

const broken: ApiFailure = {
  kind: 'unreachable',
  status: null,
  message: 'the connection ended',
  refused: false,
}

/** What is refused stays refused; a server that is busy or gone may come back. */
function mayRepeat(failure: ApiFailure): boolean {
  switch (failure.kind) {
    case 'problem':
    case 'foreign':
      return failure.status === 429 || failure.status >= 500
    case 'unreachable':
    case 'timeout':
      return true
    case 'aborted':
      return false
  }
}

function pauseAfter(failure: ApiFailure, failed: number): number {
  const usual = Math.min(longestPause, firstPause * 2 ** Math.min(failed - 1, 10))
  const asked = failure.kind === 'problem' ? failure.retry_after_ms : null
  return asked === null ? usual : Math.min(asked, longestPause)
}

const messageOf = (failure: ApiFailure): string =>
  failure.kind === 'unreachable' ? failure.message : failure.kind

function paused({ clock }: Ports, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, () => {
    signal.removeEventListener('abort', stop)
    resolve()
  })
  const stop = () => {
    cancel()
    resolve()
  }
  signal.addEventListener('abort', stop, { once: true })
  return promise
}

/** The items of one connection; why it ended is left in `end`. */
async function* oneConnection(
  api: Api,
  { fetch, clock }: Ports,
  { path, after, signal }: StreamOptions,
  end: { failure: ApiFailure | null },
): AsyncGenerator<StreamItem> {
  const gone = new AbortController()
  let cancel = () => {}
  const heard = () => {
    cancel()
    cancel = clock.after(silence, () => gone.abort())
  }
  try {
    const { url, headers } = await api.request({ method: 'GET', path, query: { after } })
    heard()
    const response = await fetch(url, {
      method: 'GET',
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': String(after) },
      signal: AbortSignal.any([signal, gone.signal]),
    })
    if (response.status !== 200 || response.body === null) {
      const answer = answerOf(response, await response.text())
      end.failure = answer.ok
        ? { kind: 'foreign', status: response.status, message: 'it answered without a stream' }
        : answer.failure
      return
    }
    yield { kind: 'open' }
    for await (const item of framesOf(response.body, heard)) yield item
  } catch (error) {
    end.failure = gone.signal.aborted
      ? { kind: 'timeout', status: null, after_ms: silence }
      : unreachable(error)
  } finally {
    cancel()
  }
}

async function* framesOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<StreamItem> {
  const messages: EventSourceMessage[] = []
  const parser = createParser({
    maxBufferSize: longestFrame,
    onEvent: (message) => void messages.push(message),
  })
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    heard()
    parser.feed(decoder.decode(chunk, { stream: true }))
    // One after the other: what came before a frame that cannot be read has come.
    for (const message of messages.splice(0)) {
      const item = itemOf(message)
      if (item !== null) yield item
    }
  }
}

/** Frames of a newer server that are not known here are passed over. */
function itemOf({ id, event, data }: EventSourceMessage): StreamItem | null {
  if (id !== undefined && /^\d+$/.test(id)) {
    return { kind: 'event', seq: Number(id), event: JSON.parse(data) as StoredEvent }
  }
  return event === 'live' ? { kind: 'live', frame: JSON.parse(data) as LiveFrame } : null
}
