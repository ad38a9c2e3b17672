import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { settle } from '../../testing/virtual-clock.ts'
import { WireFault, wire } from './wire.ts'

const limit = 40
const fitting = (bytes: number) => {
  const bare = JSON.stringify({ id: 1, result: '' })
  return JSON.stringify({ id: 1, result: 'x'.repeat(bytes - bare.length) })
}

/** All messages of what was written, in pieces as they came; or what was wrong with it. */
async function read(pieces: readonly string[], unanswered = 9) {
  const heard: boolean[] = []
  const output = Readable.from(pieces.map((piece) => Buffer.from(piece)))
  const options = {
    line_bytes: limit,
    unanswered,
    heard: (isRequest: boolean) => void heard.push(isRequest),
  }
  const { readable } = wire(output, new PassThrough(), options)
  const messages: unknown[] = []
  try {
    for await (const message of readable) messages.push(message)
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error))
    return { messages, heard, fault: error.message }
  }
  return { messages, heard, fault: null }
}

test('messages are lines, however they are cut on the way; what has no end is none', async () => {
  const lines = '{"id":1,"result":1}\n\n  \n{"method":"a"}\n{"id":2,"method":"b"}\n'
  const messages = [{ id: 1, result: 1 }, { method: 'a' }, { id: 2, method: 'b' }]
  const heard = [false, false, true]
  assert.deepEqual(await read([lines]), { messages, heard, fault: null })
  assert.deepEqual(await read(lines.split('')), { messages, heard, fault: null })
  assert.deepEqual(await read([`${lines}{"id":3`, ',"result":1}']), {
    messages,
    heard,
    fault: null,
  })
})

test('a line of exactly the limit is read, of one byte more it ends the connection', async () => {
  const tooLong = `it wrote a line of more than ${limit} bytes`
  const [most, more] = [fitting(limit), fitting(limit + 1)]
  const [one, end] = [most.slice(0, 7), `${most.slice(7)}\n`]
  for (const [pieces, count, fault] of [
    [[`${most}\n${most}\n`], 2, null],
    [[one, end], 1, null],
    [[most, '\n'], 1, null],
    [[`${more}\n`], 0, tooLong],
    [[`${most}\n${more}\n`], 1, tooLong],
    [[more], 0, tooLong],
    [[one, `${most.slice(7)}x`], 0, tooLong],
  ] as const) {
    const found = await read(pieces)
    assert.deepEqual([found.messages.length, found.fault], [count, fault], JSON.stringify(pieces))
  }
})

test('a line that is no message ends the connection with a little of it', async () => {
  const json = (line: string) => `it wrote a line that is no JSON: ${JSON.stringify(line)}`
  const rpc = (line: string) =>
    `it wrote a line that is no JSON-RPC message: ${JSON.stringify(line)}`
  for (const [line, says] of [
    ['hello', json],
    ['{', json],
    ['1', rpc],
    ['null', rpc],
    ['[{"id":1}]', rpc],
    ['[]', rpc],
    ['{}', rpc],
    ['{"method":1,"id":1}', rpc],
    ['{"result":1}', rpc],
  ] as const) {
    assert.deepEqual(await read([`${line}\n`]), { messages: [], heard: [], fault: says(line) })
  }
})

test('so many requests may be without an answer; the next is read when one has it', async () => {
  const output = new PassThrough()
  const options = { line_bytes: limit, unanswered: 2, heard: () => undefined }
  const { readable, writable } = wire(output, new PassThrough(), options)
  const writer = writable.getWriter()
  const taken: unknown[] = []
  const reading = (async () => {
    for await (const message of readable) taken.push((message as { id: number }).id)
  })()
  for (const id of [1, 2, 3, 4]) output.write(`{"id":${id},"method":"m"}\n`)
  const settled = async () => {
    for (let n = 0; n < 20; n += 1) await settle()
    return taken.length
  }
  assert.equal(await settled(), 2)
  // A request of ours answers nothing.
  await writer.write({ jsonrpc: '2.0', method: 'ours' })
  assert.equal(await settled(), 2)
  await writer.write({ jsonrpc: '2.0', id: 1, result: null })
  assert.equal(await settled(), 3)
  await writer.write({ jsonrpc: '2.0', id: 2, result: null })
  assert.equal(await settled(), 4)
  output.end()
  await reading
  assert.deepEqual(taken, [1, 2, 3, 4])
})
