// The system's clock and ids. Long timers are shown on mocked timers, short ones on real time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, systemIds } from './clock.ts'

test('a timer fires once, not before its time, and not when it was cancelled', async () => {
  const clock = systemClock()
  const fired: string[] = []
  const began = clock.monotonic()
  const cancel = clock.after(1, () => fired.push('cancelled'))
  cancel()
  cancel()
  await new Promise<void>((resolve) => {
    clock.after(20, () => {
      fired.push('fired')
      resolve()
    })
    assert.deepEqual(fired, [])
  })
  assert(clock.monotonic() - began >= 20)
  assert.deepEqual(fired, ['fired'])
})

test('a wait longer than a timer can hold is re-armed and does not fire at once', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = systemClock()
  const month = 31 * 24 * 3_600_000
  let fired = 0
  clock.after(month, () => fired++)
  const advance = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  advance(60_000)
  assert.equal(fired, 0)
  // The machine slept: the clock went on, and only one hint's time passes before it is noticed.
  now = month
  advance(60_000)
  assert.equal(fired, 1)
  advance(120_000)
  assert.equal(fired, 1)
})

test('the platform is never given a time it cannot hold, which would fire at once', (t) => {
  const asked: (number | undefined)[] = []
  t.mock.method(globalThis, 'setTimeout', (_: () => void, ms?: number) => void asked.push(ms))
  const clock = systemClock()
  for (const ms of [-5, 0, 30_000, 60_000, 60_001, 2 ** 31, 366 * 24 * 3_600_000]) {
    clock.after(ms, () => {})
  }
  const [negative, zero, half, ...long] = asked
  assert.deepEqual([negative, zero, long], [0, 0, [60_000, 60_000, 60_000, 60_000]])
  assert.ok(half !== undefined && half > 29_000 && half <= 30_000)
})

test('a sleep ends by itself, or with the reason of its abort', async () => {
  const clock = systemClock()
  await clock.sleep(1)
  await clock.sleep(-5)
  const abort = new AbortController()
  const sleeping = clock.sleep(60_000, abort.signal)
  abort.abort(new Error('stop'))
  await assert.rejects(sleeping, { message: 'stop' })
  await assert.rejects(clock.sleep(1, abort.signal), { message: 'stop' })
})

test('ids carry their prefix and ascend; tokens are as long as asked for', () => {
  const ids = systemIds()
  const minted = Array.from({ length: 100 }, () => ids.mint('task'))
  assert(minted.every((id) => /^task_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)))
  assert.equal(new Set(minted).size, 100)
  const times = minted.map((id) => id.slice(0, 'task_xxxxxxxx-xxxx'.length))
  assert.deepEqual(times, times.toSorted())
  assert.equal(Buffer.from(ids.token(32), 'base64url').length, 32)
  const random = ids.random()
  assert(random >= 0 && random < 1)
})
