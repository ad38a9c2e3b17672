// The wait for a child that TaskOutput was asked for, and what ends it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { task, World } from '../../testing/world/agent-world.ts'
import { childOutput } from './child-task.ts'
import type { ToolContext } from '../tool/tool.ts'

test('a wait for a child that is aborted says so, and that the child goes on', async () => {
  const child = task(new World(), { child: true })
  const abort = new AbortController()
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  const ctx = {
    signal: abort.signal,
    interjected: new AbortController().signal,
    children: {
      ended: (_: string, signal: AbortSignal) => untilAborted(signal),
      worktree: async () => null,
      words: async () => [],
    },
    sleep: (_: number, signal: AbortSignal) => untilAborted(signal),
    facts: () => ({ row: () => child }),
    load: async () => child,
  } as unknown as ToolContext
  const asked = childOutput('TaskOutput', child, 60_000, ctx)
  abort.abort()
  const { result } = await asked
  assert.deepEqual('error' in result && result.error, {
    kind: 'aborted',
    code: 'wait_aborted',
    message: 'The wait for the task was aborted; the task goes on.',
    hint: null,
    retryable: false,
  })
})
