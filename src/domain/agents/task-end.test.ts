import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Task } from '../state/task.ts'
import {
  ANOTHER_PLACE,
  endOfTask,
  standing,
  taskResultText,
  TIMED_OUT,
  type ProcessSeen,
} from './task-end.ts'

type Row = Pick<Task, 'kind' | 'status' | 'reason' | 'start_place'>

const start_place = { boot: 'boot', tasks: 'tasks' }

const queued: Row = { kind: 'command', status: 'queued', reason: null, start_place }
const running: Row = { kind: 'command', status: 'running', reason: null, start_place }
const cancelling: Row = { kind: 'command', status: 'cancelling', reason: 'aborted', start_place }
const overdue: Row = { kind: 'command', status: 'cancelling', reason: TIMED_OUT, start_place }

const ended = (
  how: 'exited' | 'signalled' | 'timed_out' | 'could_not_start',
  exit_status: number | null,
  more: { signal?: string; problem?: string } = {},
): ProcessSeen => ({ state: 'ended', how, exit_status, signal: null, problem: null, ...more })

const seen = { state: 'running' } as const
const absent = { state: 'absent' } as const
const lost = { state: 'lost' } as const

const table: [string, ProcessSeen, Row, string | null, string | null, number | null][] = [
  ['ended by itself', ended('exited', 0), running, 'completed', null, 0],
  ['ended by itself with a failure', ended('exited', 7), running, 'completed', null, 7],
  ['ended before its row was begun', ended('exited', 0), queued, 'completed', null, 0],
  [
    'killed by somebody else',
    ended('signalled', 137, { signal: 'KILL' }),
    running,
    'completed',
    'ended by KILL',
    137,
  ],
  ['its time was up', ended('timed_out', 143), running, 'failed', 'timeout', 143],
  [
    'could not start',
    ended('could_not_start', 126, { problem: 'workdir' }),
    queued,
    'failed',
    'could not start: workdir',
    null,
  ],
  ['still running', seen, running, null, null, null],
  ['never claimed', absent, queued, null, null, null],
  ['its folder is gone', absent, running, 'interrupted', 'its runner folder is gone', null],
  ['vanished', lost, running, 'interrupted', 'its process vanished without an end', null],
  ['stopped', ended('signalled', 143), cancelling, 'cancelled', 'aborted', 143],
  [
    'stopped before it began',
    ended('could_not_start', 126),
    cancelling,
    'cancelled',
    'aborted',
    126,
  ],
  ['stopped and vanished', lost, cancelling, 'cancelled', 'aborted', null],
  ['stopped and never claimed', absent, cancelling, 'cancelled', 'aborted', null],
  ['stopped for its time', ended('timed_out', 143), overdue, 'failed', 'timeout', 143],
  ['being stopped, still there', seen, cancelling, null, null, null],
]

const processes: { readonly [S in ProcessSeen['state']]: ProcessSeen } = {
  absent,
  running: seen,
  ended: ended('exited', 0),
  lost,
}

test('a held task, and one that is no command, ends by nothing that is seen of processes', () => {
  for (const process of Object.values(processes)) {
    for (const place of [start_place, null]) {
      const row = { kind: 'command', status: 'held', reason: null, start_place: place } as const
      assert.equal(endOfTask(process, row, start_place), null, process.state)
      for (const status of ['queued', 'running'] as const) {
        for (const kind of ['tool_call', 'child_agent'] as const) {
          const other = { ...row, kind, status }
          assert.equal(endOfTask(process, other, start_place), null, `${kind} ${status}`)
        }
      }
    }
  }
})

for (const [name, process, task, status, reason, exit_status] of table) {
  test(`a task whose process is: ${name}`, () => {
    const expected = status === null ? null : { status, reason, exit_status }
    assert.deepEqual(endOfTask(process, task, start_place), expected)
  })
}

const elsewhere: [string, Row['start_place']][] = [
  ['another boot', { ...start_place, boot: 'another' }],
  ['another folder of tasks', { ...start_place, tasks: 'another' }],
  ['a place that nobody noted', null],
]
for (const [where, place] of elsewhere) {
  test(`a task without a runner folder that was to begin under ${where} may have run`, () => {
    const end = (row: Row, process: ProcessSeen) => {
      const ending = endOfTask(process, { ...row, start_place: place }, start_place)
      return ending && [ending.status, ending.reason]
    }
    assert.deepEqual(
      [end(queued, absent), end(cancelling, absent), end(overdue, absent)],
      Array.from({ length: 3 }, () => ['interrupted', ANOTHER_PLACE]),
    )
    // Whose runner is met, or began for certain, is judged as ever.
    assert.deepEqual(end(running, absent), ['interrupted', 'its runner folder is gone'])
    assert.deepEqual(end(queued, ended('exited', 0)), ['completed', null])
    assert.deepEqual(end(cancelling, lost), ['cancelled', 'aborted'])
    assert.deepEqual(end(queued, seen), null)
  })
}

const task = {
  id: 'task_1',
  label: 'make',
  status: 'completed',
  reason: null,
  exit_status: 2,
  started_at: '2026-11-21T00:00:00.000Z',
  ended_at: '2026-11-21T00:00:01.250Z',
} as const

test('how a task stands is one line', () => {
  assert.equal(standing(task), 'completed, exit status 2, 1.3 s')
  assert.equal(standing({ ...task, status: 'running', exit_status: null }), 'running')
})

test('the message of an end says how, and has the last words', () => {
  const end = {
    status: 'completed',
    reason: null,
    exit_status: 2,
    ended_at: task.ended_at,
  } as const
  assert.equal(
    taskResultText(task, end, { text: 'error: no rule\n', cut: true }),
    'task_1 (make): completed, exit status 2, 1.3 s\n' +
      'The last of its output (TaskOutput has more):\nerror: no rule\n',
  )
  assert.equal(
    taskResultText(task, end, { text: 'error: no rule\n', cut: false }),
    'task_1 (make): completed, exit status 2, 1.3 s\nIts output:\nerror: no rule\n',
  )
  assert.equal(
    taskResultText(task, end, { text: '', cut: false }),
    'task_1 (make): completed, exit status 2, 1.3 s\nIt wrote nothing.',
  )
  assert.equal(
    taskResultText(task, end, { text: ' \n', cut: true }),
    'task_1 (make): completed, exit status 2, 1.3 s\n' +
      'The last of its output (TaskOutput has more):\n \n',
  )
})
