import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  focusOf,
  item,
  itemRow,
  say,
  somePlan,
  T0,
  wait,
  waitOf,
  World,
} from '../../testing/world/agent-world.ts'
import type { WorkItemId } from '../ids.ts'
import {
  checkCreate,
  createItem,
  updateItem,
  type CreateItem,
  type UpdateItem,
} from './create-and-update.ts'
import { limits } from '../limits.ts'
import { observePlan } from '../turns/end.ts'
import type { Todo } from '../state/work-item.ts'
import { pickedToLook } from '../../testing/events.ts'

const create = (given: Partial<CreateItem> = {}): CreateItem => ({
  id: 'work_new',
  by: 'agent',
  objective: 'Ship it',
  plan_status: 'draft',
  todo_list: [],
  plan: somePlan('work_new'),
  budget: null,
  ...given,
})
const update = (
  w: World,
  work_item_id: WorkItemId,
  fields: Omit<UpdateItem, 'work_item_id' | 'by'>,
  by: UpdateItem['by'] = 'agent',
) => w.do((d) => updateItem(d, { work_item_id, by, ...fields }))
const todo = (text: string, state: Todo['state'] = 'pending'): Todo => ({ text, state })

test('creating makes an open item with revision 1 and never sets focus', () => {
  const w = new World()
  const made = w.do((d) => createItem(d, create({ objective: '  Ship it ' })))
  assert.deepEqual(made.item.item, {
    id: 'work_new',
    agent_id: 'main',
    revision: 1,
    objective: 'Ship it',
    state: 'open',
    plan_status: 'draft',
    input_wanted: null,
    todo_list: [],
    blocked_by: null,
    plan_artifact: somePlan('work_new'),
    result_summary: null,
    result_brief_id: null,
    report_draft: null,
    budget: null,
    checks: [],
    created_at: T0,
    updated_at: T0,
    completed_at: null,
    changed_seq: 2,
  })
  assert.deepEqual([made.changed, made.cleared, made.warnings], [true, null, []])
  assert.equal(focusOf(w), null)
})

test('what an item may hold has limits; over one, nothing is made and the limit is named', () => {
  const w = new World()
  const todos = (n: number, length = 4) => Array.from({ length: n }, () => todo('x'.repeat(length)))
  const rows: [Partial<CreateItem>, code: string | null][] = [
    [{ objective: 'x'.repeat(500) }, null],
    [{ objective: 'x'.repeat(501) }, 'over_limit'],
    [{ objective: '  ' }, 'objective_empty'],
    [{ todo_list: todos(100, 300) }, null],
    [{ todo_list: todos(101) }, 'over_limit'],
    [{ todo_list: todos(1, 301) }, 'over_limit'],
  ]
  for (const [given, code] of rows) {
    const command = create({ ...given, id: w.mint('work') })
    if (code === null) w.do((d) => createItem(d, command))
    else
      assert.equal(
        w.refused((d) => createItem(d, command)),
        code,
      )
  }
  assert.deepEqual(checkCreate(w.facts, create({ objective: 'x'.repeat(501) })), {
    ok: false,
    code: 'over_limit',
    message: 'objective is 501 characters; the limit is 500.',
    hint: 'Keep objective within 500 characters (a target, not a plan; detail is in plan.md).',
  })
})

test('an agent has at most 10,000 open items', () => {
  const w = new World()
  const row = itemRow(w, item(w))
  for (let n = 1; n < limits.open_items.value; n++) {
    w.facts.include('work_items', { ...row, id: `work_many_${n}` })
  }
  assert.equal(
    w.refused((d) => createItem(d, create())),
    'over_limit',
  )
})

test('more than one todo in progress is a warning', () => {
  const w = new World()
  const todo_list = [todo('a', 'in_progress'), todo('b', 'in_progress')]
  const made = w.do((d) => createItem(d, create({ todo_list })))
  assert.deepEqual(
    made.warnings.map((x) => x.kind),
    ['several_in_progress'],
  )
  const done = update(w, made.item.item.id, { todo_list: [todo('a', 'in_progress')] })
  assert.deepEqual(done.warnings, [])
})

test('revision and updated_at move by one per mutation, whatever it changed', () => {
  const w = new World()
  const id = item(w)
  const before = itemRow(w, id)
  const todo_list = [todo('read'), todo('write')]
  const done = update(w.pass(1000), id, {
    objective: 'Better',
    plan_status: 'ready',
    todo_list,
    blocked_by: 'no key',
  })
  assert.deepEqual(done.item.item, {
    ...before,
    revision: 2,
    objective: 'Better',
    plan_status: 'ready',
    todo_list,
    blocked_by: 'no key',
    updated_at: w.now,
    changed_seq: before.changed_seq + 1,
  })
})

test('equal values are a success without an event', () => {
  const w = new World()
  const id = item(w, { objective: 'Ship it', todo_list: [todo('a')] })
  const same = { objective: ' Ship it ', plan_status: 'draft', todo_list: [todo('a')] } as const
  for (const by of ['agent', 'operator'] as const) {
    const done = update(w, id, same, by)
    assert.deepEqual([done.changed, itemRow(w, id).revision], [false, 1])
    assert.deepEqual(w.last, [])
  }
  update(w, id, { blocked_by: 'no key' })
  assert.equal(update(w, id, { blocked_by: 'no key' }).changed, false)
  assert.deepEqual(w.last, [])
})

test('an equal blocker does not release the focus of an item picked for inspection', () => {
  const w = new World()
  const id = item(w)
  update(w, id, { blocked_by: 'no key' })
  w.do((d) => d.emit(pickedToLook(id)))
  assert.equal(update(w, id, { blocked_by: 'no key' }).changed, false)
  assert.equal(focusOf(w), id)
})

test('the todo list is replaced whole', () => {
  const w = new World()
  const id = item(w, { todo_list: [todo('a'), todo('b')] })
  update(w, id, { todo_list: [todo('b', 'completed')] })
  assert.deepEqual(itemRow(w, id).todo_list, [todo('b', 'completed')])
})

test('an update is refused that names nothing, an empty value, or an item that cannot change', () => {
  const w = new World()
  const id = item(w)
  const code = (fields: Omit<UpdateItem, 'by' | 'work_item_id'>, work_item_id: WorkItemId = id) =>
    w.refused((d) => updateItem(d, { work_item_id, by: 'agent', ...fields }))
  assert.deepEqual(
    [
      code({}),
      code({ objective: '' }),
      code({ blocked_by: ' ' }),
      code({ blocked_by: 'x'.repeat(2001) }),
      code({ objective: 'x'.repeat(501) }),
      code({ objective: 'x' }, 'work_none'),
    ],
    [
      'nothing_to_update',
      'objective_empty',
      'blocker_empty',
      'over_limit',
      'over_limit',
      'work_item_not_found',
    ],
  )
})

test('setting blocked_by without a wait warns no_wake; with a wait it does not', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  wait(w, { work_item_id: b })
  assert.deepEqual(
    update(w, a, { blocked_by: 'no key' }).warnings.map((x) => x.kind),
    ['no_wake'],
  )
  assert.deepEqual(update(w, b, { blocked_by: 'no key' }).warnings, [])
})

test('unblocking clears the blocker, cancels the active wait, and names both', () => {
  const w = new World()
  const id = item(w, { plan_status: 'needs_input' })
  update(w, id, { blocked_by: 'no key' })
  const { wait: active } = wait(w, { work_item_id: id })
  const done = update(w, id, { blocked_by: null })
  assert.deepEqual(done.cleared, { blocked_by: 'no key', wait_id: active.id })
  assert.deepEqual(
    [w.row('waits', active.id).status, itemRow(w, id).blocked_by],
    ['cancelled', null],
  )
  // It changes neither plan_status nor focus.
  assert.deepEqual([itemRow(w, id).plan_status, focusOf(w)], ['needs_input', null])
  assert.equal(done.item.scheduling_state, 'waiting_operator')
})

test('unblocking an item that only waits moves no revision', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id })
  const done = update(w, id, { blocked_by: null })
  assert.deepEqual([done.changed, itemRow(w, id).revision], [true, 1])
  assert.deepEqual(
    w.last.map((e) => e.type),
    ['wait_cancelled'],
  )
  assert.equal(done.item.readiness, 'runnable')
})

test('an event never clears a blocker', () => {
  const w = new World()
  const id = item(w)
  update(w, id, { blocked_by: 'no key' })
  wait(w, { work_item_id: id, wake: 'operator_input' })
  say(w, { wait_id: waitOf(w, id).id })
  assert.equal(itemRow(w, id).blocked_by, 'no key')
})

test('the plan file is stored as hash and size, as a revision, when it differs', () => {
  const w = new World()
  const id = item(w)
  const plan = { ...somePlan(id), sha256: 'a', bytes: 3, good_sha256: 'a' }
  assert.equal(
    w.do((d) => observePlan(d, itemRow(w, id), plan)),
    true,
  )
  assert.deepEqual([itemRow(w, id).plan_artifact, itemRow(w, id).revision], [plan, 2])
  assert.equal(
    w.do((d) => observePlan(d, itemRow(w, id), plan)),
    false,
  )
  assert.equal(
    w.do((d) => observePlan(d, itemRow(w, id), null)),
    false,
  )
  assert.equal(itemRow(w, id).revision, 2)
})

test('an item made with a budget is metered from its first moment, and one without is not', () => {
  const budget = { max_tokens: 100, max_usd: null, max_rounds: null, deadline: null }
  const w = new World()
  const [metered, plain] = [item(w, { budget }), item(w)]
  assert.deepEqual(
    [metered, plain].map((id) => w.all('meters').some((meter) => meter.id === id)),
    [true, false],
  )
})

test('checks are the operator’s: that anybody else sets them is a bug', () => {
  const check = { name: 'a', kind: 'command', cmd: 'x', run: null } as never
  for (const by of ['agent', 'runtime'] as const) {
    assert.throws(() => item(new World(), { by, checks: [check] }), {
      message: `${by} sets the checks of work_0001`,
    })
  }
  const w = new World()
  const id = item(w, { by: 'operator', checks: [check] })
  assert.deepEqual(itemRow(w, id).checks, [check])
})
