import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readOutput, sizeOf, writtenAt } from './output.ts'

function file(t: TestContext, bytes: Uint8Array | string): string {
  const folder = mkdtempSync(join(tmpdir(), 'holon-output-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'stdout')
  writeFileSync(path, bytes)
  return path
}

/** Characters of one, two, three and four bytes, in every order of neighbours. */
const text = 'aé€😀é😀€aa€é😀😀a'
const size = Buffer.byteLength(text)

test('pieces of any size follow each other, cut no character, and are the whole text', async (t) => {
  const path = file(t, text)
  for (let max_bytes = 4; max_bytes <= size + 1; max_bytes += 1) {
    let from = 0
    let read = ''
    for (let more = true; more;) {
      const piece = await readOutput(path, { stream: 'stdout', from, max_bytes })
      assert.ok(piece.bytes > max_bytes - 4 || !piece.truncated, `${max_bytes} at ${from}`)
      assert.deepEqual(
        [piece.from, piece.bytes, piece.truncated],
        [from, Buffer.byteLength(piece.text), from + piece.bytes < size],
      )
      read += piece.text
      from += piece.bytes
      more = piece.truncated
    }
    assert.equal(read, text, `${max_bytes}`)
  }
})

test('the end of the text begins with a whole character, and says whether there is more before', async (t) => {
  const path = file(t, text)
  for (let max_bytes = 4; max_bytes <= size + 1; max_bytes += 1) {
    const piece = await readOutput(path, { stream: 'stdout', max_bytes, tail: true })
    const bytes = Buffer.byteLength(piece.text)
    assert.ok(text.endsWith(piece.text) && bytes <= max_bytes && bytes > max_bytes - 4 - 1)
    assert.deepEqual(
      [piece.from, piece.bytes, piece.truncated],
      [size - bytes, bytes, bytes < size],
    )
  }
})

test('noise is read as it is: what begins no character is not waited for', async (t) => {
  const noise = (byte: number) => new Uint8Array(8).fill(byte)
  for (const byte of [0x80, 0xbf]) {
    const path = file(t, noise(byte))
    const piece = await readOutput(path, { stream: 'stdout', max_bytes: 5 })
    assert.deepEqual([piece.bytes, piece.truncated], [5, true])
    const end = await readOutput(path, { stream: 'stdout', max_bytes: 5, tail: true })
    assert.deepEqual([end.from, end.bytes], [6, 2])
  }
})

test('what is not there, or not yet, is empty; fewer bytes than a character has are never asked for', async (t) => {
  const path = file(t, 'abcdef')
  const read = (given: { from?: number; max_bytes: number; tail?: boolean }, at = path) =>
    readOutput(at, { stream: 'stdout', ...given })
  const none = { text: '', bytes: 0, truncated: false }
  assert.deepEqual(await read({ max_bytes: 9 }, `${path}.none`), { ...none, from: 0 })
  assert.deepEqual(await read({ from: 6, max_bytes: 9 }), { ...none, from: 6 })
  assert.deepEqual(await read({ from: 99, max_bytes: 9 }), { ...none, from: 6 })
  assert.equal((await read({ max_bytes: 1 })).text, 'abcd')
  assert.equal((await read({ max_bytes: 1, tail: true })).text, 'cdef')
  assert.deepEqual([sizeOf(path), sizeOf(`${path}.none`)], [6, 0])
  assert.equal(writtenAt(`${path}.none`), null)
  assert.equal(writtenAt(file(t, '')), null)
  assert.ok(Number.isInteger(writtenAt(path)))
})
