/** Rechecks: a wait is looked at again by itself, less and less often, until something changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, T0, wait, World } from '../../testing/world/agent-world.ts'
import { turn } from '../../testing/world/turns.ts'
import type { WorkItemId } from '../ids.ts'
import { hour, minute, plus } from '../time.ts'
import { fireDue } from './wait-end.ts'

test('a recheck asks for a review each time, less and less often, and unblocks nothing', () => {
  const w = new World()
  const id = item(w)
  const { wait: row } = wait(w, { work_item_id: id, recheck_at: plus(T0, 10 * minute) })
  const looks: number[] = []
  for (let at = 0; at < 6 * 60; at++) {
    w.pass(minute).do(fireDue)
    if (w.next().do !== 'start_turn') continue
    assert.deepEqual(w.last, [{ type: 'wait_recheck_due', id: row.id, turn_count: looks.length }])
    w.do(fireDue)
    assert.deepEqual(w.last, [])
    turn(w, { rule: 'review_triggered' })
    looks.push(at + 1)
  }
  // Ten minutes, ten, twenty, forty, and then every hour.
  assert.deepEqual(looks, [10, 20, 40, 80, 140, 200, 260, 320])
  const { status, rechecks } = w.row('waits', row.id)
  assert.deepEqual([status, rechecks], ['active', 8])
})

test('a recheck of more than an hour keeps its own interval', () => {
  const w = new World()
  wait(w, { work_item_id: item(w), recheck_at: plus(T0, 3 * hour) })
  for (const looks of [1, 2, 3]) {
    turn(w.pass(3 * hour), { rule: 'review_triggered' })
    const { recheck_at, rechecks } = w.row('waits', 'wait_0001')
    assert.deepEqual([recheck_at, rechecks], [plus(w.now, 3 * hour), looks])
  }
})

test('an event, or the same wait made again, begins with the first interval', () => {
  const again: Record<string, (w: World, id: WorkItemId) => void> = {
    'an event': (w) => {
      deliver(w, { source: 'ci' })
      turn(w, { rule: 'message' })
    },
    WaitFor: (w, id) =>
      wait(w, { work_item_id: id, source: 'ci', recheck_at: plus(w.now, minute) }),
  }
  for (const [name, act] of Object.entries(again)) {
    const w = new World()
    const id = item(w)
    wait(w, { work_item_id: id, source: 'ci', recheck_at: plus(T0, minute) })
    for (const pause of [1, 1, 2]) turn(w.pass(pause * minute), { rule: 'review_triggered' })
    const before = w.row('waits', 'wait_0001')
    assert.deepEqual([before.recheck_at, before.rechecks], [plus(w.now, 4 * minute), 3], name)
    act(w.pass(minute), id)
    const { recheck_at, rechecks } = w.row('waits', 'wait_0001')
    assert.deepEqual([recheck_at, rechecks], [plus(w.now, minute), 0], name)
  }
})
