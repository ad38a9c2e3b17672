/** An order of events that is a bug is thrown by the fold, and names the event and the row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evolve, type Event, type EventType, type Rows, type Table } from './event.ts'
import { noUse } from './meter.ts'

const at = '2026-03-02T09:00:00.000Z'
const meta = { at, seq: 7, agent_id: 'main' }
const e = (type: EventType, id: string, fields: object = {}) => ({ type, id, ...fields }) as Event
const fold = (row: object | null, event: Event) => evolve(row as Rows[Table] | null, event, meta)

test('nothing happens to a row before the event that makes it', () => {
  const rows: [EventType, id: string, first: EventType][] = [
    ['work_item_updated', 'work_1', 'work_item_created'],
    ['plan_changed', 'work_1', 'work_item_created'],
    ['wait_triggered', 'wait_1', 'wait_registered'],
    ['wait_resolved', 'wait_1', 'wait_registered'],
    ['message_claimed', 'msg_1', 'message_admitted'],
    ['turn_ended', 'turn_1', 'turn_started'],
    ['turn_bound', 'turn_1', 'turn_started'],
    ['task_started', 'task_1', 'task_queued'],
    ['task_ended', 'task_1', 'task_queued'],
    ['delegation_bound', 'deleg_1', 'delegation_made'],
    ['meter_settled', 'work_1', 'meter_opened'],
    ['schedule_paused', 'sched_1', 'schedule_created'],
  ]
  for (const [type, id, first] of rows) {
    assert.throws(() => fold(null, e(type, id)), { message: `${type} before ${first}: ${id}` })
  }
})

test('nothing happens to a row after the event that ends it', () => {
  const rows: [row: object, Event, message: string][] = [
    [
      { id: 'work_1', state: 'completed' },
      e('work_item_updated', 'work_1'),
      'work_item_updated after the completion of work_1',
    ],
    [
      { id: 'work_1', state: 'open' },
      e('check_owed', 'work_1'),
      'check_owed before the end of work_1',
    ],
    [
      { id: 'wait_1', status: 'cancelled' },
      e('wait_resolved', 'wait_1'),
      'wait_resolved after wait_1 was cancelled',
    ],
    [
      { id: 'msg_1', status: 'dead' },
      e('message_claimed', 'msg_1'),
      'message_claimed after msg_1 was dead',
    ],
    [
      { id: 'task_1', status: 'failed' },
      e('task_started', 'task_1'),
      'task_started after the end of task_1',
    ],
    [
      { id: 'deleg_1', state: 'failed' },
      e('delegation_ended', 'deleg_1'),
      'delegation_ended after deleg_1 was failed',
    ],
    [
      { id: 'deleg_1', state: 'active', child_work_item_id: 'work_2' },
      e('delegation_bound', 'deleg_1'),
      'deleg_1 is bound already',
    ],
    [
      { id: 'sched_1', status: 'ended' },
      e('schedule_paused', 'sched_1'),
      'schedule_paused after sched_1 was ended',
    ],
    [
      { id: 'sched_1', status: 'removed' },
      e('schedule_removed', 'sched_1'),
      'schedule_removed after sched_1 was removed',
    ],
    [{ id: 'sched_1' }, e('schedule_created', 'sched_1'), 'a second schedule sched_1'],
  ]
  for (const [row, event, message] of rows) assert.throws(() => fold(row, event), { message })
})

test('a delegation is bound once and ends once, and keeps all else', () => {
  const made = fold(
    null,
    e('delegation_made', 'deleg_1', {
      work_item_id: 'work_1',
      child_agent_id: 'kid',
      task_id: 'task_1',
    }),
  )
  assert.deepEqual(made, {
    id: 'deleg_1',
    work_item_id: 'work_1',
    child_agent_id: 'kid',
    task_id: 'task_1',
    agent_id: 'main',
    child_work_item_id: null,
    state: 'active',
    result_summary: null,
    created_at: at,
    ended_at: null,
  })
  const bound = fold(made, e('delegation_bound', 'deleg_1', { child_work_item_id: 'work_2' }))
  assert.deepEqual(bound, { ...made, child_work_item_id: 'work_2' })
  const end = { state: 'completed', result_summary: 'Done.' }
  const ended = fold(bound, e('delegation_ended', 'deleg_1', end))
  assert.deepEqual(ended, { ...bound, ...end, ended_at: at })
})

test('what a meter holds only grows, one kind of entry at a time', () => {
  const use = { ...noUse, tokens: 10, rounds: 1 }
  const meter = {
    id: 'work_1',
    allowance: null,
    used: use,
    reserved: { round_id: 'turn_1:1', use },
    drawn: [{ delegation_id: 'deleg_1', used: use, reserved: noUse }],
    drawers: [{ agent_id: 'a', state: 'draws', used: use, reserved: noUse }],
    told: ['a'],
    asked: ['b'],
  }
  const settled = { ...noUse, tokens: 20, rounds: 2 }
  const more = { ...noUse, tokens: 11, rounds: 1 }
  const taken = { drawer_agent_id: 'a', reserved: use }
  const rows: [Event, object][] = [
    [
      e('meter_allowed', 'work_1', { allowance: { max_tokens: 1 } }),
      { allowance: { max_tokens: 1 } },
    ],
    [
      e('meter_reserved', 'work_1', { round_id: 'turn_1:2', use: more, told: ['c'] }),
      { reserved: { round_id: 'turn_1:2', use: more }, told: ['a', 'c'] },
    ],
    [
      e('meter_settled', 'work_1', { round_id: 'turn_1:1', use }),
      { reserved: null, used: settled },
    ],
    [e('meter_settled', 'work_1', { round_id: 'turn_0:9', use }), { used: settled }],
    [e('meter_released', 'work_1'), { reserved: null }],
    [
      e('meter_drawn', 'work_1', { delegation_id: 'deleg_1', used: more, reserved: use }),
      { drawn: [{ delegation_id: 'deleg_1', used: more, reserved: use }] },
    ],
    [
      e('meter_drawn', 'work_1', { delegation_id: 'deleg_2', used: noUse, reserved: use }),
      { drawn: [...meter.drawn, { delegation_id: 'deleg_2', used: noUse, reserved: use }] },
    ],
    [
      e('meter_taken', 'work_1', { ...taken, state: 'left', used: more }),
      { drawers: [{ agent_id: 'a', state: 'left', used: more, reserved: use }] },
    ],
    [e('meter_asked', 'work_1', { marks: ['d'] }), { asked: ['b', 'd'] }],
  ]
  for (const [event, changed] of rows) {
    assert.deepEqual(fold(meter, event), { ...meter, ...changed }, event.type)
  }
  const less = e('meter_drawn', 'work_1', { delegation_id: 'deleg_1', used: noUse, reserved: use })
  const fewer = e('meter_taken', 'work_1', { ...taken, state: 'draws', used: noUse })
  for (const event of [less, fewer]) {
    assert.throws(() => fold(meter, event), { message: 'work_1 was drawn on less' })
  }
})
