// The daemon's own retention: when it is due, what goes first, and that a failure is not the end.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { startRetention, type RetentionPorts } from './retention.ts'
import { UpkeepDesk } from './upkeep-lock.ts'

const minute = 60_000
const day = 86_400_000

type Retain = RetentionPorts['upkeep']['retain']

function scene(keep_days: number | null) {
  const clock = virtualClock()
  const seen: string[] = []
  const start = clock.now()
  const state: { next: 'done' | 'busy' | 'fails' } = { next: 'done' }
  const at = () => `${Math.round((clock.now() - start) / minute)} min`
  const retain: Retain = ({ before, dry_run }) => {
    seen.push(`${at()}: ${(clock.now() - Date.parse(before)) / day} days, ${dry_run}`)
    if (state.next === 'fails') return Promise.reject(new Error('The disk is full.'))
    if (state.next === 'busy') {
      return Promise.resolve({ ok: false, code: 'upkeep_running', message: 'A backup is running.' })
    }
    const nothing = { global_seq: 0, events: 0, rows: {}, blobs: 0, bytes: 0 }
    return Promise.resolve({ ok: true, value: { dry_run, before, ...nothing } })
  }
  const log = (level: string) => (message: string) => void seen.push(`${level}: ${message}`)
  const loop = startRetention({
    clock,
    upkeep: { keep_days, retain },
    log: { info: log('info'), error: log('error') },
  })
  return { clock, seen, state, loop }
}

describe('the daily retention of the daemon', () => {
  test('it comes a minute after the start, then every day, with the days configured', async () => {
    const { clock, seen } = scene(30)
    await clock.advance(minute - 1)
    assert.deepEqual(seen, [])
    await clock.advance(2 * day)
    assert.deepEqual(seen, [
      '1 min: 30 days, false',
      'info: retention',
      '1441 min: 30 days, false',
      'info: retention',
    ])
  })

  test('nothing is configured: nothing is due', () => {
    const { clock, loop } = scene(null)
    assert.deepEqual([loop, clock.nextDue()], [null, null])
  })

  test('a failure is logged, and tried again the next day', async () => {
    const { clock, seen, state } = scene(8)
    state.next = 'fails'
    await clock.advance(minute)
    state.next = 'done'
    await clock.advance(day)
    assert.deepEqual(seen, [
      '1 min: 8 days, false',
      'error: retention failed',
      '1441 min: 8 days, false',
      'info: retention',
    ])
  })

  test('other upkeep that runs goes first: it is tried again in ten minutes', async () => {
    const { clock, seen, state } = scene(8)
    state.next = 'busy'
    await clock.advance(minute)
    state.next = 'done'
    await clock.advance(10 * minute)
    assert.deepEqual(seen, ['1 min: 8 days, false', '11 min: 8 days, false', 'info: retention'])
  })

  test('after a stop nothing is due, also when one was under way', async () => {
    const idle = scene(8)
    idle.loop?.stop()
    assert.equal(idle.clock.nextDue(), null)
    const clock = virtualClock()
    const gate = Promise.withResolvers<void>()
    const retain: Retain = async () => {
      await gate.promise
      return { ok: false, code: 'upkeep_running', message: 'The daemon is stopping.' }
    }
    const log = { info: () => {}, error: () => {} }
    const loop = startRetention({ clock, upkeep: { keep_days: 8, retain }, log })
    await clock.advance(minute)
    loop?.stop()
    gate.resolve()
    await clock.advance(2 * day)
    assert.equal(clock.nextDue(), null)
  })
})

describe('the desk of upkeep', () => {
  test('a stop waits for what is under way, and refuses what comes later', async () => {
    const desk = new UpkeepDesk()
    const gate = Promise.withResolvers<void>()
    const order: string[] = []
    const first = desk.run('backup', async () => {
      await gate.promise
      order.push('done')
      return { ok: true, value: null }
    })
    const stopped = desk.stop().then(() => order.push('stopped'))
    assert.deepEqual(await desk.run('backup', () => assert.fail('it was begun')), {
      ok: false,
      code: 'upkeep_running',
      message: 'The daemon is stopping.',
    })
    gate.resolve()
    await Promise.all([first, stopped])
    assert.deepEqual(order, ['done', 'stopped'])
  })

  test('work that fails leaves the desk free', async () => {
    const desk = new UpkeepDesk()
    await assert.rejects(
      desk.run('retention', () => Promise.reject(new Error('No.'))),
      /No\./,
    )
    const again = await desk.run('retention', () => Promise.resolve({ ok: true, value: 1 }))
    assert.deepEqual(again, { ok: true, value: 1 })
  })
})
