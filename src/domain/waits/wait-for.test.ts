import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  focusOf,
  item,
  itemRow,
  say,
  T0,
  task,
  wait,
  waitCommand,
  waitOf,
  World,
  type NewWait,
} from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds, turn, turnOf } from '../../testing/world/turns.ts'
import { taskResultId, type WorkItemId } from '../ids.ts'
import { updateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { project } from '../facts/candidates.ts'
import { plus } from '../time.ts'
import { matches } from '../state/wait.ts'
import { cancelWait, fireDue } from './wait-end.ts'
import { waitFor } from './wait-for.ts'

const minute = 60_000
const register = (w: World, given: NewWait) =>
  act(w, { tool: 'WaitFor', input: { work_item_id: given.work_item_id } }, (d) => {
    const waiting = waitFor(d, waitCommand(given))
    assert.ok(waiting.ok)
    return waiting
  })

test('a wait on an item is stored whole, with the input cut of its turn', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const { input_cut } = turnOf(w)
  const waiting = register(w, {
    work_item_id: id,
    reason: ' the build ',
    source: 'ci',
    resource: '#12',
    condition: 'green',
    recheck_at: plus(T0, minute),
  })
  const row = w.row('waits', waiting.wait.id)
  assert.deepEqual(row, {
    id: 'wait_0001',
    agent_id: 'main',
    work_item_id: id,
    wake: 'external',
    by: 'agent',
    runtime_cause: null,
    reason: 'the build',
    question: null,
    resource: '#12',
    source: 'ci',
    condition: 'green',
    delivery_mode: 'enqueue_message',
    status: 'active',
    since_seq: input_cut,
    wake_at: null,
    recheck_at: plus(T0, minute),
    recheck_ms: minute,
    rechecks: 0,
    trigger_count: 0,
    last_triggered_at: null,
    outside_trigger_count: 0,
    triggered_turn_count: null,
    reviewed_trigger_count: 0,
    reviewed_at: null,
    last_review: null,
    released_focus: true,
    focus_settled: false,
    created_at: T0,
    resolved_at: null,
    cancelled_at: null,
    changed_seq: row.changed_seq,
  })
  assert.deepEqual(
    [waiting.answered, waiting.rearmed, waiting.replaced, waiting.warnings],
    [null, false, null, []],
  )
})

test('a wait writes no blocker and moves no revision', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id })
  assert.deepEqual([itemRow(w, id).blocked_by, itemRow(w, id).revision], [null, 1])
})

test('the arguments of a wait are checked, and each refusal has its code', () => {
  const w = new World()
  const id = item(w)
  const foreign = { ...task(w), agent_id: 'other' }
  const rows: [NewWait, string][] = [
    [{ reason: ' ' }, 'reason_empty'],
    [{ reason: 'x'.repeat(2001) }, 'over_limit'],
    [{ source: 'x'.repeat(2001) }, 'over_limit'],
    [{ wake: 'timer' }, 'timer_wants_one_time'],
    [{ wake: 'timer', wake_at: plus(T0, 367 * 24 * 60 * minute) }, 'time_too_far'],
    [{ recheck_at: plus(T0, 367 * 24 * 60 * minute) }, 'time_too_far'],
    [{ wake: 'task_result' }, 'task_wanted'],
    [{ wake: 'task_result', resource: 'task_none' }, 'task_not_found'],
    [{ wake: 'task_result', resource: foreign.id, task: foreign }, 'task_not_found'],
    [{ work_item_id: 'work_none' }, 'work_item_not_found'],
  ]
  for (const [given, code] of rows) {
    const command = waitCommand({ work_item_id: id, ...given })
    assert.equal(
      w.refused((d) => waitFor(d, command)),
      code,
    )
  }
})

test('a new wait on an item replaces its active wait and names it', () => {
  const w = new World()
  const id = item(w)
  const first = wait(w, { work_item_id: id, source: 'ci' }).wait
  const second = wait(w, { work_item_id: id, wake: 'timer', wake_at: plus(T0, minute) })
  assert.equal(second.replaced, first.id)
  assert.deepEqual(
    [w.row('waits', first.id).status, waitOf(w, id).id],
    ['cancelled', second.wait.id],
  )
})

test('an external wait on the same source and resource is re-armed: id and counters stay', () => {
  const w = new World()
  const id = item(w)
  const first = wait(w, {
    work_item_id: id,
    source: 'ci',
    resource: '#12',
    condition: 'green',
    recheck_at: plus(T0, 1),
  }).wait
  deliver(w, { source: 'ci', resource: '#12' })
  turn(w.pass(minute), { rule: 'message' })
  const again = wait(w, {
    work_item_id: id,
    source: 'ci',
    resource: '#12',
    reason: 'still red',
    recheck_at: plus(w.now, minute),
  })
  assert.deepEqual([again.rearmed, again.replaced, again.wait.id], [true, null, first.id])
  const { reason, condition, recheck_at, recheck_ms, rechecks, trigger_count, since_seq } = w.row(
    'waits',
    first.id,
  )
  assert.deepEqual(
    { reason, condition, recheck_at, recheck_ms, rechecks, trigger_count, since_seq },
    {
      reason: 'still red',
      condition: null,
      recheck_at: plus(w.now, minute),
      recheck_ms: minute,
      rechecks: 0,
      trigger_count: 1,
      since_seq: first.since_seq,
    },
  )
  // Another resource is another wait.
  assert.equal(wait(w, { work_item_id: id, source: 'ci', resource: '#13' }).replaced, first.id)
})

test('a re-armed recheck is passed over from the time it falls due again', () => {
  const w = new World()
  const id = item(w)
  const given = { work_item_id: id, source: 'ci' }
  const { wait: row } = wait(w, { ...given, recheck_at: plus(T0, minute) })
  w.pass(minute).do(fireDue)
  wait(w, { ...given, recheck_at: plus(w.now, minute) })
  assert.equal(w.row('waits', row.id).triggered_turn_count, null)
  w.pass(minute).do(fireDue)
  assert.deepEqual(
    w.last.map((e) => e.type),
    ['wait_recheck_due'],
  )
})

test('a wait for a task that has ended is answered in the call: stored resolved, focus stays', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const ran = task(w, { work_item_id: id })
  begin(w, 'continue_current')
  taskEnds(w, ran)
  const ended = w.row('tasks', ran.id)
  const waiting = register(w, {
    wake: 'task_result',
    work_item_id: id,
    resource: ran.id,
    task: ended,
  })
  assert.deepEqual([waiting.answered, waiting.wait.status], ['task_ended', 'resolved'])
  assert.equal(focusOf(w), id)
  assert.equal(project(w.facts, id, w.now)?.readiness, 'runnable')
  // The answer of the call has the result: the next request carries it.
  assert.equal(w.row('messages', taskResultId(ran.id)).status, 'claimed')
})

test('a timer whose time has come is answered in the call, with how late it was', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const waiting = register(w.pass(minute), {
    wake: 'timer',
    work_item_id: id,
    wake_at: plus(T0, 10_000),
  })
  assert.deepEqual([waiting.answered, waiting.wait.status], ['time_passed', 'resolved'])
  assert.deepEqual(w.lastOf('wait_resolved')[0]?.by, { kind: 'timer', late_by_ms: 50_000 })
  assert.equal(focusOf(w), id)
})

test('no lost race: events after the input cut trigger in the registering commit', () => {
  for (const delivery_mode of ['enqueue_message', 'wake_hint'] as const) {
    const w = new World()
    const id = item(w, { focus: true })
    // A hint is consumed when admitted; this wait makes it one.
    wait(w, { source: 'ci', delivery_mode })
    deliver(w, { source: 'ci', body: 'before the turn' })
    say(w, { work_item_id: id })
    begin(w, 'message')
    const { message_id } = deliver(w, { source: 'ci' })
    deliver(w, { source: 'mail' })
    w.reload()
    const waiting = register(w, { work_item_id: id, source: 'ci' })
    assert.deepEqual(w.lastOf('wait_triggered'), [
      {
        type: 'wait_triggered',
        id: waiting.wait.id,
        message_id,
        count: 1,
        by: 'outside',
        turn_count: w.lastOf('wait_triggered')[0]?.turn_count,
      },
    ])
    assert.equal(w.row('waits', waiting.wait.id).trigger_count, 1)
  }
})

test('no lost race: a bound operator message after the cut resolves the question at once', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const { message_id } = say(w, { work_item_id: id, text: 'Use the blue one.' })
  const waiting = register(w, {
    wake: 'operator_input',
    work_item_id: id,
    reason: 'Which one?',
    question: 'Which one?',
  })
  assert.equal(w.row('waits', waiting.wait.id).status, 'resolved')
  assert.deepEqual(w.lastOf('wait_resolved')[0]?.by, { kind: 'operator', message_id })
  assert.equal(waiting.answered, null)
  end(w, { outcome: 'waiting', reason: 'operator_input' })
  assert.equal(focusOf(w), id)
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'message')
  assert.equal(next.start.message.id, message_id)
})

test('an operator message that is not bound to the item, or came before the cut, answers nothing', () => {
  const w = new World()
  const id = item(w, { focus: true })
  say(w, { work_item_id: id })
  begin(w, 'message')
  say(w, { text: 'hello?' })
  const waiting = register(w, { wake: 'operator_input', work_item_id: id, question: 'Which?' })
  assert.equal(waiting.wait.status, 'active')
})

test('an interjected message that the turn has seen does not answer a later question', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  act(w, { tool: 'ReadFile' }, () => null)
  say(w, { work_item_id: id, priority: 'interject' })
  ask(w)
  answer(w, { calls: [{ tool: 'WaitFor' }] })
  const waiting = w.do((d) =>
    waitFor(d, waitCommand({ wake: 'operator_input', work_item_id: id, question: 'And then?' })),
  )
  assert.equal(waiting.wait.status, 'active')
})

test('an operator wait delivers its words as one question with the wait’s id', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const { wait: asked } = register(w, {
    wake: 'operator_input',
    work_item_id: id,
    question: 'Which one?',
  })
  assert.deepEqual(
    w.all('briefs').map((b) => [b.kind, b.text, b.wait_id, b.work_item_id, b.turn_id]),
    [['question', 'Which one?', asked.id, id, turnOf(w).id]],
  )
})

test('a task wait resolves with that task, whatever item it belongs to, and gets its result', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  const t = task(w, { work_item_id: b })
  const { wait: row } = wait(w, { wake: 'task_result', work_item_id: a, resource: t.id, task: t })
  taskEnds(w, task(w))
  assert.equal(w.row('waits', row.id).status, 'active')
  taskEnds(w, t)
  assert.deepEqual(
    [w.row('waits', row.id).status, w.row('messages', taskResultId(t.id)).work_item_id],
    ['resolved', a],
  )
})

test('all four ends of a task resolve the waits on it', () => {
  for (const status of ['completed', 'failed', 'cancelled', 'interrupted'] as const) {
    const w = new World()
    const t = task(w)
    const { wait: row } = wait(w, {
      wake: 'task_result',
      work_item_id: item(w),
      resource: t.id,
      task: t,
    })
    taskEnds(w, t, status)
    assert.equal(w.row('waits', row.id).status, 'resolved', status)
  }
})

test('a timer fires once when its time has passed, says how late, and sends no message', () => {
  const w = new World()
  const { wait: row } = wait(w, {
    wake: 'timer',
    work_item_id: item(w),
    wake_at: plus(T0, minute),
  })
  w.pass(minute - 1).do(fireDue)
  assert.equal(w.row('waits', row.id).status, 'active')
  w.pass(3 * minute).do(fireDue)
  assert.deepEqual(w.lastOf('wait_resolved'), [
    { type: 'wait_resolved', id: row.id, by: { kind: 'timer', late_by_ms: 3 * minute - 1 } },
  ])
  assert.deepEqual(w.all('messages'), [])
  w.pass(minute).do(fireDue)
  assert.deepEqual(w.last, [])
})

test('a due timer takes effect while the agent is stopped, and starts nothing', () => {
  const w = new World()
  const id = item(w)
  wait(w, { wake: 'timer', work_item_id: id, wake_at: plus(T0, minute) })
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
  w.pass(minute).do(fireDue)
  assert.equal(project(w.facts, id, w.now)?.readiness, 'runnable')
  assert.equal(w.next().do, 'stop')
})

test('an external wait never resolves by itself: it is counted and stays active', () => {
  const w = new World()
  const id = item(w)
  const { wait: row } = wait(w, { work_item_id: id, source: 'ci' })
  w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'no key' }))
  for (let n = 0; n < 3; n++) deliver(w.pass(1), { source: 'ci' })
  const { status, trigger_count, last_triggered_at } = w.row('waits', row.id)
  assert.deepEqual([status, trigger_count, last_triggered_at], ['active', 3, w.now])
  assert.equal(project(w.facts, id, w.now)?.candidate_class, 'triggered_blocked')
  assert.equal(itemRow(w, id).blocked_by, 'no key')
})

test('a due recheck passed over by ten turns goes before the current item', () => {
  const w = new World()
  const waiting = item(w)
  wait(w, { work_item_id: waiting, recheck_at: plus(T0, minute) })
  item(w, { focus: true })
  w.pass(minute).do(fireDue)
  for (let n = 0; n < 10; n++) turn(w, { rule: 'continue_current', progress: true })
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'review_triggered')
})

test('an external wait without a recheck, or without a listener, carries a warning', () => {
  const w = new World()
  const kinds = (given: NewWait) =>
    wait(w, { work_item_id: item(w), ...given }).warnings.map((x) => x.kind)
  assert.deepEqual(
    [
      kinds({ recheck_at: plus(T0, 1) }),
      kinds({}),
      kinds({ has_listener: false }),
      kinds({ wake: 'timer', wake_at: plus(T0, 1), has_listener: false }),
    ],
    [[], ['no_fallback'], ['no_fallback', 'no_listener'], []],
  )
})

test('a wait without source or resource takes any event', () => {
  const rows: [
    wait: [string | null, string | null],
    event: [string | null, string | null],
    boolean,
  ][] = [
    [[null, null], ['ci', '#1'], true],
    [[null, null], [null, null], true],
    [['ci', null], ['ci', '#1'], true],
    [['ci', '#1'], ['ci', '#1'], true],
    [['ci', '#1'], ['ci', '#2'], false],
    [['ci', '#1'], ['ci', null], false],
    [['ci', null], ['mail', null], false],
    [[null, '#1'], ['mail', '#1'], true],
  ]
  for (const [[source, resource], [from, about], expect] of rows) {
    assert.equal(matches({ source, resource }, { source: from, resource: about }), expect)
  }
})

test('a wait on another item than the turn’s is recorded, and that item alone waits', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  begin(w, 'continue_current')
  register(w, { work_item_id: b })
  assert.deepEqual([focusOf(w), project(w.facts, b, w.now)?.readiness], [a, 'blocked'])
})

test('an agent-level wait holds no item back', () => {
  const w = new World()
  const id = item(w, { focus: true })
  wait(w, { wake: 'timer', wake_at: plus(T0, minute) })
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'continue_current')
  assert.equal(next.start.work_item_id, id)
})

test('an agent has at most 8 agent-level waits; the same one is replaced, not added', () => {
  const w = new World()
  for (let n = 0; n < limits.agent_waits.value; n++) wait(w, { source: `s${n}` })
  assert.equal(
    w.refused((d) => waitFor(d, waitCommand({ source: 'one more' }))),
    'over_limit',
  )
  const again = wait(w, { source: 's0' })
  assert.deepEqual([again.replaced, again.rearmed], ['wait_0001', false])
  // One that is answered in the call is not one more.
  const answered = wait(w, { wake: 'timer', wake_at: T0 })
  assert.equal(answered.answered, 'time_passed')
  // Nor is a wait on an item.
  wait(w, { work_item_id: item(w) })
})

test('an agent-level wait that ended is shown by the next turn, which has no item', () => {
  const w = new World()
  const { wait: row } = wait(w, { wake: 'timer', wake_at: plus(T0, minute) })
  w.pass(minute).do(fireDue)
  w.reload()
  const started = begin(w, 'review_triggered')
  assert.deepEqual(
    [started.work_item_id, started.cause],
    [null, { kind: 'review_triggered', work_item_id: null, wait_ids: [row.id] }],
  )
  ask(w)
  answer(w, { text: 'Seen.' })
  end(w)
  assert.equal(w.row('waits', row.id).focus_settled, true)
  assert.equal(w.facts.row('waits', row.id), undefined)
  assert.equal(w.next().do, 'sleep')
})

test('every turn that starts shows and reviews all agent-level waits', () => {
  const w = new World()
  const a = wait(w, { source: 'ci', delivery_mode: 'wake_hint' }).wait
  const b = wait(w, { wake: 'timer', wake_at: plus(T0, 1) }).wait
  deliver(w, { source: 'ci' })
  w.pass(1).do(fireDue)
  item(w, { focus: true })
  begin(w, 'continue_current')
  assert.deepEqual(
    [w.row('waits', a.id).reviewed_trigger_count, w.row('waits', b.id).reviewed_at],
    [1, w.now],
  )
})

test('agent-level reviews come at most once a minute', () => {
  const w = new World()
  wait(w, { source: 'ci', delivery_mode: 'wake_hint' })
  deliver(w, { source: 'ci' })
  turn(w, { rule: 'review_triggered' })
  deliver(w.pass(1000), { source: 'ci' })
  assert.notEqual(w.next().do, 'start_turn')
  w.pass(minute - 1000)
  begin(w, 'review_triggered')
})

test('the end of an agent-level wait is shown although its recheck was reviewed before', () => {
  const w = new World()
  const t = task(w, { promoted: false })
  wait(w, { wake: 'task_result', resource: t.id, task: t, recheck_at: plus(T0, minute) })
  w.pass(minute).do(fireDue)
  turn(w, { rule: 'review_triggered' })
  taskEnds(w.pass(2 * minute), t)
  begin(w, 'review_triggered')
})

test('an agent-level task wait whose result is queued is left to the turn that claims it', () => {
  const w = new World()
  const t = task(w)
  const { wait: row } = wait(w, { wake: 'task_result', resource: t.id, task: t })
  taskEnds(w, t)
  begin(w, 'message')
  assert.equal(w.row('waits', row.id).reviewed_at, w.now)
})

test('an item’s wait reviewed by a turn about it is not reviewed again within a minute', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, delivery_mode: 'wake_hint' })
  deliver(w)
  turn(w, { rule: 'review_triggered' })
  deliver(w.pass(1000))
  const next = w.next()
  assert.deepEqual([next.do, next.do === 'wait' && next.until], ['wait', plus(T0, minute)])
})

test('a line in another item’s turn does not review a wait', () => {
  const w = new World()
  const { wait: row } = wait(w, { work_item_id: item(w), delivery_mode: 'wake_hint' })
  deliver(w)
  item(w, { focus: true })
  begin(w, 'continue_current')
  assert.equal(w.row('waits', row.id).reviewed_trigger_count, 0)
})

test('the operator may cancel an active wait, once', () => {
  const w = new World()
  const { wait: row } = wait(w, { work_item_id: item(w) })
  w.do((d) => cancelWait(d, row.id))
  assert.equal(w.row('waits', row.id).status, 'cancelled')
  assert.equal(
    w.refused((d) => cancelWait(d, row.id)),
    'wait_not_active',
  )
  assert.equal(
    w.refused((d) => cancelWait(d, 'wait_none')),
    'wait_not_found',
  )
})

test('a wait that has ended can be neither resolved nor triggered again', () => {
  const w = new World()
  const id: WorkItemId = item(w)
  const { wait: row } = wait(w, { work_item_id: id })
  w.do((d) => cancelWait(d, row.id))
  for (const event of [
    { type: 'wait_resolved', id: row.id, by: { kind: 'runtime' } },
    {
      type: 'wait_triggered',
      id: row.id,
      message_id: 'msg_1',
      count: 1,
      by: 'outside',
      turn_count: 0,
    },
    { type: 'wait_cancelled', id: row.id, by: 'agent', because: 'again' },
  ] as const) {
    assert.throws(() => w.do((d) => d.emit(event)), /was cancelled/)
  }
})
