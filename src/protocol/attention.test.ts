import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeItem } from '../domain/complete.ts'
import { endTask } from '../domain/ingress.ts'
import { snooze } from '../domain/snoozes.ts'
import { plus } from '../domain/time.ts'
import type { Turn } from '../domain/turn.ts'
import { deliver, item, itemRow, say, task, wait, World } from '../testing/domain.ts'
import { begin, turn } from '../testing/domain-turn.ts'
import { asRunbook, hold, minute, stop, update, viewOf } from '../testing/why-world.ts'
import { lateOf, lateTasks } from './agent-view.ts'
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
  test(`§13: what needs a person, with what to do about it: ${name}`, () => {
    const w = new World()
    prepare(w)
    assert.deepEqual(list(w).map(told), expected)
  })
}

test('§13: a failed turn needs a person until the next one, and not while one is open', () => {
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

test('§13: without an owner of the home, a run of its own is what settles a hold or a step', () => {
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

test('§13: an entry that was put away is back when its time is over, and when it changes', () => {
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

test('§13: the most urgent kind is first, the oldest first inside it, over all agents', () => {
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
