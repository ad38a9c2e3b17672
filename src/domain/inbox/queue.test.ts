import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, T0, wait, waitCommand, World } from '../../testing/world/agent-world.ts'
import { act, ask, answer, begin, end } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { agentPacing, itemPacing } from '../facts/facts.ts'
import { pickItem } from '../waits/focus.ts'
import type { WorkItemId } from '../ids.ts'
import { updateItem } from '../work/create-and-update.ts'
import { paceItem, queueReady } from '../waits/pacing.ts'
import { survey } from '../scheduler/survey.ts'
import { plus } from '../time.ts'
import { cancelWait, fireDue } from '../waits/wait-end.ts'
import { waitFor } from '../waits/wait-for.ts'

const minute = 60_000
const counts = (w: World, id: WorkItemId) => {
  const { no_progress, self_started } = itemPacing(w.facts, id)
  return [no_progress, self_started]
}

const queueTurn = (w: World, calls: (w: World) => void = () => undefined) => {
  begin(w, 'queued_available')
  calls(w)
  ask(w)
  answer(w, { text: 'Nothing.' })
  end(w)
}
const queue = (w: World) => agentPacing(w.facts).queue_no_progress

test('a queue turn lists ready items only, at most five, and has no item', () => {
  const w = new World()
  const ids = Array.from({ length: 7 }, () => item(w.pass(1)))
  w.do((d) =>
    paceItem(d, ids[0] ?? assert.fail(), {
      last_turn_ended_at: d.now,
      no_progress: 1,
      end_revision: 1,
    }),
  )
  const { work_item_id, cause } = begin(w, 'queued_available')
  assert.deepEqual(
    [work_item_id, cause],
    [null, { kind: 'queued_available', work_item_ids: ids.slice(1, 6) }],
  )
})

test('what a queue turn must do in order not to count', () => {
  type Row = [counts: boolean, name: string, (w: World, id: WorkItemId) => void]
  const call = (w: World, tool: string, input: object, decide: Parameters<typeof act>[2]) =>
    void act(w, { tool, input }, decide)
  const rows: Row[] = [
    [true, 'nothing', () => undefined],
    [true, 'reading', (w) => call(w, 'ReadFile', {}, () => null)],
    [
      false,
      'picking a runnable item',
      (w, id) =>
        call(w, 'PickWorkItem', { work_item_id: id }, (d) =>
          pickItem(d, { work_item_id: id, by: 'agent', reason: null }),
        ),
    ],
    [
      true,
      'picking a held item for inspection',
      (w) =>
        call(w, 'PickWorkItem', { work_item_id: 'work_0002' }, (d) =>
          pickItem(d, { work_item_id: 'work_0002', by: 'agent', reason: null }),
        ),
    ],
    [
      false,
      'completing one',
      (w, id) =>
        call(w, 'CompleteWorkItem', { work_item_id: id }, (d) =>
          completeItem(d, { work_item_id: id, by: 'agent', report: 'Ok.', turn: null }),
        ),
    ],
    [
      false,
      'making one wait',
      (w, id) =>
        call(w, 'WaitFor', { work_item_id: id }, (d) =>
          waitFor(d, waitCommand({ work_item_id: id })),
        ),
    ],
    [true, 'a wait of the agent', (w) => call(w, 'WaitFor', {}, (d) => waitFor(d, waitCommand()))],
    [
      false,
      'blocking one',
      (w, id) =>
        call(w, 'UpdateWorkItem', { work_item_id: id, blocked_by: 'x' }, (d) =>
          updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'x' }),
        ),
    ],
    [
      false,
      'asking for input on one',
      (w, id) =>
        call(w, 'UpdateWorkItem', { work_item_id: id, plan_status: 'needs_input' }, (d) =>
          updateItem(d, { work_item_id: id, by: 'agent', plan_status: 'needs_input' }),
        ),
    ],
    [
      true,
      'a refused completion',
      (w) =>
        call(w, 'CompleteWorkItem', { work_item_id: 'work_none' }, (d) =>
          completeItem(d, { work_item_id: 'work_none', by: 'agent', report: null, turn: null }),
        ),
    ],
    [
      true,
      'changing words of one',
      (w, id) =>
        call(w, 'UpdateWorkItem', { work_item_id: id, objective: 'Other' }, (d) =>
          updateItem(d, { work_item_id: id, by: 'agent', objective: 'Other' }),
        ),
    ],
  ]
  for (const [isCounted, name, calls] of rows) {
    const w = new World()
    const id = item(w)
    item(w, { plan_status: 'needs_input' })
    queueTurn(w, () => calls(w, id))
    assert.deepEqual(queue(w), isCounted ? 1 : 0, name)
  }
})

test('a counted queue turn is repeated after 1 and 5 minutes; then the agent asks, once', () => {
  const w = new World()
  item(w)
  queueTurn(w)
  assert.deepEqual(queueReady(w.facts, w.now), {
    ready: false,
    until: plus(T0, minute),
    because: `the queue is backed off until ${plus(T0, minute)}`,
  })
  queueTurn(w.pass(minute))
  assert.equal(w.pass(5 * minute - 1).next().do, 'wait')
  queueTurn(w.pass(1))
  const asked = w.all('waits')
  assert.deepEqual(
    asked.map((x) => [x.runtime_cause, x.wake, x.work_item_id, x.status]),
    [['queue_no_progress', 'operator_input', null, 'active']],
  )
  assert.deepEqual(w.pass(1000 * minute).next(), {
    do: 'wait',
    for: 'operator',
    until: null,
    because: '1 open item, none can go on',
  })
})

test('a queue turn counts against the queue, not against the item it picked', () => {
  const w = new World()
  const id = item(w)
  queueTurn(
    w,
    () =>
      void act(w, { tool: 'PickWorkItem', input: { work_item_id: id } }, (d) =>
        pickItem(d, { work_item_id: id, by: 'agent', reason: null }),
      ),
  )
  assert.deepEqual(counts(w, id), [0, 0])
})

test('any act of the operator ends that question, and the queue goes on', () => {
  const acts: ((w: World, id: WorkItemId) => unknown)[] = [
    (w) => say(w),
    (w, id) => w.do((d) => updateItem(d, { work_item_id: id, by: 'operator', objective: 'Again' })),
    (w, id) => w.do((d) => pickItem(d, { work_item_id: id, by: 'operator', reason: null })),
    (w) => item(w, { by: 'operator' }),
    (w, id) =>
      w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null })),
    (w) => w.do((d) => cancelWait(d, w.all('waits')[0]?.id ?? assert.fail())),
  ]
  for (const act of acts) {
    const w = new World()
    const id = item(w)
    item(w)
    for (const pause of [0, minute, 5 * minute]) queueTurn(w.pass(pause))
    act(w, id)
    assert.notEqual(w.row('waits', 'wait_0001').status, 'active')
    assert.deepEqual(queueReady(w.facts, w.now).ready, true)
  }
})

test('an uncounted queue turn may follow at once when an item of the queue changed since', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  item(w)
  queueTurn(
    w,
    () =>
      void act(w, { tool: 'WaitFor', input: { work_item_id: a } }, (d) =>
        waitFor(d, waitCommand({ work_item_id: a })),
      ),
  )
  assert.equal(queueReady(w.facts, w.now).ready, false)
  w.do((d) => updateItem(d, { work_item_id: b, by: 'agent', objective: 'Changed' }))
  assert.deepEqual(queueReady(w.facts, w.now), {
    ready: true,
    because: 'an item of the queue changed since its last turn',
  })
})

test('the end of a wait changes the queue too, also for facts that were read anew', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  wait(w, { work_item_id: b, wake: 'timer', wake_at: plus(T0, 1000) })
  queueTurn(
    w,
    () =>
      void act(w, { tool: 'WaitFor', input: { work_item_id: a } }, (d) =>
        waitFor(d, waitCommand({ work_item_id: a })),
      ),
  )
  assert.equal(queueReady(w.facts, w.now).ready, false)
  w.pass(1000).do(fireDue)
  assert.equal(queueReady(w.reload().facts, w.now).ready, true)
})

test('the question about the queue does not count among the agent’s eight waits', () => {
  const w = new World()
  for (let n = 0; n < 8; n++) wait(w, { source: `s${n}` })
  item(w)
  for (const pause of [0, minute, 5 * minute]) queueTurn(w.pass(pause))
  assert.equal(agentPacing(w.facts).queue_wait_id, 'wait_0009')
})

test('a queue that is backed off is looked at again only while an item stands in it', () => {
  const w = new World()
  const id = item(w)
  queueTurn(w)
  const moments = () => survey(w.facts, w.now, false).moments
  assert.deepEqual(moments(), [{ at: plus(T0, minute), kind: 'backoff' }])
  w.do((d) => waitFor(d, waitCommand({ work_item_id: id })))
  assert.equal(queueReady(w.facts, w.now).ready, false)
  assert.deepEqual(moments(), [])
})
