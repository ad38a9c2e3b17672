/**
 * The proxy of confined commands (docs/spec/security.md#hosts): one connection, from what its
 * client asks to its end. Only CONNECT is spoken. What is asked is judged by its name before
 * anything is looked up; the name is looked up once, refused when one of its addresses is inside,
 * and an address that was checked is dialled. What is said in TLS is not read, but its first words
 * have to name the same server.
 */
import type { Socket } from 'node:net'
import { isPublicAddress } from './address.ts'
import { readHello } from './client-hello.ts'
import type { Clock, HostVerdict } from '../ports.ts'
import { firstBytes, type Read } from './first-bytes.ts'
import {
  HOST_DIALS,
  HOST_DIAL_MS,
  HOST_HEADER_BYTES,
  HOST_HEADER_MS,
  HOST_HELLO_BYTES,
  HOST_HELLO_MS,
  HOST_IDLE_MS,
} from './limits.ts'
import type { Net } from './net.ts'

export type Carrying = {
  judge: (asked: string) => Promise<HostVerdict>
  net: Net
  clock: Clock
}

/** What a client is told in words, where there is still a place for words. */
class Refusal extends Error {
  readonly status: string
  constructor(status: string, message: string) {
    super(message)
    this.status = status
  }
}

/** A server that is not the one that was asked for is told of in the terms of TLS. */
const unrecognizedName = Buffer.from([21, 3, 1, 0, 2, 2, 112])

type Host = { name: string; port: number }

/** Settles when the connection has begun, or was refused; never rejects. */
export async function carry(client: Socket, carrying: Carrying): Promise<void> {
  client.on('error', () => client.destroy())
  let server: Socket | null = null
  try {
    const host = await askedHost(client, carrying)
    server = await dialled(host, carrying)
    client.on('close', () => server?.destroy())
    server.on('close', () => client.destroySoon()).on('error', () => client.destroy())
    if (client.destroyed) return void server.destroy()
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    await joined(client, server, host, carrying)
  } catch (error) {
    server?.destroy()
    if (!(error instanceof Refusal)) throw error
    refuse(client, error)
  }
}

/** The only answer of a connection that is not carried; what else the client says is dropped. */
export function refuse(client: Socket, { status, message }: { status: string; message: string }) {
  const body = `${message}\n`
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  client.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`, () => client.destroy())
}

async function askedHost(client: Socket, { judge, clock }: Carrying): Promise<Host> {
  const bounds = { bytes: HOST_HEADER_BYTES, ms: HOST_HEADER_MS, clock }
  const line = await firstBytes(client, readLine, bounds)
  switch (line.is) {
    case 'too_long':
      throw new Refusal(
        '431 Request Header Fields Too Large',
        `what is asked of the proxy is longer than ${HOST_HEADER_BYTES} bytes`,
      )
    case 'too_late':
    case 'ended':
      throw new Refusal('408 Request Timeout', 'nothing was asked of the proxy to its end')
    case 'read':
      break
  }
  const [, method, asked] = /^(\S+) (\S+) HTTP\/1\.[01]$/.exec(line.value) ?? []
  if (method === undefined || asked === undefined) {
    throw new Refusal('400 Bad Request', 'what is asked of the proxy is no HTTP')
  }
  if (method !== 'CONNECT') {
    throw new Refusal(
      '405 Method Not Allowed',
      'the proxy of this command carries CONNECT only, as for https; plain http is not carried',
    )
  }
  const verdict = await judge(asked)
  if (!verdict.ok) throw new Refusal('403 Forbidden', verdict.why)
  return verdict
}

/** The first line, once the empty one that ends the request is there. */
function readLine(bytes: Buffer): Read<string> {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return 'more'
  const [first = ''] = bytes.subarray(0, end).toString().split('\r\n', 1)
  return { value: first, taken: end + 4 }
}

async function dialled({ name, port }: Host, { net, clock }: Carrying): Promise<Socket> {
  const addresses = await net.resolve(name).catch(() => [])
  if (addresses.length === 0) throw new Refusal('502 Bad Gateway', `there is no host ${name}`)
  const inside = addresses.find((address) => !isPublicAddress(address))
  if (inside !== undefined) {
    throw new Refusal('403 Forbidden', `${name} is ${inside}, which is not on the public internet`)
  }
  for (const address of addresses.slice(0, HOST_DIALS)) {
    const socket = await answering(net.connect(address, port), clock)
    if (socket !== null) return socket
  }
  throw new Refusal('502 Bad Gateway', `${name}:${port} cannot be reached`)
}

/** The socket once it is connected; null: it is not, and is given up. */
function answering(socket: Socket, clock: Pick<Clock, 'after'>): Promise<Socket | null> {
  const { promise, resolve } = Promise.withResolvers<Socket | null>()
  const late = clock.after(HOST_DIAL_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.once('connect', () => resolve(socket)).once('close', () => resolve(null))
  return promise.finally(late)
}

/** Both directions, until both have ended or nothing moves. */
async function joined(client: Socket, server: Socket, host: Host, carrying: Carrying) {
  const { clock } = carrying
  idle([client, server], clock)
  // Elsewhere the server may be the first to speak, and the client waits for it.
  const isSecure = host.port === 443
  if (!isSecure) server.pipe(client)
  if (await isOther(client, host, isSecure, clock)) {
    client.end(unrecognizedName, () => client.destroy())
    server.destroy()
    return
  }
  if (isSecure) server.pipe(client)
  client.pipe(server)
}

/** Whether what the client says first is meant for another server, or for none that can be told. */
async function isOther(client: Socket, { name }: Host, isSecure: boolean, clock: Clock) {
  const ms = isSecure ? HOST_HELLO_MS : null
  const first = await firstBytes(client, readFirst, { bytes: HOST_HELLO_BYTES, ms, clock })
  switch (first.is) {
    case 'too_long':
    case 'too_late':
      return true
    case 'ended':
      return isSecure
    case 'read':
      return first.value === plain ? isSecure : first.value !== name
  }
}

/** No name of a server: it is not TLS. */
const plain = ' '

/** The name that a hello of TLS has, null where it has none; looked at, and left where it is. */
function readFirst(bytes: Buffer): Read<string | null> {
  if (bytes.length === 0) return 'more'
  if (bytes[0] !== 22) return { value: plain, taken: 0 }
  const hello = readHello(bytes)
  switch (hello.is) {
    case 'more':
      return 'more'
    case 'broken':
      return { value: null, taken: 0 }
    case 'hello':
      return { value: hello.server, taken: 0 }
  }
}

/**
 * Ends both when neither has moved a byte for a while. Until the last is closed: who does not read
 * what is left for it holds its end open when the other one is long gone.
 */
function idle(sockets: readonly Socket[], clock: Clock): void {
  const moved = () => sockets.reduce((sum, one) => sum + one.bytesRead + one.bytesWritten, 0)
  let before = -1
  let cancel = () => {}
  const look = () => {
    const now = moved()
    if (now === before) return sockets.forEach((one) => one.destroy())
    before = now
    cancel = clock.after(HOST_IDLE_MS, look)
  }
  look()
  const closed = () => sockets.every((one) => one.closed) && cancel()
  for (const socket of sockets) socket.once('close', closed)
}
