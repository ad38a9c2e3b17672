/** Looks at a working tree around a command, with real git on repositories that mean no good. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { limits } from '../../domain/limits.ts'
import type { TreeEnd, Trees } from '../ports.ts'
import { createGit } from './git.ts'
import { TREE_STAMP_MS } from './tree-limits.ts'
import { createTrees } from './trees.ts'

const id = 'task_1'

function bench(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-trees-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const work = join(folder, 'work')
  mkdirSync(join(work, 'sub'), { recursive: true })
  const at = (name: string) => join(work, name)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: work, stdio: 'pipe' })
  const put = (name: string, text: string) => writeFileSync(at(name), text)
  /** `ahead`: milliseconds by which its clock is: what was just made is not believed before. */
  const made = (ahead = 0): Trees =>
    createTrees({
      git: createGit({ parent_env: process.env }),
      folder: join(folder, 'trees'),
      isSecret: (bytes) => Buffer.from(bytes).includes('hush'),
      now: () => Date.now() + ahead,
    })
  const roots = { read: [], write: [work], deny: [at('denied')], read_only: [] }
  return { folder, work, at, git, put, made, roots }
}

const shown = (end: TreeEnd): string => {
  if (end.kind === 'none') return 'none'
  if (end.kind === 'unkept') return end.because
  const text = Buffer.from(end.bytes).toString()
  return end.kind === 'link' ? `-> ${text}` : `${end.mode.toString(8)} ${text}`
}

async function told(trees: Trees, { work, roots }: ReturnType<typeof bench>): Promise<unknown> {
  const changes = await trees.changes(id, roots)
  if (changes === null || !changes.ok) return changes
  return Object.fromEntries(
    changes.files.map(({ path, before, after }) => {
      return [path.slice(work.length + 1), [shown(before), shown(after)]]
    }),
  )
}

const gitFolder = (work: string): string =>
  execFileSync('find', ['.git', '-printf', '%p %s %T@ %C@\n'], { cwd: work }).toString()

test('bytes, modes and links are told as they were, and nothing of .git moves', async (t) => {
  const b = bench(t)
  const { at, git, put, work } = b
  git('init', '-q')
  put('eol', 'x')
  git('add', 'eol')
  put('.gitattributes', '* text eol=lf ident filter=bad working-tree-encoding=UTF-16\n')
  put('.gitignore', 'ignored\nran\n')
  for (const name of ['eol', 'gone', 'mode', 'sub/deep']) put(name, `${name} $Id$\r\n`)
  put('ignored', 'not followed\n')
  symlinkSync('eol', at('link'))
  git('config', 'filter.bad.clean', `touch ${at('ran')}; cat`)
  git('config', 'core.fsmonitor', `touch ${at('ran')}`)
  git('config', 'core.fileMode', 'false')
  const untouched = gitFolder(work)
  const trees = b.made()
  await trees.before(id, at('sub'), b.roots)
  put('eol', 'eol $Id$\n')
  rmSync(at('gone'))
  chmodSync(at('mode'), 0o711)
  put('new', 'new\r\n')
  put('ignored', 'changed\n')
  rmSync(at('link'))
  symlinkSync('nowhere', at('link'))
  assert.deepEqual(await told(trees, b), {
    eol: ['644 eol $Id$\r\n', '644 eol $Id$\n'],
    gone: ['644 gone $Id$\r\n', 'none'],
    link: ['-> eol', '-> nowhere'],
    mode: ['644 mode $Id$\r\n', '711 mode $Id$\r\n'],
    new: ['none', '644 new\r\n'],
  })
  assert.equal(gitFolder(work), untouched)
  assert.throws(() => realpathSync(at('ran')))
})

test('a later process is told the same, until it is forgotten', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('a', 'before\n')
  await b.made().before(id, b.work, b.roots)
  b.put('a', 'after\n')
  const later = b.made()
  assert.deepEqual(await later.pending(), [id])
  const expected = { a: ['644 before\n', '644 after\n'] }
  assert.deepEqual(await told(later, b), expected)
  assert.deepEqual(await told(later, b), expected)
  await later.forget(id)
  assert.deepEqual([await later.changes(id, b.roots), await later.pending()], [null, []])
})

test('the list of a tree is written once for all commands that find it so', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  for (const name of ['a', 'b']) b.put(name, name)
  const other = join(b.folder, 'other')
  mkdirSync(other)
  execFileSync('git', ['init', '-q'], { cwd: other })
  const trees = b.made(TREE_STAMP_MS)
  const lists = () => {
    const all = readdirSync(join(b.folder, 'trees', 'lists'))
    return all.map((name) => `${name} ${statSync(join(b.folder, 'trees', 'lists', name)).ino}`)
  }
  await trees.before('task_1', b.work, b.roots)
  const [first = ''] = lists()
  await trees.before('task_2', b.work, b.roots)
  await trees.forget('task_2')
  const wide = { ...b.roots, write: [b.work, other] }
  await trees.before('task_3', other, wide)
  await trees.forget('task_3')
  await trees.before('task_4', b.work, b.roots)
  assert.deepEqual([lists().length, lists().includes(first)], [2, true])
  b.put('a', 'changed')
  await trees.before('task_5', b.work, b.roots)
  assert.equal(lists().length, 3, 'what task_1 and task_4 began with is needed')
  await trees.forget('task_1')
  await trees.forget('task_4')
  const later = b.made(TREE_STAMP_MS)
  assert.deepEqual(await later.pending(), ['task_5'])
  assert.deepEqual([lists().length, lists().includes(first)], [1, false])
  b.put('a', 'again')
  const changes = await later.changes('task_5', b.roots)
  assert.deepEqual(changes?.ok && changes.files.map(({ before }) => shown(before)), ['644 changed'])
})

test('a change in the moment of the look, of the same size, is seen', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  const trees = b.made()
  for (let n = 0; n < 20; n += 1) {
    b.put('a', `${n}0\n`)
    await trees.before(id, b.work, b.roots)
    b.put('a', `${n}1\n`)
    assert.deepEqual(await told(trees, b), { a: [`644 ${n}0\n`, `644 ${n}1\n`] })
  }
})

test('what is secret, large, or kept from the agent has no bytes here', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('secret', 'hush\n')
  b.put('denied', 'x\n')
  b.put('plain', 'x\n')
  b.put('large', '')
  truncateSync(b.at('large'), limits.kept_file.value + 1)
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  for (const name of ['secret', 'denied', 'large']) appendFileSync(b.at(name), 'more')
  assert.deepEqual(await told(trees, b), {
    large: ['too_large', 'too_large'],
    secret: ['secret', 'secret'],
  })
  const stored = execFileSync('find', [join(b.folder, 'trees', 'bytes'), '-type', 'f'])
  assert.equal(stored.toString().trim().split('\n').length, 1)
})

test('outside of a repository nothing is looked at; one that git refuses is said', async (t) => {
  const b = bench(t)
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  assert.equal(await trees.changes(id, b.roots), null)
  b.git('init', '-q')
  b.git('config', 'core.worktree', '/')
  await trees.before(id, b.work, b.roots)
  const refused = await trees.changes(id, b.roots)
  assert.match(refused?.ok === false ? refused.why : '', /working tree is \/$/)
})

/** Every text below the folder of the looks, names first. */
const inHome = ({ folder }: ReturnType<typeof bench>): string => {
  const of = join(folder, 'trees')
  const names = execFileSync('find', [of]).toString()
  return names + execFileSync('grep', ['-rah', '', of], { stdio: 'pipe' }).toString()
}

test('no link on the way to a file is followed, whatever the index says of it', async (t) => {
  const b = bench(t)
  const outside = join(b.folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'key'), 'of somebody else\n')
  execFileSync('mkfifo', [join(outside, 'pipe')])
  b.git('init', '-q')
  b.put('a', 'mine\n')
  b.put('alone', 'mine too\n')
  b.git('add', 'a')
  const entry = b.git('ls-files', '-s', 'a').toString().split(' ')[1] ?? ''
  for (const name of ['led/key', 'led/pipe', 'sub/led/key']) {
    b.git('update-index', '--add', '--cacheinfo', `100644,${entry},${name}`)
  }
  symlinkSync(outside, b.at('led'))
  symlinkSync(outside, b.at('sub/led'))
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  b.put('alone', 'changed\n')
  assert.deepEqual(await told(trees, b), { alone: ['644 mine too\n', '644 changed\n'] })
  assert.ok(!inHome(b).includes('of somebody else'))
})

test('a folder that became a file, and a name that no system takes, hinder no look', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('sub/x', 'x\n')
  b.git('add', '.')
  const hash = b.git('hash-object', '-w', 'sub/x').toString().trim()
  b.git('update-index', '--add', '--cacheinfo', `100644,${hash},${'n'.repeat(300)}`)
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  rmSync(b.at('sub'), { recursive: true })
  b.put('sub', 'a file now\n')
  assert.deepEqual(await told(trees, b), {
    sub: ['none', '644 a file now\n'],
    'sub/x': ['644 x\n', 'none'],
  })
})

test('a name with a secret in it is written nowhere', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('plain', 'x\n')
  b.put('for-hush-only', 'y\n')
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  b.put('for-hush-only', 'z\n')
  assert.ok(!inHome(b).includes('hush'))
  assert.deepEqual(await told(trees, b), {})
})

test('looks at the same moment are each whole', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('a', 'before\n')
  const trees = b.made()
  const ids = Array.from({ length: 8 }, (_, n) => `task_${n}`)
  await Promise.all(ids.map((one) => trees.before(one, b.work, b.roots)))
  b.put('a', 'after\n')
  const all = await Promise.all(ids.map((one) => trees.changes(one, b.roots)))
  const seen = all.map((one) => (one?.ok ? one.files.map(({ after }) => shown(after)) : one))
  assert.deepEqual(
    seen,
    ids.map(() => ['644 after\n']),
  )
})

test('a large file does not count among the bytes that are read', async (t) => {
  const b = bench(t)
  b.git('init', '-q')
  b.put('log', '')
  truncateSync(b.at('log'), 300 * 1_024 * 1_024)
  b.put('small', 'x\n')
  const trees = b.made()
  await trees.before(id, b.work, b.roots)
  b.put('small', 'y\n')
  assert.deepEqual(await told(trees, b), { small: ['644 x\n', '644 y\n'] })
})
