/**
 * A small `fetch` on Node's own HTTP client with connections kept alive, for the provider
 * libraries: the global one loads 40 ms of code and costs a fifth of the throughput. It does what
 * those libraries use and nothing more: no redirects, no cookies, no decompression.
 *
 * Through a proxy where the environment it was given names one for the address (`proxy.ts`): Node's
 * agent opens a tunnel for https and sends the whole address for http. Nothing is tried past it.
 *
 * *Contract.* Rejects like the real one: `TypeError('fetch failed')` with the socket's error as
 * cause when no answer came, the signal's reason when aborted; a body that breaks off errors its
 * stream. `close` drops idle and busy connections.
 */
import type * as Http from 'node:http'
import type * as Https from 'node:https'
import { modelLimits } from '../limits.ts'
import { PlainHeaders, PlainResponse } from './fetch-response.ts'
import { ProxyError, proxyOf, type Proxy, type ProxyEnv } from './proxy.ts'

export type FetchFunction = typeof globalThis.fetch

/**
 * By the signal of a request: called whenever something of its answer arrives, comments and pings
 * too, which the provider libraries keep to themselves.
 */
export const bytesOf = new WeakMap<AbortSignal, () => void>()

export type KeptAliveFetch = { fetch: FetchFunction; close(): void }

/** By scheme and proxy, made when first used. */
type Agents = Map<string, Http.Agent | Https.Agent>

/** What may still be tried for one call. */
type Left = { repeat: boolean; socket: string | null }

type Call = {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | null
  signal: AbortSignal | null
  proxy: Proxy | null
}

/**
 * With `socket`, the path of one of this machine, a request goes over that first, and where nobody
 * listens there to the address it names. `env` says which proxies to take; none does by itself.
 */
export function keptAliveFetch(socket: string | null = null, env: ProxyEnv = {}): KeptAliveFetch {
  // Loaded at the first request, and by name: the module facade of `import` is slow to build.
  const agents: Agents = new Map()
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const call = callOf(input, init, env)
    call.signal?.throwIfAborted()
    return (await send(call, agents, { repeat: true, socket })) as unknown as Response
  }
  return {
    fetch,
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

/** The client of a scheme, with its agent: made when first used, as TLS is slow to load. */
function clientOf(secure: boolean, proxy: Proxy | null, agents: Agents) {
  const client = secure
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')
  const key = `${secure ? 'https' : 'http'} ${proxy?.href ?? ''}`
  // Also where there is none: without it Node's own switch for proxies would count.
  const proxyEnv = { HTTP_PROXY: proxy?.href, HTTPS_PROXY: proxy?.href }
  const options = { keepAlive: true, maxSockets: modelLimits.sockets.value, proxyEnv }
  const agent = agents.get(key) ?? new client.Agent(options)
  agents.set(key, agent)
  return { request: client.request, agent }
}

function callOf(input: unknown, init: RequestInit, env: ProxyEnv): Call {
  const body = init.body ?? null
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('This fetch sends text and bytes only.')
  }
  const url = new URL(String(input))
  return {
    url,
    method: init.method ?? 'GET',
    headers: new PlainHeaders(init.headers as Record<string, string> | undefined).toRecord(),
    body,
    signal: init.signal ?? null,
    proxy: proxyFor(url, env),
  }
}

function proxyFor(url: URL, env: ProxyEnv): Proxy | null {
  try {
    return proxyOf(url, env)
  } catch (cause) {
    throw new TypeError('fetch failed', { cause })
  }
}

function send(call: Call, agents: Agents, left: Left): Promise<PlainResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PlainResponse>()
  const { url, signal } = call
  const { request, agent } = clientOf(url.protocol === 'https:', call.proxy, agents)
  const outgoing = request(url, {
    agent,
    ...(left.socket === null ? {} : { socketPath: left.socket }),
    method: call.method,
    headers: { 'accept-encoding': 'identity', ...call.headers },
  })

  const onAbort = () => outgoing.destroy(reasonOf(signal))
  signal?.addEventListener('abort', onAbort, { once: true })
  outgoing.on('close', () => signal?.removeEventListener('abort', onAbort))

  let answered = false
  outgoing.on('response', (incoming) => {
    if (call.proxy !== null && incoming.statusCode === 407) {
      return void outgoing.destroy(refusedBy(call.proxy, 407))
    }
    answered = true
    resolve(responseOf(call, incoming))
  })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // After the answer began, the body's stream reports it.
    if (answered) return
    if (signal?.aborted) return reject(signal.reason)
    // The server closed a kept connection just as we used it: nothing of this request was read.
    const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    if (stale && left.repeat) return resolve(send(call, agents, { ...left, repeat: false }))
    if (left.socket !== null && error.syscall === 'connect') {
      return resolve(send(call, agents, { ...left, socket: null }))
    }
    reject(
      new TypeError('fetch failed', { cause: call.proxy ? atProxy(error, call.proxy) : error }),
    )
  })
  if (call.body === null) outgoing.end()
  else outgoing.end(call.body)
  return promise
}

/** The error of a request through a proxy: named by it where it is the proxy's. */
function atProxy(error: NodeJS.ErrnoException & { statusCode?: number }, proxy: Proxy): Error {
  const { code = '', syscall = '', statusCode } = error
  if (statusCode !== undefined) return refusedBy(proxy, statusCode)
  const isProxys = /^(connect|getaddrinfo)$/.test(syscall) || code.startsWith('ERR_PROXY')
  if (!isProxys) return error
  return new ProxyError(`the proxy ${proxy.name} does not answer (${code})`)
}

/** A proxy that fails may serve the next time; one that says no will say so again. */
function refusedBy({ name }: Proxy, status: number): ProxyError {
  if (status === 407) return new ProxyError(`the proxy ${name} refuses its user or password (407)`)
  const does = status < 500 ? 'refuses to connect' : 'cannot connect'
  return new ProxyError(`the proxy ${name} ${does} (${status})`)
}

function responseOf(call: Call, incoming: Http.IncomingMessage): PlainResponse {
  const status = incoming.statusCode ?? 0
  const limit = status >= 400 ? modelLimits.error_body.value : null
  return new PlainResponse({
    url: call.url.href,
    status,
    status_text: incoming.statusMessage ?? '',
    headers: PlainHeaders.fromRaw(incoming.rawHeaders),
    body: status === 204 || status === 304 ? null : bodyOf(incoming, call.signal, limit),
  })
}

/**
 * The body as it comes, at the reader's pace; past `limit` bytes it simply ends. Without a limit it
 * may be as long as it likes, but not one event of it: who reads events keeps each to its end.
 */
function bodyOf(
  incoming: Http.IncomingMessage,
  signal: AbortSignal | null,
  limit: number | null,
): ReadableStream<Uint8Array> {
  let open = true
  let bytes = 0
  const event = new OpenEvent()
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const finish = (settle: () => void) => {
        if (open) settle()
        open = false
      }
      incoming.on('data', (chunk: Buffer) => {
        if (!open) return
        if (signal !== null) bytesOf.get(signal)?.()
        const room = limit === null ? chunk.length : Math.min(chunk.length, limit - bytes)
        bytes += room
        if (room > 0) controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, room))
        if (limit !== null && bytes >= limit) {
          finish(() => controller.close())
          incoming.destroy()
        } else if (event.grow(chunk) > modelLimits.frame.value) {
          finish(() => controller.error(new TypeError('One event of the stream has no end.')))
          incoming.destroy()
        } else if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
      })
      incoming.on('end', () => finish(() => controller.close()))
      incoming.on('error', (error) => finish(() => controller.error(broken(error, signal))))
      incoming.on('close', () => finish(() => controller.error(broken(null, signal))))
    },
    pull() {
      incoming.resume()
    },
    cancel() {
      open = false
      incoming.destroy()
    },
  })
}

/** How long the event is that a stream is in: an empty line ends it. */
class OpenEvent {
  #bytes = 0
  /** Whether nothing came since the last line ended. */
  #empty = true
  /** Whether the last byte was a CR, whose LF may come next. */
  #returned = false

  /**
   * Takes the next bytes and says how many of them, and of those before, belong to no ended one.
   */
  grow(chunk: Buffer): number {
    let from = this.#returned && chunk[0] === lineFeed ? 1 : 0
    this.#returned = chunk.at(-1) === carriageReturn
    for (;;) {
      const end = lineEnd(chunk, from)
      if (end === -1) break
      const blank = this.#empty && end === from
      this.#bytes = blank ? 0 : this.#bytes + end + 1 - from
      this.#empty = true
      from = end + 1
      // A line that ends in both is not followed by an empty one.
      if (chunk[end] === carriageReturn && chunk[from] === lineFeed) from += 1
    }
    this.#empty &&= from === chunk.length
    this.#bytes += chunk.length - from
    return this.#bytes
  }
}

const carriageReturn = 13
const lineFeed = 10

function lineEnd(chunk: Buffer, from: number): number {
  const feed = chunk.indexOf(lineFeed, from)
  const before = feed === -1 ? chunk.length : feed
  const back = chunk.subarray(from, before).indexOf(carriageReturn)
  return back === -1 ? feed : from + back
}

function broken(error: Error | null, signal: AbortSignal | null): unknown {
  if (signal?.aborted) return signal.reason
  const cause = error ?? Object.assign(new Error('The connection closed early.'), closedEarly)
  return new TypeError('terminated', { cause })
}

const closedEarly = { code: 'ECONNRESET' }

const reasonOf = (signal: AbortSignal | null): Error | undefined =>
  signal?.reason instanceof Error ? signal.reason : undefined
