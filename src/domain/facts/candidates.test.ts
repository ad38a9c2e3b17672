import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, pick, wait, World } from '../../testing/world/agent-world.ts'
import { completeItem } from '../work/complete.ts'
import type { WorkItemId } from '../ids.ts'
import { updateItem } from '../work/create-and-update.ts'
import { candidates, project, promptLimit, rank } from './candidates.ts'
import { projectItem } from './readiness.ts'

const minute = 60_000
const ids = (list: readonly { item: { id: WorkItemId } }[]) => list.map((p) => p.item.id)
const touch = (w: World, id: WorkItemId) =>
  w
    .pass(minute)
    .do((d) => updateItem(d, { work_item_id: id, by: 'agent', objective: `again at ${w.now}` }))

test('queued items rank by updated_at, then created_at, then id, oldest first', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w.pass(minute)), item(w)]
  touch(w, a)
  assert.deepEqual(ids(candidates(w.facts, w.now).queued_runnable), [b, c, a])
})

test('triggered items rank by the last trigger, then by the last update, newest first', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w)]
  for (const id of [a, b, c]) wait(w, { work_item_id: id, source: id })
  deliver(w.pass(minute), { source: b })
  deliver(w.pass(minute), { source: a })
  deliver(w, { source: c })
  touch(w, c)
  assert.deepEqual(ids(candidates(w.facts, w.now).triggered_blocked), [c, a, b])
})

test('blocked and completed items rank by the last update, newest first', () => {
  const w = new World()
  const [a, b, c, d, e] = [item(w), item(w), item(w), item(w), item(w)]
  for (const id of [a, b, c]) {
    w.pass(minute).do((x) => updateItem(x, { work_item_id: id, by: 'agent', blocked_by: 'key' }))
  }
  for (const id of [d, e]) {
    w.pass(minute).do((x) =>
      completeItem(x, { work_item_id: id, by: 'agent', report: 'Done.', turn: null }),
    )
  }
  const found = candidates(w.facts, w.now)
  assert.deepEqual(ids(found.blocked), [c, b, a])
  assert.deepEqual(ids(found.completed_recent), [e, d])
})

test('ranking is stable: equal items keep the order of their ids', () => {
  const w = new World()
  const all = [item(w), item(w), item(w)].map((id) =>
    projectItem(w.row('work_items', id), null, null, w.now),
  )
  for (const order of [all, all.toReversed()]) {
    assert.deepEqual(ids(rank('queued_runnable', order)), ['work_0001', 'work_0002', 'work_0003'])
    assert.deepEqual(ids(rank('blocked', order)), ['work_0001', 'work_0002', 'work_0003'])
  }
})

test('every item is in exactly one class, the runnable focus alone in its own', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w, { plan_status: 'needs_input' })]
  pick(w, b)
  const found = candidates(w.facts, w.now)
  assert.deepEqual(
    Object.fromEntries(Object.entries(found).map(([name, list]) => [name, ids(list)])),
    {
      current_runnable: [b],
      triggered_blocked: [],
      queued_runnable: [a],
      waiting_for_operator: [c],
      blocked: [],
      completed_recent: [],
    },
  )
})

test('a prompt shows 3 triggered, 5 queued, 3 blocked and 3 completed items', () => {
  assert.deepEqual(promptLimit, {
    current_runnable: 1,
    triggered_blocked: 3,
    queued_runnable: 5,
    waiting_for_operator: 3,
    blocked: 3,
    completed_recent: 3,
  })
})

test('one item is projected with its wait and focus; none that is not among the facts', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w)]
  wait(w, { work_item_id: a, source: 'ci' })
  pick(w, b)
  wait(w, { work_item_id: c, source: 'ci' })
  w.do((d) => completeItem(d, { work_item_id: c, by: 'operator', report: null, turn: null }))
  const shown = [a, b, c, 'work_9999' as const].map((id) => {
    const found = project(w.facts, id, w.now)
    return found && [found.scheduling_state, found.focus, found.wait?.source ?? null]
  })
  assert.deepEqual(shown, [
    ['waiting_external', 'none', 'ci'],
    ['runnable', 'current', null],
    ['completed', 'none', null],
    null,
  ])
})
