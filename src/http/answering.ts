/**
 * From Node's requests to the application, and what is said of those that never reach it because
 * Node's parser refused them. Apart from server.ts, so that listening loads none of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { problemOf, type Problem } from '../protocol/problem.ts'
import type { Application } from './app.ts'
import { problemResponse, problemType } from './request/problem.ts'
import { securityHeaders } from './request/security-headers.ts'

export type Answering = {
  /** `proved` is called when a valid token or signature came. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse, proved: () => void): void
  /** For the event `clientError` of a server. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void
}

export function answeringOf(app: Application): Answering {
  const provedBy = new WeakMap<IncomingMessage, () => void>()
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      app.fetch(request, {
        remote: incoming.socket.remoteAddress ?? '',
        hang_up: () => void outgoing.destroy(),
        proved: () => provedBy.get(incoming as IncomingMessage)?.(),
      }),
    { overrideGlobalObjects: false, errorHandler: unreadable },
  )
  return {
    answer(incoming, outgoing, proved) {
      provedBy.set(incoming, proved)
      // It answers what goes wrong itself.
      void listener(incoming, outgoing)
    },
    refuse: refuseUnparsed,
  }
}

/** An address or a Host no URL can be made of. */
const unreadable = (): Response =>
  problemResponse(problemOf('bad_request', 'The address or the Host is malformed.'), {
    ...securityHeaders,
  })

/** What Node's parser refused never reaches the application: the answer is written by hand. */
function refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOfParser(error.code)
  const body = JSON.stringify(problem)
  const headers = {
    ...securityHeaders,
    'content-type': problemType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`)
}

function problemOfParser(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return problemOf('headers_too_large', 'The headers are too long.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problemOf('body_timeout', 'The request did not arrive in time.')
  }
  return problemOf('bad_request', 'This is no HTTP request.')
}
