/**
 * A model provider on loopback for tests and demonstrations. One script answers four wire formats
 * (Chat Completions, Responses, Anthropic Messages, Google), streaming, with every fault a
 * provider has. It reads requests as strictly as the providers do: what they would refuse is
 * answered 400 and kept in `violations`, which a test expects to be empty.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonObject } from '../../ports/json.ts'
import { imagesIn } from './images.ts'
import { chatCompletions } from './chat.ts'
import { google } from './google.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Endpoint, ServerAnswer, ServerView, Wire } from './wire.ts'
import { schemaViolations } from './schema.ts'
import { defaultUsage, inParts, isObject } from './wire.ts'

export type { Endpoint, ServerAnswer, ServerFault, ServerView } from './wire.ts'

export type ServerScript = (view: ServerView) => ServerAnswer | Promise<ServerAnswer>

export type ServerOptions = {
  /** The only key it accepts; null accepts any, and none. Default `test-key`. */
  key?: string | null
  /** What a GET of `/models` names; default: nothing answers there. */
  models?: readonly string[]
  /** The test sends what is refused, on purpose; otherwise `close` fails where anything was. */
  refuses?: boolean
  /** Chat Completions are spoken as a router does, with signed thoughts. */
  router?: boolean
  /** Where it listens; default: any free port. */
  port?: number
  /** Bytes per piece written; default whole frames. */
  piece_bytes?: number
  /** Waited for before each frame of an answer is written: so an answer is as slow as is wanted. */
  before_frame?: (frame: string) => Promise<void>
}

/** One request as it came, without its key. */
export type RecordedRequest = {
  endpoint: Endpoint
  n: number
  path: string
  body: JsonObject
  violations: readonly string[]
}

export type ModelServer = {
  /** `http://127.0.0.1:<port>/v1`, the base URL for every format. */
  base_url: string
  port: number
  readonly requests: readonly RecordedRequest[]
  /** The key each request presented, recorded or not; null without one. */
  readonly authorizations: readonly (string | null)[]
  /** `<n> <endpoint>: <what a provider would refuse>`. */
  readonly violations: readonly string[]
  /** Resolves when request `n` has been answered as far as it ever will be. */
  answered(n: number): Promise<void>
  /** Drops every connection; rejects where a request was refused. May be called twice. */
  close(): Promise<void>
}

export const wires: readonly Wire[] = [chatCompletions, responses, messages, google]

export const TEST_KEY = 'test-key'

export async function startModelServer(
  script: ServerScript,
  options: ServerOptions = {},
): Promise<ModelServer> {
  const provider = new Provider(script, options)
  const server = createServer((request, response) => {
    provider.answer(request, response).catch((error: unknown) => {
      // A script that throws is a broken test: make it visible there.
      provider.violations.push(`the script failed: ${String(error)}`)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    base_url: `http://127.0.0.1:${port}/v1`,
    port,
    requests: provider.requests,
    authorizations: provider.authorizations,
    violations: provider.violations,
    answered: (n) => provider.answered(n).promise,
    close: () => closed(server, options.refuses === true ? [] : provider.violations),
  }
}

async function closed(server: Server, violations: readonly string[]): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (violations.length === 0) return
  throw new Error(`a provider would have refused: ${violations.slice(0, 3).join('; ')}`)
}

class Provider {
  readonly requests: RecordedRequest[] = []
  readonly authorizations: (string | null)[] = []
  readonly violations: string[] = []
  readonly #script: ServerScript
  readonly #key: string | null
  readonly #models: readonly string[] | null
  readonly #pieceBytes: number | null
  readonly #beforeFrame: (frame: string) => Promise<void>
  readonly #routed: { routed?: true }
  readonly #said = {
    asked: new Map<number, JsonObject>(),
    answered: new Map<number, ServerAnswer>(),
  }
  readonly #answered = new Map<number, PromiseWithResolvers<void>>()
  #count = 0

  constructor(script: ServerScript, options: ServerOptions) {
    const { key = TEST_KEY, piece_bytes, models, router = false } = options
    this.#routed = router ? { routed: true } : {}
    this.#script = script
    this.#key = key
    this.#models = models ?? null
    this.#pieceBytes = piece_bytes ?? null
    this.#beforeFrame = options.before_frame ?? (() => Promise.resolve())
  }

  answered(n: number): PromiseWithResolvers<void> {
    const known = this.#answered.get(n) ?? Promise.withResolvers<void>()
    this.#answered.set(n, known)
    return known
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (request.method === 'GET' && path.endsWith('/models') && this.#models !== null) {
      return this.#list(request, response, this.#models)
    }
    const n = ++this.#count
    const wire = wires.find((candidate) => candidate.path.test(path))
    const body = await bodyOf(request)
    if (wire === undefined) return json(response, 404, { error: { message: `no ${path}` } })

    const key = wire.key(request.headers)
    this.authorizations.push(key)
    if (this.#key !== null && key !== this.#key) {
      return json(response, 401, wire.error_body(401, `Incorrect API key: ${key}`, undefined))
    }
    const reading = wire.read(body, this.#said)
    const { images, violations: ofImages } = imagesIn(wire.endpoint, body)
    const violations = [
      ...reading.violations,
      ...ofImages,
      ...schemaViolations(wire.endpoint, body),
    ]
    this.requests.push({ endpoint: wire.endpoint, n, path, body, violations })
    if (violations.length > 0) {
      this.violations.push(...violations.map((it) => `${n} ${wire.endpoint}: ${it}`))
      return json(response, 400, wire.error_body(400, violations.join('; '), undefined))
    }
    const { violations: _, ...read } = reading
    const view = { endpoint: wire.endpoint, body, n, images, ...read }
    const answer = { ...this.#routed, ...inParts(await this.#script(view)) }
    if (answer.parts.some((part) => 'reasoning' in part)) {
      this.#said.asked.set(n, body)
      this.#said.answered.set(n, answer)
    }
    await this.#write(wire, view, answer, response)
    this.answered(n).resolve()
  }

  /** As Chat Completions' and Anthropic's lists are; no request of the script. */
  #list(request: IncomingMessage, response: ServerResponse, models: readonly string[]): void {
    const { authorization, 'x-api-key': key } = request.headers
    const given = key ?? authorization?.replace(/^Bearer /, '') ?? null
    if (this.#key !== null && given !== this.#key) {
      return json(response, 401, { error: { message: `Incorrect API key: ${String(given)}` } })
    }
    return json(response, 200, { object: 'list', data: models.map((id) => ({ id })) })
  }

  async #write(
    wire: Wire,
    view: ServerView,
    answer: ServerAnswer,
    response: ServerResponse,
  ): Promise<void> {
    const { fault } = answer
    if (fault === 'hang_before_answer') return
    if (typeof fault === 'object' && fault.kind === 'status') {
      const { status, message = `status ${status}`, code, retry_after, headers } = fault
      const retry = retry_after === undefined ? {} : { 'retry-after': retry_after }
      return json(response, status, wire.error_body(status, message, code), {
        ...retry,
        ...headers,
      })
    }
    const model = typeof view.body['model'] === 'string' ? view.body['model'] : 'model'
    const usage = { ...defaultUsage, ...answer.usage }
    const frames = wire.frames({ n: view.n, model, answer, usage })
    const half = frames.slice(0, Math.floor(frames.length / 2))

    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${view.n}` })
    if (typeof fault === 'object') {
      await this.#send(response, frames.slice(0, fault.events))
      return void response.destroy()
    }
    switch (fault) {
      case 'hang':
        return this.#send(response, half)
      case 'truncate':
        await this.#send(response, half)
        return void response.end()
      case 'reset':
        await this.#send(response, half)
        return void response.destroy()
      case 'error_in_stream':
        await this.#send(response, [...half, wire.error_frame()])
        return void response.end()
      case 'garbage':
        await this.#send(response, [...half, 'data: {"no json\n\n'])
        return void response.end()
      case 'broken_json':
      case 'duplicate_ids':
      case 'missing_ids':
      case 'odd_ids':
      case undefined:
        await this.#send(response, frames)
        return void response.end()
    }
  }

  async #send(response: ServerResponse, frames: readonly string[]): Promise<void> {
    const size = this.#pieceBytes
    for (const frame of frames) {
      await this.#beforeFrame(frame)
      if (response.destroyed) return
      const bytes = Buffer.from(frame)
      if (size === null) response.write(bytes)
      else {
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size))
        }
      }
      // Each frame reaches the socket before the next is written, as from a model that thinks.
      await nextTurn()
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return isObject(body) ? body : {}
  } catch {
    return {}
  }
}

function json(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
