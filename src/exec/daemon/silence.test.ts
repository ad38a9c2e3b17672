import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { watchSilence } from './silence.ts'

function watched() {
  const clock = virtualClock()
  const reading: (() => void)[] = []
  const silent: number[] = []
  const silence = watchSilence({
    clock,
    limit_ms: 3_000,
    afterReading: (fn) => reading.push(fn),
    onSilent: () => silent.push(silence.lasts()),
  })
  const readAll = () => {
    for (const fn of reading.splice(0)) fn()
  }
  return { clock, silence, silent, reading, readAll }
}

test('signs put silence off, however long they go on; it begins when they end, once', async () => {
  const { clock, silence, silent, readAll } = watched()
  for (let second = 0; second < 10; second += 1) {
    await clock.advance(1_000)
    readAll()
    silence.heard()
  }
  assert.deepEqual(silent, [])
  await clock.advance(2_999)
  readAll()
  assert.deepEqual(silent, [])
  await clock.advance(1)
  readAll()
  assert.deepEqual(silent, [3_000])
  await clock.advance(60_000)
  readAll()
  assert.deepEqual(silent, [3_000])
})

test('who was held up itself reads what came in the meantime before it judges', async () => {
  const { clock, silence, silent, reading, readAll } = watched()
  await clock.advance(20_000)
  assert.equal(reading.length, 1)
  silence.heard()
  readAll()
  assert.deepEqual(silent, [])
  await clock.advance(3_000)
  readAll()
  assert.deepEqual(silent, [3_000])
})
