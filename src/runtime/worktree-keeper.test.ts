/** The keeper's own order; what it does to real worktrees is in test/family-life.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ledger } from '../ledger/port.ts'
import { openBox } from '../testing/box.ts'
import { Store } from './store.ts'
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
  const keeper = new WorktreeKeeper({ ports, store: new Store(watched, ports.clock, ports.ids) })

  const one = keeper.settle('nobody')
  await begun.promise
  const others = [1, 2, 3, 4].map(() => keeper.settle('nobody'))
  first.resolve()
  await Promise.all([one, ...others])
  assert.deepEqual(looks, ['nobody', 'nobody'])

  await keeper.settle('nobody')
  assert.equal(looks.length, 3)
})
