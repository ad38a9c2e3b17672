/** Files are exchanged for what they were so that nothing is lost, on a real disk. */
import assert from 'node:assert/strict'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Standing } from '../ports.ts'
import { FileFault } from './file-fault.ts'
import { systemFiles } from './files.ts'

const files = systemFiles()
const none: Standing = { kind: 'none' }
const file = (text: string, mode = 0o644): Standing => {
  return { kind: 'file', bytes: Buffer.from(text), mode }
}

function bench(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-put-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const work = join(folder, 'work')
  mkdirSync(join(work, 'sub'), { recursive: true })
  const roots = { read: [], write: [work], deny: [], read_only: [] }
  const at = (name: string) => join(work, name)
  const look = (name: string) => files.look_within(roots, at(name))
  const put = (name: string, expected: Standing, next: Standing) =>
    files.put_within(roots, at(name), expected, next)
  return { folder, work, at, look, put }
}

const done = { put: true, aside: null }
const not = { put: false, aside: null }

test('a file, a link and nothing are put in the place of each other', async (t) => {
  const { at, look, put, work } = bench(t)
  const link: Standing = { kind: 'link', bytes: Buffer.from('nowhere') }
  assert.deepEqual(await put('new/a', none, file('one', 0o755)), done)
  assert.equal(statSync(at('new/a')).mode & 0o777, 0o755)
  assert.deepEqual(await put('new/a', file('one', 0o755), link), done)
  assert.deepEqual(await look('new/a'), link)
  assert.deepEqual(await put('new/a', link, file('two', 0o600)), done)
  assert.deepEqual(await put('new/a', file('two', 0o600), none), done)
  assert.deepEqual([await look('new/a'), readdirSync(join(work, 'new'))], [none, []])
})

test('what is not as it was said to be stays as it is, bytes and mode', async (t) => {
  const { at, put } = bench(t)
  writeFileSync(at('a'), 'mine')
  const before = statSync(at('a')).ino
  for (const expected of [none, file('them'), file('mine', 0o600)]) {
    assert.deepEqual(await put('a', expected, file('new')), not)
    assert.deepEqual([readFileSync(at('a'), 'utf8'), statSync(at('a')).ino], ['mine', before])
  }
  assert.deepEqual(await put('b', file('gone'), file('new')), not)
  assert.deepEqual(readdirSync(at('.')), ['a', 'sub'])
})

/** The name under which a file is for the moment of its exchange. */
const asideOf = (work: string): string => {
  const name = readdirSync(work).find((one) => one.endsWith('.holon-aside'))
  return join(work, name ?? assert.fail('nothing is aside'))
}

test('after a kill in the middle of an exchange the file is found in its place', async (t) => {
  const { at, look, put, work } = bench(t)
  writeFileSync(at('a'), 'mine')
  // What somebody left there under that name is never taken for rubbish.
  writeFileSync(at('x'), 'of another')
  linkSync(at('x'), nameAside(at('a')))
  const answer = await put('a', file('mine'), file('new'))
  assert.deepEqual(answer, { put: false, aside: asideOf(work) })
  rmSync(asideOf(work))

  renameSync(at('a'), nameAside(at('a')))
  assert.deepEqual(await look('a'), file('mine'))
  assert.ok(existsSync(at('a')))

  linkSync(at('a'), nameAside(at('a')))
  assert.deepEqual(await put('a', file('mine'), file('new')), done)
  assert.deepEqual(readdirSync(work).toSorted(), ['a', 'sub', 'x'])
})

/** As `put-back.ts` has it: a name that is the same each time. */
const nameAside = (path: string): string => join(path, '..', '.a.ca978112ca1b.holon-aside')

test('no link is followed on the way', async (t) => {
  const { at, look, put, folder } = bench(t)
  mkdirSync(join(folder, 'outside'))
  writeFileSync(join(folder, 'outside', 'a'), 'theirs')
  mkdirSync(at('other'))
  writeFileSync(at('other/a'), 'theirs')
  const refused = (error: unknown) => error instanceof FileFault && error.code === 'denied'
  for (const to of [join(folder, 'outside'), at('other')]) {
    rmSync(at('sub'), { recursive: true })
    symlinkSync(to, at('sub'))
    await assert.rejects(look('sub/a'), refused)
    await assert.rejects(put('sub/a', file('theirs'), none), refused)
    assert.equal(readFileSync(join(to, 'a'), 'utf8'), 'theirs')
  }
  symlinkSync(at('other/a'), at('link'))
  assert.deepEqual(await put('link', file('theirs'), none), not)
  assert.equal(readFileSync(at('other/a'), 'utf8'), 'theirs')
})
