import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, pick, wait, World } from '../../testing/world/agent-world.ts'
import type { CandidateClass } from '../state/decision.ts'
import { Draft } from './facts.ts'
import { updateItem } from '../work/create-and-update.ts'
import { project } from './candidates.ts'
import {
  candidateClass,
  readinessOf,
  schedulingState,
  currentTodo,
  type SchedulingState,
} from './readiness.ts'
import type { Wait, Wake } from '../state/wait.ts'
import type { WorkItem } from '../state/work-item.ts'

const w = new World()
const base = itemRow(w, item(w))
const waitingFor = (wake: Wake): Wait => ({ ...wait(w, { wake: 'external' }).wait, wake })

// Everything holds the item in the first row. Each row takes away what won the row above.
const everything: WorkItem = {
  ...base,
  state: 'completed',
  completed_at: w.now,
  blocked_by: 'no access',
  plan_status: 'needs_input',
}
const states: [take: Partial<WorkItem>, wait: Wait | null, expect: SchedulingState][] = [
  [{}, waitingFor('task_result'), 'completed'],
  [{ state: 'open' }, waitingFor('task_result'), 'waiting_task'],
  [{}, waitingFor('operator_input'), 'waiting_operator'],
  [{}, waitingFor('timer'), 'waiting_timer'],
  [{}, waitingFor('external'), 'waiting_external'],
  [{}, null, 'blocked'],
  [{ blocked_by: null }, null, 'waiting_operator'],
  [{ plan_status: 'ready' }, null, 'runnable'],
  [{ plan_status: 'draft' }, null, 'runnable'],
]

test('the scheduling state is the first that applies', () => {
  let row = everything
  for (const [take, active, expect] of states) {
    row = { ...row, ...take }
    assert.equal(schedulingState(row, active).state, expect)
  }
})

test('readiness follows from the scheduling state alone', () => {
  const all: SchedulingState[] = [
    'runnable',
    'completed',
    'waiting_operator',
    'waiting_task',
    'waiting_timer',
    'waiting_external',
    'blocked',
  ]
  assert.deepEqual(all.map(readinessOf), [
    'runnable',
    'completed',
    'waiting_for_operator',
    'blocked',
    'blocked',
    'blocked',
    'blocked',
  ])
})

const quiet = waitingFor('external')
const triggered: Wait = { ...quiet, trigger_count: 2, reviewed_trigger_count: 1 }
const reviewed: Wait = { ...triggered, reviewed_trigger_count: 2 }
const due: Wait = { ...quiet, recheck_at: w.now }
const notDue: Wait = { ...quiet, recheck_at: '2027-01-01T00:00:00.000Z' }
const consumed: Wait = { ...due, recheck_at: '2027-01-01T00:00:00.000Z' }

test('the candidate class follows from readiness, focus and what the wait has to show', () => {
  const rows: [SchedulingState, current: boolean, Wait | null, CandidateClass][] = [
    ['completed', true, triggered, 'completed_recent'],
    ['runnable', true, null, 'current_runnable'],
    ['runnable', false, null, 'queued_runnable'],
    ['waiting_external', true, triggered, 'triggered_blocked'],
    ['waiting_operator', false, due, 'triggered_blocked'],
    ['waiting_external', false, reviewed, 'blocked'],
    ['waiting_external', false, notDue, 'blocked'],
    ['waiting_external', false, consumed, 'blocked'],
    ['waiting_operator', true, null, 'waiting_for_operator'],
    ['blocked', true, null, 'blocked'],
  ]
  for (const [state, current, active, expect] of rows) {
    assert.equal(candidateClass(readinessOf(state), current, active, w.now), expect)
  }
})

test('the projection says lifecycle, state, class, focus, todo and blocker in one record', () => {
  const world = new World()
  const todo_list = [
    { text: 'read', state: 'completed' as const },
    { text: 'write', state: 'pending' as const },
    { text: 'test', state: 'in_progress' as const },
  ]
  const id = item(world, { focus: true, todo_list })
  assert.deepEqual(project(world.facts, id, world.now), {
    item: itemRow(world, id),
    wait: null,
    lifecycle: 'open',
    scheduling_state: 'runnable',
    readiness: 'runnable',
    candidate_class: 'current_runnable',
    focus: 'current',
    has_active_waits: false,
    has_triggered_waits: false,
    current_todo: { text: 'test', state: 'in_progress' },
    blocker: null,
    budget: null,
    reason: { code: 'nothing_holds_it' },
    holds: [],
  })
  const waiting = wait(world, { work_item_id: id, reason: 'the review of #12' }).wait
  const { item: _, ...projected } = project(world.facts, id, world.now) ?? assert.fail()
  assert.deepEqual(projected, {
    wait: waiting,
    lifecycle: 'open',
    scheduling_state: 'waiting_external',
    readiness: 'blocked',
    candidate_class: 'blocked',
    focus: 'none',
    has_active_waits: true,
    has_triggered_waits: false,
    current_todo: { text: 'test', state: 'in_progress' },
    blocker: 'the review of #12',
    budget: null,
    reason: { code: 'wait', wait: waiting },
    holds: [{ code: 'wait', wait: waiting }],
  })
})

test('the displayed blocker is blocked_by, else the reason of the active wait', () => {
  const world = new World()
  const id = item(world)
  wait(world, { work_item_id: id, reason: 'the key' })
  world.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'no access' }))
  assert.equal(project(world.facts, id, world.now)?.blocker, 'no access')
  assert.equal(project(world.facts, id, world.now)?.scheduling_state, 'waiting_external')
})

test('the current todo is the first in progress, else the first pending, else none', () => {
  const world = new World()
  const of = (...states: ('pending' | 'in_progress' | 'completed')[]) => {
    const id = item(world, { todo_list: states.map((state, n) => ({ text: `${n}`, state })) })
    return project(world.facts, id, world.now)?.current_todo?.text ?? null
  }
  assert.equal(of('completed', 'pending', 'in_progress'), '2')
  assert.equal(of('completed', 'pending', 'pending'), '1')
  assert.equal(of('completed'), null)
})

test('a draft projects its own events before they are committed', () => {
  const world = new World()
  const id = item(world)
  pick(world, id)
  const d = new Draft(world.facts, { now: world.now, mint: world.mint })
  updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'no access' })
  assert.equal(project(d, id, d.now)?.candidate_class, 'blocked')
  assert.equal(project(world.facts, id, world.now)?.candidate_class, 'current_runnable')
})

test('a completed item has no current todo, whatever its list still says', () => {
  for (const [state, current] of [
    ['open', 'in_progress'],
    ['completed', null],
  ] as const) {
    const world = new World()
    const todo_list = (['in_progress', 'pending'] as const).map((one) => ({
      text: one,
      state: one,
    }))
    const row = { ...itemRow(world, item(world, { todo_list })), state }
    assert.equal(currentTodo(row)?.state ?? null, current)
  }
})
