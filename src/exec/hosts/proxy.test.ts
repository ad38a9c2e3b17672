/** One connection through the proxy, its bounds and its ends, on loopback and a clock of the test. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { virtualClock } from '../../testing/virtual-clock.ts'
import {
  HOST_DIALS,
  HOST_DIAL_MS,
  HOST_HEADER_BYTES,
  HOST_HEADER_MS,
  HOST_HELLO_BYTES,
  HOST_HELLO_MS,
  HOST_IDLE_MS,
} from './limits.ts'
import { carry } from './proxy.ts'

type Dial = (address: string, to: number) => Socket

/** A proxy before a server that says what it hears back; any host is allowed. */
async function proxyOf(t: TestContext, addresses = ['93.184.216.34'], dial?: Dial) {
  const clock = virtualClock()
  const open: Socket[] = []
  const kept = (socket: Socket) => {
    open.push(socket.on('error', () => socket.destroy()))
    return socket
  }
  const behind = createServer({ allowHalfOpen: true }, (socket) => {
    kept(socket)
    socket.pipe(socket)
  })
  await once(behind.listen(0, '127.0.0.1'), 'listening')
  const { port: to } = behind.address() as AddressInfo
  const dialled: string[] = []
  const usual: Dial = () => connect({ host: '127.0.0.1', port: to, allowHalfOpen: true })
  const net = {
    resolve: async () => addresses,
    connect: (address: string) => {
      dialled.push(address)
      return (dial ?? usual)(address, to)
    },
  }
  const judge = async (asked: string) => {
    const [name = '', port] = asked.split(':')
    return { ok: true, name, port: Number(port) } as const
  }
  const carried: Promise<void>[] = []
  /** The proxy's ends of what clients opened. */
  const inside: Socket[] = []
  const door = createServer({ allowHalfOpen: true }, (client) => {
    inside.push(client)
    carried.push(carry(kept(client), { judge, net, clock }))
  })
  await once(door.listen(0, '127.0.0.1'), 'listening')
  t.after(async () => {
    for (const socket of open) socket.destroy()
    door.close()
    behind.close()
    await Promise.all(carried)
  })
  const { port } = door.address() as AddressInfo
  const enter = async () => {
    const client = kept(connect({ port, host: '127.0.0.1', allowHalfOpen: true }))
    await Promise.all([once(client, 'connect'), once(door, 'connection')])
    return client
  }
  return { clock, dialled, enter, inside }
}

/** The next that comes, or an empty text at the end. */
async function next(client: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  client.once('data', (bytes) => resolve(bytes.toString('latin1')))
  client.once('end', () => resolve('')).once('close', () => resolve(''))
  return promise
}

const ask = (asked: string) => `CONNECT ${asked} HTTP/1.1\r\n\r\n`
const statusOf = (text: string) => Number(text.split(' ')[1])

test('a request over its bytes is refused, and one within them is answered', async (t) => {
  const { enter, dialled } = await proxyOf(t)
  const long = await enter()
  long.write(`CONNECT a.example:22 HTTP/1.1\r\nx: ${'a'.repeat(HOST_HEADER_BYTES)}\r\n\r\n`)
  assert.equal(statusOf(await next(long)), 431)
  const endless = await enter()
  endless.write('a'.repeat(HOST_HEADER_BYTES))
  assert.equal(statusOf(await next(endless)), 431)
  const head = 'CONNECT a.example:22 HTTP/1.1\r\nx: '
  const fits = await enter()
  fits.write(`${head}${'a'.repeat(HOST_HEADER_BYTES - head.length - 4)}\r\n\r\n`)
  assert.equal(statusOf(await next(fits)), 200)
  assert.equal(dialled.length, 1)
})

test('who does not ask in time, or asks for no tunnel, is told so', async (t) => {
  const { clock, enter, dialled } = await proxyOf(t)
  const slow = await enter()
  slow.write('CONNECT a.example:22 HT')
  const said = next(slow)
  await clock.advance(HOST_HEADER_MS)
  assert.equal(statusOf(await said), 408)
  for (const [text, status] of [
    ['GET http://a.example/ HTTP/1.1\r\n\r\n', 405],
    ['hello\r\n\r\n', 400],
    ['CONNECT a.example:22 HTTP/2\r\n\r\n', 400],
  ] as const) {
    const client = await enter()
    client.write(text)
    assert.equal(statusOf(await next(client)), status)
  }
  assert.deepEqual(dialled, [])
})

test('at 443 a client says hello in time and within its bytes, or is shut', async (t) => {
  const { clock, enter } = await proxyOf(t)
  const opened = async () => {
    const client = await enter()
    client.write(ask('a.example:443'))
    assert.equal(statusOf(await next(client)), 200)
    return client
  }
  const silent = await opened()
  const shut = next(silent)
  await clock.advance(HOST_HELLO_MS)
  // One that is waited for is ended by this, without a word.
  await clock.advance(HOST_IDLE_MS)
  assert.equal(await shut, '\x15\x03\x01\x00\x02\x02\x70')
  const record = Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0]), Buffer.alloc(0x4000)])
  // A hello that says it is of sixteen megabytes, and goes on.
  record.set([1, 255, 255, 255], 5)
  const endless = await opened()
  const ended = next(endless)
  for (let sent = 0; sent < HOST_HELLO_BYTES; sent += record.length) endless.write(record)
  assert.equal(await ended, '\x15\x03\x01\x00\x02\x02\x70')
})

test('elsewhere the server may speak first, and half of a connection may end', async (t) => {
  const { enter } = await proxyOf(t, undefined, (_, to) => {
    const socket = connect({ host: '127.0.0.1', port: to, allowHalfOpen: true })
    // It comes back: the server behind says what it hears.
    socket.once('connect', () => socket.write('SSH-2.0 '))
    return socket
  })
  const client = await enter()
  client.write(ask('git.example:22'))
  let text = ''
  client.on('data', (bytes) => (text += bytes.toString()))
  while (!text.includes('SSH-2.0 ')) await once(client, 'data')
  client.end('bye')
  await once(client, 'end')
  assert.match(text, /^HTTP\/1\.1 200 .*\r\n\r\nSSH-2\.0 bye$/s)
})

test('addresses are tried in turn, so many of them and so long each', async (t) => {
  const all = ['93.184.216.1', '93.184.216.2', '93.184.216.3', '93.184.216.4']
  let dials = Promise.withResolvers<void>()
  const { clock, enter, dialled } = await proxyOf(t, all, () => {
    dials.resolve()
    // It connects to nothing.
    return new Socket({ allowHalfOpen: true })
  })
  const client = await enter()
  client.write(ask('a.example:22'))
  const said = next(client)
  for (let tries = 0; tries < HOST_DIALS; tries += 1) {
    await dials.promise
    dials = Promise.withResolvers()
    assert.equal(dialled.length, tries + 1)
    await clock.advance(HOST_DIAL_MS)
  }
  assert.equal(statusOf(await said), 502)
  assert.deepEqual(dialled, all.slice(0, HOST_DIALS))
  assert.equal(clock.nextDue(), null)
})

test('a connection on which nothing moves is ended, and one that moves is not', async (t) => {
  const { clock, enter } = await proxyOf(t)
  const client = await enter()
  client.write(ask('a.example:22'))
  assert.equal(statusOf(await next(client)), 200)
  for (const word of ['one', 'two', 'three']) {
    client.write(word)
    assert.equal(await next(client), word)
    await clock.advance(HOST_IDLE_MS)
  }
  const ended = next(client)
  await clock.advance(HOST_IDLE_MS)
  assert.equal(await ended, '')
  assert.equal(clock.nextDue(), null)
})

test('who does not read to the end is ended too when the server is gone', async (t) => {
  const listening = createServer({ allowHalfOpen: true })
  await once(listening.listen(0, '127.0.0.1'), 'listening')
  const { port } = listening.address() as AddressInfo
  t.after(() => listening.close())
  const near = new Socket({ allowHalfOpen: true })
  const reached = once(listening, 'connection') as Promise<[Socket]>
  const { clock, enter, inside } = await proxyOf(t, undefined, () =>
    near.connect({ host: '127.0.0.1', port }),
  )
  const client = await enter()
  client.write(ask('a.example:22'))
  assert.equal(statusOf(await next(client)), 200)
  client.pause()
  const [far] = await reached
  const [held] = inside
  assert.ok(held !== undefined)
  const more = Buffer.alloc(4_096)
  for (let sent = more.length; held.writableLength === 0; sent += more.length) {
    far.write(more)
    while (near.bytesRead < sent) await new Promise((again) => setImmediate(again))
  }
  far.end()
  far.resume()
  client.end()
  await once(near, 'close')
  assert.equal(held.destroyed, false)
  await clock.advance(HOST_IDLE_MS)
  await clock.advance(HOST_IDLE_MS)
  assert.equal(held.destroyed, true)
  assert.equal(clock.nextDue(), null)
})
