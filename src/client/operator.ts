/**
 * The operator's words to whoever owns a home: one POST to the owner's door on this machine. The
 * answer is the owner's reply as a value; that nobody opens is a value too.
 */
import type * as Http from 'node:http'
import type { OperatorCommand, OperatorReply } from '../protocol/acts/operator.ts'

/**
 * Where the owner listens, as it left it in the home. Its API is at `url`, but that of a run of an
 * earlier version, which has none. A daemon says since when it serves, a run does not.
 */
export type DoorAddress = { pid: number; port: number; url?: string; started_at?: string }

/**
 * How to get there: by the socket in the home, which strangers cannot keep busy, and where that
 * takes nobody in by the port.
 */
export type DoorWay = { address: DoorAddress; token: string; socket: string }

export type DoorAnswer =
  | { ok: true; reply: OperatorReply }
  /** Nothing listens there (any more): the owner is gone, or going. */
  | { ok: false; code: 'closed' }
  /** The owner does not know this token. */
  | { ok: false; code: 'unauthorized' }
  /** Something listens and does not take it. */
  | { ok: false; code: 'refused'; message: string }
  /** It left, and no answer came that can be read: it may have been carried out. */
  | { ok: false; code: 'unknown'; message: string }

/** What a person is told of a command that was not seen to be carried out. */
export const untaken = (
  who: string,
  { code, message }: Extract<DoorAnswer, { message: string }>,
): string => `${who} ${code === 'unknown' ? 'may have taken' : 'did not take'} it: ${message}`

/** Milliseconds for one answer: a commit takes one, a full disk many. */
const usualPatience = 10_000
/** Bytes of an answer that are read. */
const answerLimit = 1024 * 1024

/**
 * Contract: never rejects; sends the command once. The token is the home's control token;
 * `patience_ms` is for acts whose effect takes its time.
 */
export async function sendThroughDoor(
  way: DoorWay,
  command: OperatorCommand,
  patience_ms = usualPatience,
): Promise<DoorAnswer> {
  const by = await send(way, command, patience_ms, { socketPath: way.socket })
  if (by !== 'not_connected') return by
  const byPort = await send(way, command, patience_ms, {})
  return byPort === 'not_connected' ? { ok: false, code: 'closed' } : byPort
}

/** `not_connected`: nothing was sent, because nobody takes connections there. */
function send(
  { address: door, token }: DoorWay,
  command: OperatorCommand,
  patience_ms: number,
  over: { socketPath?: string },
): Promise<DoorAnswer | 'not_connected'> {
  const { promise, resolve } = Promise.withResolvers<DoorAnswer | 'not_connected'>()
  const body = JSON.stringify(command)
  const outgoing = process.getBuiltinModule('node:http').request({
    host: door.url === undefined ? '127.0.0.1' : new URL(door.url).hostname.replace(/^\[|\]$/g, ''),
    port: door.port,
    ...over,
    path: '/operator',
    method: 'POST',
    agent: false,
    timeout: patience_ms,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': new TextEncoder().encode(body).length,
    },
  })
  const unknown = (message: string) => resolve({ ok: false, code: 'unknown', message })
  outgoing.on('response', (incoming) => {
    readAll(incoming).then(
      (text) => resolve(answerOf(incoming.statusCode ?? 0, text)),
      (error: unknown) => unknown(`its answer broke off: ${String(error)}`),
    )
  })
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // No socket there, one that nobody listens at, or a path that is too long for one.
    const unreached = over.socketPath !== undefined && error.syscall === 'connect'
    if (unreached || error.code === 'ECONNREFUSED') resolve('not_connected')
    else unknown(error.message)
  })
  outgoing.end(body)
  return promise
}

async function readAll(incoming: Http.IncomingMessage): Promise<string> {
  incoming.setEncoding('utf8')
  let text = ''
  for await (const chunk of incoming) {
    text += String(chunk)
    if (text.length > answerLimit) throw new Error('it is too long')
  }
  return text
}

/** A reply comes back whole, accepted or not; anything else is a problem document. */
function answerOf(status: number, text: string): DoorAnswer {
  const refused = (message: string): DoorAnswer => ({ ok: false, code: 'refused', message })
  if (status === 401) return { ok: false, code: 'unauthorized' }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    const message = `it answered ${status} without JSON`
    return status < 300 ? { ok: false, code: 'unknown', message } : refused(message)
  }
  if (typeof body !== 'object' || body === null) return refused(`it answered ${status}`)
  if ('ok' in body) return { ok: true, reply: body as OperatorReply }
  const detail = 'detail' in body ? String(body.detail) : `it answered ${status}`
  return refused(detail)
}
