import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { followLog, lastLines } from './daemon-log.ts'
import { systemLogFiles } from './log-files.ts'

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'holon-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'daemon.log')
}

test('the last lines are whole lines, oldest first, with or without a newline at the end', async (t) => {
  const path = place(t)
  assert.deepEqual(await lastLines(path, 3), [])
  writeFileSync(path, '')
  assert.deepEqual(await lastLines(path, 3), [])
  writeFileSync(path, 'a\n\nb\nc\n')
  assert.deepEqual(await lastLines(path, 9), ['a', '', 'b', 'c'])
  assert.deepEqual(await lastLines(path, 2), ['b', 'c'])
  assert.deepEqual(await lastLines(path, 0), [])
  appendFileSync(path, 'd')
  assert.deepEqual(await lastLines(path, 2), ['c', 'd'])
  // The folder of it is a file: that is no log that is not there yet.
  await assert.rejects(lastLines(join(path, 'x'), 1), { code: 'ENOTDIR' })
})

test('of a long log only the end is read, and no line of it in part', async (t) => {
  const path = place(t)
  const most = 4 * 1024 * 1024
  const line = 'x'.repeat(1_023)
  writeFileSync(path, `first\n${`${line}\n`.repeat(most / 1_024)}`)
  const all = await lastLines(path, 99_999)
  assert.deepEqual([all.length, all[0]], [most / 1_024 - 1, line])
  writeFileSync(path, `${line}\n`.repeat(most / 1_024))
  assert.equal((await lastLines(path, 99_999)).length, most / 1_024)
})

/** What a follower says while these happen, one between two looks each. */
async function followed(path: string, ...happens: (() => void)[]): Promise<string[]> {
  const said: string[] = []
  const over = new AbortController()
  const steps = [...happens]
  const clock = {
    sleep: async (ms: number, signal?: AbortSignal) => {
      assert.equal(ms, 250)
      const step = steps.shift()
      if (step === undefined) over.abort(new Error('enough'))
      else step()
      signal?.throwIfAborted()
    },
  }
  await followLog(path, clock, over.signal, (text) => void said.push(text))
  return said
}

test('what is added is told in whole lines, once, and nothing of what was there', async (t) => {
  const path = place(t)
  writeFileSync(path, 'old\n')
  const add = (bytes: string | Uint8Array) => () => appendFileSync(path, bytes)
  const euro = Buffer.from('€')
  const said = await followed(
    path,
    add('a\nb\nc'),
    () => undefined,
    add('d'),
    add(`e\n`),
    add(euro.subarray(0, 1)),
    add(euro.subarray(1)),
    add('\n'),
  )
  assert.deepEqual(said, ['a\nb\n', 'cde\n', '€\n'])
})

test('a log that begins anew, under its name or cut, is told from its start', async (t) => {
  const path = place(t)
  writeFileSync(path, 'old\n')
  const said = await followed(
    path,
    () => appendFileSync(path, 'half'),
    () => {
      renameSync(path, `${path}.1`)
      writeFileSync(path, 'a new one that is longer\n')
    },
    () => {
      truncateSync(path, 0)
      appendFileSync(path, 'cut\n')
    },
    () => rmSync(path),
    () => writeFileSync(path, 'back\n'),
  )
  assert.deepEqual(said, ['a new one that is longer\n', 'cut\n', 'back\n'])
})

test('a log that is not there yet is told from its start', async (t) => {
  const path = place(t)
  assert.deepEqual(await followed(path, () => writeFileSync(path, 'a\n')), ['a\n'])
})

test('a missing log file is moved and removed as nothing; what the machine refuses is said', (t) => {
  const path = place(t)
  systemLogFiles.rename(path, `${path}.1`)
  systemLogFiles.remove(path)
  assert.equal(systemLogFiles.size(path), 0)
  systemLogFiles.append(path, 'é')
  systemLogFiles.append(path, 'b')
  assert.equal(systemLogFiles.size(path), 3)
  assert.throws(() => systemLogFiles.rename(path, join(path, 'x')), { code: 'ENOTDIR' })
  systemLogFiles.rename(path, `${path}.1`)
  assert.deepEqual([systemLogFiles.size(path), systemLogFiles.size(`${path}.1`)], [0, 3])
})
