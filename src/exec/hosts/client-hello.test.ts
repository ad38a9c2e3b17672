import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { readHello } from './client-hello.ts'

/** The bytes with which a real client of TLS begins. */
async function helloTo(servername: string | undefined): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const wire = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      resolve(bytes)
      done()
    },
  })
  const client = connect({ socket: wire, ...(servername === undefined ? {} : { servername }) })
  client.on('error', () => client.destroy())
  const bytes = await promise
  client.destroy()
  return bytes
}

/** The message in records of `size` bytes. */
function cut(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

/** With the extension of the name a second time, and every length around it true. */
function twice(hello: Buffer, name: number): Buffer {
  const extension = hello.subarray(name - 9, name + 9)
  const copy = Buffer.concat([hello.subarray(0, name + 9), extension, hello.subarray(name + 9)])
  const grown = (at: number) => copy.writeUInt16BE(hello.readUInt16BE(at) + extension.length, at)
  const list = hello.findIndex(
    (_, at) => at > 43 && at < name && hello.readUInt16BE(at) === hello.length - at - 2,
  )
  for (const at of [3, 7, list]) grown(at)
  return copy
}

test('a hello names its server, however it is cut, and one without a name names none', async () => {
  const hello = await helloTo('Api.Provider.Test')
  const named = { is: 'hello', server: 'api.provider.test' } as const
  assert.deepEqual(readHello(hello), named)
  for (const size of [1, 3, 100, 16_384]) assert.deepEqual(readHello(cut(hello, size)), named)
  assert.deepEqual(readHello(Buffer.concat([hello, Buffer.from('more')])), named)
  assert.deepEqual(readHello(await helloTo(undefined)), { is: 'hello', server: null })
})

test('what has not come whole yet is waited for, byte by byte', async () => {
  const hello = cut(await helloTo('a.example'), 60)
  for (let length = 0; length < hello.length; length += 1) {
    assert.deepEqual(readHello(hello.subarray(0, length)), { is: 'more' }, String(length))
  }
})

test('what is no hello, or names two servers, is broken, and no length is believed', async () => {
  const hello = await helloTo('a.example')
  const name = hello.indexOf('a.example')
  const changed = (at: number, ...bytes: number[]) => {
    const copy = Buffer.from(hello)
    copy.set(bytes, at)
    return copy
  }
  const broken = [
    Buffer.from('GET / HTTP/1.1\r\n'),
    changed(0, 23),
    changed(1, 2),
    changed(3, 0, 0),
    changed(3, 255, 255),
    changed(5, 2),
    // The name: another kind, longer than its list, of bytes that no name has, and of nothing.
    changed(name - 3, 1),
    changed(name - 2, 255, 255),
    changed(name - 5, 0, 0),
    changed(name, 0),
    changed(name, 0xe4),
    twice(hello, name),
  ]
  for (const bytes of broken) assert.deepEqual(readHello(bytes), { is: 'broken' })
  // Any one byte of it may be any other: it is read, or broken, or waited for.
  for (let at = 0; at < hello.length; at += 1) {
    for (const value of [0, 1, 127, 255]) assert.ok(readHello(changed(at, value)).is)
  }
})
