// The page reader as a program of its own, on a real server behind a public address.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { test, type TestContext } from 'node:test'
import { serveLoopback } from '../../testing/http/loopback.ts'
import { systemClock } from '../clock.ts'
import { createWeb, type WebOptions } from './web.ts'

const clock = systemClock()
const never = new AbortController().signal

/** A program of these lines. */
function programOf(t: TestContext, lines: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'holon-web-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const script = join(folder, 'reader.mjs')
  writeFileSync(script, lines.join('\n'))
  return { node: execPath, script }
}

/** A web on which every name is the server of this test. */
async function webOf(
  t: TestContext,
  answer: RequestListener,
  patience_ms = 20_000,
  more: Pick<WebOptions, 'hosts'> = {},
) {
  const { port } = await serveLoopback(t, answer)
  const reader = programOf(t, [
    `import { connect } from 'node:net'`,
    `import { main } from ${JSON.stringify(join(import.meta.dirname, 'read-page.ts'))}`,
    `const net = {`,
    `  resolve: async () => ['93.184.216.34'],`,
    `  connect: () => connect({ host: '127.0.0.1', port: ${port} }),`,
    `}`,
    `await main(net)`,
  ])
  return createWeb({ clock, reader, patience_ms, ...more })
}

test('a page is read by a program that has nothing of our environment', async (t) => {
  const web = await webOf(t, (_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<title>T</title><h1>Hello</h1>')
  })
  assert.deepEqual(await web.read('http://page.example/a b', never, 'main'), {
    ok: true,
    url: 'http://page.example/a%20b',
    status: 200,
    title: 'T',
    text: '# Hello',
    cut: false,
  })
})

test('the real program dials nothing inside, and says so', async () => {
  const web = createWeb({ clock })
  for (const url of ['http://127.0.0.1:1/', 'http://localhost:1/', 'https://[::1]:1/']) {
    const got = await web.read(url, never, 'main')
    assert.equal(got.ok ? 'read' : got.code, 'private_address', url)
  }
  for (const url of ['file:///etc/passwd', 'no address', 'http://[', 'no\nhttp://127.0.0.1/', '']) {
    const got = await web.read(url, never, 'main')
    assert.equal(got.ok ? 'read' : got.code, 'bad_url', url)
  }
})

test('what never ends is given up, and its program is gone', async (t) => {
  const gone: Promise<void>[] = []
  const endless: RequestListener = (request, response) => {
    gone.push(new Promise((closed) => request.on('close', closed)))
    response.write('a')
  }
  const late = await webOf(t, endless, 1_500)
  const got = await late.read('http://page.example/', never, 'main')
  assert.deepEqual(got, {
    ok: false,
    code: 'too_slow',
    message: 'http://page.example/ was not read within 1.5 s.',
  })
  await Promise.all(gone)
})

test('a call that is aborted, before or meanwhile, ends its reader', async (t) => {
  const stop = new AbortController()
  const closed = Promise.withResolvers<void>()
  const web = await webOf(t, (request, response) => {
    request.on('close', () => closed.resolve())
    response.write('a')
    stop.abort()
  })
  const aborted = {
    ok: false,
    code: 'aborted',
    message: 'http://page.example/ was not read to its end.',
  }
  assert.deepEqual(await web.read('http://page.example/', stop.signal, 'main'), aborted)
  await closed.promise
  assert.deepEqual(await web.read('http://page.example/', stop.signal, 'main'), aborted)
})

test('a reader that dies, says too much or cannot be started is told', async (t) => {
  const dies = (...lines: string[]) => createWeb({ clock, reader: programOf(t, lines) })
  const code = async (web: ReturnType<typeof createWeb>) => {
    const got = await web.read('http://page.example/', never, 'main')
    return got.ok ? 'read' : `${got.code}: ${got.message}`
  }
  const none = 'no_reader: The page reader ended without an answer'
  assert.equal(await code(dies('process.exit(3)')), `${none} (3).`)
  assert.equal(await code(dies(`process.kill(process.pid, 'SIGKILL')`)), `${none} (SIGKILL).`)
  assert.equal(await code(dies(`process.stdout.write('{"ok":true')`)), `${none} (0).`)
  const flood = `process.stdout.write('a'.repeat(9 * 1024 * 1024) + '\\n')`
  assert.equal(await code(dies(flood)), `${none} (0).`)
  const nowhere = createWeb({ clock, reader: { node: '/no/such/node', script: '' } })
  assert.match(await code(nowhere), /^no_reader: The page reader: spawn .*ENOENT\.$/)
})

test('where hosts are listed a page is on one of them, and stays there', async (t) => {
  const asked: string[] = []
  const hosts = {
    judge: async (agent_id: string, host: string) => {
      asked.push(`${agent_id} ${host}`)
      const [name = '', port] = host.split(':')
      return name === 'page.example'
        ? { ok: true as const, name, port: Number(port) }
        : { ok: false as const, why: `${host} is not listed` }
    },
  }
  const read: string[] = []
  const web = await webOf(
    t,
    ({ url = '', headers }, response) => {
      read.push(`${headers.host}${url}`)
      const leads = { '/out': 'http://other.example/', '/on': '/here' }[url]
      if (leads === undefined) response.writeHead(200, { 'content-type': 'text/plain' })
      else response.writeHead(302, { location: leads })
      response.end('hello')
    },
    20_000,
    { hosts },
  )
  const other = await web.read('https://other.example:8443/a', never, 'main')
  assert.deepEqual(other, {
    ok: false,
    code: 'not_listed',
    message: 'other.example:8443 is not listed.',
  })
  const on = await web.read('http://page.example/on', never, 'main')
  assert.equal(on.ok && on.url, 'http://page.example/here')
  const out = await web.read('http://page.example/out', never, 'main')
  assert.deepEqual(out, {
    ok: false,
    code: 'not_listed',
    message:
      'http://page.example/out leads to other.example, another host, and is not followed there.',
  })
  assert.deepEqual(asked, [
    'main other.example:8443',
    'main page.example:80',
    'main page.example:80',
  ])
  assert.deepEqual(read, ['page.example/on', 'page.example/here', 'page.example/out'])
})
