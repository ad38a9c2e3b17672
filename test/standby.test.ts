/**
 * A daemon that answers nobody, stopped as a hanging disk stops it: its standby answers in its
 * place, gives back what it took, and never outlives it. Real processes, signalled by their pids.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { httpLimits } from '../src/http/request/limits.ts'
import { leftProcesses, processesOf } from './support/processes.ts'
import { said, ServedHome } from './support/served-home.ts'

const options = {
  timeout: 300_000,
  skip: process.platform === 'linux' ? false : 'it looks for processes in /proc',
}

/** What never becomes so ends its own test only. */
const each = { timeout: 90_000 }

/** Pids of the standbys of a home. */
const standbysOf = (at: ServedHome): number[] =>
  processesOf(at.home).flatMap((line) => {
    const [, pid] = /^(\d+) \S+ \S+\/main\/serve\/standby\.ts /.exec(line) ?? []
    return pid === undefined ? [] : [Number(pid)]
  })

/** Until it is so, or the test is over: what another process does sends no event. */
async function until<T>(t: TestContext, look: () => T | null): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== null) return found
    t.signal.throwIfAborted()
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

/**
 * The one standby of a home, once it runs; with `but`, another one than that. What of them is left
 * ends with the test.
 */
function standbyOf(t: TestContext, at: ServedHome, but: number | null = null): Promise<number> {
  t.after(() => {
    for (const pid of standbysOf(at)) process.kill(pid, 'SIGKILL')
  })
  return until(t, () => {
    const [pid, ...more] = standbysOf(at)
    return pid === undefined || pid === but || more.length > 0 ? null : pid
  })
}

/** Stops a process; whatever becomes of the test, it is let go again. */
function stop(t: TestContext, pid: number): void {
  process.kill(pid, 'SIGSTOP')
  t.after(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended.
    }
  })
}

const healthy = async (at: ServedHome, url: string) => (await at.fetch(url, '/healthz')).body

/** By the socket in the home, and with a Host of its own if it is to have one. */
async function bySocket(at: ServedHome, url: string, path: string) {
  const host = new URL(url).host
  const asking = request({ socketPath: join(at.home, 'control.sock'), path, headers: { host } })
  asking.end()
  const [incoming] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece)
  return [incoming.statusCode, JSON.parse(text) as Record<string, unknown>] as const
}

describe('a daemon that answers nobody', options, () => {
  test(
    'lives by /healthz, is not ready, takes nothing, and answers itself when it goes on',
    each,
    async (t) => {
      const at = new ServedHome(t)
      const daemon = await at.serve()
      const relieved = said(daemon.child.stderr, /"silent_ms":\d+,"msg":"the daemon was silent"/)
      const first = await standbyOf(t, at)
      assert.deepEqual(await healthy(at, daemon.url), { ok: true })
      stop(t, daemon.pid)
      const body = await healthy(at, daemon.url)
      assert.equal(body['ok'], true)
      assert.ok(Number(body['silent_ms']) >= 3_000, JSON.stringify(body))
      const codes = [
        ['GET', '/readyz'],
        ['GET', '/state'],
        ['POST', '/agents'],
        ['POST', '/callbacks/token'],
      ].map(async ([method = '', path = '']) => {
        const answer = await at.fetch(daemon.url, path, { method })
        return [answer.status, answer.body['code']]
      })
      const unresponsive = [503, 'unresponsive']
      assert.deepEqual(
        await Promise.all(codes),
        codes.map(() => unresponsive),
      )
      const [status, { silent_ms }] = await bySocket(at, daemon.url, '/healthz')
      assert.deepEqual([status, typeof silent_ms], [200, 'number'])
      process.kill(daemon.pid, 'SIGCONT')
      await relieved
      // From the line on nobody else accepts: the one that did has ended.
      assert.deepEqual(await healthy(at, daemon.url), { ok: true })
      assert.equal((await at.fetch(daemon.url, '/state')).status, 200)
      assert.notEqual(await standbyOf(t, at, first), first)
      daemon.child.kill('SIGTERM')
      assert.equal((await daemon.ended).exit, 0)
      assert.deepEqual(await leftProcesses(at.home), [])
    },
  )

  test('is said to be so by holon status, which then reads nothing more', each, async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    await standbyOf(t, at)
    stop(t, daemon.pid)
    await healthy(at, daemon.url)
    const { exit, out, err } = await at.holon('status')
    const says = `holon: the daemon \\(pid ${daemon.pid}\\) runs and has not answered for \\d+ s`
    assert.match(err, new RegExp(`^${says}; most often its disk hangs; look at its disk;`))
    assert.deepEqual([exit, out], [1, ''])
    const said = await at.holon('status', '--json')
    assert.deepEqual(
      [said.exit, (JSON.parse(said.err) as { code: string }).code],
      [1, 'unresponsive'],
    )
  })

  test(
    'lets no stranger keep the probe out: 64 connections are held, the silent ones go',
    each,
    async (t) => {
      const at = new ServedHome(t)
      const daemon = await at.serve()
      await standbyOf(t, at)
      stop(t, daemon.pid)
      await healthy(at, daemon.url)
      const port = Number(new URL(daemon.url).port)
      const from = performance.now()
      const held = Array.from({ length: httpLimits.unproven.value + 1 }, () => {
        const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
        t.after(() => socket.destroy())
        return socket
      })
      await Promise.race(held.map((socket) => once(socket, 'close')))
      const first = performance.now() - from
      assert.ok(first < httpLimits.headers_timeout.value, `the first went after ${first} ms`)
      assert.equal((await healthy(at, daemon.url))['ok'], true)
      await until(t, () => (held.every(({ closed }) => closed) ? true : null))
    },
  )

  test('of two daemons only the one that is silent is stood in for', each, async (t) => {
    const [at, other] = [new ServedHome(t), new ServedHome(t)]
    const [daemon, beside] = await Promise.all([at.serve(), other.serve()])
    const standby = await standbyOf(t, other)
    await standbyOf(t, at)
    stop(t, daemon.pid)
    assert.ok(Number((await healthy(at, daemon.url))['silent_ms']) >= 3_000)
    assert.deepEqual(await healthy(other, beside.url), { ok: true })
    assert.equal((await other.fetch(beside.url, '/state')).status, 200)
    assert.deepEqual(standbysOf(other), [standby])
  })
})

describe('the standby', options, () => {
  test('has no environment, no file of the home, and is one process', each, async (t) => {
    const at = new ServedHome(t)
    await at.serve(undefined, { SECRET_OF_THE_DAEMON: 'x' })
    const pid = await standbyOf(t, at)
    const environment = await until(t, () => {
      // Between fork and exec it still has its parent's.
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return words.includes('standby') ? readFileSync(`/proc/${pid}/environ`, 'utf8') : null
    })
    assert.equal(environment, '')
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    assert.deepEqual(
      files.filter((path) => path.includes(at.folder)),
      [],
    )
    assert.equal(readlinkSync(`/proc/${pid}/cwd`), '/')
  })

  test('is started again when it dies, and the daemon goes on', each, async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const told = said(daemon.child.stderr, /"reason":"ended by SIGKILL","again_ms":1000,/)
    const first = await standbyOf(t, at)
    process.kill(first, 'SIGKILL')
    await told
    assert.deepEqual(await healthy(at, daemon.url), { ok: true })
    assert.notEqual(await standbyOf(t, at, first), first)
  })

  test('ends with a daemon that is killed, and the next one has the port', each, async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    await standbyOf(t, at)
    daemon.child.kill('SIGKILL')
    await daemon.ended
    assert.deepEqual(await leftProcesses(at.home), [])
    const next = await at.serve(['--port', new URL(daemon.url).port])
    assert.equal(next.url, daemon.url)
  })

  test('is waited for by the next daemon where it is slow to end', each, async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const left = await standbyOf(t, at)
    stop(t, left)
    daemon.child.kill('SIGKILL')
    await daemon.ended
    const { port } = new URL(daemon.url)
    const next = at.start(['serve', '--json', '--port', port])
    await said(next.child.stderr, /"msg":"the port of the last daemon is not free yet"/)
    process.kill(left, 'SIGCONT')
    await said(next.child.stderr, /"msg":"serving"/)
    assert.deepEqual(await healthy(at, daemon.url), { ok: true })
    assert.ok(!standbysOf(at).includes(left))
  })

  test('is ended by a daemon that stops, even where it cannot end itself', each, async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    stop(t, await standbyOf(t, at))
    daemon.child.kill('SIGTERM')
    assert.equal((await daemon.ended).exit, 0)
    assert.deepEqual(processesOf(at.home), [])
  })

  test('is not there without a port: a run has none', each, async (t) => {
    const at = new ServedHome(t)
    const file = at.write('slow.md', '# Slow\n\n## Wait\n\n```sh\nsleep 5\n```\n')
    const run = at.start(['run', file])
    await said(run.child.stderr, /todos 0\/1/)
    assert.deepEqual(standbysOf(at), [])
    run.child.kill('SIGINT')
    assert.equal((await run.ended).exit, 130)
  })
})
