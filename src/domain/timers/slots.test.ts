import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, T0, World } from '../../testing/world/agent-world.ts'
import { begin, end } from '../../testing/world/turns.ts'
import { ask, answer } from '../../testing/world/turns.ts'
import { does, every, everyFew, once } from '../../testing/world/operator-inputs.ts'
import { completeItem } from '../work/complete.ts'
import type { ScheduleId, WorkItemId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { limits } from '../limits.ts'
import { nextSlotAt } from './schedules.ts'
import { fireSlots } from './slots.ts'
import { day, hour, minute, plus, type Timestamp } from '../time.ts'
import type { MissedPolicy, OverlapPolicy, ScheduleSpec } from '../state/schedule.ts'

type Given = {
  spec?: ScheduleSpec
  missed?: MissedPolicy
  overlap?: OverlapPolicy
  work_item_id?: WorkItemId
}

/** T0 is 09:00:00; every five minutes from 09:05 on, unless another spec is given. */
function scheduled(given: Given = {}, w = new World()) {
  const { spec = every(5), ...more } = given
  const made = does(w, { do: 'create_schedule', label: 'Tests', text: 'Run them.', spec, ...more })
  return { w, id: made.id as ScheduleId }
}

const fire = (w: World) => w.do((d) => fireSlots(d, everyFew))

/** Slots as `09:05 fired 1 missed`, in order of settlement. */
const slots = (w: World) =>
  w.all('slots').map(({ due_at, status, missed_count }) => {
    const count = missed_count === 0 ? '' : ` for ${missed_count} more`
    return `${due_at.slice(11, 16)} ${status}${count}`
  })
const ticks = (w: World) => w.all('messages').filter(({ kind }) => kind === 'timer_tick')

test('a slot, its message and the next moment of its schedule are one commit', () => {
  const { w, id } = scheduled()
  assert.equal(nextSlotAt(w.facts), plus(T0, 5 * minute))
  assert.deepEqual(fire(w), [])
  assert.deepEqual(w.last, [])
  fire(w.pass(5 * minute + 20))
  assert.deepEqual(
    w.last.map(({ type }) => type),
    ['message_admitted', 'slot_settled', 'schedule_advanced'],
  )
  const due_at = plus(T0, 5 * minute)
  assert.deepEqual(w.row('slots', `${id}@${due_at}`), {
    id: `${id}@${due_at}`,
    agent_id: 'main',
    schedule_id: id,
    due_at,
    status: 'fired',
    message_id: 'msg_0001',
    late_by_ms: 20,
    missed_count: 0,
    at: w.now,
  })
  const { kind, origin, authority_class, delivery_surface, admission_context } = w.row(
    'messages',
    'msg_0001',
  )
  assert.deepEqual(
    [kind, origin, authority_class, delivery_surface, admission_context],
    ['timer_tick', 'timer', 'runtime_instruction', 'timer_scheduler', 'runtime_owned'],
  )
  const { body, dedupe_key, priority } = w.row('messages', 'msg_0001')
  assert.deepEqual(
    [body, dedupe_key, priority],
    [`Run them.\n\n(Schedule "Tests", ${id}, due ${due_at}.)`, `${id}@${due_at}`, 'normal'],
  )
  const { status, next_at, last_slot_at } = w.row('schedules', id)
  assert.deepEqual([status, next_at, last_slot_at], ['active', plus(T0, 10 * minute), due_at])
  assert.deepEqual(fire(w), [])
  assert.deepEqual(violations(w.whole(), w.events), [])
})

test('a one-shot fires once, however late, and is over', () => {
  const { w, id } = scheduled({ spec: once(plus(T0, hour)) })
  fire(w.pass(3 * day))
  assert.deepEqual(slots(w), ['10:00 fired'])
  const { status, next_at } = w.row('schedules', id)
  assert.deepEqual([status, next_at], ['ended', null])
  assert.equal(w.row('slots', `${id}@${plus(T0, hour)}`).late_by_ms, 3 * day - hour)
  assert.match(ticks(w)[0]?.body ?? '', /; 255600 s late\.\)$/)
  w.reload()
  assert.deepEqual([nextSlotAt(w.facts), fire(w)], [null, []])
})

// After a downtime of so many minutes, by the policy for missed slots, every five minutes.
const missed: [MissedPolicy, minutes: number, slots: string[]][] = [
  ['once', 5, ['09:05 fired']],
  ['skip', 5, ['09:05 fired']],
  ['all', 5, ['09:05 fired']],
  ['once', 17, ['09:05 missed', '09:10 missed', '09:15 fired for 2 more']],
  ['skip', 17, ['09:05 missed', '09:10 missed', '09:15 missed']],
  ['skip', 16, ['09:05 missed', '09:10 missed', '09:15 fired for 2 more']],
  ['all', 17, ['09:05 fired', '09:10 fired', '09:15 fired']],
  ['once', 15, ['09:05 missed', '09:10 missed', '09:15 fired for 2 more']],
]
for (const [policy, minutes, expected] of missed) {
  test(`missed: ${policy}, after ${minutes} minutes`, () => {
    const { w, id } = scheduled({ missed: policy })
    fire(w.pass(minutes * minute))
    assert.deepEqual(slots(w), expected)
    assert.equal(ticks(w).length, expected.filter((one) => one.includes('fired')).length)
    assert.equal(
      w.row('schedules', id).next_at,
      plus(T0, (Math.floor(minutes / 5) + 1) * 5 * minute),
    )
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
}

test('a month of downtime settles the newest hundred slots, and says that there were more', () => {
  const { w, id } = scheduled({ spec: every(1), missed: 'once' })
  fire(w.pass(30 * day))
  const all = w.all('slots')
  assert.equal(all.length, limits.missed_slots.value)
  assert.equal(all.at(-1)?.due_at, w.now)
  assert.equal(all.at(-1)?.missed_count, 99)
  assert.equal(ticks(w).length, 1)
  assert.match(ticks(w)[0]?.body ?? '', /at least 99 earlier slots were missed\.\)$/)
  assert.equal(w.row('schedules', id).next_at, plus(w.now, minute))
})

test('missed: all makes up for a hundred slots at most', () => {
  const { w } = scheduled({ spec: every(1), missed: 'all' })
  fire(w.pass(day))
  assert.equal(ticks(w).length, limits.missed_slots.value)
})

/** A second slot while the first one's message is queued, or claimed by an open turn. */
const overlaps: [
  OverlapPolicy,
  'queued' | 'claimed' | 'consumed',
  slots: string[],
  ticks: number,
][] = [
  ['skip', 'queued', ['09:05 fired', '09:10 skipped'], 1],
  ['skip', 'claimed', ['09:05 fired', '09:10 skipped'], 1],
  ['skip', 'consumed', ['09:05 fired', '09:10 fired'], 2],
  ['queue', 'queued', ['09:05 fired', '09:10 fired'], 2],
  ['queue', 'claimed', ['09:05 fired', '09:10 fired'], 2],
  ['coalesce', 'queued', ['09:05 fired', '09:10 skipped'], 1],
  ['coalesce', 'claimed', ['09:05 fired', '09:10 fired'], 2],
]
for (const [policy, state, expected, count] of overlaps) {
  test(`overlap: ${policy}, while the earlier message is ${state}`, () => {
    const { w } = scheduled({ overlap: policy })
    fire(w.pass(5 * minute))
    if (state !== 'queued') begin(w)
    if (state === 'consumed') {
      ask(w)
      answer(w, { text: 'They ran.' })
      end(w, { text: 'They ran.' })
    }
    assert.equal(w.row('messages', 'msg_0001').status, state)
    fire(w.pass(5 * minute))
    assert.deepEqual([slots(w), ticks(w).length], [expected, count])
    const stands = w.all('slots')[1]?.message_id
    const expectedId = { skip: null, queue: 'msg_0002', coalesce: 'msg_0001' }[policy]
    if (state === 'queued') assert.equal(stands, expectedId)
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
}

test('overlap: queue keeps a hundred messages of a schedule at most', () => {
  const { w } = scheduled({ spec: every(1), overlap: 'queue' })
  for (let n = 0; n < limits.queued_ticks.value + 3; n++) fire(w.pass(minute))
  assert.equal(ticks(w).length, limits.queued_ticks.value)
  assert.deepEqual(
    slots(w)
      .slice(-1)
      .map((one) => one.slice(6)),
    ['skipped'],
  )
})

test('a slot of a stopped agent settles; its message waits', () => {
  const { w } = scheduled()
  does(w, { do: 'stop_agent' })
  fire(w.pass(5 * minute))
  assert.deepEqual(slots(w), ['09:05 fired'])
  assert.equal(w.next().do, 'stop')
  does(w, { do: 'start_agent' })
  assert.equal(w.next().do, 'start_turn')
})

test('a slot for an item carries it, and is over with it', () => {
  const w = new World()
  const work_item_id = item(w)
  const { id } = scheduled({ work_item_id }, w)
  fire(w.pass(5 * minute))
  assert.equal(ticks(w)[0]?.work_item_id, work_item_id)
  w.do((d) => completeItem(d, { work_item_id, by: 'operator', report: null, turn: null }))
  fire(w.pass(5 * minute))
  assert.deepEqual(slots(w), ['09:05 fired', '09:10 skipped'])
  assert.deepEqual([w.row('schedules', id).status, ticks(w).length], ['ended', 1])
})

test('slots of several schedules settle earliest first, each on its own', () => {
  const { w, id: five } = scheduled()
  const { id: two } = scheduled({ spec: every(2), missed: 'skip' }, w)
  assert.equal(nextSlotAt(w.facts), plus(T0, 2 * minute))
  const settled = fire(w.pass(5 * minute))
  const at = (minutes: number): Timestamp => plus(T0, minutes * minute)
  assert.deepEqual(settled, [`${two}@${at(2)}`, `${two}@${at(4)}`, `${five}@${at(5)}`])
  assert.deepEqual(slots(w), ['09:02 missed', '09:04 fired for 1 more', '09:05 fired'])
})
