/** How a task stands in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aTask } from '../../testing/rows.ts'
import { endedWell, endWords, runsSince } from './task-words.ts'

const ends = [
  ['command', 'completed', 0, null, 'exit 0', true],
  ['command', 'completed', 3, null, 'exit 3', false],
  ['command', 'completed', null, 'ended by SIGKILL', 'ended by SIGKILL', false],
  ['command', 'failed', 124, 'timeout', 'exit 124', false],
  ['command', 'failed', null, 'timeout', 'failed', false],
  ['command', 'cancelled', null, 'stopped', 'cancelled', false],
  ['command', 'interrupted', null, 'gone', 'interrupted', false],
  ['child_agent', 'completed', null, null, 'completed', true],
  ['child_agent', 'failed', null, 'it was deleted', 'failed', false],
] as const

for (const [kind, status, exit_status, reason, words, well] of ends) {
  test(`a ${kind} that is ${status} with ${exit_status ?? 'no status'} ended: ${words}`, () => {
    const task = aTask('task_1', { kind, status, exit_status, reason })
    assert.deepEqual([endWords(task), endedWell(task)], [words, well])
  })
}

test('a command runs from its intent on while its call answers for it; what is to begin does not', () => {
  const created_at = '2026-01-02T03:00:00.000Z'
  const started_at = '2026-01-02T03:00:01.000Z'
  const queued = { status: 'queued', promoted: false, started_at: null, created_at } as const
  const since = (more: Parameters<typeof aTask>[1]) =>
    runsSince(aTask('task_1', { ...queued, ...more }))
  assert.equal(since({}), created_at)
  assert.equal(since({ promoted: true }), null)
  assert.equal(since({ kind: 'child_agent' }), null)
  assert.equal(since({ status: 'running', promoted: true, started_at }), started_at)
})
