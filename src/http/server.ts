/**
 * The application on a socket: where it may listen (docs/spec/http.md#who-comes-in), how much of a
 * connection it bears, and how it ends. Everything about requests is the application's, which is
 * made when the first of them comes: a port is taken at once, and agents need not wait for schemas.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Application } from './app.ts'
import { answered, lateApp, type LateApp } from './late-app.ts'
import { httpLimits } from './request/limits.ts'
import type { HttpClock } from './request/ports.ts'
import { Unproven, watch } from './gate/unproven.ts'

export const loopback: readonly string[] = ['127.0.0.1', '::1']

export type ListenOptions = {
  /** 0: any free one. */
  port: number
  /** Literal addresses; without them the loopback ones. */
  addresses?: readonly string[]
  /** The operator said that other addresses than loopback are meant. */
  allow_remote?: boolean
  /** The home has a control token that can be read. */
  has_token: boolean
  /**
   * Whether who holds the port may be what a killed owner of this home has left, which ends by
   * itself: then it is tried again for a moment. Asked only while the port is in use.
   */
  lingers?: (port: number) => Promise<boolean>
  clock: HttpClock
}

type ListenCode = 'port_in_use' | 'address_refused' | 'port_denied' | 'address_unknown' | 'listen'

/** Why nothing listens: one sentence, and what to do about it. */
export class ListenFault extends Error {
  readonly code: ListenCode
  readonly hint: string
  readonly retry = 'never'
  constructor(code: ListenCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ListenFault'
    this.code = code
    this.hint = hint
  }
}

/** Contract: `close` ends streams, then connections, within the grace; twice is nothing. */
export type Listening = {
  port: number
  addresses: readonly string[]
  /**
   * Listens at a path of this machine as well, for whoever may open it: strangers at the port take
   * nothing from those. Nothing may be there. Rejects with a `ListenFault`; the rest goes on.
   */
  listenAt(path: string): Promise<void>
  /** Of the sockets listened at now, for a process that stands by; none on a system without. */
  descriptors(): number[]
  /** Makes the application now if no request has; rejects as making it does. */
  answers(): Promise<void>
  close(): Promise<void>
}

/**
 * Rejects with a `ListenFault`; then nothing listens anywhere. `build` is called once at most, and
 * requests wait for what it makes.
 */
export async function listen(
  build: (port: () => number | null) => Application | Promise<Application>,
  options: ListenOptions,
): Promise<Listening> {
  const addresses = options.addresses ?? loopback
  checkAddresses(addresses, options)
  let port: number | null = null
  const late = lateApp(() => build(() => port))
  const strangers = new Unproven<Socket>(options.clock)
  const servers: Server[] = []
  const bound: string[] = []
  try {
    for (const address of addresses) {
      const server = makeServer(late, strangers)
      const at = await bindPatiently(server, port ?? options.port, address, options)
      // A machine without IPv6 has no ::1 to listen on.
      if (at === null) continue
      servers.push(server)
      bound.push(address)
      port = at
    }
    if (port === null) throw noAddress(addresses)
  } catch (error) {
    for (const server of servers) server.close()
    throw error
  }
  return {
    port,
    addresses: bound,
    async listenAt(path) {
      const server = makeServer(late, new Unproven<Socket>(options.clock))
      await bindPath(server, path)
      servers.push(server)
    },
    descriptors: () => servers.flatMap(descriptorOf),
    answers: async () => void (await late.answering()),
    close: closing(late, servers, options.clock),
  }
}

/** Exact forms only: a name or a wildcard may mean any interface. */
function checkAddresses(
  addresses: readonly string[],
  { allow_remote, has_token }: ListenOptions,
): void {
  const remote = addresses.find((address) => !loopback.includes(address))
  if (remote === undefined) return
  if (allow_remote !== true) {
    throw new ListenFault(
      'address_refused',
      `${remote} is not a loopback address: other machines could reach this home.`,
      'Leave the address out, or add --allow-remote if that is what you want.',
    )
  }
  if (!has_token) {
    throw new ListenFault(
      'address_refused',
      `${remote} is not a loopback address, and this home has no control token.`,
      'Make one first: `holon serve` without an address writes control-token into the home.',
    )
  }
}

const noAddress = (addresses: readonly string[]): ListenFault =>
  new ListenFault(
    'address_unknown',
    `This machine has none of the addresses ${addresses.join(', ')}.`,
    'Name an address of this machine.',
  )

function makeServer(late: LateApp, strangers: Unproven<Socket>): Server {
  const server = createServer(
    {
      requestTimeout: httpLimits.request_timeout.value,
      headersTimeout: httpLimits.headers_timeout.value,
      maxHeaderSize: httpLimits.header_bytes.value,
      // Without a Host it is refused here, and as a problem.
      requireHostHeader: false,
    },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      // A connection that falls idle while the server closes has nothing more to wait for.
      outgoing.once('close', () => server.listening || server.closeIdleConnections())
      const proved = () => strangers.proved(incoming.socket)
      void answered(late, outgoing, (by) => by.answer(incoming, outgoing, proved))
    },
  )
  watch(server, strangers)
  server.maxConnections = httpLimits.connections.value
  server.maxHeadersCount = httpLimits.headers.value
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    void answered(late, socket, (by) => by.refuse(error, socket))
  })
  return server
}

/** As `bind`; a port that is about to be free is waited for. */
async function bindPatiently(
  server: Server,
  port: number,
  address: string,
  { clock, lingers }: ListenOptions,
): Promise<number | null> {
  const until = clock.monotonic() + httpLimits.port_patience.value
  for (;;) {
    try {
      return await bind(server, port, address)
    } catch (error) {
      const isHeld = error instanceof ListenFault && error.code === 'port_in_use'
      if (!isHeld || clock.monotonic() >= until || (await lingers?.(port)) !== true) throw error
      await new Promise<void>((tried) => void clock.after(httpLimits.port_pause.value, tried))
    }
  }
}

/** Node has no name for it: a socket that listens is handed on by what stands behind the server. */
function descriptorOf(server: Server): number[] {
  const { _handle: handle } = server as Server & { _handle?: { fd?: number } | null }
  const fd = handle?.fd ?? -1
  return fd < 0 ? [] : [fd]
}

/** The port listened on; null where the machine has no such address (but IPv4 loopback). */
async function bind(server: Server, port: number, address: string): Promise<number | null> {
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.once('listening', listening.resolve)
  server.listen({ port, host: address, exclusive: true })
  try {
    await listening.promise
  } catch (error) {
    // It may be tried again with the same server.
    server.removeListener('listening', listening.resolve)
    const { code } = error as NodeJS.ErrnoException
    if (address === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) return null
    throw faultOf(error, code, port, address)
  }
  server.removeListener('error', listening.reject)
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port')
  return bound.port
}

async function bindPath(server: Server, path: string): Promise<void> {
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen({ path }, () => listening.resolve())
  try {
    await listening.promise
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const says = `Listening at ${path} failed (${code}).`
    throw new ListenFault('listen', says, 'Use a home with a shorter path.', { cause: error })
  }
  server.removeListener('error', listening.reject)
}

function faultOf(
  cause: unknown,
  code: string | undefined,
  port: number,
  address: string,
): ListenFault {
  const at = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  switch (code) {
    case 'EADDRINUSE':
      return new ListenFault(
        'port_in_use',
        `Port ${port} is in use: another program listens on ${at}.`,
        'Stop that program, or choose another port: holon start --port <n>.',
        { cause },
      )
    case 'EACCES':
      return new ListenFault(
        'port_denied',
        `You may not listen on ${at}.`,
        'Choose a port from 1024 on: holon start --port <n>.',
        { cause },
      )
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
      return new ListenFault(
        'address_unknown',
        `This machine has no address ${address}.`,
        'Name an address of this machine.',
        { cause },
      )
    case undefined:
    default:
      return new ListenFault('listen', `Listening on ${at} failed (${code}).`, 'Try again.', {
        cause,
      })
  }
}

/** Streams end first, answers under way get the grace, then every connection is cut. */
function closing(late: LateApp, servers: readonly Server[], clock: HttpClock) {
  let closed: Promise<void> | null = null
  const close = async () => {
    await late.close()
    const cut = clock.after(httpLimits.close_grace.value, () => {
      for (const server of servers) server.closeAllConnections()
    })
    await Promise.all(
      servers.map((server) => {
        const done = Promise.withResolvers<void>()
        server.close(() => done.resolve())
        server.closeIdleConnections()
        return done.promise
      }),
    )
    cut()
  }
  return () => (closed ??= close())
}
