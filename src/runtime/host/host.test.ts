// A host that ends before it has begun.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBox } from '../../testing/host/host-fixture.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'

test('a host that is closed while it opens is not ready then, and waits for nothing', async (t) => {
  const clock = virtualClock()
  const box = await openBox(t, { models: {}, clock })
  const opening = box.host.open()
  const closing = box.host.close('now')
  await Promise.all([opening, closing])
  assert.deepEqual([box.host.ready(), clock.nextDue()], [false, null])
})
