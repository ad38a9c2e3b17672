/** What every reader of an item and of a wait is told, and what stays with the runtime. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  item,
  itemRow,
  somePlan,
  T0,
  wait,
  waitOf,
  World,
} from '../../testing/world/agent-world.ts'
import { project } from '../facts/candidates.ts'
import { itemRecord, waitRecord } from './item-record.ts'

test('the record of an item is its stored fields, its plan now, and the projection', () => {
  const w = new World()
  const id = item(w, {
    focus: true,
    objective: 'Count the words.',
    todo_list: [
      { text: 'read', state: 'completed' },
      { text: 'count', state: 'in_progress' },
      { text: 'check', state: 'pending' },
      { text: 'tell', state: 'pending' },
    ],
  })
  const projection = project(w.facts, id, w.now)
  assert.ok(projection)
  const whole = itemRecord(projection, null, { include_todo_list: true })
  assert.deepEqual(whole, {
    id,
    agent_id: 'main',
    revision: 1,
    objective: 'Count the words.',
    state: 'open',
    plan_status: 'draft',
    input_wanted: null,
    todo_list: itemRow(w, id).todo_list,
    checks: [],
    blocked_by: null,
    result_summary: null,
    result_brief_id: null,
    budget: null,
    created_at: T0,
    updated_at: T0,
    completed_at: null,
    verification: null,
    todo_counts: { pending: 2, in_progress: 1, completed: 1 },
    plan_artifact: { path: somePlan(id).path, bytes: 0 },
    lifecycle: projection.lifecycle,
    scheduling_state: 'runnable',
    readiness: 'runnable',
    candidate_class: 'current_runnable',
    focus: 'current',
    has_active_waits: false,
    has_triggered_waits: false,
    current_todo: { text: 'count', state: 'in_progress' },
    blocker: null,
    wait: null,
  })
  const { todo_list: _, checks: __, ...brief } = whole
  assert.deepEqual(itemRecord(projection, null, { include_todo_list: false }), brief)

  const plan = { path: '/p', sha256: 'x', bytes: 3 } as never
  const planned = itemRecord(projection, plan, { include_todo_list: true })
  assert.deepEqual(planned, { ...whole, plan_artifact: plan })
})

test('the record of an item that waits holds its wait, and of a metered one its meter', () => {
  const w = new World()
  const budget = { max_tokens: 1_000, max_usd: null, max_rounds: null, deadline: null }
  const id = item(w, { budget })
  wait(w, { work_item_id: id, source: 'ci' })
  deliver(w, { source: 'ci' })
  const projection = project(w.facts, id, w.now)
  assert.ok(projection?.budget)
  const {
    wait: told,
    meter,
    has_active_waits,
    has_triggered_waits,
  } = itemRecord(projection, null, { include_todo_list: false })
  assert.deepEqual(
    { told, meter, has_active_waits, has_triggered_waits },
    {
      told: waitRecord(waitOf(w, id)),
      meter: projection.budget,
      has_active_waits: true,
      has_triggered_waits: true,
    },
  )
})

test('an item with checks says what is verified of it', () => {
  const w = new World()
  const id = item(w)
  const projection = project(w.facts, id, w.now)
  assert.ok(projection)
  const check = { name: 'tests', kind: 'command', run: null } as never
  const checked = { ...projection, item: { ...projection.item, checks: [check] } }
  const { verification, checks } = itemRecord(checked, null, { include_todo_list: true })
  assert.deepEqual(checks, [check])
  assert.notEqual(verification, null)
})

test('the record of a wait is its stored fields, without what the runtime keeps with it', () => {
  const w = new World()
  wait(w, { work_item_id: item(w), source: 'ci' })
  const row = w.row('waits', 'wait_0001')
  const kept = [
    'changed_seq',
    'last_review',
    'triggered_turn_count',
    'focus_settled',
    'reviewed_at',
    'outside_trigger_count',
  ] as const
  const record = waitRecord(row)
  const all = [...Object.keys(record), ...kept].toSorted()
  assert.deepEqual(all, Object.keys(row).toSorted())
  for (const [field, value] of Object.entries(record)) {
    assert.deepEqual(value, row[field as keyof typeof row], field)
  }
})
