/**
 * What is said of a worktree is of the moment at which it is said: when a parent has merged the
 * work of its child in the middle of a turn (it goes when the turn ends, not under the parent's
 * hands), and when a child went on while git was looking.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { calls, says } from '../src/testing/scripted-model.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import type { Removed } from '../src/exec/worktrees/port.ts'
import {
  call,
  create,
  happens,
  idsIn,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
  type Step,
} from './support/parent-and-child.ts'
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

test('a child that went on while git looked is told of as it ended', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const [looking, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => ended.resolve())
  let result = ''
  const parent = steps(
    () => calls(spawn('Write it.', { workspace_mode: 'worktree' })),
    () => says('I wait for it.'),
    (text) => {
      result = text
      return says('It is written.')
    },
  )
  const child = steps(
    create('write it'),
    pick,
    () => calls(call('WaitFor', { wake: 'operator_input', reason: 'Which colour?' })),
    runs('echo blue >new && git add new && git commit -q -m new'),
    (text) => {
      const [work_item_id = ''] = idsIn(text, 'work')
      return calls('It is written. It is blue.', call('CompleteWorkItem', { work_item_id }))
    },
  )
  const box = await openFamily(t, {
    parent,
    child,
    ...places,
    over_worktrees: (worktrees) => ({
      ...worktrees,
      async facts(of) {
        const seen = await worktrees.facts(of)
        looking.resolve()
        await ended.promise
        return seen
      },
    }),
  })
  await tell(box, 'Have it written.')
  await looking.promise
  const [task] = await box.ledger.list('tasks', { agent_id: 'main', limit: 1 })
  const answer = { agent_id: 'main', task_id: task?.id ?? '', text: 'Blue.' }
  assert.equal((await box.host.act({ do: 'task_input', ...answer })).ok, true)
  await happens(box, 'main.1', 'turn_ended', ({ outcome }) => outcome === 'completed')
  ended.resolve()
  await happens(box, 'main', 'brief_delivered', ({ text }) => text === 'It is written.')
  assert.match(result, /branch holon\/main\.1, 1 commit ahead of main \([0-9a-f]{7}\), clean, /)
  assert.doesNotMatch(result, /0 commits ahead/)
})

test('a worktree that its parent takes in hand while git looks stays until that turn ends', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const [looking, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [looks, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => [looking, seen, looks, done].forEach(({ resolve }) => resolve()))
  const parent = steps(
    () => calls(spawn('Look at it.', { workspace_mode: 'worktree' })),
    () => says('I wait for it.'),
    () => says('It is seen.'),
    async () => {
      looks.resolve()
      await done.promise
      return says('I have looked into it.')
    },
  )
  const first = Promise.withResolvers<Removed>()
  const box = await openFamily(t, {
    parent,
    child: steps(() => says('There is nothing to do.')),
    ...places,
    over_worktrees: (worktrees) => ({
      ...worktrees,
      async remove(request) {
        looking.resolve()
        await seen.promise
        const removed = await worktrees.remove(request)
        first.resolve(removed)
        return removed
      },
    }),
  })
  await tell(box, 'Have it looked at.')
  await looking.promise
  await tell(box, 'What is in its folder?')
  await looks.promise
  seen.resolve()
  const removed = await first.promise
  assert.equal(removed.ok ? 'removed' : removed.code, 'worktree_leased')
  const [row] = await box.ledger.list('worktrees', { agent_id: 'main', limit: 1 })
  assert.equal(existsSync(row?.path ?? ''), true)
  done.resolve()
  await happens(box, 'main', 'worktree_removed')
  assert.equal(existsSync(row?.path ?? ''), false)
})
