import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  focusOf,
  item,
  itemRow,
  pick,
  prompt,
  say,
  T0,
  task,
  wait,
  waitCommand,
  World,
} from '../../testing/world/agent-world.ts'
import { act, begin, end, taskEnds, turnOf } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { pickItem } from './focus.ts'
import type { WorkItemId } from '../ids.ts'
import { admitPrompt } from '../inbox/admit.ts'
import { updateItem } from '../work/create-and-update.ts'
import { abandonTurn } from '../turns/start.ts'
import { plus } from '../time.ts'
import { fireDue } from './wait-end.ts'
import { waitFor, type WaitCommand } from './wait-for.ts'

const minute = 60_000
const byAgent = (work_item_id: WorkItemId, reason: string | null = null) =>
  ({ work_item_id, by: 'agent', reason }) as const

test('a pick sets focus and returns the new current item and the previous one', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  const first = w.do((d) => pickItem(d, byAgent(a)))
  assert.deepEqual([first.changed, first.current.item.id, first.previous], [true, a, null])
  const second = w.do((d) => pickItem(d, byAgent(b, 'b is urgent')))
  assert.deepEqual([second.current.focus, second.previous?.item.id], ['current', a])
  assert.equal(second.previous?.focus, 'queued')
  assert.equal(focusOf(w), b)
})

test('picking the current item again writes nothing', () => {
  const w = new World()
  const a = item(w, { focus: true })
  const again = w.do((d) => pickItem(d, byAgent(a)))
  assert.deepEqual([again.changed, w.last], [false, []])
})

test('a pick goes on record with readiness, reason and kind of switch', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w, { plan_status: 'needs_input' })]
  const picked = (id: WorkItemId, by: 'agent' | 'operator', reason: string | null) => {
    w.do((d) => pickItem(d, { work_item_id: id, by, reason }))
    return w.lastOf('work_item_picked')[0]
  }
  const common = { type: 'work_item_picked', id: 'main', wait_id: null } as const
  assert.deepEqual(picked(a, 'agent', null), {
    ...common,
    previous_work_item_id: null,
    current_work_item_id: a,
    reason: null,
    previous_readiness: null,
    current_readiness: 'runnable',
    switch_kind: 'explicit_pick',
    reason_required: false,
    reason_missing: false,
  })
  assert.deepEqual(picked(b, 'agent', ' b is urgent '), {
    ...common,
    previous_work_item_id: a,
    current_work_item_id: b,
    reason: 'b is urgent',
    previous_readiness: 'runnable',
    current_readiness: 'runnable',
    switch_kind: 'explicit_focus_override',
    reason_required: true,
    reason_missing: false,
  })
  assert.deepEqual(picked(c, 'agent', null), {
    ...common,
    previous_work_item_id: b,
    current_work_item_id: c,
    reason: null,
    previous_readiness: 'runnable',
    current_readiness: 'waiting_for_operator',
    switch_kind: 'explicit_focus_override',
    reason_required: true,
    reason_missing: true,
  })
  assert.deepEqual(picked(a, 'operator', null), {
    ...common,
    previous_work_item_id: c,
    current_work_item_id: a,
    reason: null,
    previous_readiness: 'waiting_for_operator',
    current_readiness: 'runnable',
    switch_kind: 'operator_pick',
    reason_required: false,
    reason_missing: false,
  })
})

test('leaving a runnable item without a reason is a warning, not an error', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  const picked = w.do((d) => pickItem(d, byAgent(b)))
  assert.deepEqual(
    picked.warnings.map((x) => x.kind),
    ['reason_missing'],
  )
  assert.equal(focusOf(w), b)
  assert.equal(
    w.refused((d) => pickItem(d, byAgent(a, 'x'.repeat(2001)))),
    'over_limit',
  )
})

test('a non-runnable item may be picked; the warning names what holds it and how to clear it', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w, { plan_status: 'needs_input' })]
  wait(w, { work_item_id: a, reason: 'the review' })
  w.do((d) => updateItem(d, { work_item_id: b, by: 'agent', blocked_by: 'no key' }))
  const message = (id: WorkItemId) => {
    const { warnings, current } = w.do((d) => pickItem(d, byAgent(id)))
    assert.equal(current.readiness === 'runnable', false)
    return warnings.map((x) => [x.kind, x.message])
  }
  assert.deepEqual([a, b, c].flatMap(message), [
    [
      'picked_not_runnable',
      'The item is waiting_external. wait_0001 (external) holds it: "the review". ' +
        'UpdateWorkItem with blocked_by null cancels the wait and clears a blocker.',
    ],
    [
      'picked_not_runnable',
      'The item is blocked. blocked_by holds it: "no key". ' +
        'UpdateWorkItem with blocked_by null clears it.',
    ],
    [
      'picked_not_runnable',
      'The item is waiting_operator. plan_status needs_input holds it. ' +
        'An answer clears it, and so does UpdateWorkItem with plan_status draft or ready.',
    ],
  ])
})

test('focus on a non-runnable item holds nothing back', () => {
  const w = new World()
  const [a, b] = [item(w, { plan_status: 'needs_input' }), item(w)]
  pick(w, a)
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'queued_available')
  assert.deepEqual(next.start.work_item_ids, [b])
})

test('focus goes only to an open item of the same agent', () => {
  const w = new World()
  const done = item(w)
  w.do((d) => completeItem(d, { work_item_id: done, by: 'agent', report: 'Done.', turn: null }))
  assert.equal(
    w.refused((d) => pickItem(d, byAgent(done))),
    'work_item_completed',
  )
  assert.equal(
    w.refused((d) => pickItem(d, byAgent('work_none'))),
    'work_item_not_found',
  )
  const foreign = { ...itemRow(w, item(w)), id: 'work_foreign' as const, agent_id: 'other' }
  w.facts.include('work_items', foreign)
  assert.equal(
    w.refused((d) => pickItem(d, byAgent(foreign.id))),
    'work_item_not_found',
  )
})

test('a pick binds the rest of the turn to the item', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  begin(w, 'continue_current')
  act(w, { tool: 'PickWorkItem', input: { work_item_id: b } }, (d) => pickItem(d, byAgent(b, 'r')))
  assert.deepEqual([turnOf(w).work_item_id, focusOf(w)], [b, b])
  // The turn is about another item than the focus: only the binding moves.
  end(w)
  say(w, { work_item_id: a })
  begin(w, 'message')
  assert.equal(turnOf(w).work_item_id, a)
  w.do((d) => pickItem(d, byAgent(b)))
  assert.deepEqual(w.last, [{ type: 'turn_bound', id: turnOf(w).id, work_item_id: b }])
})

test('an operator pick is refused while a turn is open', () => {
  const w = new World()
  const a = item(w)
  say(w)
  begin(w)
  assert.equal(
    w.refused((d) => pickItem(d, { work_item_id: a, by: 'operator', reason: null })),
    'turn_running',
  )
})

test('focus is released in the very mutation that makes the item non-runnable', () => {
  const releases: [cause: string, (w: World, id: WorkItemId) => unknown][] = [
    [
      'completed',
      (w, id) =>
        w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'Ok.', turn: null })),
    ],
    [
      'blocked',
      (w, id) => w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'x' })),
    ],
    [
      'needs_input',
      (w, id) =>
        w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', plan_status: 'needs_input' })),
    ],
    ['waiting', (w, id) => wait(w, { work_item_id: id })],
  ]
  for (const [cause, release] of releases) {
    const w = new World()
    const id = item(w, { focus: true })
    release(w, id)
    assert.equal(focusOf(w), null)
    assert.deepEqual(w.lastOf('focus_released'), [
      { type: 'focus_released', id: 'main', work_item_id: id, cause },
    ])
  }
})

test('releasing focus does not clear the binding of the turn', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  act(w, { tool: 'WaitFor' }, (d) => waitFor(d, waitCommand({ work_item_id: id })))
  assert.deepEqual([focusOf(w), turnOf(w).work_item_id], [null, id])
})

test('a mutation of another item leaves focus where it is', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  wait(w, { work_item_id: b })
  w.do((d) => updateItem(d, { work_item_id: b, by: 'agent', blocked_by: 'x' }))
  assert.equal(focusOf(w), a)
})

/** Everything by which a focus lost through WaitFor comes back, in one place. */
const returns: [wake: WaitCommand['wake'], (w: World, id: WorkItemId) => void][] = [
  ['task_result', (w) => taskEnds(w, w.row('tasks', 'task_t001'))],
  ['timer', (w) => w.pass(minute).do(fireDue)],
  ['operator_input', (w, id) => void say(w, { work_item_id: id })],
]

function waiting(w: World, id: WorkItemId, wake: WaitCommand['wake']) {
  const t = task(w, { work_item_id: id })
  return wait(w, {
    work_item_id: id,
    wake,
    ...(wake === 'task_result' ? { resource: t.id, task: t } : {}),
    ...(wake === 'timer' ? { wake_at: plus(w.now, minute) } : {}),
  }).wait
}

test('focus returns in the commit that resolves the very wait it was lost through', () => {
  for (const [wake, resolve] of returns) {
    const w = new World()
    const id = item(w, { focus: true })
    const lost = waiting(w, id, wake)
    resolve(w, id)
    assert.equal(focusOf(w), id, wake)
    const [event] = w.lastOf('work_item_picked')
    assert.deepEqual(
      [event?.switch_kind, event?.wait_id, event?.previous_work_item_id, event?.reason_missing],
      ['wait_resolved', lost.id, null, false],
    )
    assert.equal(w.row('waits', lost.id).focus_settled, true)
  }
})

test('with a turn open, focus returns in the commit that ends it', () => {
  for (const [wake, resolve] of returns) {
    const w = new World()
    const id = item(w, { focus: true })
    const lost = waiting(w, id, wake)
    say(w)
    begin(w, 'message')
    resolve(w, id)
    assert.deepEqual([focusOf(w), w.row('waits', lost.id).status], [null, 'resolved'])
    // Facts read anew must still know what is owed.
    w.reload()
    act(w, { tool: 'ReadFile' }, () => null)
    end(w)
    assert.equal(focusOf(w), id, wake)
    assert.deepEqual(
      w.last.slice(-2).map((e) => e.type),
      ['work_item_picked', 'wait_focus_settled'],
    )
  }
})

test('focus also returns when the open turn is closed without a request', () => {
  const w = new World()
  const id = item(w, { focus: true })
  waiting(w, id, 'timer')
  say(w)
  begin(w, 'message')
  w.pass(minute).do(fireDue)
  w.do(abandonTurn)
  assert.equal(focusOf(w), id)
})

test('focus does not return when one of its conditions is missing', () => {
  const cases: [why: string, (w: World, id: WorkItemId) => void][] = [
    ['something else is in focus', (w) => void item(w, { focus: true })],
    [
      'the item is not runnable',
      (w, id) =>
        void w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'no key' })),
    ],
    ['another wait took its place', (w, id) => void waiting(w, id, 'timer')],
    [
      'the wait was cancelled',
      (w, id) =>
        void w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: null })),
    ],
  ]
  for (const [why, prepare] of cases) {
    const w = new World()
    const id = item(w, { focus: true })
    waiting(w, id, 'timer')
    prepare(w, id)
    const before = focusOf(w)
    w.pass(minute).do(fireDue)
    assert.equal(focusOf(w), before, why)
  }
})

test('focus that was not lost through the wait does not come with its end', () => {
  const w = new World()
  const id = item(w)
  waiting(w, id, 'timer')
  w.pass(minute).do(fireDue)
  assert.equal(focusOf(w), null)
})

test('focus comes back once: a later pick of something else is not undone', () => {
  const w = new World()
  const id = item(w, { focus: true })
  waiting(w, id, 'timer')
  w.pass(minute).do(fireDue)
  const other = item(w)
  pick(w, other)
  say(w)
  begin(w)
  act(w, { tool: 'ReadFile' }, () => null)
  end(w)
  assert.equal(focusOf(w), other)
})

test('an external event returns no focus: the wait stays', () => {
  const w = new World()
  const id = item(w, { focus: true })
  wait(w, { work_item_id: id, source: 'ci' })
  deliver(w, { source: 'ci' })
  assert.equal(focusOf(w), null)
})

test('an operator message with the wait id is the exact answer, whatever item it names', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const lost = waiting(w, id, 'operator_input')
  const said = w.do((d) => admitPrompt(d, prompt({ wait_id: lost.id })))
  assert.deepEqual(said.resolved, [lost.id])
  assert.deepEqual(
    [
      focusOf(w),
      w.row('messages', said.message_id).work_item_id,
      w.row('waits', lost.id).resolved_at,
    ],
    [id, id, T0],
  )
})
