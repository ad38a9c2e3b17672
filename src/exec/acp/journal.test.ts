import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { JournalWriter, parseJournal } from './journal.ts'

const now = () => '2026-03-02T09:00:00.000Z'
const parsed = (text: string) => parseJournal(Buffer.from(text))

test('whole lines that parse count; the bytes are those of all whole lines', () => {
  const [one, two] = ['{"type":"text","text":"a"}', '{"type":"driver_ended","why":"é"}']
  const lines = [JSON.parse(one), JSON.parse(two)] as unknown
  const whole = `${one}\n${two}\n`
  assert.deepEqual(parsed(whole), { lines, bytes: Buffer.byteLength(whole) })
  assert.deepEqual(parsed(`${whole}{"type":"te`), { lines, bytes: Buffer.byteLength(whole) })
  const torn = `${one}\n{"type":"te\n\nnull\n1\n"type"\n{"at":1}\n[]\n${two}\n`
  assert.deepEqual(parsed(torn), { lines, bytes: Buffer.byteLength(torn) })
  assert.deepEqual(parsed(one), { lines: [], bytes: 0 })
  assert.deepEqual(parsed(''), { lines: [], bytes: 0 })
})

test('a writer goes on behind what is there, on a line of its own', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-journal-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'journal')
  const line = (why: string) => `${JSON.stringify({ at: now(), type: 'driver_ended', why })}\n`
  const written = (why: string, durable?: boolean) => {
    const writer = new JournalWriter(path, now)
    writer.append({ type: 'driver_ended', why }, durable)
    const { size } = writer
    writer.close()
    const text = readFileSync(path, 'utf8')
    assert.equal(size, Buffer.byteLength(text))
    return text
  }
  assert.equal(written('a'), line('a'))
  assert.equal(written('b', true), `${line('a')}${line('b')}`)
  appendFileSync(path, '{"torn')
  assert.equal(written('é'), `${line('a')}${line('b')}{"torn\n${line('é')}`)
})
