// What a parent is told of a child's worktree: true at the moment, and unknown when it is late.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { worktreeBench, type Bench } from '../../testing/host/repository.ts'

const bench = async (t: TestContext): Promise<Bench> => {
  const b = worktreeBench()
  t.after(b.end)
  await b.trees.add(b.add)
  return b
}
const facts = (b: Bench, within_ms = 60_000) =>
  b.trees.facts({ repository: b.repository, path: b.path, into: 'main', within_ms })

test('a worktree as it was made is clean, and nothing of it is to be merged', async (t) => {
  const b = await bench(t)
  assert.deepEqual(await facts(b), {
    branch: 'holon/child',
    head: b.first,
    ahead: 0,
    uncommitted: 0,
    ignored: 0,
    merges: true,
  })
})

test('commits, changes and ignored files are counted', async (t) => {
  const b = await bench(t)
  const head = b.commit(b.path, 'work.md', 'work\n')
  b.put(join(b.path, '.gitignore'), '*.log\n')
  b.put(join(b.path, 'a.log'), 'x\n')
  b.put(join(b.path, 'readme.md'), 'changed\n')
  const found = await facts(b)
  assert.deepEqual(found, {
    branch: 'holon/child',
    head,
    ahead: 1,
    uncommitted: 2,
    ignored: 1,
    merges: true,
  })
})

test('what both sides changed does not merge, and trying leaves nothing behind', async (t) => {
  const b = await bench(t)
  b.commit(b.path, 'readme.md', 'of the child\n')
  b.commit(b.root, 'readme.md', 'of the parent\n')
  const objects = () => readdirSync(join(b.repository, 'objects'), { recursive: true }).length
  const before = objects()
  assert.equal((await facts(b))?.merges, false)
  assert.equal(objects(), before)
  assert.equal(b.git(b.root, 'status', '--porcelain'), '')
})

test('a HEAD on no branch, a worktree that is gone, and a late look are told apart', async (t) => {
  const b = await bench(t)
  b.git(b.path, 'checkout', '-q', '--detach')
  assert.equal((await facts(b))?.branch, null)
  assert.equal(await facts(b, 0), null)
  const nowhere = { repository: b.repository, path: join(b.folder, 'no'), into: 'main' }
  assert.equal(await b.trees.facts({ ...nowhere, within_ms: 60_000 }), null)
  const no_branch = { repository: b.repository, path: b.path, into: 'gone', within_ms: 60_000 }
  assert.equal(await b.trees.facts(no_branch), null)
})
