/**
 * Our fetch beside the real one, against the same loopback server: everything the provider
 * libraries read from a response must be equal, and its failures must look alike.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { serveLoopback } from '../../testing/http/loopback.ts'
import type { FetchFunction } from './fetch.ts'
import { keptAliveFetch } from './fetch.ts'
import { modelLimits } from '../limits.ts'

async function serve(t: TestContext, listener: RequestListener) {
  const client = keptAliveFetch()
  t.after(() => client.close())
  const { server, port } = await serveLoopback(t, listener)
  const url = `http://127.0.0.1:${port}/a?b=c`
  return { url, server, ours: client.fetch, both: [client.fetch, globalThis.fetch] as const }
}

/** Headers that say when or how, not what. */
const passing = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

async function read(fetch: FetchFunction, url: string, init?: RequestInit) {
  const response = await fetch(url, init)
  const body = response.body === null ? null : await response.text()
  const headers = [...response.headers].filter(([name]) => !passing.has(name))
  const seen: [string, string][] = []
  response.headers.forEach((value, name) => seen.push([name, value]))
  return {
    ok: response.ok,
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    redirected: response.redirected,
    headers,
    forEach: seen.filter(([name]) => !passing.has(name)),
    get: response.headers.get('X-Two'),
    none: response.headers.get('x-none'),
    has: response.headers.has('CONTENT-TYPE'),
    body,
    bodyUsed: response.bodyUsed,
  }
}

test('responses read the same as the real ones', async (t) => {
  const { url, both } = await serve(t, (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const status = Number(request.headers['x-status'] ?? 200)
      response.setHeader('Content-Type', 'application/json')
      response.setHeader('X-Two', ['a', 'b'])
      response.writeHead(status)
      response.end(status === 204 ? undefined : JSON.stringify({ body, method: request.method }))
    })
  })
  const body = JSON.stringify({ text: 'Grüße 🌍' })
  for (const status of ['200', '201', '204', '400', '429', '500', '529']) {
    const init = { method: 'POST', headers: { 'x-status': status }, body }
    const [ours, real] = await Promise.all(both.map((fetch) => read(fetch, url, init)))
    assert.deepEqual(ours, real, status)
  }
  const [ours, real] = await Promise.all(both.map((fetch) => read(fetch, url)))
  assert.deepEqual(ours, real, 'GET')
})

test('text, JSON and bytes read once, like the real ones', async (t) => {
  const { url, both } = await serve(t, (_, response) => void response.end('{"a":"ü"}'))
  for (const fetch of both) {
    assert.deepEqual(await (await fetch(url)).json(), { a: 'ü' })
    const bytes = await (await fetch(url)).arrayBuffer()
    assert.equal(Buffer.from(bytes).toString(), '{"a":"ü"}')
    const once = await fetch(url)
    await once.text()
    await assert.rejects(once.text(), TypeError)
  }
})

test('a connection is used again', async (t) => {
  const ports = new Set<number | undefined>()
  const { url, ours } = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  for (let n = 0; n < 3; n++) await (await ours(url)).text()
  assert.equal(ports.size, 1)
})

test('a kept connection that the server closed is replaced, once', async (t) => {
  let seen = 0
  const { url, ours } = await serve(t, (request, response) => {
    seen += 1
    if (seen === 2) return void request.socket.resetAndDestroy()
    response.end('ok')
  })
  assert.equal(await (await ours(url)).text(), 'ok')
  assert.equal(await (await ours(url)).text(), 'ok')
  assert.equal(seen, 3)
})

test('no answer is a failed fetch with its cause, like the real one', async (t) => {
  const { url, server, both } = await serve(t, (_, response) => void response.end())
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  for (const fetch of both) {
    await assert.rejects(fetch(url), (error: Error & { cause?: { code?: string } }) => {
      assert(error instanceof TypeError)
      assert.equal(error.message, 'fetch failed')
      assert.equal(error.cause?.code, 'ECONNREFUSED')
      return true
    })
  }
})

test('a body that breaks off fails its reader, like the real one', async (t) => {
  const { url, both } = await serve(t, (_, response) => {
    response.write('half')
    setImmediate(() => response.destroy())
  })
  for (const fetch of both) {
    const response = await fetch(url)
    await assert.rejects(response.text(), TypeError)
  }
})

test('an abort rejects with its reason, before, waiting and reading', async (t) => {
  let arrived = Promise.withResolvers<void>()
  const { url, both } = await serve(t, (request, response) => {
    if (request.headers['x-answer'] === 'yes') response.write('half')
    arrived.resolve()
  })
  for (const fetch of both) {
    await assert.rejects(fetch(url, { signal: AbortSignal.abort() }), { name: 'AbortError' })

    const waiting = new AbortController()
    arrived = Promise.withResolvers()
    const request = fetch(url, { signal: waiting.signal })
    await arrived.promise
    waiting.abort()
    await assert.rejects(request, { name: 'AbortError' })

    const reading = new AbortController()
    const headers = { 'x-answer': 'yes' }
    const response = await fetch(url, { signal: reading.signal, headers })
    const reader = response.body?.getReader()
    await reader?.read()
    reading.abort()
    await assert.rejects(reader?.read() ?? Promise.resolve(), { name: 'AbortError' })
  }
})

test('a long-lived signal keeps nothing of finished requests', async (t) => {
  const { url, ours } = await serve(t, (_, response) => void response.end('ok'))
  const { signal } = new AbortController()
  const held = { listeners: 0 }
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => (
    (held.listeners += 1),
    add(...args)
  )
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (
    (held.listeners -= 1),
    remove(...args)
  )
  for (let n = 0; n < 3; n++) await (await ours(url, { signal })).text()
  while (held.listeners > 0) await new Promise(setImmediate)
  assert.equal(held.listeners, 0)
})

test('an unread body stops the sender, and cancelling lets go of the connection', async (t) => {
  let sent = 0
  const closed = Promise.withResolvers<void>()
  const { url, ours } = await serve(t, (_, response) => {
    const piece = Buffer.alloc(64 * 1024)
    const more = () => {
      while (sent < 1e9 && response.write(piece)) sent += piece.length
      if (!response.destroyed) response.once('drain', more)
    }
    more()
    response.on('close', () => closed.resolve())
  })
  const response = await ours(url)
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await closed.promise
  assert(sent < 64 * 1024 * 1024, `${sent} bytes were taken from the sender`)
})

test('the body of an error is read only so far', async (t) => {
  const { url, ours } = await serve(t, (_, response) => {
    response.writeHead(500)
    response.end(Buffer.alloc(modelLimits.error_body.value * 3, 'x'))
  })
  const response = await ours(url)
  assert.equal((await response.text()).length, modelLimits.error_body.value)
})

test('one event of a stream that has no end is broken off; a long stream of events is read', async (t) => {
  const kilo = 'x'.repeat(1_000)
  const { url, ours } = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const part = request.headers['x-part'] ?? ''
    const [piece = '', often = 0] = pieces.get(String(part)) ?? []
    let left = often
    const more = () => {
      while (left-- > 0) if (!response.write(piece)) return void response.once('drain', more)
      response.end()
    }
    more()
  })
  const mega = kilo.repeat(1_000)
  const most = Math.ceil(modelLimits.frame.value / 1_000_000) + 2
  const pieces = new Map<string, [string, number]>([
    ['a line', [mega, most]],
    ['lines', [`data: ${mega}\n`, most]],
    ['events', [`data: ${mega}\n\n`, most]],
    ['events of CRs', [`data: ${mega}\r\r`, most]],
    ['events of CRLFs', [`data: ${mega}\r\n\r\n`, most]],
  ])
  const bytesOf = async (part: string): Promise<number> => {
    const response = await ours(url, { headers: { 'x-part': part } })
    let bytes = 0
    for await (const chunk of response.body ?? []) bytes += chunk.length
    return bytes
  }
  for (const part of ['a line', 'lines']) {
    await assert.rejects(bytesOf(part), { message: 'One event of the stream has no end.' }, part)
  }
  for (const part of ['events', 'events of CRs', 'events of CRLFs']) {
    assert.equal(await bytesOf(part), (pieces.get(part)?.[0].length ?? 0) * most, part)
  }
})

test('a path of this machine goes before the address, which is used where nobody listens', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holon-'))
  const path = join(folder, 'control.sock')
  const { url } = await serve(t, (_, response) => void response.end('by the port'))
  const server = createServer((_, response) => void response.end('by the path'))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => rm(folder, { recursive: true }))
  const said = async (socket: string) => {
    const client = keptAliveFetch(socket)
    const text = await (await client.fetch(url)).text()
    client.close()
    return text
  }
  const first = await said(path)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const paths = [path, folder, join(folder, 'x'.repeat(200))]
  assert.deepEqual(
    [first, ...(await Promise.all(paths.map(said)))],
    ['by the path', ...paths.map(() => 'by the port')],
  )
})
