/** The rotation of the daemon's log, over real files and over a machine that fails. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemLogFiles } from '../exec/daemon/log-files.ts'
import { LOG_FILE_BYTES, LOG_FILES } from './limits.ts'
import { openLogFile } from './log-file.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'holon-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const contents = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )

test('a file that is full is set aside, five are kept, and no line is torn or lost before that', (t) => {
  const folder = folderOf(t)
  const file = openLogFile(join(folder, 'daemon.log'), systemLogFiles, { max_bytes: 8 })
  for (let n = 1; n <= 13; n += 1) file.write(`${String(n).padStart(3, '0')}\n`)
  assert.deepEqual(contents(folder), {
    'daemon.log': '013\n',
    'daemon.log.1': '011\n012\n',
    'daemon.log.2': '009\n010\n',
    'daemon.log.3': '007\n008\n',
    'daemon.log.4': '005\n006\n',
  })
  assert.equal(file.lost(), 0)
})

test('the limits are 10 MiB and five files, and the file is for its owner alone', (t) => {
  assert.deepEqual([LOG_FILE_BYTES, LOG_FILES], [10 * 1024 * 1024, 5])
  const folder = folderOf(t)
  openLogFile(join(folder, 'daemon.log'), systemLogFiles).write('x\n')
  assert.equal(statSync(join(folder, 'daemon.log')).mode & 0o777, 0o600)
})

test('what an earlier daemon wrote counts, and a line longer than the limit has a file of its own', (t) => {
  const folder = folderOf(t)
  const path = join(folder, 'daemon.log')
  openLogFile(path, systemLogFiles, { max_bytes: 8 }).write('before\n')
  const file = openLogFile(path, systemLogFiles, { max_bytes: 8 })
  file.write('longer than eight\n')
  file.write('after\n')
  assert.deepEqual(contents(folder), {
    'daemon.log': 'after\n',
    'daemon.log.1': 'longer than eight\n',
    'daemon.log.2': 'before\n',
  })
})

test('a full disk costs lines, which are counted, and never throws; writing goes on by itself', () => {
  let isFull = false
  let text = ''
  const file = openLogFile('daemon.log', {
    append(_path, more) {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      text += more
    },
    size: () => text.length,
    rename: () => {},
    remove: () => {},
  })
  file.write('1\n')
  isFull = true
  file.write('2\n')
  file.write('3\n')
  isFull = false
  file.write('4\n')
  assert.deepEqual([text, file.lost()], ['1\n4\n', 2])
})
