/**
 * What a provider puts on the wire, byte by byte, whatever it is; and the ways to cut it into
 * pieces. A server on loopback serves it once, to the request it is meant for.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { wires, type Endpoint } from '../../src/testing/model-server/server.ts'
import { schemaViolations } from '../../src/testing/model-server/schema.ts'
import { defaultUsage, nothingSaid, type Wire } from '../../src/testing/model-server/wire.ts'
import type { Random } from '../soak/random.ts'

export type Served = {
  status?: number
  headers?: Readonly<Record<string, string>>
  /** The body in order, each part made when it is its turn. */
  body: Iterable<string | Uint8Array>
  /** What comes after the body; `silent` is nothing, for ever. */
  ends?: 'end' | 'reset' | 'silent'
  /** Instead of all that: these bytes on the bare socket, which then closes. */
  raw?: string
}

export const chunkings = ['whole', '1 byte', '7 bytes', 'random'] as const
export type Chunking = (typeof chunkings)[number]

/** Pieces of one part; a large one is cut larger, or it would take hours. */
export function* piecesOf(part: Uint8Array, cut: Chunking, random: Random): Generator<Uint8Array> {
  const scale = part.length > 65_536 ? 4_096 : 1
  let at = 0
  while (at < part.length) {
    const size = sizeOf(cut, random) * scale
    yield part.subarray(at, at + size)
    at += size
  }
}

function sizeOf(cut: Chunking, random: Random): number {
  switch (cut) {
    case 'whole':
      return Number.MAX_SAFE_INTEGER
    case '1 byte':
      return 1
    case '7 bytes':
      return 7
    case 'random':
      return random.between(1, 40)
  }
}

export const wireOf = (endpoint: Endpoint): Wire => {
  const found = wires.find((wire) => wire.endpoint === endpoint)
  if (found === undefined) throw new Error(`there is no wire ${endpoint}`)
  return found
}

export const sound = (endpoint: Endpoint, n: number, text: string): Served => ({
  body: wireOf(endpoint).frames({ n, model: 'm', answer: { text }, usage: defaultUsage }),
})

export type Torturer = {
  base_url: string
  /** What the next request gets, and how it is cut; every later one gets a sound answer. */
  next(served: Served, cut: Chunking, random: Random): void
  /** Requests since `next`. */
  readonly requests: number
  /** Resolves when the served answer has gone silent. */
  silent(): Promise<void>
  /** Called again and again while it writes: the place to look at the memory. */
  on_piece: () => void
  /** What a provider would have refused in any request. */
  readonly violations: readonly string[]
  close(): Promise<void>
}

export async function startTorturer(endpoint: Endpoint): Promise<Torturer> {
  const wire = wireOf(endpoint)
  const now = {
    requests: 0,
    total: 0,
    violations: [] as string[],
    quiet: Promise.withResolvers<void>(),
  }
  let turn: { served: Served; cut: Chunking; random: Random } | null = null
  const self = { on_piece: () => {} }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk as Buffer)
    now.requests += 1
    now.total += 1
    const asked = JSON.parse(Buffer.concat(body).toString('utf8')) as Parameters<Wire['read']>[0]
    now.violations.push(...wire.read(asked, nothingSaid).violations)
    now.violations.push(...schemaViolations(endpoint, asked))
    const mine = turn
    turn = null
    response.on('error', () => {})
    const given = mine ?? {
      served: sound(endpoint, now.total, 'Seen.'),
      cut: 'whole' as const,
      random: null,
    }
    await write(response, given.served, given.cut, given.random, self.on_piece)
    if (given.served.ends === 'silent') now.quiet.resolve()
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    base_url: `http://127.0.0.1:${port}/v1`,
    next(served, cut, random) {
      now.requests = 0
      now.quiet = Promise.withResolvers<void>()
      turn = { served, cut, random }
    },
    get requests() {
      return now.requests
    },
    silent: () => now.quiet.promise,
    set on_piece(look: () => void) {
      self.on_piece = look
    },
    get on_piece() {
      return self.on_piece
    },
    violations: now.violations,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function write(
  response: ServerResponse,
  served: Served,
  cut: Chunking,
  random: Random | null,
  look: () => void,
): Promise<void> {
  if (served.raw !== undefined) {
    response.socket?.end(Buffer.from(served.raw, 'latin1'))
    return
  }
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, ends = 'end' } = served
  response.writeHead(status, headers)
  if (status === 204 || status === 304) return void response.end()
  let since = 0
  for (const part of served.body) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    for (const piece of random === null ? [bytes] : piecesOf(bytes, cut, random)) {
      if (response.destroyed) return
      if (!response.write(piece)) {
        look()
        await drained(response)
      }
      since += piece.length
      if (since < 4_096) continue
      since = 0
      // Small pieces never fill the socket: the memory is looked at here as well.
      look()
      await nextTurn()
    }
    // Each part reaches the socket before the next is made, as from a model that thinks.
    if (bytes.length < 65_536) await nextTurn()
  }
  switch (ends) {
    case 'end':
      return void response.end()
    case 'reset':
      return void response.destroy()
    case 'silent':
      return
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      response.off('drain', over)
      response.off('close', over)
      resolve()
    }
    response.on('drain', over)
    response.on('close', over)
  })
}
