import assert from 'node:assert/strict'
import { test } from 'node:test'
import { task, waitOf, type World } from '../../testing/world/agent-world.ts'
import { end, taskEnds } from '../../testing/world/turns.ts'
import { FamilyWorld } from '../../testing/world/family-world.ts'
import { handedOver, makes, reports, waits } from '../../testing/world/family-turns.ts'
import { AgentFacts } from '../facts/agent-facts.ts'
import { completeItem } from '../work/complete.ts'
import type { Event, Rows, StoredEvent, Table } from '../state/event.ts'
import { familyViolations } from './children.ts'
import type { WorkItemId } from '../ids.ts'
import { violations } from './of-an-agent.ts'
import { callbackEvent, controlPrompt, webhookEvent } from '../state/provenance.ts'
import { taskEnded } from '../../testing/events.ts'

/** A parent with one child at work, which has asked, and one that has reported; all is right. */
function lived() {
  const { family, main, child, about } = handedOver()
  const done = family.spawn()
  const id = makes(done)
  reports(done, id, 'There are 42 words.')
  end(done)
  const asking = makes(child)
  waits(child, { work_item_id: asking, wake: 'operator_input', reason: 'All words?' })
  taskEnds(child, task(child, { promoted: false }))
  family.relayAll()
  return { family, main, child, done, about, asking }
}
type Lived = ReturnType<typeof lived>

test('a family that followed the rules violates nothing', () => {
  const { family, main, child, done } = lived()
  assert.deepEqual(
    main.all('tasks').map(({ status, asking }) => [status, asking?.text ?? null]),
    [
      ['running', 'All words?'],
      ['completed', null],
    ],
  )
  assert.deepEqual(
    [child, done].map((w) => family.agent(w).state),
    ['active', 'deleted'],
  )
  assert.deepEqual(family.violations(true), [])
})

type Put = <T extends Table>(table: T, row: Rows[T]) => void
const of = (w: World): AgentFacts => w.whole() as AgentFacts
const first = <T extends Table>(w: World, table: T): Rows[T] => w.all(table)[0] ?? assert.fail()

/** Each spoils one thing in the rows of one agent, the parent or its living child. */
const byRows: [finding: string, whose: 'main' | 'child', (of: Lived, put: Put) => void][] = [
  [
    '6: turn_0003 is open and its agent is deleted',
    'child',
    ({ child }, put) => {
      put('agents', { ...first(child, 'agents'), state: 'deleted' })
      put('turns', { ...first(child, 'turns'), id: 'turn_0003', state: 'open' })
    },
  ],
  [
    '6: task_t003 is running and its agent is deleted',
    'child',
    ({ child }, put) => {
      put('agents', { ...first(child, 'agents'), state: 'deleted' })
      put('tasks', { ...first(child, 'tasks'), status: 'running', ended_at: null })
    },
  ],
  [
    '33: deleg_0001 is active and task_t001 is completed',
    'main',
    ({ main }, put) => put('tasks', { ...main.row('tasks', 'task_t001'), status: 'completed' }),
  ],
  [
    '33: deleg_0002 is completed and task_t002 is running',
    'main',
    ({ main }, put) => put('tasks', { ...main.row('tasks', 'task_t002'), status: 'running' }),
  ],
  [
    '33: deleg_x is active and task_none is not there',
    'main',
    ({ main }, put) =>
      put('delegations', { ...first(main, 'delegations'), id: 'deleg_x', task_id: 'task_none' }),
  ],
  [
    '33: deleg_0001 is of main.1, task_t001 of main.7',
    'main',
    ({ main }, put) =>
      put('tasks', { ...main.row('tasks', 'task_t001'), child_agent_id: 'main.7' }),
  ],
  [
    '33: deleg_0001 is for work_0001, task_t001 for null',
    'main',
    ({ main }, put) => put('tasks', { ...main.row('tasks', 'task_t001'), work_item_id: null }),
  ],
  ...[controlPrompt, callbackEvent, webhookEvent].map((provenance): (typeof byRows)[number] => [
    `34: msg_x is of ${provenance.origin}`,
    'child',
    ({ child }, put) =>
      put('messages', { ...first(child, 'messages'), id: 'msg_x', ...provenance }),
  ]),
  [
    '34: wait_0001 waits for an event from outside',
    'child',
    ({ child, asking }, put) => put('waits', { ...waitOf(child, asking), wake: 'external' }),
  ],
  [
    '34: trig_x leads into a private child',
    'child',
    (_, put) => {
      const docs = new FamilyWorld('docs')
      docs.trySpawn(docs.of('docs'), { preset: 'public_named', agent_id: 'x' })
      put('triggers', { ...first(docs.of('x'), 'triggers'), id: 'trig_x' })
    },
  ],
]

for (const [finding, whose, spoil] of byRows) {
  test(`the rows of one agent show ${finding}`, () => {
    const world = lived()
    const facts = of(world[whose])
    spoil(world, (table, row) => facts.include(table, row))
    assert.ok(violations(facts).includes(finding), violations(facts).join('\n'))
  })
}

const past = <T extends Event['type']>(w: World, type: T): Extract<Event, { type: T }> => {
  const found = w.events.map(({ event }) => event).find((event) => event.type === type)
  assert.ok(found?.type === type)
  return found as Extract<Event, { type: T }>
}
const result = (w: World): Extract<Event, { type: 'message_admitted' }> => {
  const found = w.events.map(({ event }) => event)
  const [one] = found.filter(
    (event) => event.type === 'message_admitted' && event.provenance.kind === 'task_result',
  )
  assert.ok(one?.type === 'message_admitted')
  return one
}

/** What is wrong with the history when `change` has made another one of it. */
function told(w: World, change: (events: readonly Event[]) => readonly Event[]): string[] {
  const { events } = w
  const [head] = events
  assert.ok(head)
  const made = change(events.map(({ event }) => event)).map((event, n): StoredEvent => {
    const stored = events.find((one) => one.event === event) ?? head
    return { ...stored, id: `evt_${n}`, seq: n + 1, global_seq: n + 1, event }
  })
  return violations(w.whole(), made).filter((one) => /^3[0-4]:/.test(one))
}

const without = (type: Event['type']) => (events: readonly Event[]) =>
  events.filter((event) => event.type !== type)
const and =
  (...added: Event[]) =>
  (events: readonly Event[]) => [...events, ...added]

const ended = (id: `task_${string}`): Event => taskEnded(id, { exit_status: null })

const byHistory: [finding: string[], (of: Lived) => string[]][] = [
  [
    ['30: task_t001 started after it was running'],
    ({ main }) => told(main, and(past(main, 'task_started'))),
  ],
  [
    ['30: task_t001 started after it was cancelling'],
    ({ main }) =>
      told(
        main,
        and(
          { type: 'task_cancelling', id: 'task_t001', survivors: [], because: 'x' },
          past(main, 'task_started'),
        ),
      ),
  ],
  [
    [
      '31: task_t001 sent 0 results and owes 1',
      '33: deleg_0001 ended never and task_t001 completed',
    ],
    ({ main }) => told(main, and(ended('task_t001'))),
  ],
  [['31: task_t002 sent 2 results and owes 1'], ({ main }) => told(main, and(result(main)))],
  [
    ['31: task_t001 sent 1 results and owes 0'],
    ({ main }) => told(main, and({ ...result(main), id: 'msg_t001', task_id: 'task_t001' })),
  ],
  [
    ['33: deleg_0002 ended never and task_t002 completed'],
    ({ main }) => told(main, without('delegation_ended')),
  ],
  [
    ['33: deleg_0001 ended failed and task_t001 never'],
    ({ main }) =>
      told(
        main,
        and({ type: 'delegation_ended', id: 'deleg_0001', state: 'failed', result_summary: null }),
      ),
  ],
  [
    ['33: msg_t002 goes to null, task_t002 is of work_0001'],
    ({ main }) =>
      told(main, (events) =>
        events.map((event) => (event === result(main) ? { ...event, work_item_id: null } : event)),
      ),
  ],
  [
    ['33: msg_t002 is unread and work_0001 is open'],
    ({ main }) =>
      told(main, (events) =>
        events.map((event) =>
          event === result(main) ? { ...event, consumed_because: 'x' } : event,
        ),
      ),
  ],
  [
    ['34: msg_x is of operator', '34: msg_y is of webhook'],
    ({ child }) => {
      const handoff = past(child, 'message_admitted')
      return told(
        child,
        and(
          { ...handoff, id: 'msg_x', provenance: controlPrompt },
          { ...handoff, id: 'msg_y', provenance: webhookEvent },
        ),
      )
    },
  ],
  [
    ['34: wait_x waits for an event from outside'],
    ({ child }) =>
      told(child, and({ ...past(child, 'wait_registered'), id: 'wait_x', wake: 'external' })),
  ],
]

for (const [finding, of_] of byHistory) {
  test(`the history of one agent shows ${finding.join('; ')}`, () => {
    assert.deepEqual(of_(lived()), finding)
  })
}

test('33 lets a result of a completed item be read, and be unread as it once was', () => {
  const { main, about } = lived()
  main.do((d) => completeItem(d, { work_item_id: about, by: 'agent', report: null, turn: null }))
  const late =
    (consumed_because: string | null) =>
    (events: readonly Event[]): Event[] => [
      ...events.filter((event) => event !== result(main)),
      { ...result(main), consumed_because },
    ]
  assert.deepEqual(told(main, late(null)), [])
  assert.deepEqual(told(main, late('its item is completed')), [])
})

test('33 lets whoever waits for a task read its result', () => {
  const { main, child, about } = lived()
  const waits = (resource: string, work_item_id: WorkItemId | null): Event => ({
    ...past(child, 'wait_registered'),
    id: 'wait_x',
    wake: 'task_result',
    resource,
    work_item_id,
  })
  const read =
    (reader: WorkItemId | null, ...before: Event[]) =>
    (events: readonly Event[]): Event[] => [
      ...events.filter((event) => event !== result(main)),
      ...before,
      { ...result(main), work_item_id: reader },
    ]
  const wrong = [`33: msg_t002 goes to work_x, task_t002 is of ${about}`]
  assert.deepEqual(told(main, read('work_x', waits('task_t002', 'work_x'))), [])
  assert.deepEqual(told(main, read(null, waits('task_t002', null))), [])
  assert.deepEqual(told(main, read('work_x', waits('task_t001', 'work_x'))), wrong)
  const over: Event = { type: 'wait_cancelled', id: 'wait_x', by: 'agent', because: 'replaced' }
  assert.deepEqual(told(main, read('work_x', waits('task_t002', 'work_x'), over)), wrong)
})

/** Each spoils a row of the parent (0) or its living child (1): only both together show it. */
const together: [finding: string, (of: Lived, rows: readonly AgentFacts[]) => void][] = [
  [
    '32: main.1 lives and its parent main does not',
    ({ main }, [facts]) =>
      facts?.include('agents', { ...main.row('agents', 'main'), state: 'deleted' }),
  ],
  [
    '32: main.1 lives and task_t001, which supervises it, is over',
    ({ main }, [facts]) =>
      facts?.include('tasks', { ...main.row('tasks', 'task_t001'), status: 'completed' }),
  ],
  [
    '32: main.1 lives and task_none, which supervises it, is over',
    ({ child }, [, facts]) =>
      facts?.include('agents', { ...first(child, 'agents'), supervising_task_id: 'task_none' }),
  ],
  [
    '32: main.1 lives under task_t001, which supervises main.2',
    ({ main }, [facts]) =>
      facts?.include('tasks', { ...main.row('tasks', 'task_t001'), child_agent_id: 'main.2' }),
  ],
  [
    '32: task_t001 is running and main.1, which it supervises, does not live',
    ({ child }, [, facts]) =>
      facts?.include('agents', { ...first(child, 'agents'), state: 'deleted' }),
  ],
  [
    '32: task_t001 is running and main.9, which it supervises, does not live',
    ({ main }, [facts]) =>
      facts?.include('tasks', { ...main.row('tasks', 'task_t001'), child_agent_id: 'main.9' }),
  ],
  [
    '33: deleg_0001 is bound to work_0001, an item of main',
    ({ main }, [facts]) =>
      facts?.include('delegations', {
        ...main.row('delegations', 'deleg_0001'),
        child_work_item_id: 'work_0001',
      }),
  ],
  [
    '41: main.1 is a private child and made x',
    ({ child }, rows) => {
      const x = new AgentFacts('x')
      const row = { ...first(child, 'agents'), id: 'x', visibility: 'public' } as const
      x.include('agents', { ...row, lineage_parent_agent_id: 'main.1' })
      ;(rows as AgentFacts[]).push(x)
    },
  ],
  [
    '41: main has 9 live agents',
    ({ child }, rows) => {
      for (let n = 3; n < 11; n++) {
        const x = new AgentFacts(`main.${n}`)
        x.include('agents', { ...first(child, 'agents'), id: x.agent_id })
        ;(rows as AgentFacts[]).push(x)
      }
    },
  ],
  [
    '41: d is 3 deep',
    ({ main }, rows) => {
      for (const [above, id] of [
        ['main', 'b'],
        ['b', 'c'],
        ['c', 'd'],
      ] as const) {
        const x = new AgentFacts(id)
        x.include('agents', { ...main.row('agents', 'main'), id, lineage_parent_agent_id: above })
        ;(rows as AgentFacts[]).push(x)
      }
    },
  ],
]

for (const [finding, spoil] of together) {
  test(`the agents of a home together show ${finding}`, () => {
    const world = lived()
    const rows = [world.main, world.child, world.done].map(of)
    assert.deepEqual(familyViolations(rows), [])
    spoil(world, rows)
    const found = familyViolations(rows)
    assert.ok(found.includes(finding), found.join('\n'))
  })
}
