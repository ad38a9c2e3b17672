import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, wait, World } from '../../testing/world/agent-world.ts'
import { does, every, everyFew } from '../../testing/world/operator-inputs.ts'
import type { AgentFacts } from '../facts/agent-facts.ts'
import type { Event, Rows, StoredEvent, Table } from '../state/event.ts'
import { violations } from './of-an-agent.ts'
import { fireSlots } from '../timers/slots.ts'
import { day, minute, plus } from '../time.ts'

/** A world that had a delivery, a dead one, a slot that fired and one that was missed. */
function lived(): World {
  const w = new World('docs')
  const via = { kind: 'webhook', webhook: 'hook' } as const
  does(w, { do: 'deliver', via, body: 'x', source: 'ci', sender_id: '1' })
  does(w, { do: 'dead_letter', via, body: '<', source: 'ci', sender_id: '2', reason: 'not JSON' })
  does(w, { do: 'create_trigger', label: 'x' })
  does(w, { do: 'create_schedule', label: 'x', text: 'x', spec: every(5) })
  w.pass(10 * minute).do((d) => fireSlots(d, everyFew))
  return w
}

test('a world that followed the rules violates nothing', () => {
  const w = lived()
  assert.deepEqual(
    w.all('slots').map(({ status }) => status),
    ['missed', 'fired'],
  )
  assert.deepEqual(violations(w.whole(), w.events), [])
})

type Put = <T extends Table>(table: T, row: Rows[T]) => void
const at = (w: World, n: number) => w.all('slots')[n] ?? assert.fail()

// Each row spoils one thing in the rows of a world that was right.
const byRows: [finding: string, (w: World, put: Put) => void][] = [
  [
    '1: dlv_0001 is accepted and says nothing of it',
    (w, put) => put('deliveries', { ...w.row('deliveries', 'dlv_0001'), message_id: null }),
  ],
  [
    '1: dlv_0002 is dead and says nothing of it',
    (w, put) => put('deliveries', { ...w.row('deliveries', 'dlv_0002'), reason: null }),
  ],
  [
    '6: sched_0001 is active, next null',
    (w, put) => put('schedules', { ...w.row('schedules', 'sched_0001'), next_at: null }),
  ],
  [
    '6: trig_0001 is active and its agent is deleted',
    (w, put) => put('agents', { ...w.row('agents', 'docs'), state: 'deleted' }),
  ],
  [
    '29: sched_0001@2026-03-02T09:10:00.000Z fired and made no message',
    (w, put) => put('slots', { ...at(w, 1), message_id: null }),
  ],
  [
    '29: sched_0001@2026-03-02T09:05:00.000Z was missed and made msg_0001',
    (w, put) => put('slots', { ...at(w, 0), message_id: 'msg_0001' }),
  ],
]
for (const [finding, spoil] of byRows) {
  test(`rows show ${finding}`, () => {
    const w = lived()
    const facts = w.whole() as AgentFacts
    spoil(w, (table, row) => facts.include(table, row))
    assert.ok(violations(facts).includes(finding), violations(facts).join('\n'))
  })
}

/** What is wrong with the history when events are added to a good one, each after some time. */
function after(w: World, added: readonly (readonly [Event, ms: number])[]): string[] {
  const last = w.events.at(-1) ?? assert.fail()
  const more = added.map(([event, ms], n): StoredEvent => {
    const [seq, global_seq] = [last.seq + n + 1, last.global_seq + n + 1]
    return { ...last, id: `evt_added_${n}`, seq, global_seq, at: plus(w.now, ms), event }
  })
  return violations(w.whole(), [...w.events, ...more])
}

const past = <T extends Event['type']>(w: World, type: T): Extract<Event, { type: T }> => {
  const found = w.events.map(({ event }) => event).find((event) => event.type === type)
  assert.ok(found?.type === type)
  return found as Extract<Event, { type: T }>
}

const byHistory: [finding: string | null, (w: World) => (readonly [Event, number])[]][] = [
  [
    '2: dlv_x is dlv_0001 once more',
    (w) => [[{ ...past(w, 'delivery_accepted'), id: 'dlv_x' }, 7 * day]],
  ],
  [null, (w) => [[{ ...past(w, 'delivery_accepted'), id: 'dlv_x' }, 8 * day]]],
  ['2: dlv_x is dlv_0002 once more', (w) => [[{ ...past(w, 'delivery_dead'), id: 'dlv_x' }, day]]],
  [
    '1: dlv_0002 was accepted before msg_x was admitted',
    () => {
      const about = { source: 'ci', resource: null, summary: null }
      const id = 'dlv_0002'
      return [[{ type: 'delivery_redelivered', id, message_id: 'msg_x', ...about }, 0]]
    },
  ],
  [
    '29: sched_0001@2026-03-02T09:05:00.000Z was settled twice',
    (w) => [[past(w, 'slot_settled'), 0]],
  ],
  [
    '29: sched_0001@x was settled before it was due',
    (w) => [[{ ...past(w, 'slot_settled'), id: 'sched_0001@x', due_at: plus(w.now, 1) }, 0]],
  ],
  [
    '29: sched_0001@x fired without its message',
    (w) => [
      [{ ...past(w, 'slot_settled'), id: 'sched_0001@x', status: 'fired', message_id: 'msg_x' }, 0],
    ],
  ],
]
for (const [finding, add] of byHistory) {
  test(`the history shows ${finding ?? 'nothing after eight days'}`, () => {
    const w = lived()
    const found = after(w, add(w)).filter((one) => /^(1|2|29):/.test(one))
    assert.deepEqual(found, finding === null ? [] : [finding])
  })
}

test('6 names each thing that is left to carry for a deleted agent', () => {
  const w = lived()
  const id = item(w)
  const { wait: row } = wait(w, { work_item_id: id, source: 'cd' })
  const facts = w.whole() as AgentFacts
  facts.include('agents', { ...w.row('agents', 'docs'), state: 'deleted' })
  const left = () => violations(facts).filter((one) => one.startsWith('6: '))
  const gone = 'and its agent is deleted'
  const queued = w.all('messages').filter(({ status }) => status === 'queued')
  assert.equal(queued.length, 2)
  assert.deepEqual(left(), [
    `6: ${row.id} is active ${gone}`,
    `6: trig_0001 is active ${gone}`,
    `6: sched_0001 is active ${gone}`,
    ...queued.map((message) => `6: ${message.id} is queued ${gone}`),
  ])
  const cancelled = { status: 'cancelled', cancelled_at: w.now } as const
  facts.include('waits', { ...row, ...cancelled })
  facts.include('triggers', { ...w.row('triggers', 'trig_0001'), status: 'revoked' })
  const schedule = w.row('schedules', 'sched_0001')
  facts.include('schedules', { ...schedule, status: 'removed', next_at: null })
  for (const message of queued) facts.include('messages', { ...message, status: 'dropped' })
  assert.deepEqual(left(), [])
})
