// How an agent of another maker is ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACP_KILL_MS } from './limits.ts'
import { AcpAgent } from './agent.ts'
import type { Clock } from '../ports.ts'

test('an agent that does not end when it is asked to is killed after a while', async () => {
  const timers = new Map<() => void, number>()
  const clock = {
    after: (ms: number, fn: () => void) => {
      timers.set(fn, ms)
      return () => void timers.delete(fn)
    },
  } as unknown as Clock
  const ready = Promise.withResolvers<void>()
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } }
  const params = { sessionId: 'one', update }
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })
  const ends: unknown[] = []
  const agent = new AcpAgent(
    {
      command: 'sh',
      args: ['-c', `trap '' TERM; printf '%s\\n' '${line}'; exec sleep 300`],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      workdir: '/',
    },
    {
      heard: () => ready.resolve(),
      updated: () => undefined,
      asked: () => Promise.reject(new Error('it asks nothing')),
      ended: (end) => void ends.push(end),
    },
    clock,
  )
  await ready.promise
  const stopped = agent.stop(null)
  const [[kill, ms] = []] = timers
  assert.equal(ms, ACP_KILL_MS)
  kill?.()
  await stopped
  assert.deepEqual(ends, [{ code: null, signal: 'SIGKILL' }])
  assert.equal(kill !== undefined && timers.has(kill), false, 'no second kill is left to come')
})
