/**
 * No program that a repository names is run by the runtime's own git: one is planted in every place
 * where git reads of one, everything the runtime does with git is done, and none of them ran. The
 * same with a configuration that changes between a look and its use. Each planting is shown to work
 * on git as a person runs it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createInspect } from '../src/exec/inspect/inspect.ts'
import { worktreeBench, type Bench } from '../src/testing/host/repository.ts'
import { attributes, drivenFiles, evilConfig, lies, programOf, ran } from './git-programs/plants.ts'

const bench = (t: TestContext, before?: (step: string) => void): Bench => {
  const b = worktreeBench(before === undefined ? {} : { before })
  t.after(b.end)
  b.put(join(b.root, '.gitattributes'), attributes())
  b.put(join(b.root, '.gitignore'), '*.ignored\n')
  for (const name of drivenFiles) b.put(join(b.root, name), 'one\ntwo\nthree\n')
  const commit = (...args: string[]) => b.git(b.root, 'commit', '-q', ...args)
  b.git(b.root, 'add', '-A')
  commit('-m', 'files with attributes')
  b.git(b.root, 'branch', 'side')
  change(b, b.root, 'of main')
  commit('-a', '-m', 'on main')
  // What the child begins at cannot be merged without asking the drivers.
  b.git(b.root, 'checkout', '-q', 'side')
  change(b, b.root, 'of the side')
  commit('-a', '-m', 'on the side')
  b.git(b.root, 'checkout', '-q', 'main')
  return b
}

/** A change to each file, so that git has to read it anew and would ask its drivers. */
function change(b: Bench, folder: string, line: string): void {
  for (const name of drivenFiles) b.put(join(folder, name), `one\n${line}\nthree\n`)
}

/** Everything the runtime does with git. */
async function everything(b: Bench, before?: (step: string) => void): Promise<void> {
  const scratch_folder = join(b.folder, 'scratch')
  const seen = { parent_env: b.env, scratch_folder }
  const inspect = createInspect(before === undefined ? seen : { ...seen, before })
  const at = { repository: b.root, path: b.path }
  const looks = async (folder: string) => {
    assert.equal((await inspect.tree(folder)).problem, null)
    assert.notEqual(await inspect.repository(folder, 60_000), null)
  }
  await looks(b.root)
  await b.trees.repository(b.root)
  await b.trees.add({ ...b.add, repository: b.root, base: 'side' })
  await looks(b.path)
  change(b, b.path, 'of the child')
  b.put(join(b.path, 'new.ignored'), 'x\n')
  const status = await b.trees.status({ ...b.status, repository: b.root })
  assert.equal(status.kind, 'present')
  const facts = await b.trees.facts({ ...at, into: 'main', within_ms: 60_000 })
  assert.deepEqual([facts?.ahead, facts?.merges], [1, false])
  const { ref } = await b.trees.snapshot({ ...at, key: 'task_1' })
  const request = { ...b.remove, repository: b.root }
  await b.trees.remove(request)
  const removed = await b.trees.remove({ ...request, discard: { snapshot: ref } })
  assert.equal(removed.ok, true)
  await b.trees.restore({ ...at, ref })
  await b.trees.facts({ ...at, into: 'main', within_ms: 60_000 })
  assert.match(readFileSync(join(b.path, 'f.plain'), 'utf8'), /of the child/)
}

/** What a person does there, with git as it is. */
function person(b: Bench, ...args: string[]): void {
  try {
    b.git(b.root, ...args)
  } catch {
    // A program of the attacker's need not do what git expects of it.
  }
}

for (const { name, plant, only_new } of lies) {
  test(`programs named by ${name} do not run when the runtime uses git`, async (t) => {
    const b = bench(t)
    plant(b, evilConfig(b))
    ran(b)
    change(b, b.root, 'of the parent')
    await everything(b)
    assert.deepEqual(ran(b), [])
    // The trap works: git as it is runs them.
    if (only_new) person(b, 'worktree', 'add', '-q', '-b', 'holon/x', join(b.folder, 'of-person'))
    else person(b, 'status')
    person(b, 'add', '-A')
    person(b, 'commit', '-q', '-m', 'x')
    assert.notDeepEqual(ran(b), [], 'nothing was planted')
  })
}

test('each kind of planted program is one that git does run', async (t) => {
  const b = bench(t)
  appendFileSync(join(b.repository, 'config'), evilConfig(b))
  change(b, b.root, 'of a person')
  const told = new Set<string>()
  const tell = (...args: string[]) => {
    person(b, ...args)
    for (const one of ran(b)) told.add(one.replace(/-(?:plain|dots|case|equals|dash)$/, ''))
  }
  tell('-c', 'core.fsmonitor=false', 'add', '-A')
  tell('status')
  tell('diff', 'HEAD')
  tell('-c', 'diff.external=', 'diff', 'HEAD')
  tell('checkout', '-f', 'HEAD', '--', '.')
  tell('fetch', 'o')
  const wanted = ['filter-clean', 'filter-process', 'fsmonitor', 'diff-external']
  assert.deepEqual(
    wanted.filter((one) => !told.has(one)),
    [],
  )
})

test('a configuration that changes between a look and its use brings no program in', async (t) => {
  // As bad as it can be: whoever reads the configuration sees nothing, whoever obeys it sees all.
  const files: { path: string; good: Buffer; evil: Buffer }[] = []
  const swap = (step: string) => {
    const reads = step.startsWith('git config')
    for (const { path, good, evil } of files) writeFileSync(path, reads ? good : evil)
  }
  const b = bench(t, swap)
  const path = join(b.repository, 'config')
  const good = readFileSync(path)
  files.push({ path, good, evil: Buffer.concat([good, evilConfig(b)]) })
  change(b, b.root, 'of the parent')
  await everything(b, swap)
  assert.deepEqual(ran(b), [])
})

test('a process that keeps changing the configuration brings no program in', async (t) => {
  const changes = { until: () => {} }
  const b = bench(t, () => changes.until())
  const path = join(b.repository, 'config')
  writeFileSync(join(b.folder, 'good'), readFileSync(path))
  const evil = Buffer.concat([readFileSync(path), evilConfig(b)])
  writeFileSync(join(b.folder, 'evil'), evil)
  const turn = 'cp evil new && mv new "$0"; cp good new && mv new "$0"; printf . >> turns'
  const loop = `trap 'exit 0' TERM; while :; do ${turn}; done`
  const writer = spawn('/bin/sh', ['-c', loop, path], { cwd: b.folder, stdio: 'ignore' })
  t.after(() => writer.kill('SIGKILL'))
  await once(writer, 'spawn')
  // Each step of ours meets another change, however seldom the other process gets to run.
  const turns = () => statSync(join(b.folder, 'turns'), { throwIfNoEntry: false })?.size ?? 0
  const beat = new Int32Array(new SharedArrayBuffer(4))
  changes.until = () => {
    const before = turns()
    while (turns() === before) Atomics.wait(beat, 0, 0, 1)
  }
  await everything(b)
  assert.ok(turns() > 10, 'it was changed at few steps')
  assert.deepEqual(ran(b), [])
  writer.kill('SIGTERM')
  await once(writer, 'exit')
})

test('git that would do more than read settings outside of a view is a bug, not a call', async (t) => {
  const { createGit } = await import('../src/exec/git/git.ts')
  const b = bench(t)
  const git = createGit({ parent_env: b.env })
  for (const args of [
    ['status'],
    ['update-ref', 'refs/x', 'HEAD'],
    ['worktree', 'list'],
    ['add', '-A'],
  ]) {
    await assert.rejects(git({ cwd: b.root, args }), /outside of a view/)
  }
  assert.equal(programOf(b, 'any').startsWith(b.folder), true)
})
