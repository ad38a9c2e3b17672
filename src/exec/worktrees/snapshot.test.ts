// A snapshot holds everything of a worktree, byte for byte, and a restore brings it back: what is
// odd about names, bits, links, line ends and repositories inside, in real repositories.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Bench, filesIn, pictureOf, worktreeBench } from '../../testing/host/repository.ts'
import type { WorktreeOptions } from './worktrees.ts'

const bench = async (t: TestContext, options: Partial<WorktreeOptions> = {}): Promise<Bench> => {
  const made = worktreeBench(options)
  t.after(made.end)
  await made.trees.add(made.add)
  return made
}
const of = (b: Bench) => ({ repository: b.repository, path: b.path, key: 'task_1' })

/** Snapshot, discard, clean up what nothing names, restore: the picture must be the same. */
async function roundTrip(b: Bench, path = b.path) {
  const before = pictureOf(b, b.path)
  const snapshot = await b.trees.snapshot(of(b))
  const discard = { snapshot: snapshot.ref }
  const removed = await b.trees.remove({ ...b.remove, discard })
  assert.deepEqual(removed, { ok: true, branch: 'deleted', left: null })
  b.git(b.root, 'reflog', 'expire', '--expire=now', '--all')
  b.git(b.root, 'gc', '-q', '--prune=now')
  await b.trees.restore({ repository: b.root, ref: snapshot.ref, path })
  const after = pictureOf(b, path)
  // A submodule says where its repository is, and that has moved with the worktree.
  if (path !== b.path) after.files['sub/.git'] = before.files['sub/.git'] ?? ''
  assert.deepEqual(after, before)
  return { snapshot, before }
}

test('odd names, bits, links, binaries and empty folders come back', async (t) => {
  const b = await bench(t)
  for (const name of ['tracked', 'moved', 'gone', 'linked']) b.commit(b.path, name, `${name}\n`)
  const at = (name: string) => join(b.path, name)
  b.put(at('--leading'), 'dash\n')
  b.put(at('new\nline/ü"\\\t%x/.gitfoo'), 'odd\n')
  writeFileSync(Buffer.concat([Buffer.from(at('byte-')), Buffer.from([0xff, 0xfe])]), 'raw\n')
  b.put(
    at('binary'),
    Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7) % 256),
  )
  b.put(at('secret'), 'secret\n', 0o600)
  b.put(at('run'), '#!/bin/sh\n')
  chmodSync(at('run'), 0o750)
  chmodSync(at('tracked'), 0o755)
  unlinkSync(at('gone'))
  unlinkSync(at('linked'))
  symlinkSync('/nowhere/at all', at('linked'))
  symlinkSync('readme.md', at('link'))
  renameSync(at('moved'), at('moved-to'))
  b.git(b.path, 'add', '-A', 'moved', 'moved-to')
  mkdirSync(at('empty/inside'), { recursive: true })
  mkdirSync(at('%percent'))
  b.put(at('both'), 'staged\n')
  b.git(b.path, 'add', 'both')
  b.put(at('both'), 'and changed\n')
  b.put(at('intended'), 'later\n')
  b.git(b.path, 'add', '-N', 'intended')
  const { before } = await roundTrip(b)
  assert.equal(before.files['secret'], '600 secret\n')
  assert.equal(before.files['empty/inside'], 'empty folder')
  assert.equal(Object.keys(before.files).length, 15)
})

test('line ends are kept as they are on the disk, whatever git would make of them', async (t) => {
  const b = await bench(t)
  b.git(b.root, 'config', 'core.autocrlf', 'true')
  b.commit(b.path, 'text', 'one\r\ntwo\r\n')
  b.put(join(b.path, 'text'), 'one\ntwo\r\n')
  b.put(join(b.path, 'readme.md'), 'first\r\n')
  const { before } = await roundTrip(b)
  assert.equal(before.files['text'], '644 one\ntwo\r\n')
})

test('a nested repository comes back with its own history, and so does a submodule', async (t) => {
  const b = await bench(t)
  const inner = join(b.folder, 'inner')
  b.git(b.folder, 'init', '-q', '-b', 'main', inner)
  b.commit(inner, 'a', 'a\n')
  b.git(b.path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub')
  b.git(b.path, 'commit', '-q', '-m', 'sub')
  const only = b.commit(join(b.path, 'sub'), 'b', 'b\n')
  b.put(join(b.path, 'sub/c'), 'c\n')
  b.git(b.path, 'init', '-q', '-b', 'main', 'nested')
  const nested = b.commit(join(b.path, 'nested'), 'd', 'd\n')
  b.put(join(b.path, 'nested/.git/hooks/odd'), 'odd\n', 0o755)
  const refused = await b.trees.remove(b.remove)
  assert.deepEqual(
    refused.ok ? null : refused.message,
    'it holds what no commit has: 1 changed and not staged, 1 untracked, 1 submodules checked out',
  )
  for (const path of [b.path, join(b.folder, 'worktrees/elsewhere')]) {
    const files = filesIn(join(b.path, 'nested/.git'))
    const { snapshot } = await roundTrip(b, path)
    assert.deepEqual(filesIn(join(path, 'nested/.git')), files)
    assert.equal(b.git(join(path, 'sub'), 'rev-parse', 'HEAD'), only)
    assert.equal(b.git(join(path, 'sub'), 'status', '--porcelain'), '?? c')
    assert.equal(b.git(join(path, 'nested'), 'rev-parse', 'HEAD'), nested)
    assert.equal(b.git(join(path, 'sub'), 'rev-parse', '--show-toplevel'), join(path, 'sub'))
    assert.equal(snapshot.left_out.count, 0)
  }
})

test('an index in two parts comes back', async (t) => {
  const b = await bench(t)
  b.commit(b.path, 'a', 'a\n')
  b.git(b.path, 'update-index', '--split-index')
  b.put(join(b.path, 'b'), 'b\n')
  b.git(b.path, 'add', 'b')
  await roundTrip(b)
})

test('a HEAD without a commit comes back', async (t) => {
  const b = await bench(t)
  b.git(b.path, 'checkout', '-q', '--orphan', 'fresh')
  b.put(join(b.path, 'new'), 'new\n')
  const head = () => b.git(b.path, 'symbolic-ref', 'HEAD')
  const { ref } = await b.trees.snapshot(of(b))
  const removed = await b.trees.remove({ ...b.remove, discard: { snapshot: ref } })
  assert.deepEqual(removed, { ok: true, branch: 'deleted', left: null })
  await b.trees.restore({ repository: b.root, ref, path: b.path })
  assert.equal(head(), 'refs/heads/fresh')
  assert.deepEqual(filesIn(b.path), { 'readme.md': '644 first\n', new: '644 new\n' })
})

test('nothing new gives the same snapshot; a change gives the next', async (t) => {
  const b = await bench(t)
  b.put(join(b.path, 'new'), 'new\n')
  const first = await b.trees.snapshot(of(b))
  b.git(b.path, 'status')
  assert.deepEqual(await b.trees.snapshot(of(b)), first)
  b.git(b.path, 'add', 'new')
  const second = await b.trees.snapshot(of(b))
  const { commit: _, taken_at: _at, ...rest } = second
  assert.deepEqual(rest, {
    ref: 'refs/holon/snapshots/task_1/2',
    key: 'task_1',
    n: 2,
    of: { path: b.path, branch: 'holon/child', head: b.first },
    left_out: { count: 0, sample: [] },
  })
  assert.deepEqual(await b.trees.list_snapshots(b.root), [first, second])
})

test('ignored files are in it up to a limit, small ones first; the rest is named', async (t) => {
  const b = await bench(t, { limits: { ignored_bytes: 100, ignored_files: 2 } })
  b.put(join(b.path, '.gitignore'), 'built/\n.env\n')
  b.put(join(b.path, '.env'), 'A=1\n', 0o600)
  b.put(join(b.path, 'built/big'), 'x'.repeat(200))
  b.put(join(b.path, 'built/small'), 'small\n')
  b.put(join(b.path, 'built/third'), 'third..\n')
  execFileSync('mkfifo', [join(b.path, 'pipe')])
  const { ref, left_out } = await b.trees.snapshot(of(b))
  assert.deepEqual(left_out, {
    count: 3,
    sample: [
      { path: 'pipe', bytes: 0, because: 'special' },
      { path: 'built/third', bytes: 8, because: 'ignored_limit' },
      { path: 'built/big', bytes: 200, because: 'ignored_limit' },
    ],
  })
  const removed = await b.trees.remove({ ...b.remove, discard: { snapshot: ref } })
  assert.equal(removed.ok, true)
  const restored = await b.trees.restore({ repository: b.root, ref, path: b.path })
  assert.deepEqual(restored.left_out, left_out)
  assert.deepEqual(filesIn(b.path), {
    '.env': '600 A=1\n',
    '.gitignore': '644 built/\n.env\n',
    'built/small': '644 small\n',
    'readme.md': '644 first\n',
  })
})

test('a file over the limit that git does not ignore is refused, not left out', async (t) => {
  const b = await bench(t, { limits: { file_bytes: 100 } })
  b.put(join(b.path, 'big'), 'x'.repeat(101))
  const says = 'big has 101 bytes; a snapshot takes files of 100'
  await assert.rejects(b.trees.snapshot(of(b)), { code: 'snapshot_too_large', message: says })
  assert.deepEqual(await b.trees.list_snapshots(b.root), [])
})

test('a branch that moved on is left there; the worktree comes back detached', async (t) => {
  const b = await bench(t)
  const head = b.commit(b.path, 'work.md', 'work\n')
  const { ref } = await b.trees.snapshot(of(b))
  const discard = { snapshot: ref }
  assert.equal((await b.trees.remove({ ...b.remove, discard })).ok, true)
  b.git(b.root, 'branch', 'holon/child', 'main')
  const restored = await b.trees.restore({ repository: b.root, ref, path: b.path })
  assert.deepEqual(restored, {
    path: b.path,
    head,
    branch: null,
    detached_because: 'the branch holon/child has moved on or is in use elsewhere',
    left_out: { count: 0, sample: [] },
  })
  assert.equal(b.git(b.root, 'rev-parse', 'holon/child'), b.first)
  assert.equal(readFileSync(join(b.path, 'work.md'), 'utf8'), 'work\n')
  assert.equal(statSync(dirname(b.path)).isDirectory(), true)
})
