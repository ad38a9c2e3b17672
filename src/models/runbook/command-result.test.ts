/** What a result says about a command, and how much of its output is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandSeen } from './command-result.ts'

const seen = (result: Record<string, unknown>) =>
  commandSeen({ tool_name: 'ExecCommand', summary: '', status: 'success', result })
const kept = (stdout: string) => {
  const it = seen({ exit_status: 0, stdout })
  return it.kind === 'ended' ? it.output : null
}

test('of an output the last 1,200 characters are kept, and a longer one says that it was cut', () => {
  const x = (n: number) => 'x'.repeat(n)
  assert.deepEqual(
    [1_199, 1_200, 1_201].map((n) => kept(`a${x(n - 1)}`)),
    [`a${x(1_198)}`, `a${x(1_199)}`, `…${x(1_199)}`],
  )
})

test('of an output the last 12 lines with words are kept', () => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`)
  assert.deepEqual(
    [11, 12, 13].map((n) => kept(lines(1, n).join('\n \n'))),
    [lines(1, 11), lines(1, 12), lines(2, 13)].map((all) => all.join('\n')),
  )
})

test('each state of a task has its own meaning', () => {
  const said = { exit_status: 3, stdout: 'out\n', stderr: 'err\n', reason: 'why' }
  const output = 'out\nerr'
  const handle = { task_id: 'task_1' }
  assert.deepEqual(
    ['queued', 'running', 'cancelling', 'interrupted', 'cancelled', 'failed', 'completed'].map(
      (status) => seen({ ...said, task_handle: { ...handle, status } }),
    ),
    [
      { kind: 'running', task_id: 'task_1' },
      { kind: 'running', task_id: 'task_1' },
      { kind: 'running', task_id: 'task_1' },
      { kind: 'unknown', why: 'its end is not on record: why' },
      { kind: 'failed', why: 'it was stopped: why', output },
      { kind: 'failed', why: 'it failed: why', output },
      { kind: 'ended', exit_status: 3, output },
    ],
  )
  assert.deepEqual(seen({ status: 'completed' }), { kind: 'failed', why: 'it failed', output: '' })
})
