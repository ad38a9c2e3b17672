import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execPath } from 'node:process'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { systemClock } from '../clock.ts'
import type { Clock } from '../ports.ts'
import { startStandby, type StandbyNotice } from './standby.ts'

const options = { timeout: 60_000 }
const script = fileURLToPath(new URL('../../main/serve/standby.ts', import.meta.url))

/** Asks once, in a process of its own, and prints status and body. */
const asker = `
const [port] = process.argv.slice(1)
const answer = await fetch('http://127.0.0.1:' + port + '/healthz')
console.log(JSON.stringify([answer.status, await answer.json()]))`

/** The call does not return before there is an answer: like one to a hanging disk, it blocks. */
function askBlocking(port: number): [status: number, body: { ok: true; silent_ms?: number }] {
  const words = ['--input-type=module', '-e', asker, String(port)]
  const { stdout, stderr } = spawnSync(execPath, words, { encoding: 'utf8', timeout: 30_000 })
  assert.notEqual(stdout, '', `nobody answered: ${stderr}`)
  return JSON.parse(stdout) as [number, { ok: true; silent_ms?: number }]
}

async function listening(t: TestContext) {
  const server = createServer((_, outgoing) => outgoing.end('{"ok":true}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

const descriptorOf = (server: Server) => (server as Server & { _handle: { fd: number } })._handle.fd

/** Notices as they come; `next` waits for one. */
function notices() {
  const all: StandbyNotice[] = []
  let wake = () => {}
  return {
    all,
    onNotice: (notice: StandbyNotice) => {
      all.push(notice)
      wake()
    },
    async next(): Promise<StandbyNotice> {
      for (;;) {
        const first = all.shift()
        if (first !== undefined) return first
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

function stands(
  t: TestContext,
  descriptors: number[],
  port: number,
  program = { node: execPath, script },
  clock: Clock = systemClock(),
) {
  const told = notices()
  const standby = startStandby({
    program,
    home: '/nowhere',
    descriptors,
    hosts: [`127.0.0.1:${port}`],
    clock,
    onNotice: told.onNotice,
  })
  t.after(() => standby.close())
  return { standby, told }
}

test(
  'while a call blocks the only thread, the standby answers; then it is relieved by a fresh one',
  options,
  async (t) => {
    const { server, port } = await listening(t)
    const { standby, told } = stands(t, [descriptorOf(server)], port)
    const first = standby.pid()
    const [status, body] = askBlocking(port)
    assert.deepEqual([status, body.ok], [200, true])
    assert.ok(Number(body.silent_ms) >= 3_000, JSON.stringify(body))
    const notice = await told.next()
    assert.equal(notice.kind, 'relieved')
    assert.ok(notice.kind === 'relieved' && notice.silent_ms >= 2_000, JSON.stringify(notice))
    assert.notEqual(standby.pid(), first)
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`)
    assert.deepEqual(await answer.json(), { ok: true })
    // And again: the fresh one stands by as the first did.
    assert.ok(Number(askBlocking(port)[1].silent_ms) >= 3_000)
  },
)

test(
  'one that cannot be started is told, and tried again after a time that doubles up to a minute',
  options,
  async (t) => {
    const clock = virtualClock()
    const { told } = stands(t, [], 0, { node: '/no/such/node', script }, clock)
    const found: [string, number][] = []
    for (let tries = 0; tries < 8; tries += 1) {
      const notice = await told.next()
      assert.equal(notice.kind, 'lost')
      if (notice.kind !== 'lost') return
      found.push([notice.reason, notice.again_ms])
      await clock.advance(notice.again_ms)
    }
    const reason = 'spawn /no/such/node ENOENT'
    const seconds = [1, 2, 4, 8, 16, 32, 60, 60]
    assert.deepEqual(
      found,
      seconds.map((second) => [reason, second * 1_000]),
    )
  },
)

test(
  'one that ends well before it could have stood in is lost, not relieved',
  options,
  async (t) => {
    const empty = { node: execPath, script: '/dev/null' }
    const { told } = stands(t, [], 0, empty, virtualClock())
    assert.deepEqual(await told.next(), { kind: 'lost', reason: 'exit 0', again_ms: 1_000 })
  },
)

test('after close its process is gone, and none is started again', options, async (t) => {
  const { server, port } = await listening(t)
  const { standby, told } = stands(t, [descriptorOf(server)], port)
  const pid = standby.pid() ?? assert.fail('it has no pid')
  await Promise.all([standby.close(), standby.close()])
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.deepEqual([standby.pid(), told.all], [null, []])
})
