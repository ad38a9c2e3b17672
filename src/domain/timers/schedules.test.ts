import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, T0, World } from '../../testing/world/agent-world.ts'
import {
  does,
  every,
  everyFew,
  once,
  refusal,
  type Bare,
} from '../../testing/world/operator-inputs.ts'
import { completeItem } from '../work/complete.ts'
import type { ScheduleId } from '../ids.ts'
import { limits } from '../limits.ts'
import { fireSlots } from './slots.ts'
import { hour, minute, plus } from '../time.ts'

type Create = Extract<Bare, { do: 'create_schedule' }>
const create = (more: Partial<Create> = {}): Create => ({
  do: 'create_schedule',
  label: ' Nightly ',
  text: 'Look at the tests.',
  spec: every(5),
  ...more,
})
const made = (w: World, more: Partial<Create> = {}) => does(w, create(more)).id as ScheduleId

test('a schedule is made with its first moment and the default policies', () => {
  const w = new World()
  const reply = does(w, create())
  assert.equal(reply.said, `sched_0001 is scheduled, first for ${plus(T0, 5 * minute)}.`)
  assert.deepEqual(w.row('schedules', 'sched_0001'), {
    id: 'sched_0001',
    agent_id: 'main',
    label: 'Nightly',
    text: 'Look at the tests.',
    work_item_id: null,
    spec: every(5),
    missed: 'once',
    overlap: 'skip',
    status: 'active',
    next_at: plus(T0, 5 * minute),
    last_slot_at: null,
    by: 'operator',
    created_at: T0,
  })
})

test('the time of a one-shot is kept in UTC, whatever the zone it was given in', () => {
  const w = new World()
  const id = made(w, { spec: once('2026-03-02T11:30:00+01:00') })
  assert.deepEqual(w.row('schedules', id).spec, once('2026-03-02T10:30:00.000Z'))
})

const refused: [what: string, Partial<Create>, code: string][] = [
  ['no label', { label: ' ' }, 'label_invalid'],
  ['a label of two lines', { label: 'a\nb' }, 'label_invalid'],
  ['a label over the limit', { label: 'x'.repeat(101) }, 'over_limit'],
  ['no text', { text: ' ' }, 'message_empty'],
  ['a text over the limit', { text: 'x'.repeat(65_537) }, 'over_limit'],
  ['an item that is not there', { work_item_id: 'work_9' }, 'work_item_not_found'],
  ['a time that is none', { spec: once('tomorrow') }, 'time_invalid'],
  ['a time that has passed', { spec: once(T0) }, 'schedule_never'],
  ['a time too far ahead', { spec: once('2037-01-01T00:00:00Z') }, 'time_too_far'],
  [
    'an expression that is none',
    { spec: { ...every(5), expression: 'odd' } as Create['spec'] },
    'schedule_invalid',
  ],
  [
    'an expression never due',
    { spec: { ...every(5), expression: 'never' } as Create['spec'] },
    'schedule_never',
  ],
]
for (const [what, more, code] of refused) {
  test(`a schedule with ${what} is refused with ${code}`, () => {
    const w = new World()
    assert.equal(refusal(w, create(more)), code)
    const id = made(w)
    const { do: _, ...fields } = { ...create(), ...more }
    assert.equal(refusal(w, { do: 'change_schedule', schedule_id: id, ...fields }), code)
  })
}

test('a schedule for a completed item is refused', () => {
  const w = new World()
  const work_item_id = item(w)
  w.do((d) => completeItem(d, { work_item_id, by: 'agent', report: null, turn: null }))
  assert.equal(refusal(w, create({ work_item_id })), 'work_item_completed')
})

test('an agent has a thousand schedules at most; one that is removed counts no more', () => {
  const w = new World()
  for (let n = 0; n < limits.agent_schedules.value; n++) made(w)
  assert.equal(refusal(w, create()), 'over_limit')
  does(w, { do: 'remove_schedule', schedule_id: 'sched_0001' })
  assert.equal(does(w, create()).id, 'sched_1001')
})

test('a change keeps what it does not name, and another time counts from now on', () => {
  const w = new World()
  const id = made(w)
  does(w.pass(minute), { do: 'change_schedule', schedule_id: id, text: 'Other words.' })
  const before = w.row('schedules', id)
  assert.deepEqual(
    [before.text, before.label, before.next_at],
    ['Other words.', 'Nightly', plus(T0, 5 * minute)],
  )
  does(w.pass(10 * minute), { do: 'change_schedule', schedule_id: id, spec: every(60) })
  assert.equal(w.row('schedules', id).next_at, plus(T0, hour))
})

test('equal values change nothing, and no value is a refusal', () => {
  const w = new World()
  const schedule_id = made(w)
  const same = does(w, { do: 'change_schedule', schedule_id, label: 'Nightly', spec: every(5) })
  assert.deepEqual([w.last, same.said], [[], `${schedule_id} was so already.`])
  assert.equal(refusal(w, { do: 'change_schedule', schedule_id }), 'nothing_to_update')
})

test('what would have been due in a pause was not missed', () => {
  const w = new World()
  const schedule_id = made(w)
  does(w, { do: 'pause_schedule', schedule_id })
  assert.equal(w.row('schedules', schedule_id).next_at, null)
  assert.deepEqual(
    w.pass(hour + minute).do((d) => fireSlots(d, everyFew)),
    [],
  )
  does(w, { do: 'resume_schedule', schedule_id })
  assert.equal(w.row('schedules', schedule_id).next_at, plus(T0, hour + 5 * minute))
  assert.equal(
    does(w, { do: 'resume_schedule', schedule_id }).said,
    `${schedule_id} was so already.`,
  )
})

test('a one-shot whose moment passed in a pause is due when it is resumed', () => {
  const w = new World()
  const schedule_id = made(w, { spec: once(plus(T0, minute)) })
  does(w, { do: 'pause_schedule', schedule_id })
  does(w.pass(hour), { do: 'resume_schedule', schedule_id })
  const settled = w.do((d) => fireSlots(d, everyFew))
  assert.deepEqual(settled, [`${schedule_id}@${plus(T0, minute)}`])
  assert.equal(w.row('schedules', schedule_id).status, 'ended')
})

test('a change of time while paused waits for the resumption', () => {
  const w = new World()
  const schedule_id = made(w)
  does(w, { do: 'pause_schedule', schedule_id })
  const { said } = does(w, { do: 'change_schedule', schedule_id, spec: every(60) })
  assert.equal(said, `${schedule_id} is changed; it is paused.`)
  assert.equal(w.row('schedules', schedule_id).next_at, null)
  does(w, { do: 'resume_schedule', schedule_id })
  assert.equal(w.row('schedules', schedule_id).next_at, plus(T0, hour))
})

// What may still be done to a schedule that is over, or gone.
const verbs = ['change_schedule', 'pause_schedule', 'resume_schedule', 'remove_schedule'] as const
const over: ['ended' | 'removed', readonly (string | null)[]][] = [
  ['ended', ['schedule_over', 'schedule_over', 'schedule_over', null]],
  [
    'removed',
    ['schedule_not_found', 'schedule_not_found', 'schedule_not_found', 'schedule_not_found'],
  ],
]
for (const [status, codes] of over) {
  for (const [n, verb] of verbs.entries()) {
    test(`${verb} of a schedule that is ${status}: ${codes[n] ?? 'done'}`, () => {
      const w = new World()
      const schedule_id = made(w, { spec: once(plus(T0, minute)) })
      if (status === 'ended') w.pass(minute).do((d) => fireSlots(d, everyFew))
      else does(w, { do: 'remove_schedule', schedule_id })
      const act = { do: verb, schedule_id, text: 'x' } as Bare
      if (codes[n] === null) assert.equal(does(w, act).id, schedule_id)
      else assert.equal(refusal(w, act), codes[n])
    })
  }
}
