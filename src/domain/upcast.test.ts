/** What an earlier program stored is read in the shape of today. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
