import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { lockout, rates, rememberedKeys } from '../request/limits.ts'
import { Lockout, RateLimit } from './rate-limit.ts'

describe('token buckets', () => {
  test('give their burst at once, then their rate, and say how long to wait', () => {
    let now = 0
    const limit = new RateLimit(() => now)
    const { burst, per_second } = rates.unknown_trigger
    const taken = Array.from({ length: burst }, () => limit.take('unknown_trigger', 'a'))
    const wait = limit.take('unknown_trigger', 'a')
    now += wait - 1
    const early = limit.take('unknown_trigger', 'a')
    now += 1
    const due = limit.take('unknown_trigger', 'a')
    assert.deepEqual(
      [taken.every((one) => one === 0), wait, early > 0, due],
      [true, 1_000 / per_second, true, 0],
    )
  })

  test('belong to one class and one key', () => {
    const limit = new RateLimit(() => 0)
    for (let n = 0; n < rates.unknown_trigger.burst; n += 1) limit.take('unknown_trigger', 'a')
    const others = [limit.take('unknown_trigger', 'b'), limit.take('probe', 'a')]
    assert.deepEqual([limit.take('unknown_trigger', 'a') > 0, others], [true, [0, 0]])
  })

  test('never let more through than burst and rate allow, at whatever times', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 200 }), (gaps) => {
        let now = 0
        let through = 0
        const limit = new RateLimit(() => now)
        for (const gap of gaps) {
          now += gap
          if (limit.take('unknown_trigger', 'a') === 0) through += 1
        }
        const { burst, per_second } = rates.unknown_trigger
        assert.ok(through <= burst + (now / 1_000) * per_second + 1e-6)
      }),
    )
  })
})

describe('the lock', () => {
  test('forgets peers, longest unused first, rather than grow', () => {
    const lock = new Lockout(() => 0)
    for (let n = 0; n < lockout.failures; n += 1) lock.failed('first')
    assert.equal(lock.locked('first'), lockout.lock_ms)
    for (let n = 0; n < rememberedKeys; n += 1) lock.failed(`peer ${n}`)
    assert.equal(lock.locked('first'), 0)
  })

  test('counts a minute from the first wrong token: what comes at its end begins another', () => {
    const lockedAfter = (pause: number) => {
      let now = 5
      const lock = new Lockout(() => now)
      for (let n = 1; n < lockout.failures; n += 1) lock.failed('a')
      now += pause
      lock.failed('a')
      return lock.locked('a')
    }
    assert.deepEqual([0, lockout.window_ms - 1, lockout.window_ms].map(lockedAfter), [
      lockout.lock_ms,
      lockout.lock_ms,
      0,
    ])
  })

  test('lasts its time to the millisecond, and is of one peer', () => {
    let now = 0
    const lock = new Lockout(() => now)
    for (let n = 0; n < lockout.failures; n += 1) lock.failed('a')
    now = lockout.lock_ms - 0.5
    assert.deepEqual([lock.locked('a'), lock.locked('b')], [1, 0])
    now = lockout.lock_ms
    assert.equal(lock.locked('a'), 0)
  })

  test('after it has run out a peer has all its attempts again', () => {
    let now = 0
    const lock = new Lockout(() => now)
    for (let n = 0; n < lockout.failures; n += 1) lock.failed('a')
    now += lockout.lock_ms
    for (let n = 0; n < lockout.failures - 1; n += 1) lock.failed('a')
    const nine = lock.locked('a')
    lock.failed('a')
    assert.deepEqual([nine, lock.locked('a')], [0, lockout.lock_ms])
  })
})
