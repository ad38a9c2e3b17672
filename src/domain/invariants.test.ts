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
  waitOf,
  World,
} from '../testing/domain.ts'
import { begin, taskEnds, turn } from '../testing/domain-turn.ts'
import { completeItem } from './complete.ts'
import type { Event, Rows, StoredEvent, Table } from './event.ts'
import type { AgentFacts } from './facts.ts'
import { violations } from './invariants.ts'
import type { By } from './work-item.ts'

/** A world in which something of everything has happened, and nothing is wrong. */
function lived(): World {
  const w = new World()
  const [a, b, c] = [item(w, { focus: true }), item(w), item(w)]
  turn(w, { rule: 'continue_current', progress: true })
  wait(w, { work_item_id: b, source: 'ci', delivery_mode: 'wake_hint' })
  deliver(w.pass(1000), { source: 'ci' })
  taskEnds(w, task(w, { work_item_id: a }))
  say(w)
  w.do((d) => completeItem(d, { work_item_id: c, by: 'agent', report: 'Done.', turn: null }))
  return w
}

test('a world that followed the rules violates nothing', () => {
  const w = lived()
  assert.deepEqual(violations(w.facts), [])
  assert.deepEqual(violations(w.whole(), w.events), [])
})

type Spoil = (w: World, put: <T extends Table>(table: T, row: Rows[T]) => void) => void

// Each row spoils one thing in the rows of a world that was right.
const byRows: [number: string, name: string, Spoil][] = [
  [
    '5',
    'a message claimed by a turn that is not open',
    (w, put) =>
      put('messages', {
        ...(w.all('messages')[0] ?? assert.fail()),
        status: 'claimed',
        turn_id: 'turn_0001',
      }),
  ],
  [
    '5',
    'a queued message bound to a turn',
    (w, put) => {
      const queued = w.all('messages').find((m) => m.status === 'queued') ?? assert.fail()
      put('messages', { ...queued, turn_id: 'turn_0001' })
    },
  ],
  [
    '7',
    'a completed item in focus',
    (w, put) => put('agents', { ...w.row('agents', 'main'), current_work_item_id: 'work_0003' }),
  ],
  [
    '7',
    'an item completed at no time',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0003'), completed_at: null }),
  ],
  [
    '8',
    'focus on an item that is not there',
    (w, put) => put('agents', { ...w.row('agents', 'main'), current_work_item_id: 'work_none' }),
  ],
  [
    '14',
    'a report of an open item',
    (w, put) =>
      put('work_items', {
        ...itemRow(w, 'work_0001'),
        result_brief_id: 'brief_1',
        result_summary: 'Done.',
      }),
  ],
  [
    '14',
    'a report without a brief',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0003'), result_brief_id: null }),
  ],
  [
    '16',
    'two open turns',
    (w, put) => {
      const ended = w.row('turns', 'turn_0001')
      put('turns', { ...ended, state: 'open', id: 'turn_x' })
      put('turns', { ...ended, state: 'open', id: 'turn_y' })
    },
  ],
  [
    '23',
    'three stalled turns and no question',
    (w, put) => {
      const row = w.row('pacing', 'work_0001')
      put('pacing', row.kind === 'item' ? { ...row, no_progress: 3 } : row)
    },
  ],
  [
    '23',
    'a queue left three times and nobody asked',
    (w, put) => {
      const row = w.row('pacing', 'main')
      put('pacing', row.kind === 'agent' ? { ...row, queue_no_progress: 3 } : row)
    },
  ],
  [
    '24',
    'a wait reviewed more often than it was triggered',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), reviewed_trigger_count: 2 }),
  ],
  [
    '24',
    'a wait that is active and has ended',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), resolved_at: T0 }),
  ],
  [
    '27',
    'a wait on a completed item',
    (w, put) =>
      put('waits', { ...waitOf(w, 'work_0002'), id: 'wait_x', work_item_id: 'work_0003' }),
  ],
  [
    '27',
    'two waits on one item',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), id: 'wait_x' }),
  ],
  [
    '30',
    'a task that ended and runs',
    (w, put) => put('tasks', { ...w.row('tasks', 'task_t001'), status: 'running' }),
  ],
]

test('§6 of reliability: each invariant over rows finds what breaks it', () => {
  for (const [number, name, spoil] of byRows) {
    const w = lived()
    const facts = w.whole() as AgentFacts
    spoil(w, (table, row) => facts.include(table, row))
    const numbers = violations(facts).map((sentence) => sentence.split(':')[0])
    assert.ok(numbers.includes(number), `${name}: found ${numbers.join(', ') || 'nothing'}`)
  }
})

test('26 finds a message, a trigger and an item that nobody will come by for', () => {
  const w = new World()
  const id = item(w, { plan_status: 'needs_input' })
  taskEnds(w, task(w, { work_item_id: id }))
  wait(w, { work_item_id: id, by: 'runtime', wake: 'operator_input' })
  assert.deepEqual(violations(w.facts), [])
  // The same result, with nothing that holds it back or will bring it up.
  const x = new World()
  wait(x, { work_item_id: item(x), source: 'ci' })
  const held = w.all('messages')[0] ?? assert.fail()
  x.facts.include('messages', { ...held, status: 'claimed', turn_id: null })
  assert.deepEqual(
    violations(x.facts).filter((one) => one.startsWith('26')),
    [`26: ${held.id} is claimed and next is wait`],
  )
})

/** What is wrong with the history when these events are added to a good one. */
function after(w: World, ...events: Event[]): string[] {
  const last = w.events.at(-1) ?? assert.fail()
  const added = events.map((event, n): StoredEvent => ({
    ...last,
    id: `evt_added_${n}`,
    seq: last.seq + n + 1,
    global_seq: last.global_seq + n + 1,
    at: w.now,
    event,
  }))
  return violations(w.whole(), [...w.events, ...added])
}

const updated = (by: By, changed: object): Event => ({
  type: 'work_item_updated',
  id: 'work_0001',
  by,
  changed,
})
const released = (id: 'work_0001' | 'work_0002'): Event => ({
  type: 'focus_released',
  id: 'main',
  work_item_id: id,
  cause: 'waiting',
})
const admitted = (w: World, id: `msg_${string}`): Event => {
  const event = w.events.map((e) => e.event).find((e) => e.type === 'message_admitted')
  assert.ok(event?.type === 'message_admitted')
  return { ...event, id }
}
const ended = (w: World): Event => {
  const event = w.events.map((e) => e.event).find((e) => e.type === 'turn_ended')
  return event ?? assert.fail()
}

test('§6 of reliability: each invariant over history finds what breaks it', () => {
  const rows: [number: string, name: string, (w: World) => Event[]][] = [
    [
      '5',
      'a message that ended and moves',
      () => [{ type: 'message_coalesced', id: 'msg_0001', turn_id: 'turn_0001' }],
    ],
    [
      '5',
      'a claim by a turn that is not open',
      () => [{ type: 'message_claimed', id: 'msg_0002', turn_id: 'turn_0001', to_coalesce: false }],
    ],
    [
      '7',
      'a change after completion',
      () => [{ ...updated('agent', { objective: 'x' }), id: 'work_0003' } as Event],
    ],
    ['9', 'a release of what was not in focus', () => [released('work_0002')]],
    [
      '9',
      'a pick that does not know what was in focus',
      (w) => {
        const event = w.events.map((e) => e.event).find((e) => e.type === 'work_item_picked')
        return [event ?? assert.fail()]
      },
    ],
    ['10', 'a blocker set by the runtime', () => [updated('runtime', { blocked_by: 'x' })]],
    ['11', 'a blocker that leaves focus', () => [updated('agent', { blocked_by: 'x' })]],
    ['13', 'a revision without a change', () => [updated('agent', {})]],
    ['13', 'a row that is behind its events', () => [updated('agent', { objective: 'x' })]],
    [
      '14',
      'a second report',
      (w) => {
        const event = w.events
          .map((e) => e.event)
          .find((e) => e.type === 'brief_delivered' && e.kind === 'result')
        return [{ ...event, id: 'brief_x' } as Event]
      },
    ],
    ['16', 'an end of a turn that is not open', (w) => [ended(w)]],
    ['24', 'a message admitted twice', (w) => [admitted(w, 'msg_0001')]],
    [
      '24',
      'a wait that ends twice',
      () => [
        { type: 'wait_cancelled', id: 'wait_0001', by: 'agent', because: 'x' },
        { type: 'wait_resolved', id: 'wait_0001', by: { kind: 'runtime' } },
      ],
    ],
    [
      '24',
      'a trigger counted twice',
      () => [
        {
          type: 'wait_triggered',
          id: 'wait_0001',
          message_id: 'msg_0001',
          count: 2,
          turn_count: 0,
        },
      ],
    ],
    ['28', 'a matching event that triggered nothing', (w) => [admitted(w, 'msg_x')]],
    [
      '30',
      'a task that ends twice',
      (w) => [w.events.map((e) => e.event).find((e) => e.type === 'task_ended') ?? assert.fail()],
    ],
  ]
  for (const [number, name, add] of rows) {
    const w = lived()
    const numbers = after(w, ...add(w)).map((sentence) => sentence.split(':')[0])
    assert.ok(numbers.includes(number), `${name}: found ${numbers.join(', ') || 'nothing'}`)
  }
})

test('11 is found also when a later commit follows', () => {
  const w = lived()
  const spoiled = after(w, updated('agent', { blocked_by: 'x' }))
  assert.deepEqual(
    spoiled.filter((one) => one.startsWith('11')),
    ['11: work_0001 keeps focus and cannot run'],
  )
})

test('28 finds a wait that an older event triggered', () => {
  const w = new World()
  const { message_id } = deliver(w, { source: 'ci' })
  const id = item(w)
  pick(w, id)
  turn(w, { rule: 'continue_current', progress: true })
  const { wait: row } = wait(w, { work_item_id: id, source: 'ci' })
  const found = after(w, {
    type: 'wait_triggered',
    id: row.id,
    message_id,
    count: 1,
    turn_count: 1,
  })
  assert.deepEqual(found, [`28: ${message_id} is older than ${row.id} and triggered it`])
})

test('23 finds a fourth self-started turn in a row without progress', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  const started =
    w.events.map((e) => e.event).find((e) => e.type === 'turn_started') ?? assert.fail()
  const end = {
    type: 'turn_ended',
    outcome: 'completed',
    reason: null,
    end_revision: 1,
    progress: false,
    usage: w.row('turns', 'turn_0001').usage,
  } as const
  const rest = (['turn_2', 'turn_3', 'turn_4'] as const).flatMap((id): Event[] => [
    { ...started, id },
    { ...end, id },
  ])
  const found = after(w, { ...end, id: 'turn_0001' }, ...rest)
  assert.deepEqual(
    found.filter((one) => one.startsWith('23')),
    ['23: work_0001 had 4 self-started turns in a row without progress'],
  )
})
