/**
 * A worktree that is brought back, killed: before and after each commit and effect of the story,
 * and again while the next start goes on with it. What stands in the folder is named by the row,
 * and what the row says is there.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { GitFault } from '../src/exec/git/git-fault.ts'
import {
  openBox,
  temporaryHome,
  type HostFixture,
  type BoxOptions,
} from '../src/testing/host/host-fixture.ts'
import { calls, says } from '../src/testing/scripted-model.ts'
import { call, happens, openFamily, spawn, steps, tell } from './support/parent-and-child.ts'
import { makeRepository } from './support/repository.ts'

const planned = 'commit of worktree_restore_planned'
const effect = 'effect'
const restored = 'commit of worktree_restored'
const story = [planned, effect, restored]
const points = story.flatMap((what) => [`before ${what}`, `after ${what}`])

/** Dies at the point of this name, as at a SIGKILL; null: lives. */
function death(point: string | null) {
  const passed: string[] = []
  const died = Promise.withResolvers<void>()
  const state = { dead: false }
  const at = (name: string) => {
    if (state.dead) throw new Error('already dead')
    passed.push(name)
    if (name !== point) return
    state.dead = true
    died.resolve()
    throw new Error(`killed ${name}`)
  }
  type Seam = NonNullable<BoxOptions['fault']>
  const onCommit =
    (when: string): Seam['before_commit'] =>
    (_, { events }) => {
      if (state.dead) throw new Error('already dead')
      const found = events.find(({ event }) => event.type.startsWith('worktree_restore'))
      if (found) at(`${when} commit of ${found.event.type}`)
    }
  const onEffect = (when: string) => (what: string) => {
    if (what.startsWith('restore worktree')) at(`${when} ${effect}`)
  }
  const options: Partial<BoxOptions> = {
    fault: { before_commit: onCommit('before'), after_commit: onCommit('after') },
    effect_seam: { before_effect: onEffect('before'), after_effect: onEffect('after') },
    is_dead: () => state.dead,
  }
  /** The dead say so to whoever closes them. */
  const close = (box: HostFixture) =>
    box.close().catch((error: unknown) => {
      if (!state.dead) throw error
    })
  return { passed, died: died.promise, options, close }
}

type Places = ReturnType<typeof temporaryHome>

/** A home with a discarded worktree, in which a child had left a file. */
async function discardedIn(t: TestContext, places: Places) {
  makeRepository(places.workspace)
  const box = await openFamily(t, {
    parent: steps(() => calls(spawn('Write it.', { workspace_mode: 'worktree' }))),
    child: steps(
      () => calls(call('ExecCommand', { cmd: 'echo precious >precious.txt' })),
      () => says('It is written.'),
    ),
    ...places,
  })
  await tell(box, 'Have it written.')
  await happens(box, 'main', 'worktree_kept')
  const [row] = await box.ledger.list('worktrees', { agent_id: 'main', limit: 1 })
  assert.ok(row)
  const act = { agent_id: 'main', worktree_id: row.id }
  const said = await box.host.act({ do: 'discard_worktree', ...act })
  assert.ok(said.ok, JSON.stringify(said))
  await box.close()
  return { act, file: join(row.path, 'precious.txt'), path: row.path }
}

const models = { default: steps() }

/** What the row says and what is there, when the next start has done what it does about it. */
async function afterStart(t: TestContext, places: Places, { act, file }: Tree) {
  const box = await openBox(t, { models, ...places })
  const before = await box.ledger.row('worktrees', act.worktree_id)
  await box.host.open()
  if (before?.state === 'planned') await happens(box, 'main', 'worktree_restored')
  const row = await box.ledger.row('worktrees', act.worktree_id)
  await box.close()
  return [row?.state, existsSync(file) ? readFileSync(file, 'utf8') : null]
}
type Tree = Awaited<ReturnType<typeof discardedIn>>

/** Opens the home and asks for it; whether it came to its end. */
async function restores(t: TestContext, places: Places, { act }: Tree, end: Death) {
  const box = await openBox(t, { models, ...places, ...end.options })
  await box.host.open()
  const ended = await box.host.act({ do: 'restore_worktree', ...act }).then(
    ({ ok }) => ok,
    () => false,
  )
  await end.close(box)
  return ended
}
type Death = ReturnType<typeof death>

const there = ['kept', 'precious\n']
const gone = ['discarded', null]

test('a restoration tells the row first, acts, and tells the row', async (t) => {
  const places = temporaryHome(t)
  const tree = await discardedIn(t, places)
  const alive = death(null)
  assert.equal(await restores(t, places, tree, alive), true)
  assert.deepEqual(alive.passed, points)
  assert.deepEqual(await afterStart(t, places, tree), there)
})

for (const point of points) {
  test(`what is brought back is named by its row, killed ${point}`, async (t) => {
    const places = temporaryHome(t)
    const tree = await discardedIn(t, places)
    assert.equal(await restores(t, places, tree, death(point)), false)
    const never = point === `before ${planned}`
    const done = point === `after ${restored}`
    if (!never && !done) {
      // Killed again, wherever the next start is when it goes on.
      for (const again of points.slice(2)) {
        const end = death(again)
        const box = await openBox(t, { models, ...places, ...end.options })
        await box.host.open()
        await end.died
        await end.close(box)
      }
    }
    assert.deepEqual(await afterStart(t, places, tree), never ? gone : there)
  })
}

test('a restoration that cannot be is taken back, and its snapshot stays', async (t) => {
  const places = temporaryHome(t)
  const tree = await discardedIn(t, places)
  await restores(t, places, tree, death(`after ${planned}`))
  writeFileSync(tree.path, 'of somebody else')
  const box = await openBox(t, { models, ...places })
  await box.host.open()
  await happens(box, 'main', 'worktree_discarded')
  const row = await box.ledger.row('worktrees', tree.act.worktree_id)
  assert.deepEqual(
    [row?.state, row?.reason],
    ['discarded', `it could not be restored: ${tree.path} exists and is not ours`],
  )
  assert.notEqual(row?.snapshot, null)
  const said = await box.host.act({ do: 'restore_worktree', ...tree.act })
  assert.deepEqual(
    [said.ok, said.ok ? null : said.code, readFileSync(tree.path, 'utf8')],
    [false, 'git_refused', 'of somebody else'],
  )
})

test('a restoration whose git is busy stays planned, and whoever asks again goes on', async (t) => {
  const places = temporaryHome(t)
  const tree = await discardedIn(t, places)
  let busy = true
  const box = await openBox(t, {
    models,
    ...places,
    over_worktrees: (worktrees) => ({
      ...worktrees,
      restore: (of) =>
        busy
          ? Promise.reject(new GitFault('worktree_busy', 'somebody makes it'))
          : worktrees.restore(of),
    }),
  })
  await box.host.open()
  const ask = () => box.host.act({ do: 'restore_worktree', ...tree.act })
  const state = async () => (await box.ledger.row('worktrees', tree.act.worktree_id))?.state
  assert.deepEqual([(await ask()).ok, await state()], [false, 'planned'])
  busy = false
  assert.deepEqual([(await ask()).ok, await state()], [true, 'kept'])
})
