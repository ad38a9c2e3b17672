/** The keeper's own order; what it does to real worktrees is in test/family-life.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ledger } from '../../ledger/port.ts'
import { openBox } from '../../testing/host/host-fixture.ts'
import { Store } from '../store.ts'
import { WorktreeKeeper } from './worktree-keeper.ts'

test('looks that are asked for while one is under way are one look, begun after it', async (t) => {
  const { ledger, ports } = await openBox(t, { models: {} })
  const first = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const looks: string[] = []
  const slow: Pick<Ledger, 'live'> = {
    async live(agent) {
      looks.push(agent)
      begun.resolve()
      if (looks.length === 1) await first.promise
      return ledger.live(agent)
    },
  }
  const watched = Object.assign(Object.create(ledger) as Ledger, slow)
  const keeper = new WorktreeKeeper({
    ports,
    store: new Store(watched, ports.clock, ports.ids),
    failed: (_, error) => assert.ifError(error),
  })

  const one = keeper.settle('nobody')
  await begun.promise
  const others = [1, 2, 3, 4].map(() => keeper.settle('nobody'))
  first.resolve()
  await Promise.all([one, ...others])
  assert.deepEqual(looks, ['nobody', 'nobody'])

  await keeper.settle('nobody')
  assert.equal(looks.length, 3)
})

test('what is gone is merged where it was seen to be, and discarded where a snapshot was taken', async (t) => {
  const { ledger, ports, host } = await openBox(t, { models: {} })
  assert.ok((await host.ensureAgent({ id: 'main', model: 'scripted/model' })).ok)
  const store = new Store(ledger, ports.clock, ports.ids)
  const worktrees: typeof ports.worktrees = {
    ...ports.worktrees,
    repository: () =>
      Promise.resolve({ root: '/r', common_dir: '/r/.git', branch: 'main', head: 'c0' }),
    status: () => Promise.resolve({ kind: 'absent' }),
    remove: () => Promise.resolve({ ok: true, branch: 'deleted', left: null }),
  }
  await store.loaded('main')
  const snapshot = { ref: 'refs/holon/snapshots/task_2/1', commit: 'c1' }
  const made = ['task_1', 'task_2'] as const
  await store.transact('main', 'test', (d) => {
    for (const id of made) {
      const place = { repository: '/r', path: `/w/${id}`, branch: `holon/${id}` }
      d.emit({ type: 'worktree_planned', id, child_agent_id: id, ...place })
      d.emit({ type: 'worktree_made', id, base_commit: 'b0', unfiltered: null })
      d.emit({ type: 'worktree_kept', id, reason: 'it has a commit that is not in main' })
    }
    d.emit({ type: 'worktree_snapshotted', id: 'task_2', snapshot })
  })
  const failed = (_: string, error: unknown) => assert.ifError(error)
  await new WorktreeKeeper({ ports: { ...ports, worktrees }, store, failed }).settle('main')
  const rows = await Promise.all(made.map((id) => ledger.row('worktrees', id)))
  assert.deepEqual(
    rows.map((row) => [row?.state, row?.reason]),
    [
      ['removed', 'clean and merged'],
      ['discarded', `it was gone already; ${snapshot.ref} keeps what was in it`],
    ],
  )
})
