/**
 * The standby: a program of its own that listens at the daemon's sockets while the daemon is
 * silent. The daemon writes a byte into its input every second; when none came for some seconds,
 * because a call to a hanging disk blocks the daemon's only thread, this process accepts from the
 * same sockets and answers `/healthz`, and that everything else is not taken now. It ends when the
 * daemon is heard again (0), for to stop accepting is to close the sockets and the daemon starts a
 * fresh one, and when the daemon is gone (1): a port must not outlive its owner.
 *
 * Everything it needs is loaded before it is needed: it opens no file, has no environment and no
 * secret. Arguments: the home (only for who reads a list of processes), milliseconds of silence,
 * how many sockets there are from descriptor 3 on, and the Host names that are the daemon's own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { argv, exit, stdin } from 'node:process'
import { systemClock } from '../../exec/clock.ts'
import { watchSilence } from '../../exec/daemon/silence.ts'
import { httpLimits } from '../../http/request/limits.ts'
import { standbyAnswer } from '../../http/standby-answer.ts'
import { Unproven, watch } from '../../http/gate/unproven.ts'

/** Not by `import`: that looks at all of its exports, and with them loads 14 MB for nothing. */
const { createServer } = process.getBuiltinModule('node:http')

/** The first after the three that every process has. */
const firstSocket = 3

const [, limit = '', sockets = '', ...hosts] = argv.slice(2)
const own_hosts = new Set(hosts)
const clock = systemClock()
const servers = Array.from({ length: Number(sockets) }, makeServer)
let accepts = false
const silence = watchSilence({
  clock,
  limit_ms: Number(limit),
  afterReading: (fn) => void setImmediate(fn),
  onSilent: accept,
})

stdin.on('data', () => {
  if (accepts) exit(0)
  silence.heard()
})
stdin.on('end', () => exit(1))
stdin.on('error', () => exit(1))

function accept(): void {
  accepts = true
  for (const [at, server] of servers.entries()) server.listen({ fd: firstSocket + at })
}

function makeServer(): Server {
  const server = createServer(
    { maxHeaderSize: httpLimits.header_bytes.value, requireHostHeader: false },
    reply,
  )
  server.maxHeadersCount = httpLimits.headers.value
  server.on('checkContinue', reply).on('checkExpectation', reply)
  server.on('clientError', (_error: unknown, socket: Socket) => socket.destroy())
  watch(server, new Unproven<Socket>(clock))
  return server
}

function reply({ method = '', url = '', headers }: IncomingMessage, outgoing: ServerResponse) {
  const asked = { method, target: url, host: headers.host }
  const answer = standbyAnswer(asked, { silent_ms: silence.lasts(), own_hosts })
  outgoing.writeHead(answer.status, answer.headers).end(answer.body)
}
