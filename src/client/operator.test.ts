import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { sendThroughDoor, type DoorAddress, type DoorWay } from './operator.ts'

const command = { do: 'start_agent' as const, agent_id: 'main' }
/** There is no socket: it goes by the port. */
const wayTo = (address: DoorAddress, socket = '/nowhere/control.sock'): DoorWay => ({
  address,
  token: 'k',
  socket,
})
const reply = {
  ok: false as const,
  code: 'agent_not_found',
  message: 'There is no agent.',
  hint: 'Look.',
}

/** A door that answers everything with one status and body. */
async function door(t: TestContext, status: number, body: string) {
  const server = createServer((_, outgoing) => outgoing.writeHead(status).end(body))
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  t.after(() => server.close())
  return { pid: 1, port: (server.address() as AddressInfo).port }
}

describe('a command through the door', () => {
  const answers: [name: string, status: number, body: string, wanted: unknown][] = [
    ['a reply comes back as it is', 404, JSON.stringify(reply), { ok: true, reply }],
    [
      'a problem is told in its own words',
      503,
      '{"detail":"The home is being recovered."}',
      { ok: false, code: 'refused', message: 'The home is being recovered.' },
    ],
    [
      'a wrong token has a code of its own',
      401,
      '{"detail":"The control token is wrong."}',
      { ok: false, code: 'unauthorized' },
    ],
    [
      'something that is no door is told',
      200,
      '<html>',
      { ok: false, code: 'unknown', message: 'it answered 200 without JSON' },
    ],
    [
      'a refusal in no words of ours is one',
      404,
      '<html>',
      { ok: false, code: 'refused', message: 'it answered 404 without JSON' },
    ],
  ]
  for (const [name, status, body, wanted] of answers) {
    test(name, async (t) => {
      const address = await door(t, status, body)
      assert.deepEqual(await sendThroughDoor(wayTo(address), command), wanted)
    })
  }

  test('it goes by the socket of the home, and by the port where nobody listens at that', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'holon-'))
    t.after(() => rm(folder, { recursive: true }))
    const socket = join(folder, 'control.sock')
    const address = await door(t, 503, '{"detail":"by the port"}')
    const bySocket = createServer((_, to) => to.writeHead(503).end('{"detail":"by the socket"}'))
    const listening = Promise.withResolvers<void>()
    bySocket.listen(socket, () => listening.resolve())
    await listening.promise
    const first = await sendThroughDoor(wayTo(address, socket), command)
    const closed = Promise.withResolvers<void>()
    bySocket.close(() => closed.resolve())
    await closed.promise
    const paths = [socket, folder, `${folder}/${'x'.repeat(200)}`]
    const then = await Promise.all(
      paths.map((path) => sendThroughDoor(wayTo(address, path), command)),
    )
    const said = (message: string) => ({ ok: false, code: 'refused', message })
    assert.deepEqual(
      [first, ...then],
      [said('by the socket'), ...paths.map(() => said('by the port'))],
    )
  })

  test('a door that is gone is closed', async (t) => {
    const address = await door(t, 200, '')
    const gone = createServer()
    const listening = Promise.withResolvers<void>()
    gone.listen(0, '127.0.0.1', () => listening.resolve())
    await listening.promise
    const { port } = gone.address() as AddressInfo
    const closed = Promise.withResolvers<void>()
    gone.close(() => closed.resolve())
    await closed.promise
    assert.notEqual(port, address.port)
    assert.deepEqual(await sendThroughDoor(wayTo({ pid: 1, port }), command), {
      ok: false,
      code: 'closed',
    })
  })
})
