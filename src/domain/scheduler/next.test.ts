import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  item,
  itemRow,
  pick,
  say,
  T0,
  task,
  wait,
  World,
} from '../../testing/world/agent-world.ts'
import { begin, taskEnds, turn } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { updateItem } from '../work/create-and-update.ts'
import { holdAgent } from './park.ts'
import { projectItem } from '../facts/readiness.ts'
import { decideNext, messageSentence, type Next } from './next.ts'
import { survey, type Survey } from './survey.ts'
import { plus } from '../time.ts'

const minute = 60_000

// One world supplies real rows; the survey is then written by hand, so that each row of the table
// takes exactly one fact away.
const w = new World()
const [current, queued, triggered] = [item(w), item(w), item(w)]
wait(w, { work_item_id: triggered, source: 'ci' })
deliver(w, { source: 'ci' })
say(w, { text: 'interject', priority: 'interject' })
say(w, { text: 'next' })
deliver(w, { source: 'other' })
const messages = [...w.facts.rows('messages')]
const [event, interject, next, normal] = messages
assert.ok(event && interject && next && normal)
const background = { ...normal, id: 'msg_background' as const, priority: 'background' as const }
const held = wait(w, { wake: 'external', work_item_id: triggered, source: 'x' }).wait
const hold = { ...held, wake: 'system' as const, reason: '503', wake_at: plus(T0, minute) }
const openTurn: Survey['turn'] = { ...openedTurn(), id: 'turn_open' }
const of = (id: typeof current, isCurrent = false) =>
  projectItem(itemRow(w, id), null, isCurrent ? id : null, w.now)
const review = {
  wait: { ...held, trigger_count: 1 },
  work_item_id: triggered,
  kind: 'triggered' as const,
  passed_over: 0,
}
const ready = { ready: true as const, because: 'it never had a turn' }

const everything: Survey = {
  now: T0,
  stopped: true,
  running: true,
  hold,
  turn: openTurn,
  lanes: {
    fast: [interject, next],
    normal: [{ ...normal, turn_count: 0 }],
    background: [background],
  },
  candidates: {
    current_runnable: [of(current, true)],
    triggered_blocked: [projectItem(itemRow(w, triggered), review.wait, null, T0)],
    queued_runnable: [of(queued)],
    waiting_for_operator: [],
    blocked: [],
    completed_recent: [],
  },
  current: of(current, true),
  currentReady: ready,
  reviews: [{ ...review, passed_over: 10 }],
  readyQueue: [of(queued)],
  queue: ready,
  bucketEmpty: false,
  unpaid: null,
  turn_count: 10,
  moments: [],
}

function openedTurn() {
  const x = new World()
  say(x)
  return begin(x)
}

type Short = string | null
/** A decision in a few words: what, for what, about which row, until when. */
function short(n: Next): Short[] {
  switch (n.do) {
    case 'stop':
    case 'noop':
    case 'sleep':
      return [n.do]
    case 'wait':
      return [n.do, n.for, n.until]
    case 'start_turn': {
      const { start } = n
      switch (start.rule) {
        case 'recover':
          return [start.rule, start.turn.id]
        case 'message':
          return [start.rule, start.message.id]
        case 'continue_current':
          return [start.rule, start.work_item_id]
        case 'review_triggered':
          return [start.rule, ...start.reviews.map((r) => r.wait.id)]
        case 'queued_available':
          return [start.rule, ...start.work_item_ids]
      }
    }
  }
}

const late = plus(T0, 5 * minute)
const notReady = { ready: false as const, until: late, because: 'back-off' }
const rows: [name: string, take: Partial<Survey>, expect: Short[]][] = [
  ['1 the agent is stopped', {}, ['stop']],
  ['2 a turn is running', { stopped: false }, ['noop']],
  ['3 the agent is held', { running: false }, ['wait', 'system', hold.wake_at]],
  ['4 an open turn goes on', { hold: null }, ['recover', 'turn_open']],
  ['5 an interject, before anything queued', { turn: null }, ['message', interject.id]],
  ['5 then a next message', { lanes: { ...everything.lanes, fast: [next] } }, ['message', next.id]],
  [
    '6a a normal message passed over by ten turns',
    { lanes: { ...everything.lanes, fast: [] } },
    ['message', normal.id],
  ],
  [
    '6a then a review passed over by ten turns',
    { lanes: { fast: [], normal: [{ ...normal, turn_count: 1 }], background: [background] } },
    ['review_triggered', held.id],
  ],
  ['6 the current item', { reviews: [review] }, ['continue_current', current]],
  ['7 a normal message', { currentReady: notReady }, ['message', normal.id]],
  [
    '8 a review',
    { lanes: { fast: [], normal: [], background: [background] } },
    ['review_triggered', held.id],
  ],
  ['9 the queue', { reviews: [] }, ['queued_available', queued]],
  [
    '10 the queue is not ready: a background message',
    { queue: notReady },
    ['message', background.id],
  ],
  [
    '10 the bucket is empty: a background message',
    { queue: ready, bucketEmpty: true },
    ['message', background.id],
  ],
  [
    '10 no queued item is ready: a background message',
    { bucketEmpty: false, readyQueue: [] },
    ['message', background.id],
  ],
  [
    '11 back-off until the first moment',
    {
      lanes: { fast: [], normal: [], background: [] },
      moments: [
        { at: plus(late, 1), kind: 'timer' },
        { at: late, kind: 'backoff' },
      ],
    },
    ['wait', 'backoff', late],
  ],
  [
    '12 nothing is open',
    {
      current: null,
      moments: [],
      candidates: {
        current_runnable: [],
        triggered_blocked: [],
        queued_runnable: [],
        waiting_for_operator: [],
        blocked: [],
        completed_recent: [of(current)],
      },
    },
    ['sleep'],
  ],
]

test('the scheduler decides in the documented order, first match wins', () => {
  let facts = everything
  for (const [name, take, expect] of rows) {
    facts = { ...facts, ...take }
    assert.deepEqual(short(decideNext(facts)), expect, name)
  }
})

test('rule 11 names what is waited for, and until when', () => {
  const cases: [expect: Short[], (x: World) => void][] = [
    [['wait', 'operator', null], (x) => void item(x, { plan_status: 'needs_input' })],
    [
      ['wait', 'operator', null],
      (x) => {
        const id = item(x)
        x.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'no key' }))
      },
    ],
    [
      ['wait', 'task', null],
      (x) => {
        const id = item(x)
        const t = task(x, { work_item_id: id })
        wait(x, { wake: 'task_result', work_item_id: id, resource: t.id, task: t })
      },
    ],
    [['wait', 'external', null], (x) => void wait(x, { work_item_id: item(x), source: 'ci' })],
    [
      ['wait', 'external', plus(T0, 3 * minute)],
      (x) => void wait(x, { work_item_id: item(x), recheck_at: plus(T0, 3 * minute) }),
    ],
    [
      ['wait', 'timer', plus(T0, 2 * minute)],
      (x) => {
        wait(x, { work_item_id: item(x), recheck_at: plus(T0, 3 * minute) })
        wait(x, { wake: 'timer', work_item_id: item(x), wake_at: plus(T0, 2 * minute) })
      },
    ],
    [
      ['wait', 'backoff', plus(T0, minute)],
      (x) => {
        item(x, { focus: true })
        turn(x, { rule: 'continue_current' })
      },
    ],
    [
      ['wait', 'system', plus(T0, minute)],
      (x) => x.do((d) => holdAgent(d, { cause: 'provider_world', message: '503', until: null })),
    ],
  ]
  for (const [expect, prepare] of cases) {
    const x = new World()
    prepare(x)
    assert.deepEqual(short(x.next()), expect)
  }
})

test('waiting and idling start nothing, however often they are asked', () => {
  const x = new World()
  wait(x, { work_item_id: item(x), source: 'ci' })
  const before = x.events.length
  for (let lap = 0; lap < 100; lap++) assert.equal(x.pass(minute).next().do, 'wait')
  assert.equal(x.events.length, before)
})

test('a lane is taken oldest first, but an interject before what is queued for the next turn', () => {
  const x = new World()
  const first = say(x, { text: 'one' }).message_id
  say(x, { text: 'two' })
  assert.deepEqual(short(x.next()), ['message', first])
  const { message_id } = say(x, { text: 'now', priority: 'interject' })
  assert.deepEqual(short(x.next()), ['message', message_id])
})

test('an external event never preempts the current runnable item', () => {
  const x = new World()
  const id = item(x, { focus: true })
  deliver(x)
  assert.deepEqual(short(x.next()), ['continue_current', id])
})

test('a normal message passed over by ten turns goes before the current item, once', () => {
  const x = new World()
  const id = item(x, { focus: true })
  const { message_id } = deliver(x)
  for (let n = 0; n < 10; n++) turn(x, { rule: 'continue_current', progress: true })
  assert.deepEqual(short(x.next()), ['message', message_id])
  turn(x, { rule: 'message' })
  assert.deepEqual(short(x.next()), ['continue_current', id])
})

test('a triggered wait passed over by ten turns is reviewed before the current item, once', () => {
  const x = new World()
  const waiting = item(x)
  const { id } = wait(x, { work_item_id: waiting, delivery_mode: 'wake_hint' }).wait
  item(x, { focus: true })
  deliver(x)
  for (let n = 0; n < 10; n++) turn(x, { rule: 'continue_current', progress: true })
  assert.deepEqual(short(x.next()), ['review_triggered', id])
  begin(x)
  assert.equal(x.row('waits', id).reviewed_trigger_count, 1)
})

test('an event of a wait reviewed in the last minute is due only when the minute has passed', () => {
  const x = new World()
  const id = item(x)
  wait(x, { work_item_id: id, source: 'ci' })
  deliver(x, { source: 'ci' })
  turn(x, { rule: 'message' })
  deliver(x.pass(30_000), { source: 'ci' })
  assert.deepEqual(short(x.next()), ['wait', 'external', plus(T0, minute)])
  assert.deepEqual(short(x.pass(30_000).next())[0], 'message')
})

test('reviews take the wait that went longest without one first', () => {
  const x = new World()
  const [a, b] = [item(x), item(x)]
  const [wa, wb] = [a, b].map((id) =>
    wait(x.pass(1), { work_item_id: id, delivery_mode: 'wake_hint', source: id }),
  )
  assert.ok(wa && wb)
  deliver(x, { source: a })
  deliver(x, { source: b })
  assert.deepEqual(short(x.next()), ['review_triggered', wa.wait.id, wb.wait.id])
  deliver(x, { source: a })
  begin(x)
  assert.equal(x.row('waits', wb.wait.id).reviewed_trigger_count, 1)
})

test('a review shows at most three items and is about the first', () => {
  const x = new World()
  const ids = Array.from({ length: 5 }, () => item(x))
  for (const id of ids) {
    wait(x.pass(1), { work_item_id: id, delivery_mode: 'wake_hint', source: 'ci' })
  }
  deliver(x, { source: 'ci' })
  const started = begin(x, 'review_triggered')
  assert.equal(started.work_item_id, ids[0])
  const reviewed = x.all('waits').filter((one) => one.reviewed_trigger_count === 1)
  assert.deepEqual(
    reviewed.map((one) => one.work_item_id),
    ids.slice(0, 3),
  )
})

test('results of tasks of an item that the runtime holds stay queued', () => {
  const x = new World()
  const id = item(x, { focus: true })
  for (const pause of [0, minute, 5 * minute]) {
    x.pass(pause)
    turn(x, { rule: 'continue_current' })
  }
  const t = task(x, { work_item_id: id })
  taskEnds(x, t)
  assert.deepEqual(short(x.next()), ['wait', 'operator', null])
})

test('an open item that is completed leaves nothing to wait for', () => {
  const x = new World()
  const id = item(x)
  pick(x, id)
  x.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'Done.', turn: null }))
  assert.deepEqual(x.next(), { do: 'sleep', until: null, because: 'no open item, no message' })
})

test('every kind of message says in a few words why it starts a turn', () => {
  const kinds = [
    ['operator_prompt', 'the operator spoke'],
    ['task_result', 'task_1 ended'],
    ['task_status', 'task_1 ended'],
    ['callback_event', 'ci sent an event'],
    ['webhook_event', 'ci sent an event'],
    ['timer_tick', 'a schedule came due'],
    ['internal_followup', 'the runtime has something to tell'],
    ['delegation', 'the parent agent delegated work'],
  ] as const
  for (const [kind, expect] of kinds) {
    const said = messageSentence({ ...normal, kind, source: 'ci', task_id: 'task_1' })
    assert.equal(said, expect)
  }
  assert.equal(
    messageSentence({ ...normal, kind: 'operator_prompt', wait_id: 'wait_1' }),
    'the operator answered',
  )
})

test('the survey of the same facts at the same time is the same', () => {
  const x = new World()
  item(x, { focus: true })
  assert.deepEqual(survey(x.facts, x.now, false), survey(x.facts, x.now, false))
})
