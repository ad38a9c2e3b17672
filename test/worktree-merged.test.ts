/**
 * A parent merges the work of its child in the middle of a turn: what is said of the worktree is
 * true from then on, and it goes when the turn ends, not under the parent's hands.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { calls, says } from '../src/testing/scripted-model.ts'
import { temporaryHome } from '../src/testing/box.ts'
import { call, openFamily, spawn, steps, tell, type Step } from './support/parent-and-child.ts'
import { makeRepository } from './support/repository.ts'

const runs =
  (cmd: string): Step =>
  () =>
    calls(call('ExecCommand', { cmd }))

test('what a parent merged is said to be merged at once, and goes with the turn', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const looked = Promise.withResolvers<void>()
  let result = ''
  const parent = steps(
    () => calls(spawn('Write it.', { workspace_mode: 'worktree' })),
    () => says('I wait for it.'),
    (text) => {
      result = text
      return calls(call('ExecCommand', { cmd: 'git merge -q holon/main.1' }))
    },
    async () => {
      await looked.promise
      return says('It is in.')
    },
  )
  const child = steps(runs('echo new >new && git add new && git commit -q -m new'), () =>
    says('It is written.'),
  )
  const box = await openFamily(t, { parent, child, ...places })
  t.after(() => looked.resolve())
  await tell(box, 'Have it written.')
  const kept = (is: (reason: string) => boolean) =>
    box.until(
      (notice) =>
        notice.kind === 'committed' &&
        notice.events.some(({ event }) => event.type === 'worktree_kept' && is(event.reason)),
      'a worktree that is kept',
    )
  await kept((reason) => reason === 'nothing: it is merged, and goes when the turn ends')
  const [row] = await box.ledger.list('worktrees', { agent_id: 'main', limit: 1 })
  assert.ok(row)
  assert.deepEqual([row.state, existsSync(row.path)], ['kept', true])
  // Its parent was told the same before it merged.
  const line =
    /Worktree \S+, branch holon\/main\.1, 1 commit ahead of main \([0-9a-f]{7}\), clean, merges without conflict\./
  assert.match(result, line)
  looked.resolve()
  await box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'worktree_removed'),
    'the worktree to go',
  )
  assert.equal(existsSync(row.path), false)
})
