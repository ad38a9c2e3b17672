/** What of a private child needs the operator, and what its supervisor is asked instead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, task, wait, World } from '../../testing/world/agent-world.ts'
import { turn } from '../../testing/world/turns.ts'
import { hold, update, viewOf } from '../../testing/why/why-world.ts'
import { attentionOf } from './attention.ts'
import { agentCreated } from '../../testing/events.ts'

/** A child of `main`, which thinks with `model`. */
function child(model: string): World {
  const w = new World('main.1', false)
  w.do((d) =>
    d.emit(
      agentCreated('main.1', {
        model,
        preset: 'private_child',
        lineage_parent_agent_id: 'main',
        supervisor_agent_id: 'main',
        supervising_task_id: 'task_t001',
      }),
    ),
  )
  return w
}

const asks = (source: string | null) => (w: World) =>
  wait(w, { work_item_id: item(w), wake: 'operator_input', reason: 'May I?', source })

const rows: [name: string, model: string, prepare: (w: World) => unknown, kinds: string[]][] = [
  ['a question of a child is its parent’s', 'a/child', asks(null), []],
  ['one that only looks like a permission, too', 'a/child', asks('permission'), []],
  ['a permission is the operator’s', 'acp/agent', asks('permission'), ['question answer']],
  ['another question of a foreign agent is its parent’s', 'acp/agent', asks(null), []],
  ['a blocker', 'a/child', (w) => update(w, item(w), { blocked_by: 'no key' }), []],
  [
    'a plan that needs input',
    'a/child',
    (w) => update(w, item(w), { plan_status: 'needs_input' }),
    [],
  ],
  ['a hold that no time ends', 'a/child', (w) => hold(w, 'provider_setup'), ['held start_agent']],
  [
    'processes that do not end',
    'a/child',
    (w) => {
      const { id } = task(w)
      w.do((d) => d.emit({ type: 'task_cancelling', id, survivors: [7], because: 'stop' }))
    },
    ['cancelling stop_task'],
  ],
]
for (const [name, model, prepare, kinds] of rows) {
  test(`of a private child: ${name}`, () => {
    const w = child(model)
    prepare(w)
    const found = attentionOf([viewOf(w, 'at_rest')], [])
    assert.deepEqual(
      found.map(({ kind, can }) => `${kind} ${can[0]?.key}`),
      kinds,
    )
  })
}

test('a failed turn of a private child ends it, so nobody else is told', () => {
  const w = child('a/child')
  item(w)
  const last = { ...w.row('turns', turn(w).id), outcome: 'failed', reason: 'a bug' } as const
  assert.deepEqual(attentionOf([viewOf(w, 'at_rest')], [last]), [])
})

/** A worktree that is kept, of a child of the world's agent. */
function kept(): World {
  const w = new World()
  const id = 'task_t009'
  const tree = { repository: '/w/.git', path: '/trees/t009', branch: 'holon/main.1' }
  w.do((d) => {
    d.emit({ type: 'worktree_planned', id, child_agent_id: 'main.1', ...tree })
    d.emit({ type: 'worktree_made', id, base_commit: 'b0', unfiltered: null })
    d.emit({ type: 'worktree_kept', id, reason: 'it holds what no commit has: 1 untracked' })
  })
  return w
}

test('a kept worktree stands there with what it holds and both ways out', () => {
  const [entry] = attentionOf([viewOf(kept(), 'at_rest')], [])
  assert.deepEqual(
    [entry?.kind, entry?.id, entry?.text, entry?.can.slice(0, 2).map(({ cli }) => cli)],
    [
      'worktree_kept',
      'task_t009',
      'holon/main.1 of main.1 is kept: it holds what no commit has: 1 untracked',
      ['holon worktree remove task_t009', 'holon worktree discard task_t009'],
    ],
  )
})

test('while its parent has something to do it may merge the worktree, so nobody is asked', () => {
  const w = kept()
  update(w, item(w), { plan_status: 'ready' })
  const presences = ['at_rest', 'nobody'] as const
  assert.deepEqual(
    presences.map((presence) => attentionOf([viewOf(w, presence)], []).map(({ kind }) => kind)),
    [[], ['worktree_kept']],
  )
})
