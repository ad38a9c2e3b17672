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
} from '../../testing/world/agent-world.ts'
import { begin, taskEnds, turn } from '../../testing/world/turns.ts'
import type { AgentFacts } from '../facts/agent-facts.ts'
import { completeItem } from '../work/complete.ts'
import type { Event, Rows, StoredEvent, Table } from '../state/event.ts'
import { violations } from './of-an-agent.ts'
import type { By } from '../state/work-item.ts'

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

const someBudget = { max_tokens: 1_000_000, max_usd: null, max_rounds: null, deadline: null }

type Spoil = (w: World, put: <T extends Table>(table: T, row: Rows[T]) => void) => void

// Each row spoils one thing in the rows of a world that was right.
const byRows: [finding: string[], name: string, Spoil][] = [
  [
    ['5: msg_0001 is claimed by turn_0001, which is not open'],
    'a message claimed by a turn that is not open',
    (w, put) =>
      put('messages', {
        ...(w.all('messages')[0] ?? assert.fail()),
        status: 'claimed',
        turn_id: 'turn_0001',
      }),
  ],
  [
    ['5: msg_t001 is queued and bound to turn_0001'],
    'a queued message bound to a turn',
    (w, put) => {
      const queued = w.all('messages').find((m) => m.status === 'queued') ?? assert.fail()
      put('messages', { ...queued, turn_id: 'turn_0001' })
    },
  ],
  [
    ['7: work_0003 is completed and in focus', '8: focus work_0003 is completed'],
    'a completed item in focus',
    (w, put) => put('agents', { ...w.row('agents', 'main'), current_work_item_id: 'work_0003' }),
  ],
  [
    ['7: work_0003 is completed at no time'],
    'an item completed at no time',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0003'), completed_at: null }),
  ],
  [
    ['8: focus work_none is no item of the agent'],
    'focus on an item that is not there',
    (w, put) => put('agents', { ...w.row('agents', 'main'), current_work_item_id: 'work_none' }),
  ],
  [
    ['14: work_0001 is open and has a report'],
    'a report of an open item',
    (w, put) =>
      put('work_items', {
        ...itemRow(w, 'work_0001'),
        result_brief_id: 'brief_1',
        result_summary: 'Done.',
      }),
  ],
  [
    ['14: work_0003 has half a report'],
    'a report without a brief',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0003'), result_brief_id: null }),
  ],
  [
    ['16: turn_x and turn_y are open'],
    'two open turns',
    (w, put) => {
      const ended = w.row('turns', 'turn_0001')
      put('turns', { ...ended, state: 'open', id: 'turn_x' })
      put('turns', { ...ended, state: 'open', id: 'turn_y' })
    },
  ],
  [
    ['23: work_0001 had 4 turns in a row without progress'],
    'three stalled turns and no question',
    (w, put) => {
      const row = w.row('pacing', 'work_0001')
      put('pacing', row.kind === 'item' ? { ...row, no_progress: 3 } : row)
    },
  ],
  [
    ['23: the queue was left three times and nobody asked'],
    'a queue left three times and nobody asked',
    (w, put) => {
      const row = w.row('pacing', 'main')
      put('pacing', row.kind === 'agent' ? { ...row, queue_no_progress: 3 } : row)
    },
  ],
  [
    ['24: wait_0001 was reviewed 2 of 1 times'],
    'a wait reviewed more often than it was triggered',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), reviewed_trigger_count: 2 }),
  ],
  [
    ['24: wait_0001 is active, 1 ends'],
    'a wait that is active and has ended',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), resolved_at: T0 }),
  ],
  [
    ['27: wait_x waits on work_0003, which is not open'],
    'a wait on a completed item',
    (w, put) =>
      put('waits', { ...waitOf(w, 'work_0002'), id: 'wait_x', work_item_id: 'work_0003' }),
  ],
  [
    ['27: work_0002 has two active waits'],
    'two waits on one item',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), id: 'wait_x' }),
  ],
  [
    ['30: task_t001 is running, ended 2026-03-02T09:00:01.000Z'],
    'a task that ended and runs',
    (w, put) => put('tasks', { ...w.row('tasks', 'task_t001'), status: 'running' }),
  ],
  [
    ['14: work_0001 has half a report'],
    'a summary without a report',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0001'), result_summary: 'Done.' }),
  ],
  [
    ['8: focus work_0001 is no item of the agent'],
    'focus on an item of another agent',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0001'), agent_id: 'other' }),
  ],
  [
    ['23: work_0001 had 5 turns in a row without progress'],
    'four stalled turns',
    (w, put) => {
      const row = w.row('pacing', 'work_0001')
      put('pacing', row.kind === 'item' ? { ...row, no_progress: 4 } : row)
    },
  ],
  [
    [
      '23: main had 4 turns in a row without progress',
      '23: the queue was left three times and nobody asked',
    ],
    'a queue left four times',
    (w, put) => {
      const row = w.row('pacing', 'main')
      put('pacing', row.kind === 'agent' ? { ...row, queue_no_progress: 4 } : row)
    },
  ],
  [
    [],
    'a queue left three times and somebody asked; two stalled turns',
    (w, put) => {
      const row = w.row('pacing', 'main')
      const asked = { queue_no_progress: 3, queue_wait_id: 'wait_q' } as const
      put('pacing', row.kind === 'agent' ? { ...row, ...asked } : row)
      const item = w.row('pacing', 'work_0001')
      put('pacing', item.kind === 'item' ? { ...item, no_progress: 2 } : item)
    },
  ],
  [
    ['24: wait_0001 is active, 1 ends'],
    'a wait that is active and was cancelled',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), cancelled_at: T0 }),
  ],
  [
    ['24: wait_0001 is resolved, 0 ends'],
    'a wait that is resolved at no time',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), status: 'resolved' }),
  ],
  [
    ['24: wait_0001 is resolved, 2 ends'],
    'a wait that ended in two ways',
    (w, put) =>
      put('waits', {
        ...waitOf(w, 'work_0002'),
        status: 'resolved',
        resolved_at: T0,
        cancelled_at: T0,
      }),
  ],
  [
    ['25: work_0001 has a budget and no meter'],
    'a budget that is not metered',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0001'), budget: someBudget }),
  ],
  [
    [],
    'a budget of an item that is completed',
    (w, put) => put('work_items', { ...itemRow(w, 'work_0003'), budget: someBudget }),
  ],
  [
    ['27: wait_0001 waits on work_none, which is not open'],
    'a wait on an item that is not there',
    (w, put) => put('waits', { ...waitOf(w, 'work_0002'), work_item_id: 'work_none' }),
  ],
  [
    ['27: wait_0001 is a system wait on work_0002'],
    'a system wait on an item, looked at while a turn is open',
    (w, put) => {
      put('turns', { ...w.row('turns', 'turn_0001'), state: 'open' })
      put('waits', { ...waitOf(w, 'work_0002'), wake: 'system' })
    },
  ],
  [
    [],
    'a second wait on the item that has ended, and two of the agent itself',
    (w, put) => {
      const row = waitOf(w, 'work_0002')
      put('waits', { ...row, id: 'wait_x', status: 'cancelled', cancelled_at: T0 })
      put('waits', { ...row, id: 'wait_y', work_item_id: null })
      put('waits', { ...row, id: 'wait_z', work_item_id: null, wake: 'system' })
    },
  ],
  [
    ['30: task_t001 is completed, ended never'],
    'a task that ended at no time',
    (w, put) => put('tasks', { ...w.row('tasks', 'task_t001'), ended_at: null }),
  ],
]

test('each invariant over rows finds what breaks it', () => {
  for (const [finding, name, spoil] of byRows) {
    const w = lived()
    const facts = w.whole() as AgentFacts
    spoil(w, (table, row) => facts.include(table, row))
    assert.deepEqual(violations(facts), finding, name)
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

test('each invariant over history finds what breaks it', () => {
  const rows: [finding: string[], name: string, (w: World) => Event[]][] = [
    [
      ['5: message_coalesced after msg_0001 was consumed'],
      'a message that ended and moves',
      () => [{ type: 'message_coalesced', id: 'msg_0001', turn_id: 'turn_0001' }],
    ],
    [
      ['5: msg_0002 was claimed by turn_0001, which is not open'],
      'a claim by a turn that is not open',
      () => [{ type: 'message_claimed', id: 'msg_0002', turn_id: 'turn_0001', to_coalesce: false }],
    ],
    [
      [
        '7: work_item_updated after the completion of work_0003',
        '13: work_0003 has revision 2 after 3 changes',
      ],
      'a change after completion',
      () => [{ ...updated('agent', { objective: 'x' }), id: 'work_0003' } as Event],
    ],
    [
      ['9: work_0002 was released and work_0001 was in focus'],
      'a release of what was not in focus',
      () => [released('work_0002')],
    ],
    [
      ['9: work_0001 was picked after work_0001 by surprise'],
      'a pick that does not know what was in focus',
      (w) => {
        const event = w.events.map((e) => e.event).find((e) => e.type === 'work_item_picked')
        return [event ?? assert.fail()]
      },
    ],
    [
      [
        '10: the runtime changed blocked_by of work_0001',
        '11: work_0001 keeps focus and cannot run',
        '13: work_0001 has revision 1 after 2 changes',
      ],
      'a blocker set by the runtime',
      () => [updated('runtime', { blocked_by: 'x' })],
    ],
    [
      ['11: work_0001 keeps focus and cannot run', '13: work_0001 has revision 1 after 2 changes'],
      'a blocker that leaves focus',
      () => [updated('agent', { blocked_by: 'x' })],
    ],
    [
      ['13: nothing changed in work_0001', '13: work_0001 has revision 1 after 2 changes'],
      'a revision without a change',
      () => [updated('agent', {})],
    ],
    [
      ['13: work_0001 has revision 1 after 2 changes'],
      'a row that is behind its events',
      () => [updated('agent', { objective: 'x' })],
    ],
    [
      ['14: work_0003 has two reports'],
      'a second report',
      (w) => {
        const event = w.events
          .map((e) => e.event)
          .find((e) => e.type === 'brief_delivered' && e.kind === 'result')
        return [{ ...event, id: 'brief_x' } as Event]
      },
    ],
    [
      ['16: turn_0001 ended and was not open'],
      'an end of a turn that is not open',
      (w) => [ended(w)],
    ],
    [
      ['24: msg_0001 was admitted twice'],
      'a message admitted twice',
      (w) => [admitted(w, 'msg_0001')],
    ],
    [
      ['24: wait_resolved after the end of wait_0001'],
      'a wait that ends twice',
      () => [
        { type: 'wait_cancelled', id: 'wait_0001', by: 'agent', because: 'x' },
        { type: 'wait_resolved', id: 'wait_0001', by: { kind: 'runtime' } },
      ],
    ],
    [
      ['24: msg_0001 triggered wait_0001 twice', '24: wait_0001 counts 2 of 1 triggers'],
      'a trigger counted twice',
      () => [
        {
          type: 'wait_triggered',
          id: 'wait_0001',
          message_id: 'msg_0001',
          count: 2,
          by: 'outside',
          turn_count: 0,
        },
      ],
    ],
    [
      ['28: msg_x is about wait_0001 and did not trigger it'],
      'a matching event that triggered nothing',
      (w) => [admitted(w, 'msg_x')],
    ],
    [
      ['30: task_ended after the end of task_t001'],
      'a task that ends twice',
      (w) => [w.events.map((e) => e.event).find((e) => e.type === 'task_ended') ?? assert.fail()],
    ],
  ]
  for (const [finding, name, add] of rows) {
    const w = lived()
    assert.deepEqual(after(w, ...add(w)), finding, name)
  }
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
    by: 'outside',
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
