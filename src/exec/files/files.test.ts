// The runtime's own files, on a real disk in a temporary folder.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FileFault } from './file-fault.ts'
import { systemFiles } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-files-'))
const at = (name: string) => join(folder, name)
const files = systemFiles()
after(() => rmSync(folder, { recursive: true, force: true }))

const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

async function codeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act
    return 'no fault'
  } catch (error) {
    assert(error instanceof FileFault)
    return `${error.code} ${error.retry}`
  }
}

test('a file is written whole, and nothing else is left in its folder', async () => {
  mkdirSync(at('whole'))
  await files.write_atomic(at('whole/a'), 'one')
  await files.write_atomic(at('whole/a'), Buffer.from('two'))
  const { updated_at, bytes, ...read } = await files.read(at('whole/a'))
  assert.equal(Buffer.from(bytes).toString(), 'two')
  assert.match(updated_at, /^\d{4}-.*Z$/)
  const hash = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3'
  assert.deepEqual(read, { path: at('whole/a'), size: 3, sha256: hash, mode: 0o600 })
  assert.deepEqual(await files.hash(at('whole/a')), { sha256: hash, bytes: 3 })
  assert.deepEqual(readdirSync(at('whole')), ['a'])
})

test('the mode of a replaced file stays, unless another is given', async () => {
  writeFileSync(at('mode'), '')
  chmodSync(at('mode'), 0o755)
  await files.write_atomic(at('mode'), 'x')
  assert.equal(statSync(at('mode')).mode & 0o777, 0o755)
  await files.write_atomic(at('mode'), 'x', 0o640)
  assert.equal(statSync(at('mode')).mode & 0o777, 0o640)
})

test('of twenty concurrent writers one wins, and no reader sees a torn file', async () => {
  const texts = Array.from({ length: 20 }, (_, i) => String(i).padStart(2, '0').repeat(50_000))
  await files.write_atomic(at('race'), texts[0] ?? '')
  const read = async () => Buffer.from((await files.read(at('race'))).bytes).toString()
  const writing = texts.map((text) => files.write_atomic(at('race'), text))
  const seen = await Promise.all(Array.from({ length: 20 }, read))
  await Promise.all(writing)
  assert([...seen, await read()].every((text) => texts.includes(text)))
})

test('a failed write leaves the old file and no draft', async () => {
  mkdirSync(at('failed/target'), { recursive: true })
  assert.equal(await codeOf(files.write_atomic(at('failed/target'), 'x')), 'is_folder never')
  assert.deepEqual(readdirSync(at('failed')), ['target'])
})

test('what is appended stands at the end', async () => {
  await files.append(at('log'), 'a\n')
  await files.append(at('log'), 'b\n')
  assert.equal(readFileSync(at('log'), 'utf8'), 'a\nb\n')
  assert.equal(statSync(at('log')).mode & 0o777, 0o600)
})

test('folders are made, listed in order, and told apart from files and links', async () => {
  await files.make_folder(at('made/deep'))
  await files.make_folder(at('made/deep'))
  writeFileSync(at('made/b'), 'x')
  symlinkSync('nowhere', at('made/a'))
  execFileSync('mkfifo', [at('made/c')])
  assert.deepEqual(await files.list(at('made')), [
    { name: 'a', kind: 'link' },
    { name: 'b', kind: 'file' },
    { name: 'c', kind: 'other' },
    { name: 'deep', kind: 'folder' },
  ])
  assert.equal(statSync(at('made/deep')).mode & 0o777, 0o700)
  const { updated_at: _, ...stat } = await files.stat(at('made/b'))
  assert.deepEqual([stat.kind, stat.size], ['file', 1])
  assert.equal((await files.stat(at('made/a'))).kind, 'link')
  assert.deepEqual(
    [await files.exists(at('made/a')), await files.exists(at('made/no'))],
    [true, false],
  )
  await files.remove(at('made/a'))
  await files.remove(at('made/a'))
  assert.equal(await files.exists(at('made/a')), false)
})

test('each failure has a code of its own', async () => {
  mkdirSync(at('f'))
  writeFileSync(at('f/file'), 'text')
  symlinkSync('file', at('f/link'))
  symlinkSync('round', at('f/round'))
  execFileSync('mkfifo', [at('f/fifo')])
  const table: [string, () => Promise<unknown>, string][] = [
    ['a missing file', () => files.read(at('f/no')), 'not_found never'],
    ['a file as a folder', () => files.read(at('f/file/x')), 'not_found never'],
    ['a folder read', () => files.read(at('f')), 'is_folder never'],
    ['a folder hashed', () => files.hash(at('f')), 'is_folder never'],
    ['a pipe read', () => files.read(at('f/fifo')), 'not_regular never'],
    ['a pipe hashed', () => files.hash(at('f/fifo')), 'not_regular never'],
    ['a device read', () => files.read('/dev/null'), 'not_regular never'],
    ['a circle of links', () => files.read(at('f/round')), 'not_regular never'],
    [
      'a link not to be followed',
      () => files.read(at('f/link'), { follow: false }),
      'not_regular never',
    ],
    ['a link followed', () => files.read(at('f/link')), 'no fault'],
    ['too large', () => files.read(at('f/file'), { max_bytes: 3 }), 'too_large never'],
    ['just large enough', () => files.read(at('f/file'), { max_bytes: 4 }), 'no fault'],
    ['a listed file', () => files.list(at('f/file')), 'not_found never'],
    ['a folder over a file', () => files.make_folder(at('f/file')), 'not_regular never'],
    ['a folder removed', () => files.remove(at('f')), 'is_folder never'],
    ['a full disk', () => files.append('/dev/full', 'x'), 'disk_full later'],
    ['a name that is too long', () => files.read(at('x'.repeat(300))), 'not_found never'],
  ]
  const seen = []
  for (const [what, act] of table) seen.push([what, await codeOf(act())])
  assert.deepEqual(
    seen,
    table.map(([what, , code]) => [what, code]),
  )
})

test('an empty file has the hash of nothing', async () => {
  await files.write_atomic(at('empty'), '')
  assert.deepEqual(await files.hash(at('empty')), { sha256: emptyHash, bytes: 0 })
})
