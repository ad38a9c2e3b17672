/**
 * A small HTTP proxy on loopback for tests: tunnels for https, whole addresses for http. Behind it
 * is one server, whatever name is asked for; in a tunnel it stands behind TLS, as
 * `api.provider.test`. It keeps what it was asked, and wants a user and password if one is given.
 */
import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'

export type TestProxy = {
  port: number
  /** `CONNECT host:port` or `POST http://…`, in order. */
  readonly asked: readonly string[]
  /** Names of the headers that it saw outside of tunnels. */
  readonly headers: readonly string[]
  close(): Promise<void>
}

export type ProxyOptions = {
  /** The port of the server behind it. */
  to: number
  /** `user:password` that it insists on. */
  credential?: string
  /** What it answers to every tunnel that is asked for. */
  refuses_with?: number
}

/** The server at a port of loopback, behind TLS as `api.provider.test`. */
const tlsBefore = (to: number, keep: (socket: Socket) => Socket) =>
  createTlsServer({ key, cert: providerCertificate }, (secure) => {
    const plain = keep(connect(to, '127.0.0.1'))
    secure.on('error', () => plain.destroy())
    secure.pipe(plain).pipe(secure)
  })

/** The port of such a server, which goes with the test. */
export async function serveTls(t: Pick<TestContext, 'after'>, to: number): Promise<number> {
  const open = new Set<Socket>()
  const server = tlsBefore(to, (socket) => {
    open.add(socket.on('error', () => socket.destroy()))
    return socket
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function startProxy(options: ProxyOptions): Promise<TestProxy> {
  const { to, credential, refuses_with } = options
  const asked: string[] = []
  const headers: string[] = []
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket)))
    return socket
  }
  const wanted = `Basic ${Buffer.from(credential ?? '').toString('base64')}`
  const statusOf = (incoming: IncomingMessage): number => {
    asked.push(`${incoming.method} ${incoming.url}`)
    headers.push(...Object.keys(incoming.headers))
    return credential === undefined || incoming.headers['proxy-authorization'] === wanted
      ? 200
      : 407
  }

  const behind = tlsBefore(to, keep)
  const proxy = createServer((incoming, outgoing) => {
    const status = statusOf(incoming)
    if (status !== 200) return void outgoing.writeHead(status).end('Who are you?')
    const { pathname, search } = new URL(incoming.url ?? '')
    const { method, headers: sent } = incoming
    const where = { port: to, host: '127.0.0.1', path: `${pathname}${search}` }
    const onward = request({ ...where, method, headers: sent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward.on('error', () => outgoing.destroy()))
  })
  proxy.on('connection', keep)
  proxy.on('connect', (incoming, client: Socket) => {
    const status = refuses_with ?? statusOf(incoming)
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const tunnel = keep(connect((behind.address() as AddressInfo).port, '127.0.0.1'))
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    client.pipe(tunnel).pipe(client)
  })
  for (const server of [behind, proxy]) {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  }
  const close = async () => {
    const closed = [behind, proxy].map(
      (server) => new Promise<void>((resolve) => void server.close(() => resolve())),
    )
    for (const socket of open) socket.destroy()
    await Promise.all(closed)
  }
  return { port: (proxy.address() as AddressInfo).port, asked, headers, close }
}

/** Of nobody: made for this file, and trusted by tests that say so. */
const key = [
  '-----BEGIN PRIVATE KEY-----',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb6Rf6qShaVoZJru2',
  'myZ4ulLX4n4OPVKAFaMe2OyG9zyhRANCAASsTIQRd5oviVTWCM4t+fzLIfUMcMro',
  'Qyb1JYXZRQV+zyefCqxQAx2+4fg9mMQiU7M4eoqaA0oP2OQqe9YPKplk',
  '-----END PRIVATE KEY-----',
].join('\n')

/** Signed by itself, for `api.provider.test`. */
export const providerCertificate = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBmDCCAT2gAwIBAgIUDuLMm5RVrLz+Emqpya2ycGMmNA4wCgYIKoZIzj0EAwIw',
  'ETEPMA0GA1UEAwwGYSB0ZXN0MCAXDTI2MTEyMzIzNDUzNVoYDzIxMjYxMDMwMjM0',
  'NTM1WjARMQ8wDQYDVQQDDAZhIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC',
  'AASsTIQRd5oviVTWCM4t+fzLIfUMcMroQyb1JYXZRQV+zyefCqxQAx2+4fg9mMQi',
  'U7M4eoqaA0oP2OQqe9YPKplko3EwbzAdBgNVHQ4EFgQU9HYxkdG2ugmjLZdWs4pX',
  '8o1Ag5owHwYDVR0jBBgwFoAU9HYxkdG2ugmjLZdWs4pX8o1Ag5owDwYDVR0TAQH/',
  'BAUwAwEB/zAcBgNVHREEFTATghFhcGkucHJvdmlkZXIudGVzdDAKBggqhkjOPQQD',
  'AgNJADBGAiEAm/VNQ+w4vA2rcdPYrrCXTuiSO4qMdQkQPoxiMuHZ+KsCIQD0AGUu',
  'd1SntF3fBGuuJwoW5iGUQlGZTOSNm22AGIifxA==',
  '-----END CERTIFICATE-----',
].join('\n')
