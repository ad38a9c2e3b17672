import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostNotice } from '../../runtime/ports.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { headStart } from './defer-setup.ts'

const committed: HostNotice = { kind: 'committed', agent_id: 'main', events: [] }
const fault: HostNotice = { kind: 'fault', agent_id: 'main', message: 'it broke' }

test('a head start is over with the first notice that follows a request, also one before', async () => {
  const clock = virtualClock()
  const start = headStart(clock)
  start.notice(committed)
  start.notice(fault)
  const before = clock.monotonic()
  await start.over()
  assert.equal(clock.monotonic() - before, 0)
})

test('a head start is over after a tenth of a second, whatever a model does', async () => {
  const clock = virtualClock()
  const start = headStart(clock)
  start.notice(committed)
  let over = false
  const done = start.over().then(() => (over = true))
  await clock.advance(99)
  assert.equal(over, false)
  await clock.advance(1)
  await done
  assert.equal(over, true)
})
