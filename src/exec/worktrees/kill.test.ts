// The program dies ahead of any step, or somebody writes in the middle of a removal: the repeat
// ends as if nothing had happened, and nothing is lost.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Bench, filesIn, pictureOf, worktreeBench } from '../../testing/host/repository.ts'
import type { Worktrees } from './port.ts'

const bench = (t: TestContext): Bench => {
  const made = worktreeBench()
  t.after(made.end)
  return made
}

/** Ends `act` after a death ahead of each of its steps, prepared anew each time. */
async function everyStep(
  b: Bench,
  prepare: () => Promise<void>,
  act: (trees: Worktrees) => Promise<unknown>,
  check: (step: number) => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step += 1) {
    await prepare()
    const { ended } = await b.interrupt(step, act)
    if (!ended) await act(b.make())
    await check(step)
    if (ended) return step - 1
  }
}

const work = (b: Bench): void => {
  b.commit(b.path, 'work.md', 'work\n')
  b.put(join(b.path, 'staged'), 'one\n')
  b.git(b.path, 'add', 'staged')
  b.put(join(b.path, 'staged'), 'two\n')
  b.put(join(b.path, 'new'), 'new\n', 0o600)
}
const of = (b: Bench) => ({ repository: b.repository, path: b.path, key: 'task_1' })
const discardAll = async (b: Bench): Promise<string> => {
  const { ref } = await b.trees.snapshot(of(b))
  const removed = await b.trees.remove({ ...b.remove, discard: { snapshot: ref } })
  assert.deepEqual(removed, { ok: true, branch: 'deleted', left: null })
  return ref
}
const shots = async (b: Bench) => (await b.trees.list_snapshots(b.root)).length
const refsOf = (b: Bench): string[] =>
  b.git(b.root, 'for-each-ref', '--format=%(refname)').split('\n')

test('adding a worktree ends the same after a death ahead of any step', async (t) => {
  const b = bench(t)
  const steps = await everyStep(
    b,
    async () => undefined,
    (trees) => trees.add(b.add),
    async () => {
      assert.deepEqual(filesIn(b.path), { 'readme.md': '644 first\n' })
      assert.equal(b.git(b.path, 'branch', '--show-current'), 'holon/child')
      assert.deepEqual(readdirSync(dirname(b.path)), ['task_1'])
      assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'deleted', left: null })
    },
  )
  assert.equal(steps, 8)
})

test('a worktree half made by a git that was killed is made again', async (t) => {
  const b = bench(t)
  await b.interrupt(6, (trees) => trees.add(b.add))
  const admin = join(b.repository, 'worktrees/task_1')
  writeFileSync(join(admin, 'locked'), 'initializing\n')
  writeFileSync(join(admin, 'index.lock'), '')
  writeFileSync(join(b.path, 'readme.md'), 'fir')
  assert.deepEqual(await b.trees.status(b.status), { kind: 'half_made' })
  const prune = { repository: b.root, folder: dirname(b.path) }
  assert.equal((await b.trees.add(b.add)).made, 'now')
  assert.deepEqual(filesIn(b.path), { 'readme.md': '644 first\n' })
  assert.deepEqual(await b.trees.prune(prune), { finished: [], cleared: [] })
})

test('what a git of an earlier process still makes is not disturbed, and not made twice', async (t) => {
  const b = bench(t)
  mkdirSync(b.path, { recursive: true })
  const other = spawn('sh', ['-c', 'read line'], {
    cwd: b.path,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await once(other, 'spawn')
  const fault = { code: 'worktree_busy', retry: 'later' }
  await assert.rejects(b.trees.add(b.add), fault)
  assert.deepEqual(readdirSync(b.path), [])
  other.stdin.end()
  await once(other, 'exit')
  assert.equal((await b.trees.add(b.add)).made, 'now')
})

test('a snapshot is taken once, whatever step the program dies ahead of', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  work(b)
  let before: unknown
  const steps = await everyStep(
    b,
    async () => {
      b.put(join(b.path, 'new'), `after ${await shots(b)}\n`)
      before = pictureOf(b, b.path)
    },
    (trees) => trees.snapshot(of(b)),
    async (step) => {
      assert.deepEqual(pictureOf(b, b.path), before)
      assert.equal(await shots(b), step)
    },
  )
  assert.ok(steps > 7, `only ${steps} steps`)
})

test('a discard ends the same after a death ahead of any step', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  work(b)
  const before = pictureOf(b, b.path)
  const ref = await discardAll(b)
  const steps = await everyStep(
    b,
    async () => {
      await b.trees.restore({ repository: b.root, ref, path: b.path })
      assert.deepEqual(pictureOf(b, b.path), before)
    },
    async (trees) => {
      const removed = await trees.remove({ ...b.remove, discard: { snapshot: ref } })
      assert(removed.ok)
      assert.equal(removed.left, null)
    },
    async () => {
      assert.deepEqual(readdirSync(dirname(b.path)), [])
      assert.deepEqual(readdirSync(join(b.repository, 'holon-removed')), [])
      assert.deepEqual(refsOf(b), ['refs/heads/main', ref])
    },
  )
  assert.ok(steps > 15, `only ${steps} steps`)
})

test('restoring ends the same after a death ahead of any step', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  work(b)
  const before = pictureOf(b, b.path)
  let ref = await discardAll(b)
  const steps = await everyStep(
    b,
    async () => undefined,
    (trees) => trees.restore({ repository: b.root, ref, path: b.path }),
    async () => {
      assert.deepEqual(pictureOf(b, b.path), before)
      assert.deepEqual(readdirSync(dirname(b.path)), ['task_1'])
      ref = await discardAll(b)
    },
  )
  assert.ok(steps > 7, `only ${steps} steps`)
})

test('removing what is merged ends the same after a death ahead of any step', async (t) => {
  const b = bench(t)
  const steps = await everyStep(
    b,
    async () => {
      await b.trees.add(b.add)
      b.git(b.path, 'commit', '-q', '--allow-empty', '-m', 'work')
      b.git(b.root, 'merge', '-q', 'holon/child')
    },
    async (trees) => assert.equal((await trees.remove(b.remove)).ok, true),
    async () => {
      assert.deepEqual(readdirSync(dirname(b.path)), [])
      assert.deepEqual(refsOf(b), ['refs/heads/main'])
      assert.deepEqual(readdirSync(join(b.repository, 'holon-removed')), [])
    },
  )
  assert.ok(steps > 7, `only ${steps} steps`)
})

test('prune ends a removal that was verified, and keeps what was written after that', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  b.watch.step = (step) => {
    if (step === 'delete folder') throw new Error('killed')
  }
  await assert.rejects(b.trees.remove(b.remove), /killed/)
  b.watch.step = () => undefined
  assert.deepEqual(await b.trees.status(b.status), { kind: 'removing' })
  const folder = dirname(b.path)
  const [removed = ''] = readdirSync(folder)
  writeFileSync(join(folder, removed, 'late'), 'late\n')
  const pruned = await b.trees.prune({ repository: b.root, folder })
  assert.deepEqual(pruned, { finished: [b.path], cleared: [] })
  const [left = ''] = readdirSync(folder)
  assert.match(left, /^task_1\.left-\d+$/)
  assert.deepEqual(filesIn(join(folder, left)), { late: '644 late\n' })
  assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'deleted', left: null })
})

const moments: [string, string, string][] = [
  ['before the folder was moved', 'move worktrees', 'refused'],
  ['before it was looked at again', 'git status --porcelain=v2', 'refused'],
  ['after it was looked at again', 'move holon-removed', 'left'],
  ['while it is deleted', 'delete files', 'left'],
]
for (const [when, at, end] of moments) {
  test(`a file written ${when} is not lost`, async (t) => {
    const b = bench(t)
    await b.trees.add(b.add)
    const folder = dirname(b.path)
    const isMoved = () => !existsSync(b.path)
    b.watch.step = (step) => {
      const name = readdirSync(folder).find((one) => one.startsWith('task_1')) ?? ''
      const ready = !at.startsWith('git') || isMoved()
      if (step !== at || !ready || existsSync(join(folder, name, 'late'))) return
      writeFileSync(join(folder, name, 'late'), 'late\n')
      writeFileSync(join(folder, name, 'readme.md'), 'changed late\n')
    }
    const removed = await b.trees.remove(b.remove)
    const late = { late: '644 late\n', 'readme.md': '644 changed late\n' }
    if (end === 'refused') {
      assert.deepEqual(removed.ok ? null : removed.code, 'worktree_dirty')
      assert.deepEqual(filesIn(b.path), late)
      assert.deepEqual(readdirSync(folder), ['task_1'])
      assert.equal((await b.trees.status(b.status)).kind, 'present')
      return
    }
    assert(removed.ok && removed.left !== null)
    assert.deepEqual(filesIn(removed.left), late)
  })
}

test('a commit made while the worktree is being removed is not lost', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  const admin = join(b.repository, 'worktrees/task_1')
  let made = ''
  b.watch.step = (step) => {
    if (step !== 'move holon-removed' || made !== '') return
    b.git(b.folder, '--git-dir', admin, 'commit', '-q', '--allow-empty', '-m', 'late')
    made = b.git(b.root, 'rev-parse', 'holon/child')
  }
  const removed = await b.trees.remove(b.remove)
  assert.deepEqual(removed.ok ? null : removed.code, 'worktree_changed')
  assert.equal(b.git(b.path, 'rev-parse', 'HEAD'), made)
  const again = await b.trees.remove(b.remove)
  assert.deepEqual(again.ok ? null : again.code, 'worktree_unmerged')
})

test('a path that was made again during the removal is not taken for the worktree', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  b.put(join(b.path, 'new'), 'new\n')
  const snapshot = (await b.trees.snapshot(of(b))).ref
  b.watch.step = (step) => {
    if (!step.startsWith('git status') || existsSync(b.path)) return
    b.put(join(b.path, 'other'), 'other\n')
    b.put(join(dirname(b.path), 'task_1.removing', 'newer'), 'newer\n')
  }
  const discard = { snapshot }
  const codes = []
  for (let round = 0; round < 2; round += 1) {
    const removed = await b.trees.remove({ ...b.remove, discard })
    codes.push(removed.ok ? 'removed' : removed.code)
  }
  assert.deepEqual(codes, ['snapshot_stale', 'worktree_changed'])
  const moved = join(dirname(b.path), 'task_1.removing')
  assert.equal(readFileSync(join(moved, 'newer'), 'utf8'), 'newer\n')
  assert.deepEqual(filesIn(b.path), { other: '644 other\n' })
})
