import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  delivery,
  focusOf,
  item,
  itemRow,
  prompt,
  say,
  T0,
  task,
  wait,
  World,
} from '../../testing/world/agent-world.ts'
import { begin, taskEnds, turn } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { taskResultId, type WorkItemId } from '../ids.ts'
import { admitEvent, admitPrompt, endTask, utf8Length } from './admit.ts'
import { limits } from '../limits.ts'
import { evolveMessage } from '../state/message.ts'
import { callbackEvent, localPrompt, taskResult } from '../state/provenance.ts'

const minute = 60_000

test('an operator’s words are one queued row, with the provenance of the way they came', () => {
  const w = new World()
  const { message_id } = say(w, { text: 'Ship it.' })
  const row = w.row('messages', message_id)
  assert.deepEqual(row, {
    ...localPrompt('cli_prompt'),
    id: 'msg_0001',
    agent_id: 'main',
    inbox_seq: 2,
    priority: 'next',
    body: 'Ship it.',
    dedupe_key: null,
    source: null,
    resource: null,
    work_item_id: null,
    task_id: null,
    wait_id: null,
    correlation_id: null,
    causation_id: null,
    status: 'queued',
    status_reason: null,
    attempts: 0,
    due_at: null,
    came: 1,
    turn_id: null,
    to_coalesce: false,
    round: null,
    turn_count: 0,
    created_at: T0,
  })
})

test('ingress never creates a work item', () => {
  const w = new World()
  say(w)
  deliver(w)
  assert.deepEqual(w.all('work_items'), [])
})

test('a prompt that is empty, too long, or of no route is refused', () => {
  const w = new World()
  const code = (given: Parameters<typeof prompt>[0]) =>
    w.refused((d) => admitPrompt(d, prompt(given)))
  assert.deepEqual(
    [
      code({ text: ' \n' }),
      code({ text: 'ü'.repeat(limits.operator_text.value / 2 + 1) }),
      code({ provenance: { ...localPrompt('tui'), admission_context: 'runtime_owned' } }),
    ],
    ['message_empty', 'over_limit', 'message_not_admitted'],
  )
  say(w, { text: 'x'.repeat(limits.operator_text.value) })
})

test('a prompt may be bound to a wait for the operator that is active, and to no other', () => {
  const w = new World()
  const external = wait(w, { work_item_id: item(w) }).wait
  const answered = wait(w, { work_item_id: item(w), wake: 'operator_input' }).wait
  say(w, { wait_id: answered.id })
  const code = (given: Parameters<typeof prompt>[0]) =>
    w.refused((d) => admitPrompt(d, prompt(given)))
  assert.deepEqual(
    [
      code({ wait_id: 'wait_none' }),
      code({ wait_id: external.id }),
      code({ wait_id: answered.id }),
      code({ work_item_id: 'work_none' }),
    ],
    ['wait_not_found', 'not_a_question', 'wait_not_active', 'work_item_not_found'],
  )
})

test('a message bound to the item answers its question, and carries the wait', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const asked = wait(w, { work_item_id: id, wake: 'operator_input' }).wait
  const said = say(w, { work_item_id: id })
  assert.deepEqual(said.resolved, [asked.id])
  assert.equal(w.row('messages', said.message_id).wait_id, asked.id)
  assert.equal(w.row('waits', asked.id).status, 'resolved')
  assert.equal(focusOf(w), id)
})

test('an unbound operator message never guesses which wait it answers', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const asked = wait(w, { work_item_id: id, wake: 'operator_input' }).wait
  assert.deepEqual(say(w).resolved, [])
  assert.equal(w.row('waits', asked.id).status, 'active')
  assert.equal(begin(w, 'message').work_item_id, null)
})

test('words about an item are the answer its plan needs; words about nothing are not', () => {
  const w = new World()
  const [a, b] = ['first', 'second'].map((objective) =>
    item(w, { objective, plan_status: 'needs_input' }),
  ) as [WorkItemId, WorkItemId]
  say(w)
  say(w, { work_item_id: a })
  assert.deepEqual(
    [a, b].map((id) => itemRow(w, id).plan_status),
    ['draft', 'needs_input'],
  )
})

test('a message for a completed item is admitted and reopens nothing', () => {
  const w = new World()
  const id = item(w)
  w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'Done.', turn: null }))
  say(w, { work_item_id: id })
  assert.equal(begin(w, 'message').work_item_id, id)
  assert.equal(itemRow(w, id).state, 'completed')
})

test('a stopped agent refuses the operator’s words unless they start it', () => {
  const w = new World()
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
  assert.equal(
    w.refused((d) => admitPrompt(d, prompt())),
    'agent_stopped',
  )
  say(w, { start: true })
  assert.deepEqual(
    w.last.map((e) => e.type),
    ['agent_started', 'message_admitted'],
  )
  assert.equal(w.next().do, 'start_turn')
})

test('a deleted agent takes no word, also not one that would start it', () => {
  const w = new World()
  w.facts.include('agents', { ...w.row('agents', 'main'), state: 'deleted' })
  assert.equal(
    w.refused((d) => admitPrompt(d, prompt({ start: true }))),
    'agent_not_found',
  )
})

test('while stopped, deliveries and task results take effect on rows and start nothing', () => {
  const w = new World()
  const id = item(w)
  const external = wait(w, { work_item_id: id, source: 'ci' }).wait
  const t = task(w)
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
  deliver(w, { source: 'ci' })
  taskEnds(w, t)
  assert.equal(w.row('waits', external.id).trigger_count, 1)
  assert.equal(w.row('messages', taskResultId(t.id)).status, 'queued')
  assert.equal(w.next().do, 'stop')
})

test('a delivery triggers every matching wait, in the commit that stores it', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w)]
  const both = [a, b].map((id) => wait(w, { work_item_id: id, source: 'ci' }).wait.id)
  wait(w, { work_item_id: c, source: 'mail' })
  const got = deliver(w, { source: 'ci', resource: '#1' })
  assert.deepEqual(got.triggered, both)
  // Several matched: it is an unbound message.
  const { work_item_id, wait_id, status } = w.row('messages', got.message_id)
  assert.deepEqual([work_item_id, wait_id, status], [null, null, 'queued'])
})

test('a delivery carries the item when exactly one wait matched', () => {
  const w = new World()
  const id = item(w)
  const only = wait(w, { work_item_id: id, source: 'ci' }).wait
  const { message_id } = deliver(w, { source: 'ci', dedupe_key: 'd-1' })
  const row = w.row('messages', message_id)
  assert.deepEqual(
    [row.work_item_id, row.wait_id, row.dedupe_key, row.priority],
    [id, only.id, 'd-1', 'normal'],
  )
  assert.equal(begin(w, 'message').work_item_id, id)
})

test('a delivery that matches nothing is an unbound message', () => {
  const w = new World()
  wait(w, { work_item_id: item(w), source: 'mail' })
  const got = deliver(w, { source: 'ci' })
  assert.deepEqual([got.triggered, w.row('messages', got.message_id).work_item_id], [[], null])
  assert.equal(begin(w, 'message').work_item_id, null)
})

test('a wake hint is kept as evidence: stored consumed, it starts a review and no message turn', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, delivery_mode: 'wake_hint' })
  const { message_id } = deliver(w, { body: 'the body' })
  const row = w.row('messages', message_id)
  assert.deepEqual(
    [row.status, row.status_reason, row.body],
    ['consumed', 'a wake hint', 'the body'],
  )
  begin(w, 'review_triggered')
})

test('matched by one wait that wants messages and one that wants hints, it is a message', () => {
  const w = new World()
  wait(w, { work_item_id: item(w), delivery_mode: 'wake_hint' })
  wait(w, { work_item_id: item(w), delivery_mode: 'enqueue_message' })
  assert.equal(w.row('messages', deliver(w).message_id).status, 'queued')
})

test('a trigger fired by hand reaches its wait alone, whatever it names', () => {
  const w = new World()
  const id = item(w)
  const target = wait(w, { work_item_id: id, source: 'ci', resource: '#1' }).wait
  wait(w, { work_item_id: item(w) })
  const got = deliver(w, { wait_id: target.id })
  assert.deepEqual(
    [got.triggered, w.row('messages', got.message_id).work_item_id],
    [[target.id], id],
  )
  const timer = wait(w, { wake: 'timer', wake_at: '2026-03-03T00:00:00.000Z' }).wait
  for (const wait_id of [timer.id, 'wait_none'] as const) {
    assert.equal(
      w.refused((d) => admitEvent(d, delivery({ wait_id }))),
      'trigger_no_match',
    )
  }
})

test('queued external messages are bounded; then the queue is full', () => {
  const w = new World()
  const { message_id } = deliver(w)
  const row = w.row('messages', message_id)
  for (let n = 1; n < limits.queued_events.value; n++) {
    w.facts.include('messages', { ...row, id: `msg_many_${n}` })
  }
  assert.equal(
    w.refused((d) => admitEvent(d, delivery())),
    'queue_full',
  )
  assert.equal(
    new World().refused((d) => admitEvent(d, delivery({ body: 'x'.repeat(65_537) }))),
    'over_limit',
  )
  assert.equal(
    w.refused((d) =>
      admitEvent(d, delivery({ provenance: { ...callbackEvent, origin: 'webhook' } })),
    ),
    'message_not_admitted',
  )
})

test('the end of a promoted task is one message, bound to the task’s own item', () => {
  const w = new World()
  const [a, b] = [item(w), item(w, { focus: true })]
  const t = task(w, { work_item_id: a })
  taskEnds(w.pass(1000), t, 'failed')
  assert.deepEqual(w.row('tasks', t.id), {
    ...t,
    status: 'failed',
    exit_status: 0,
    output: { path: '/holon/tasks/task_t001', bytes: 7 },
    ended_at: w.now,
  })
  const row = w.row('messages', taskResultId(t.id))
  assert.deepEqual(
    [row.kind, row.origin, row.priority, row.work_item_id, row.task_id, row.status, row.body],
    ['task_result', taskResult.origin, 'normal', a, t.id, 'queued', `${t.id} ended`],
  )
  assert.notEqual(b, a)
})

test('a task that ends a second time changes nothing', () => {
  const w = new World()
  const t = task(w)
  taskEnds(w, t)
  taskEnds(w, t, 'failed')
  assert.deepEqual(w.last, [])
  assert.equal(w.row('tasks', t.id).status, 'completed')
})

test('a task that answered in its call sends no message', () => {
  const w = new World()
  taskEnds(w, task(w, { promoted: false }))
  assert.deepEqual(w.all('messages'), [])
})

test('the end of a task that is not there is a bug', () => {
  const w = new World()
  assert.throws(() => {
    w.do((d) =>
      endTask(d, {
        task_id: 'task_none',
        status: 'completed',
        reason: null,
        exit_status: 0,
        output_bytes: 0,
        ended_at: T0,
        body: '',
      }),
    )
  }, /no row for task_none/)
})

test('a task that ran a minute is outside input for its item, also when nothing waits for it', () => {
  const w = new World()
  const id = item(w, { focus: true })
  turn(w, { rule: 'continue_current' })
  const [short, long] = [task(w, { work_item_id: id }), task(w, { work_item_id: id })]
  taskEnds(w.pass(minute - 1), short)
  const count = () => {
    const row = w.row('pacing', id)
    return row.kind === 'item' ? [row.no_progress, row.free_turn] : assert.fail()
  }
  assert.deepEqual(count(), [1, false])
  taskEnds(w.pass(1), long)
  assert.deepEqual(count(), [0, true])
})

test('a message that has ended stays ended', () => {
  const w = new World()
  const { message_id } = say(w)
  turn(w)
  assert.equal(w.row('messages', message_id).status, 'consumed')
  const again = { type: 'message_requeued', id: message_id, attempts: 1 } as const
  const meta = { at: w.now, seq: 99, agent_id: 'main' }
  assert.throws(() => evolveMessage(w.row('messages', message_id), again, meta), /was consumed/)
})

test('utf8Length counts bytes as UTF-8 does', () => {
  for (const text of ['', 'a', 'ü', '€', '😀', 'a😀ü€']) {
    assert.equal(utf8Length(text), Buffer.byteLength(text, 'utf8'), text)
  }
})
