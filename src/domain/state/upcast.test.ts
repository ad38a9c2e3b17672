/** What an earlier program stored is read in the shape of today. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { baselineOf, eventOf } from './upcast.ts'

const stored = (wake: string) => ({ type: 'wait_registered', id: 'wait_1', wake, reason: 'Which?' })
const asked = { text: 'Which?', choices: [], settles: null }

test('a wait for the operator asked with its reason; any other asked nothing', () => {
  for (const [wake, question] of [
    ['operator_input', asked],
    ['timer', null],
  ] as const) {
    const data = JSON.stringify(stored(wake))
    assert.deepEqual(eventOf(data), { ...stored(wake), question })
    assert.deepEqual(baselineOf('waits', data).question, question)
  }
})

test('a question that is stored stays as it is', () => {
  const event = { ...stored('operator_input'), question: { ...asked, text: 'Red?' } }
  assert.deepEqual(eventOf(JSON.stringify(event)), event)
})

test('a child that asked offered no choices', () => {
  const asking = { key: 'wait_1', text: 'Which?' }
  const event = { type: 'task_asked', id: 'task_1', asking }
  const now = { ...asking, choices: [] }
  assert.deepEqual(eventOf(JSON.stringify(event)), { ...event, asking: now })
  const row = (given: unknown) => baselineOf('tasks', JSON.stringify({ asking: given })).asking
  assert.deepEqual([row(asking), row(null)], [now, null])
})

test('a child was told to have a folder of output, and never had one', () => {
  const queued = (kind: string) => ({ type: 'task_queued', id: 'task_1', kind, start_place: null })
  for (const [kind, path] of [
    ['child_agent', null],
    ['command', '/h/tasks/task_1'],
  ] as const) {
    const event = { ...queued(kind), output_path: '/h/tasks/task_1' }
    assert.deepEqual(eventOf(JSON.stringify(event)), { ...event, output_path: path })
    const row = { kind, output: { path: '/h/tasks/task_1', bytes: 3 } }
    assert.deepEqual(baselineOf('tasks', JSON.stringify(row)).output, { path, bytes: 3 })
  }
})

test('a look that was due once is due every so often, and a review knows what stood before it', () => {
  const [created_at, recheck_at] = ['2026-03-02T09:00:00.000Z', '2026-03-02T10:00:00.000Z']
  const row = (given: object) => {
    const { recheck_ms, rechecks, last_review } = baselineOf('waits', JSON.stringify(given))
    return { recheck_ms, rechecks, last_review }
  }
  const none = { recheck_ms: null, rechecks: 0, last_review: null }
  assert.deepEqual(row({ created_at, recheck_at: null, last_review: null }), none)
  const hour = 3_600_000
  assert.deepEqual(row({ created_at, recheck_at, last_review: null }), {
    ...none,
    recheck_ms: hour,
  })
  const soon = row({ created_at, recheck_at: created_at, last_review: null })
  assert.equal(soon.recheck_ms, limits.review_pause.value, 'never more often than a review may be')
  const before = { trigger_count: 2 }
  for (const review of [
    { turn_id: 'turn_1', before },
    { turn_id: 'turn_1', before: null },
  ]) {
    const whole = review.before && { recheck_at, rechecks: 0, ...before }
    assert.deepEqual(row({ created_at, recheck_at, last_review: review }), {
      ...none,
      recheck_ms: hour,
      last_review: { ...review, before: whole },
    })
  }
  const today = { recheck_ms: 5, rechecks: 3, last_review: null }
  assert.deepEqual(row({ created_at, recheck_at, ...today }), today, 'what is there stays')
})

test('a meter of one item draws on none, and what it knows of others stays', () => {
  const bare = baselineOf('meters', JSON.stringify({ id: 'work_1', kind: 'item' }))
  const { over, shared, pays_on, drawers, limits: own, draws_on } = bare
  assert.deepEqual([over, shared, pays_on, drawers, own, draws_on], [[], 0, false, [], null, null])
  const known = { id: 'work_1', shared: 2, pays_on: true, drawers: ['docs'], draws_on: 'work_2' }
  const { shared: two, pays_on: on, ...rest } = baselineOf('meters', JSON.stringify(known))
  assert.deepEqual([two, on, rest.drawers, rest.draws_on], [2, true, ['docs'], 'work_2'])
})
