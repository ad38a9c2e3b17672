// A command for a home that somebody owns who opens no door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle, virtualClock } from '../../testing/virtual-clock.ts'
import { perform } from './act.ts'
import type { Context } from './context.ts'

test('an owner that opens no door is looked for again for two seconds, and then named', async () => {
  const clock = virtualClock()
  const looks: number[] = []
  const ports = {
    clock,
    owner: async () => ({ pid: 7 }),
    door: async () => (looks.push(clock.monotonic()), null),
  }
  const context = { ports, home: { value: '/h' } } as unknown as Context
  const done = assert.rejects(perform(context, { do: 'stop_agent', agent_id: 'main' }), {
    exit: 4,
    message: 'process 7 owns the home /h and takes no commands',
  })
  await settle()
  await clock.advance(10_000)
  await done
  assert.deepEqual([looks[0], looks[1], looks.at(-1), looks.length], [0, 50, 2_000, 41])
})
