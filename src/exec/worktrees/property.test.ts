// Whatever a child did in its worktree: snapshot, discard and restore give it back.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { pictureOf, worktreeBench } from '../../testing/host/repository.ts'

const b = worktreeBench()
after(b.end)

/** About a second each, most of it in git. */
const numRuns = 12

const name = fc.constantFrom('a', 'b', '-c', 'd/e', 'd/f g', 'ü\n"', 'ignored/x', '.gitignore')
const text = fc.constantFrom('', 'one\n', 'two\r\nthree', '\0binary\xff', 'ignored/\n')
const edit = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), name, text }) },
  fc.record({ do: fc.constant('delete' as const), name }),
  fc.record({ do: fc.constant('link' as const), name, text: fc.constantFrom('a', '/no/where') }),
  fc.record({ do: fc.constant('bits' as const), name, mode: fc.constantFrom(0o600, 0o755, 0o444) }),
  fc.record({ do: fc.constant('folder' as const), name: fc.constantFrom('g', 'd/h') }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('git' as const), args: gitCalls() }) },
)
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

function gitCalls() {
  return fc.constantFrom<string[]>(
    ['add', '-A'],
    ['add', '-u'],
    ['reset', '-q'],
    ['commit', '-q', '-m', 'some'],
    ['commit', '-q', '--amend', '--allow-empty', '-m', 'other'],
    ['checkout', '-q', '--detach'],
    ['checkout', '-q', 'holon/child'],
    ['reset', '-q', '--hard', 'main'],
    ['rm', '-q', '-r', '--cached', '--ignore-unmatch', 'a', 'd'],
    ['update-index', '--split-index'],
  )
}

const free = (path: string): void => rmSync(path, { recursive: true, force: true })

function act(edit: Edit): void {
  if (edit.do === 'git') {
    try {
      b.git(b.path, ...edit.args)
    } catch {
      // Nothing to commit, or a change in the way: then nothing was done.
    }
    return
  }
  const path = join(b.path, edit.name)
  switch (edit.do) {
    case 'write':
      free(path)
      return b.put(path, Buffer.from(edit.text, 'latin1'))
    case 'delete':
      return free(path)
    case 'link':
      free(path)
      mkdirSync(dirname(path), { recursive: true })
      return symlinkSync(edit.text, path)
    case 'bits':
      free(path)
      b.put(path, 'bits\n')
      return chmodSync(path, edit.mode)
    case 'folder':
      mkdirSync(path, { recursive: true })
  }
}

test('random edits survive snapshot, discard and restore', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 14 }), async (edits) => {
      if (existsSync(b.path)) throw new Error('the run before left its worktree')
      await b.trees.add(b.add)
      for (const one of edits) act(one)
      const before = pictureOf(b, b.path)
      const of = { repository: b.repository, path: b.path, key: 'task_1' }
      const discard = { snapshot: (await b.trees.snapshot(of)).ref }
      const removed = await b.trees.remove({ ...b.remove, discard })
      assert.deepEqual(removed, { ok: true, branch: 'deleted', left: null })
      const restore = { repository: b.repository, ref: discard.snapshot, path: b.path }
      assert.equal((await b.trees.restore(restore)).detached_because, null)
      assert.deepEqual(pictureOf(b, b.path), before)
      const again = { snapshot: (await b.trees.snapshot(of)).ref }
      assert.equal((await b.trees.remove({ ...b.remove, discard: again })).ok, true)
    }),
    { numRuns, endOnFailure: true },
  )
})
