import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeItem } from '../../domain/work/complete.ts'
import type { Delivery } from '../../domain/state/delivery.ts'
import { endTask } from '../../domain/inbox/admit.ts'
import type { Message } from '../../domain/state/message.ts'
import { snooze } from '../../domain/operator/snoozes.ts'
import type { Task } from '../../domain/state/task.ts'
import { plus } from '../../domain/time.ts'
import type { Turn } from '../../domain/state/turn.ts'
import {
  deliver,
  item,
  itemRow,
  say,
  T0,
  task,
  wait,
  World,
} from '../../testing/world/agent-world.ts'
import { begin, turn } from '../../testing/world/turns.ts'
import { asRunbook, hold, minute, stop, update, viewOf } from '../../testing/why/why-world.ts'
import { lateOf, lateTasks } from '../agent-view.ts'
import { attentionOf, everyEntry, fingerprintOf, type Attention } from './attention.ts'

const noLimits = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const list = (w: World, turns: readonly Turn[] = []) => attentionOf([viewOf(w, 'at_rest')], turns)
const told = (one: Attention) => [one.kind, one.id, one.can.map(({ key }) => key).join(' ')]

const rows: [name: string, prepare: (w: World) => void, expected: readonly string[][]][] = [
  ['nothing', () => undefined, []],
  [
    'a question',
    (w) => wait(w, { work_item_id: item(w), wake: 'operator_input', reason: 'Ship?' }),
    [['question', 'wait_0001', 'answer snooze dismiss']],
  ],
  [
    'a blocker',
    (w) => update(w, item(w), { blocked_by: 'no key' }),
    [['blocked', 'work_0001', 'unblock snooze dismiss']],
  ],
  [
    'a failed step of a runbook',
    (w) => (asRunbook(w), update(w, item(w), { blocked_by: 'exit 3' })),
    [['blocked', 'work_0001', 'unblock snooze dismiss']],
  ],
  [
    'a plan that needs input',
    (w) => update(w, item(w), { plan_status: 'needs_input' }),
    [['needs_input', 'work_0001', 'send snooze dismiss']],
  ],
  [
    'a budget that is reached',
    (w) => {
      const id = item(w)
      const so_far = { used: { tokens: 9, usd: 0, unpriced: 0, rounds: 2 }, drawn: [] }
      update(w, id, { budget: { ...noLimits, max_rounds: 2 }, so_far })
    },
    [['budget', 'work_0001', 'update_item snooze dismiss']],
  ],
  [
    'a hold that no time ends',
    (w) => hold(w, 'provider_setup'),
    [['held', 'wait_0001', 'start_agent snooze dismiss']],
  ],
  ['a hold that ends by itself', (w) => hold(w), []],
  [
    'an event for a stopped agent',
    (w) => (stop(w), deliver(w, { source: 'ci' })),
    [['arrived', 'msg_0001', 'start_agent snooze dismiss']],
  ],
  [
    'processes that do not end',
    (w) => {
      const { id } = task(w)
      w.do((d) => d.emit({ type: 'task_cancelling', id, survivors: [7], because: 'stop' }))
    },
    [['cancelling', 'task_t001', 'stop_task snooze dismiss']],
  ],
]

for (const [name, prepare, expected] of rows) {
  test(`what needs a person, with what to do about it: ${name}`, () => {
    const w = new World()
    prepare(w)
    assert.deepEqual(list(w).map(told), expected)
  })
}

test('a failed turn needs a person until the next one, and not while one is open', () => {
  const w = new World()
  item(w)
  const turned = turn(w)
  const last = { ...w.row('turns', turned.id), outcome: 'failed', reason: 'a bug' } as const
  const expected = [['failed_turn', last.id, 'send snooze dismiss']]
  assert.deepEqual(list(w, [last]).map(told), expected)
  begin(w.pass(minute))
  assert.deepEqual(list(w, [last]), [])
})

test('a late result needs a person where it tells of a child, of a failure or of nothing known', () => {
  const ends = [
    ['a child', { child: true }, 'completed', 0],
    ['a failure', {}, 'completed', 3],
    ['a good end', {}, 'completed', 0],
    ['a stop', {}, 'cancelled', 143],
    ['nobody knows', {}, 'interrupted', null],
  ] as const
  for (const [name, given, status, exit_status] of ends) {
    const w = new World()
    const id = item(w)
    const made = task(w, { work_item_id: id, ...given })
    w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null }))
    const ending = { status, exit_status, reason: null, output_bytes: 0, ended_at: w.now }
    w.do((d) => endTask(d, { task_id: made.id, ...ending, body: `${made.id} ended\nfoul words` }))
    const [view, tasks] = [viewOf(w, 'at_rest'), [w.row('tasks', made.id)]]
    assert.deepEqual(lateTasks(w.facts), [made.id])
    assert.deepEqual(lateOf(w.facts, itemRow(w, id)), [`${made.id} ended`])
    const found = everyEntry([view], { turns: [], tasks })
    const wanted = name === 'a good end' || name === 'a stop' ? [] : ['msg_t001']
    assert.deepEqual(
      found.map((entry) => entry.id),
      wanted,
      name,
    )
    assert.deepEqual(
      found.map(told),
      wanted.map(() => ['late_result', 'msg_t001', 'send snooze dismiss']),
    )
    // The turn that shows it closes the entry.
    say(w)
    begin(w)
    assert.deepEqual(everyEntry([viewOf(w, 'in_turn')], { turns: [], tasks }), [])
  }
})

test('without an owner of the home, a run of its own is what settles a hold or a step', () => {
  const w = new World()
  asRunbook(w)
  update(w, item(w), { blocked_by: 'exit 3' })
  hold(w, 'provider_setup')
  const found = attentionOf([viewOf(w, 'nobody')], [])
  assert.deepEqual(
    found.map(({ kind, can }) => [kind, can[0]?.cli]),
    [
      ['held', 'holon run --resume'],
      ['blocked', 'holon run --resume'],
    ],
  )
})

test('an entry that was put away is back when its time is over, and when it changes', () => {
  const w = new World()
  const id = item(w)
  update(w, id, { blocked_by: 'no key' })
  const [entry] = list(w)
  assert.ok(entry)
  const until = plus(w.now, 10 * minute)
  const away = {
    attention_id: entry.id,
    fingerprint: fingerprintOf(entry),
    until,
  }
  w.do((d) => snooze(d, away))
  assert.deepEqual(list(w), [])
  const everything = () => everyEntry([viewOf(w, 'at_rest')], { turns: [] })
  assert.deepEqual(everything(), [{ ...entry, snoozed: { until } }])
  w.pass(10 * minute)
  assert.deepEqual(list(w), [entry])
  w.pass(-minute)
  update(w, id, { blocked_by: 'no disk' })
  assert.deepEqual(
    list(w).map(({ text }) => text),
    ['no disk'],
  )
})

test('the most urgent kind is first, the oldest first inside it, over all agents', () => {
  const [a, b] = [new World('a'), new World('b')]
  update(a, item(a), { blocked_by: 'no key' })
  wait(a.pass(minute), { work_item_id: item(a), wake: 'operator_input', reason: 'Second?' })
  wait(b, { work_item_id: item(b), wake: 'operator_input', reason: 'First?' })
  const views = [viewOf(a, 'at_rest'), viewOf(b, 'at_rest')]
  assert.deepEqual(
    attentionOf(views, []).map(({ agent_id, text }) => [agent_id, text]),
    [
      ['b', 'First?'],
      ['a', 'Second?'],
      ['a', 'no key'],
    ],
  )
})

test('an entry says what it is of, what happened and since when; each moment is its own', () => {
  const w = new World()
  const later = () => w.pass(minute)
  const at = (minutes: number) => plus(T0, minutes * minute)
  const asks = item(later())
  wait(later(), { work_item_id: asks, wake: 'operator_input', reason: 'Ship?' })
  const blocked = item(later())
  update(later(), blocked, { blocked_by: 'no key' })
  hold(later(), 'provider_setup')
  const stays = task(later(), { work_item_id: blocked })
  const goes = task(later())
  for (const [{ id }, survivors] of [
    [stays, [7, 8]],
    [goes, []],
  ] as const) {
    w.do((d) => d.emit({ type: 'task_cancelling', id, survivors, because: 'stop' }))
  }
  const unbegun = { id: 'task_t003', started_at: null, created_at: at(3) }
  w.facts.include('tasks', { ...w.row('tasks', stays.id), ...unbegun } as Task)
  for (const state of ['kept', 'ready'] as const) {
    w.facts.include('worktrees', {
      id: `task_${state}`,
      agent_id: 'main',
      child_agent_id: 'ada',
      branch: 'holon/ada',
      state,
      reason: 'it is not merged',
      created_at: at(20),
      ended_at: at(21),
      repository: '/r',
      path: '/r/ada',
      base_commit: null,
      unfiltered: null,
      snapshot: null,
    })
  }
  say(later())
  const message = { ...w.row('messages', 'msg_0001'), work_item_id: asks, status: 'dead' } as const
  const delivery = {
    id: 'dlv_0001',
    agent_id: 'main',
    via: { kind: 'webhook', webhook: 'ci' },
    sender_id: null,
    source: 'ci',
    resource: null,
    summary: null,
    body_sha256: null,
    content_type: null,
    status: 'dead',
    reason: null,
    message_id: null,
    attempts: 1,
    received_at: at(12),
  } as Delivery
  const past = {
    turns: [],
    messages: [
      { ...message, status_reason: 'three turns failed' },
      { ...message, id: 'msg_0002', created_at: at(11) } as Message,
    ],
    deliveries: [delivery, { ...delivery, id: 'dlv_0002', reason: 'no memory' } as Delivery],
  }
  const told = everyEntry([viewOf(w, 'nobody')], past).map(
    ({ kind, work_item_id, since, text, can }) => [
      kind,
      work_item_id,
      (Date.parse(since) - Date.parse(T0)) / minute,
      text,
      can[0]?.cli,
    ],
  )
  const send = 'holon send <text>'
  const again = (n: number) => `holon webhook redeliver dlv_000${n}`
  const stands = 'make task_t001 does not end: 7, 8 still run'
  const tree = 'holon/ada of ada is kept: it is not merged'
  assert.deepEqual(told, [
    ['question', asks, 2, 'Ship?', 'holon answer wait_0001 <text>'],
    ['held', null, 5, 'The provider answers 503.', 'holon run --resume'],
    ['blocked', blocked, 4, 'no key', `holon work unblock ${blocked}`],
    ['dead_message', asks, 8, 'a message was given up: three turns failed', send],
    ['dead_message', asks, 11, 'a message was given up: no reason is recorded', send],
    ['dead_delivery', null, 12, 'an event was not delivered: no reason is recorded', again(1)],
    ['dead_delivery', null, 12, 'an event was not delivered: no memory', again(2)],
    ['cancelling', blocked, 3, stands, 'holon tasks stop task_t003'],
    ['cancelling', blocked, 6, stands, 'holon tasks stop task_t001'],
    ['worktree_kept', null, 20, tree, 'holon worktree remove task_kept'],
  ])
})
