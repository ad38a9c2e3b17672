/** A server of a test on loopback, which goes with the test and whatever is still connected. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export async function serveLoopback(
  t: Pick<TestContext, 'after'>,
  listener: RequestListener,
): Promise<{ server: Server; port: number }> {
  const server = createServer(listener)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}
