// The git program as we run it: nothing of the repository's choosing runs, nothing of ours leaks,
// and what goes wrong has a name.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { worktreeBench } from '../../testing/host/repository.ts'
import { createGit, gitEnvironment } from './git.ts'
import { GitFault, saidByGit } from './git-fault.ts'
import { createInspect } from '../inspect/inspect.ts'
import { createWorktrees } from '../worktrees/worktrees.ts'

const bench = (t: TestContext) => {
  const made = worktreeBench()
  t.after(made.end)
  return made
}
const program = (b: ReturnType<typeof worktreeBench>, text: string): string => {
  const path = join(b.folder, 'program')
  b.put(path, `#!/bin/sh\n${text}\n`, 0o755)
  return path
}

test('of the daemon’s environment git sees where things are, and nothing else', () => {
  const env = gitEnvironment(
    { PATH: '/bin', HOME: '/h', GIT_DIR: '/evil', GIT_SSH: 'x', LD_PRELOAD: 'x', API_KEY: 'k' },
    {},
  )
  const settings = Object.keys(env).filter((name) => !name.startsWith('GIT_CONFIG_'))
  assert.deepEqual(settings.sort(), [
    'GIT_ALLOW_PROTOCOL',
    'GIT_ASKPASS',
    'GIT_AUTHOR_EMAIL',
    'GIT_AUTHOR_NAME',
    'GIT_COMMITTER_EMAIL',
    'GIT_COMMITTER_NAME',
    'GIT_EDITOR',
    'GIT_GRAFT_FILE',
    'GIT_LITERAL_PATHSPECS',
    'GIT_NO_LAZY_FETCH',
    'GIT_NO_REPLACE_OBJECTS',
    'GIT_OPTIONAL_LOCKS',
    'GIT_PAGER',
    'GIT_SSH_COMMAND',
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'LC_ALL',
    'PATH',
  ])
  assert.equal(Object.values(env).includes('/dev/null'), true)
})

test('no hook, filter, monitor or helper of a repository runs in our own work', async (t) => {
  const b = bench(t)
  const proof = join(b.folder, 'proof')
  const evil = program(b, `echo "$0 $@" >> '${proof}'; cat`)
  const hooks = `post-checkout pre-commit post-commit reference-transaction post-index-change
    fsmonitor-watchman pre-auto-gc post-rewrite`.split(/\s+/)
  for (const hook of hooks) b.put(join(b.repository, 'hooks', hook), `#!/bin/sh\n${evil}\n`, 0o755)
  b.put(join(b.root, '.gitattributes'), '* filter=odd=na.me diff=odd\n*.p filter=proc\n')
  b.git(b.root, '-c', 'core.hooksPath=/dev/null', 'add', '-A')
  b.git(b.root, '-c', 'core.hooksPath=/dev/null', 'commit', '-q', '-m', 'attributes')
  for (const [name, value] of [
    ['filter.odd=na.me.clean', evil],
    ['filter.odd=na.me.smudge', evil],
    ['filter.odd=na.me.required', 'true'],
    ['filter.proc.process', evil],
    ['diff.odd.textconv', evil],
    ['diff.odd.command', evil],
    ['core.fsmonitor', evil],
    ['core.sshCommand', evil],
    ['core.pager', evil],
    ['core.editor', evil],
    ['commit.gpgSign', 'true'],
    ['gpg.program', evil],
    ['credential.helper', evil],
    ['core.hooksPath', join(b.repository, 'hooks')],
  ] as const) {
    b.git(b.root, 'config', name, value)
  }
  b.put(join(b.root, 'x.p'), 'x\n')
  const { unfiltered } = await b.trees.add(b.add)
  assert.deepEqual(unfiltered, { files: 2, filters: ['odd=na.me'] })
  b.put(join(b.path, 'new.p'), 'new\n')
  b.put(join(b.path, 'readme.md'), 'CHANGED\n')
  const status = await b.trees.status(b.status)
  assert(status.kind === 'present')
  assert.deepEqual(status.unstaged, { count: 1, sample: ['readme.md'] })
  const of = { repository: b.repository, path: b.path, key: 'task_1' }
  const { ref } = await b.trees.snapshot(of)
  const removed = await b.trees.remove({ ...b.remove, discard: { snapshot: ref } })
  assert.equal(removed.ok, true)
  await b.trees.restore({ repository: b.root, ref, path: b.path })
  assert.equal(readFileSync(join(b.path, 'readme.md'), 'utf8'), 'CHANGED\n')
  assert.equal(existsSync(proof), false)
  b.git(b.path, 'add', 'new.p', 'readme.md')
  assert.equal(existsSync(proof), true, 'the trap itself does not work')
})

test('a worktree whose .git file leads elsewhere is looked at where it is', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  const other = join(b.folder, 'other')
  b.git(b.folder, 'init', '-q', '-b', 'main', other)
  b.commit(b.path, 'work.md', 'work\n')
  writeFileSync(join(b.path, '.git'), `gitdir: ${other}/.git\n`)
  const status = await b.trees.status(b.status)
  assert(status.kind === 'present')
  assert.equal(status.unmerged.count, 1)
  const removed = await b.trees.remove(b.remove)
  assert.equal(removed.ok ? null : removed.code, 'worktree_unmerged')
})

test('history that was replaced does not make a commit look merged', async (t) => {
  const b = bench(t)
  await b.trees.add(b.add)
  const work = b.commit(b.path, 'work.md', 'work\n')
  b.git(b.root, 'replace', '--graft', b.first, work)
  assert.equal(b.git(b.root, 'rev-list', '--count', `main..${work}`), '0')
  const removed = await b.trees.remove(b.remove)
  assert.equal(removed.ok ? null : removed.code, 'worktree_unmerged')
})

test('without git, or with an old one, the fault says so', async (t) => {
  const b = bench(t)
  const ask = (program: string, call_ms = 10_000) =>
    createGit({ parent_env: b.env, program, call_ms })({ cwd: b.root, args: ['rev-parse', 'HEAD'] })
  await assert.rejects(ask('no-such-git'), {
    code: 'git_missing',
    retry: 'never',
    message: 'there is no program no-such-git: install git',
  })
  await assert.rejects(ask(program(b, 'echo git version 2.30.2')), {
    code: 'git_too_old',
    message: 'this is git version 2.30.2; worktrees need git 2.36 or newer',
  })
  const slow = program(b, 'test "$1" = version && echo git version 2.50.0 && exit; exec tail -f')
  await assert.rejects(ask(slow, 300), { code: 'timeout', retry: 'later' })
})

test('a folder in no repository has none, and the rest is a fault', async (t) => {
  const b = bench(t)
  assert.equal(await b.trees.repository(b.folder), null)
  assert.equal(await b.trees.repository(join(b.folder, 'nowhere')), null)
  const elsewhere = { ...b.add, repository: b.folder }
  await assert.rejects(b.trees.add(elsewhere), { code: 'not_a_repository' })
  const bad = ['--force', 'a..b', 'a b', '', 'x.lock', '@{-1}']
  for (const branch of bad) {
    await assert.rejects(b.trees.add({ ...b.add, branch }), { code: 'invalid_name' }, branch)
  }
  await assert.rejects(b.trees.add({ ...b.add, base: '--all' }), { code: 'unknown_revision' })
  for (const path of ['relative', '/two\nlines', '/nul\0']) {
    const message = `${path} is not an absolute path in one line`
    await assert.rejects(b.trees.add({ ...b.add, path }), { code: 'invalid_name', message })
  }
  const empty = join(b.folder, 'empty')
  b.git(b.folder, 'init', '-q', empty)
  await assert.rejects(b.trees.add({ ...b.add, repository: empty }), { code: 'no_commit' })
  assert.equal(existsSync(b.path), false)
})

test('a lock of now is left alone; one from before the machine started is taken away', async (t) => {
  const b = bench(t)
  const lock = join(b.repository, 'refs/heads/holon/child.lock')
  mkdirSync(dirname(lock), { recursive: true })
  writeFileSync(lock, '')
  utimesSync(lock, 1, 1)
  await assert.rejects(b.trees.add(b.add), (error) => {
    assert(error instanceof GitFault)
    assert.deepEqual([error.code, error.retry], ['locked', 'later'])
    return error.message.includes('child.lock')
  })
  assert.equal(existsSync(lock), true)
  const later = createWorktrees({
    parent_env: b.env,
    scratch_folder: join(b.folder, 'scratch'),
    started_at: () => Date.now() + 60_000,
  })
  assert.equal((await later.add(b.add)).made, 'now')
  assert.equal(existsSync(lock), false)
})

test('a look at a repository or at the machine that takes long is given up', async (t) => {
  const b = bench(t)
  const hangs = program(b, 'test "$1" = version && echo git version 2.50.0 && exit; exec sleep 600')
  const scratch_folder = join(b.folder, 'scratch')
  const slow = createInspect({ parent_env: b.env, program: hangs, scratch_folder, call_ms: 300 })
  // It would never answer: that there is an answer at all is the proof.
  assert.equal(await slow.repository(b.root, 100), null)
  assert.equal(
    await createInspect({ parent_env: b.env, scratch_folder }).repository(b.folder, 60_000),
    null,
  )
})

test('what git says becomes a fault with a name', () => {
  const cases: [string, string, string][] = [
    ['fatal: not a git repository (or any parent): .git', 'not_a_repository', 'never'],
    ['fatal: detected dubious ownership in repository at', 'denied', 'never'],
    ['error: write error: No space left on device', 'disk_full', 'later'],
    ["fatal: Unable to create '/r/.git/index.lock': File exists.", 'locked', 'later'],
    ['fatal: something new', 'failed', 'later'],
  ]
  for (const [text, code, retry] of cases) {
    const fault = saidByGit('git x', text)
    assert.deepEqual([fault.code, fault.retry], [code, retry], text)
  }
})
