/**
 * The owner's door: while a run owns a home, other terminals come in here. Loopback only, a random
 * port and a socket in the home, the home's control token on every request. Writing commands have
 * one route of their own, which loads nothing more; every other path is the home's API, made when
 * the first of it is asked for. Order of a command: Host, token, method, size, then the body with a
 * deadline, then the schema, then the act.
 */
import type * as Http from 'node:http'
import type { Socket } from 'node:net'
import {
  operatorCommand,
  type OperatorCommand,
  type OperatorReply,
} from '../protocol/acts/operator.ts'
import { problemOf, type Problem } from '../protocol/problem.ts'
import type { HttpClock } from './request/ports.ts'
import type { TokenCheck } from './gate/token.ts'
import { Unproven, watch } from './gate/unproven.ts'
import { answered, type LateApp } from './late-app.ts'

export type DoorPorts = {
  /** Carries out a command of the operator; as `Host.act`. */
  act(command: OperatorCommand): Promise<OperatorReply>
  /** Asked on every request, so that a new token holds at once. */
  token_is_valid: TokenCheck
  clock: HttpClock
  /** Every path but that of commands. Whoever made it closes it, before the door. */
  api: LateApp
}

/**
 * Contract: `close` ends the listening and every connection; twice is nothing. `listenAt` listens
 * at a path of this machine as well, where nothing may be yet; it rejects with the system's error.
 */
export type ControlEndpoint = {
  port: number
  listenAt(path: string): Promise<void>
  close(): Promise<void>
}

/** Bytes of a request body: an item that is imported, in quotes. */
const bodyLimit = 9 * 1024 * 1024
/** Milliseconds for a whole request to arrive. */
const requestPatience = 10_000

export async function openDoor(ports: DoorPorts): Promise<ControlEndpoint> {
  const open: Http.Server[] = []
  const listen = async (at: { port: number; host: string } | { path: string }) => {
    const server = serverOf({ ...ports, port: () => port })
    const listening = Promise.withResolvers<void>()
    server.once('error', listening.reject)
    server.listen(at, () => listening.resolve())
    await listening.promise
    // It must not keep the process alive: the run decides when it is over.
    server.unref()
    open.push(server)
    return server.address()
  }
  let port = 0
  const address = await listen({ port: 0, host: '127.0.0.1' })
  if (address === null || typeof address === 'string') throw new Error('the door has no port')
  port = address.port
  return {
    port,
    listenAt: async (path) => void (await listen({ path })),
    async close() {
      await Promise.all(
        open.map((server) => {
          const closed = Promise.withResolvers<void>()
          server.close(() => closed.resolve())
          server.closeAllConnections()
          return closed.promise
        }),
      )
    },
  }
}

/** What an answer is made by: the ports, and the port that the door's own name has. */
type Answering = DoorPorts & { port: () => number }

/** Strangers at the port have a pool of their own, and so has whoever reaches the socket. */
function serverOf(ports: Answering): Http.Server {
  const { createServer } = process.getBuiltinModule('node:http')
  const strangers = new Unproven<Socket>(ports.clock)
  const server = createServer({ requestTimeout: requestPatience }, (incoming, outgoing) => {
    const proved = () => strangers.proved(incoming.socket)
    answer(ports, incoming, proved).then(
      (found) =>
        found === 'of_the_api'
          ? answered(ports.api, outgoing, (by) => by.answer(incoming, outgoing, proved))
          : send(outgoing, found.status, found.body),
      (error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error)
        send(outgoing, 500, problemOf('fault', `The act failed: ${detail}`))
      },
    )
  })
  watch(server, strangers)
  return server
}

type Answer = { status: number; body: OperatorReply | Problem }

const refuse = (status: number, code: string, detail: string, hint: string | null = null) => ({
  status,
  body: problemOf(code, detail, hint, status),
})

async function answer(
  ports: Answering,
  incoming: Http.IncomingMessage,
  proved: () => void,
): Promise<Answer | 'of_the_api'> {
  const refusal = await gate(ports, incoming, proved)
  if (refusal !== null) return refusal
  const text = await readBody(incoming)
  if (text === null) return refuse(413, 'too_large', `A command has at most ${bodyLimit} bytes.`)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return refuse(400, 'not_json', 'The body is not JSON.')
  }
  const command = operatorCommand.safeParse(body)
  if (!command.success) {
    const issue = command.error.issues[0]
    const where = issue === undefined ? '' : `${issue.path.join('.') || 'body'}: ${issue.message}`
    return refuse(422, 'invalid_command', `No command of this version: ${where}.`)
  }
  const reply = await ports.act(command.data)
  return { status: reply.ok ? 200 : problemOf(reply.code, reply.message).status, body: reply }
}

/** What can be refused without reading the body, in this order. */
async function gate(
  ports: Answering,
  incoming: Http.IncomingMessage,
  proved: () => void,
): Promise<Answer | 'of_the_api' | null> {
  const { method, url, headers } = incoming
  const host = headers.host ?? ''
  const port = ports.port()
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return refuse(421, 'wrong_host', 'This door answers to its own address only.')
  }
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) {
    return refuse(403, 'no_browsers', 'Requests of web pages are not taken.')
  }
  const authorization = headers.authorization ?? ''
  const token = authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : ''
  if (!(await ports.token_is_valid(token))) {
    return refuse(401, 'unauthorized', 'The control token of the home is missing or wrong.')
  }
  proved()
  if (url !== '/operator') return 'of_the_api'
  if (method !== 'POST') return refuse(405, 'method_not_allowed', 'Commands are POSTed.')
  if (!/^application\/json\s*(;|$)/.test(headers['content-type'] ?? '')) {
    return refuse(415, 'not_json', 'A command is application/json.')
  }
  if (Number(headers['content-length'] ?? 0) > bodyLimit) {
    return refuse(413, 'too_large', `A command has at most ${bodyLimit} bytes.`)
  }
  return null
}

/** Null when it is too long. */
async function readBody(incoming: Http.IncomingMessage): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of incoming) {
    bytes += (chunk as Uint8Array).length
    if (bytes > bodyLimit) return null
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(outgoing: Http.ServerResponse, status: number, body: OperatorReply | Problem): void {
  outgoing.writeHead(status, {
    'content-type': 'ok' in body ? 'application/json' : 'application/problem+json',
    'cache-control': 'no-store',
    connection: 'close',
  })
  outgoing.end(JSON.stringify(body))
}
