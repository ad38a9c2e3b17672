/** The one cell of a list that says how an item stands: everything that holds it, and whom it asks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemCell, type ItemSeen, type WaitSeen } from './state-cell.ts'

const now = '2026-11-21T12:00:00.000Z'
const times = { now, utc: true, runs: true } as const

const wait = (more: Partial<WaitSeen>): WaitSeen => ({
  wake: 'operator_input',
  wake_at: null,
  question: null,
  recheck_at: null,
  resource: null,
  source: null,
  created_at: '2026-11-21T11:57:00.000Z',
  trigger_count: 0,
  reviewed_trigger_count: 0,
  ...more,
})

const item = (more: Partial<ItemSeen>): ItemSeen => ({
  completed_at: null,
  updated_at: now,
  plan_status: 'ready',
  blocked_by: null,
  scheduling_state: 'waiting_operator',
  candidate_class: 'waiting_for_operator',
  focus: 'none',
  wait: null,
  over: [],
  verification: 'none',
  ...more,
})

test("an item's own blocker stands beside whatever it waits for", () => {
  const waits: Partial<ItemSeen>[] = [
    { wait: wait({}) },
    { scheduling_state: 'waiting_task', wait: wait({ wake: 'task_result', resource: 'task_1' }) },
    { scheduling_state: 'waiting_timer', wait: wait({ wake: 'timer', wake_at: now }) },
    { scheduling_state: 'waiting_external', wait: wait({ wake: 'external', source: 'ci' }) },
  ]
  for (const one of waits) {
    const text = (blocked_by: string | null) =>
      itemCell(item({ candidate_class: 'blocked', ...one, blocked_by }), null, times).text
    assert.equal(text('legal must agree'), `${text(null)}; blocked: legal must agree`)
  }
})

test("a child's question is its parent's, and needs nothing of the operator", () => {
  const asking = item({ wait: wait({}) })
  assert.equal(itemCell(asking, null, times).mark, 'needs_me')
  const { mark, text } = itemCell(asking, null, times, 'main')
  assert.deepEqual([mark, text], ['waiting', 'asks main, 3 m'])
})
