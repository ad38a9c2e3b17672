// Removal of a child's worktree, in real repositories: what would be lost is refused, and what was
// discarded comes back whole.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Bench, filesIn, pictureOf, worktreeBench } from '../../testing/host/repository.ts'
import type { Removed, WorktreeState } from './port.ts'

const bench = async (t: TestContext): Promise<Bench> => {
  const made = worktreeBench()
  t.after(made.end)
  await made.trees.add(made.add)
  return made
}
const refusalOf = (removed: Removed): string =>
  removed.ok ? 'removed' : `${removed.code}: ${removed.message}`
const stateIn = async ({ trees, status }: Bench): Promise<WorktreeState> => {
  const now = await trees.status(status)
  assert(now.kind === 'present')
  return now
}
const none = { count: 0, sample: [] }

test('a worktree is made on its own branch at the base, without the changes of the parent', async (t) => {
  const b = worktreeBench()
  t.after(b.end)
  b.put(join(b.root, 'readme.md'), 'changed\n')
  b.put(join(b.root, 'new'), 'new\n')
  const { path } = b
  const same = { base_commit: b.first, parent_dirty: 2, unfiltered: null }
  const made = { path, branch: 'holon/child', ...same }
  assert.deepEqual(await b.trees.add(b.add), { ...made, made: 'now' })
  assert.deepEqual(filesIn(path), { 'readme.md': '644 first\n' })
  b.commit(b.root, 'later.md', 'later\n')
  b.commit(path, 'work.md', 'work\n')
  assert.deepEqual(await b.trees.add(b.add), { ...made, made: 'before' })
  assert.deepEqual(await b.trees.repository(path), {
    root: path,
    common_dir: b.repository,
    head: b.git(path, 'rev-parse', 'HEAD'),
    branch: 'holon/child',
  })
})

test('a worktree begins at the base it is given, also where nothing is checked out yet', async (t) => {
  const b = worktreeBench()
  t.after(b.end)
  b.git(b.root, 'checkout', '-q', '--orphan', 'empty')
  await assert.rejects(b.trees.add(b.add), { name: 'GitFault', code: 'no_commit' })
  const wrong = { ...b.add, base: 'nowhere' }
  await assert.rejects(b.trees.add(wrong), { name: 'GitFault', code: 'unknown_revision' })
  const { base_commit, made } = await b.trees.add({ ...b.add, base: 'main' })
  assert.deepEqual([base_commit, made], [b.first, 'now'])
  assert.deepEqual(filesIn(b.path), { 'readme.md': '644 first\n' })
})

const shares: [how: string, share: (b: Bench) => void][] = [
  ['its own settings', (b) => b.git(b.root, 'sparse-checkout', 'set', '--cone', 'in')],
  [
    'settings of the repository',
    (b) => {
      b.git(b.root, 'config', 'core.sparseCheckout', 'true')
      b.git(b.root, 'config', 'core.sparseCheckoutCone', 'true')
      b.put(join(b.repository, 'info/sparse-checkout'), '/*\n!/*/\n/in/\n')
      b.git(b.root, 'read-tree', '-m', '-u', 'HEAD')
    },
  ],
]
for (const [how, share] of shares) {
  test(`a worktree has the part of the files that its parent has, by ${how}`, async (t) => {
    const b = worktreeBench()
    t.after(b.end)
    b.commit(b.root, 'in/a.md', 'a\n')
    b.commit(b.root, 'out/b.md', 'b\n')
    share(b)
    await b.trees.add(b.add)
    const part = { 'in/a.md': '644 a\n', 'readme.md': '644 first\n' }
    assert.deepEqual([filesIn(b.root), filesIn(b.path)], [part, part])
    assert.equal(b.git(b.path, 'sparse-checkout', 'list'), 'in')
    assert.equal(b.git(b.path, 'status', '--porcelain'), '')
  })
}

test('a clean worktree whose work is merged goes, with its branch, and again is nothing', async (t) => {
  const b = await bench(t)
  b.commit(b.path, 'work.md', 'work\n')
  b.git(b.root, 'merge', '-q', 'holon/child')
  assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'deleted', left: null })
  assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'absent', left: null })
  assert.deepEqual(readdirSync(dirname(b.path)), [])
  assert.equal(b.git(b.root, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main')
  assert.equal(b.git(b.root, 'worktree', 'list', '--porcelain').split('\n\n').length, 1)
  assert.deepEqual(readdirSync(join(b.repository, 'holon-removed')), [])
})

const losses: [string, string, (b: Bench) => void][] = [
  [
    'ignored files, and nothing else',
    'worktree_ignored: it has 2 ignored paths, which no commit has',
    (b) => {
      b.put(join(b.path, '.gitignore'), '*.log\nbuild/\n')
      b.git(b.path, 'add', '-A')
      b.git(b.path, 'commit', '-q', '-m', 'ignores')
      b.git(b.root, 'merge', '-q', 'holon/child')
      b.put(join(b.path, 'only.log'), 'the only copy\n')
      b.put(join(b.path, 'build/out'), 'made\n')
    },
  ],
  [
    'a change that is not staged',
    'worktree_dirty: it holds what no commit has: 1 changed and not staged',
    (b) => b.put(join(b.path, 'readme.md'), 'changed\n'),
  ],
  [
    'a staged change',
    'worktree_dirty: it holds what no commit has: 1 staged',
    (b) => {
      b.put(join(b.path, 'readme.md'), 'changed\n')
      b.git(b.path, 'add', '-A')
    },
  ],
  [
    'a file that was deleted',
    'worktree_dirty: it holds what no commit has: 1 changed and not staged',
    (b) => unlinkSync(join(b.path, 'readme.md')),
  ],
  [
    'an untracked file',
    'worktree_dirty: it holds what no commit has: 1 untracked',
    (b) => b.put(join(b.path, 'deep/new'), 'new\n'),
  ],
  [
    'an untracked repository',
    'worktree_dirty: it holds what no commit has: 1 untracked',
    (b) => {
      b.git(b.path, 'init', '-q', '-b', 'main', 'inner')
      b.commit(join(b.path, 'inner'), 'a', 'inner\n')
    },
  ],
  [
    'a change hidden by assume-unchanged',
    'worktree_dirty: it holds what no commit has: 1 changed and not staged',
    (b) => {
      b.git(b.path, 'update-index', '--assume-unchanged', 'readme.md')
      b.put(join(b.path, 'readme.md'), 'hidden\n')
    },
  ],
  [
    'commits that are not merged',
    'worktree_unmerged: it has 1 commits that are not in main',
    (b) => void b.commit(b.path, 'work.md', 'work\n'),
  ],
  [
    'commits on a detached HEAD',
    'worktree_unmerged: it has 1 commits that are not in main',
    (b) => {
      b.git(b.path, 'checkout', '-q', '--detach')
      b.commit(b.path, 'work.md', 'work\n')
    },
  ],
  [
    'commits that only its reflog knows',
    'worktree_unmerged: it has 1 commits that only its reflog knows',
    (b) => {
      b.commit(b.path, 'work.md', 'work\n')
      b.git(b.path, 'reset', '-q', '--hard', 'HEAD~1')
    },
  ],
  [
    'detached commits it left behind',
    'worktree_unmerged: it has 1 commits that only its reflog knows',
    (b) => {
      b.git(b.path, 'checkout', '-q', '--detach')
      b.commit(b.path, 'work.md', 'work\n')
      b.git(b.path, 'checkout', '-q', 'holon/child')
    },
  ],
  [
    'a merge that is not finished',
    'worktree_dirty: it holds what no commit has: 1 changed and not staged, a merge that is not finished',
    (b) => {
      b.commit(b.root, 'readme.md', 'ours\n')
      b.commit(b.path, 'readme.md', 'theirs\n')
      assert.throws(() => b.git(b.path, 'merge', 'main'))
    },
  ],
]

for (const [what, says, act] of losses) {
  test(`a worktree with ${what} is not removed; discarded with a snapshot, it comes back`, async (t) => {
    const b = await bench(t)
    act(b)
    const before = pictureOf(b, b.path)
    assert.equal(refusalOf(await b.trees.remove(b.remove)), says)
    assert.deepEqual(pictureOf(b, b.path), before)

    const of = { repository: b.repository, path: b.path, key: 'task_1' }
    const { ref } = await b.trees.snapshot(of)
    assert.deepEqual(pictureOf(b, b.path), before)
    const discard = { ...b.remove, discard: { snapshot: ref } }
    assert.deepEqual(await b.trees.remove(discard), { ok: true, branch: 'deleted', left: null })
    assert.equal(existsSync(b.path), false)
    b.git(b.root, 'reflog', 'expire', '--expire=now', '--all')
    b.git(b.root, 'gc', '-q', '--prune=now')

    const { detached_because } = await b.trees.restore({ repository: b.root, ref, path: b.path })
    assert.equal(detached_because, null)
    assert.deepEqual(pictureOf(b, b.path), before)
    b.git(b.path, 'fsck', '--no-dangling')
  })
}

test('a snapshot that is older than a change does not allow to discard it', async (t) => {
  const b = await bench(t)
  b.put(join(b.path, 'new'), 'one\n')
  const of = { repository: b.repository, path: b.path, key: 'task_1' }
  const { ref } = await b.trees.snapshot(of)
  for (const change of [
    () => b.put(join(b.path, 'new'), 'two\n'),
    () => b.git(b.path, 'add', 'new'),
    () => b.git(b.path, 'commit', '-q', '-m', 'new'),
  ]) {
    change()
    const removed = await b.trees.remove({ ...b.remove, discard: { snapshot: ref } })
    assert.equal(refusalOf(removed), `snapshot_stale: ${ref} does not hold what is there now`)
  }
  assert.equal(readFileSync(join(b.path, 'new'), 'utf8'), 'two\n')
})

test('who comes to work in it while git looks keeps it, whenever that is', async (t) => {
  const b = await bench(t)
  const before = filesIn(b.path)
  let looks = 0
  for (let late = 1; ; late += 1) {
    looks = 0
    const leases = () => (++looks === late ? ['task_3'] : [])
    const answer = await b.trees.remove({ ...b.remove, leases })
    if (answer.ok) break
    assert.equal(answer.code, 'worktree_leased')
    assert.deepEqual(filesIn(b.path), before)
    assert.deepEqual((await stateIn(b)).locked, null)
  }
  // Before git looks, before the folder is moved, and before it cannot come back.
  assert.equal(looks, 3)
  assert.equal(existsSync(b.path), false)
})

test('a leased, used or locked worktree stays, discard or not', async (t) => {
  const b = await bench(t)
  const of = { repository: b.repository, path: b.path, key: 'task_1' }
  const discard = { snapshot: (await b.trees.snapshot(of)).ref }
  const codes = async (more: { leases?: () => string[] } = {}) => {
    const all = [
      { ...b.remove, ...more },
      { ...b.remove, ...more, discard },
    ]
    const answers = []
    for (const request of all) answers.push(await b.trees.remove(request))
    return answers.map((answer) => (answer.ok ? 'removed' : answer.code))
  }
  assert.deepEqual(await codes({ leases: () => ['task_2'] }), [
    'worktree_leased',
    'worktree_leased',
  ])

  const user = spawn('cat', { cwd: b.path, stdio: ['pipe', 'pipe', 'ignore'] })
  user.stdin.write('in\n')
  await once(user.stdout, 'data')
  assert.deepEqual((await stateIn(b)).used_by, [user.pid])
  assert.deepEqual(await codes(), ['worktree_in_use', 'worktree_in_use'])
  user.stdin.end()
  await once(user, 'exit')

  b.git(b.root, 'worktree', 'lock', '--reason', 'mine', b.path)
  assert.equal((await stateIn(b)).locked, 'mine')
  assert.deepEqual(await codes(), ['worktree_locked', 'worktree_locked'])
  b.git(b.root, 'worktree', 'unlock', b.path)
  assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'deleted', left: null })
})

test('a status has all that removal would lose, and leaves the index as it is', async (t) => {
  const b = await bench(t)
  b.put(join(b.path, '.gitignore'), 'built/\n')
  b.put(join(b.path, 'built/a'), 'a')
  b.put(join(b.path, 'readme.md'), 'changed\n')
  b.put(join(b.path, '-n\nü'), 'odd\n')
  const index = join(b.repository, 'worktrees/task_1/index')
  const before = readFileSync(index)
  assert.deepEqual(await stateIn(b), {
    kind: 'present',
    head: b.first,
    branch: 'holon/child',
    staged: none,
    unstaged: { count: 1, sample: ['readme.md'] },
    untracked: { count: 2, sample: ['-n\nü', '.gitignore'] },
    ignored: 1,
    unmerged: none,
    reflog_only: none,
    operation: null,
    submodules: none,
    locked: null,
    used_by: [],
  })
  assert.deepEqual(readFileSync(index), before)
  assert.equal(readdirSync(dirname(index)).includes('index.lock'), false)
})

test('a worktree whose folder somebody deleted is said to be missing, and keeps its commits', async (t) => {
  const b = await bench(t)
  const commit = b.commit(b.path, 'work.md', 'work\n')
  rmSync(b.path, { recursive: true })
  assert.deepEqual(await b.trees.status(b.status), { kind: 'missing' })
  await assert.rejects(b.trees.add(b.add), { code: 'worktree_missing', retry: 'never' })
  const says = 'worktree_unmerged: it has 1 commits that are not in main'
  assert.equal(refusalOf(await b.trees.remove(b.remove)), says)
  const of = { repository: b.repository, path: b.path, key: 'task_1' }
  const discard = { snapshot: (await b.trees.snapshot(of)).ref }
  const removed = await b.trees.remove({ ...b.remove, discard })
  assert.deepEqual(removed, { ok: true, branch: 'deleted', left: null })
  assert.deepEqual(await b.trees.status(b.status), { kind: 'absent' })
  assert.equal(b.git(b.root, 'rev-list', '--all').includes(commit), true)
})

test('a branch that others use, or that was there before, is never deleted', async (t) => {
  const b = await bench(t)
  b.git(b.root, 'branch', 'mine')
  const mine = { ...b.add, path: join(b.folder, 'worktrees/task_2'), branch: 'mine' }
  await assert.rejects(b.trees.add(mine), { code: 'branch_taken', retry: 'never' })
  b.git(b.path, 'checkout', '-q', '--detach')
  b.git(b.root, 'checkout', '-q', 'holon/child')
  assert.deepEqual(await b.trees.remove(b.remove), { ok: true, branch: 'kept', left: null })
  assert.equal(b.git(b.root, 'branch', '--show-current'), 'holon/child')
})

test('a folder or a worktree that somebody else made is left alone', async (t) => {
  const b = worktreeBench()
  t.after(b.end)
  b.put(join(b.path, 'mine'), 'mine\n')
  await assert.rejects(b.trees.add(b.add), { code: 'path_taken' })
  await assert.rejects(b.trees.remove(b.remove), { code: 'path_taken' })
  assert.deepEqual(filesIn(b.path), { mine: '644 mine\n' })
  rmSync(b.path, { recursive: true })
  b.git(b.root, 'worktree', 'add', '-q', '-b', 'theirs', b.path)
  b.put(join(b.path, 'mine'), 'mine\n')
  await assert.rejects(b.trees.add(b.add), { code: 'path_taken' })
  await assert.rejects(b.trees.remove(b.remove), { code: 'path_taken' })
  assert.deepEqual(await b.trees.prune({ repository: b.root, folder: dirname(b.path) }), {
    finished: [],
    cleared: [],
  })
  assert.equal(readFileSync(join(b.path, 'mine'), 'utf8'), 'mine\n')
})

test('a worktree is made again for its own branch only, and not where its folder was deleted', async (t) => {
  const b = await bench(t)
  await assert.rejects(b.trees.add({ ...b.add, branch: 'holon/other' }), {
    code: 'path_taken',
    message: `${b.path} is the worktree of holon/child`,
  })
  for (const key of ['', 'a/b', '-a', '../a']) {
    const of = { repository: b.repository, path: b.path, key }
    await assert.rejects(b.trees.snapshot(of), {
      code: 'invalid_name',
      message: `${key} cannot be part of a snapshot's name`,
    })
  }
  rmSync(b.path, { recursive: true })
  await assert.rejects(b.trees.add(b.add), {
    code: 'worktree_missing',
    message: `${b.path} was deleted; restore or remove it`,
  })
})
