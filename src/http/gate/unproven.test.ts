import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { httpLimits } from '../request/limits.ts'
import { Unproven } from './unproven.ts'

const [most, patience] = [httpLimits.unproven.value, httpLimits.headers_timeout.value]

function pool() {
  const clock = virtualClock()
  const ended: string[] = []
  const unproven = new Unproven<{ destroy(): void }>(clock)
  const one = (name: string) => ({
    destroy() {
      ended.push(name)
    },
  })
  const open = (name: string) => {
    const connection = one(name)
    unproven.opened(connection)
    return connection
  }
  return { clock, ended, unproven, open }
}

describe('connections that have proven nothing', () => {
  test('share 64 places, and the one silent longest makes room', () => {
    const { ended, unproven, open } = pool()
    const all = Array.from({ length: most }, (_, n) => open(`c${n}`))
    unproven.asked(all[0] ?? assert.fail())
    open('next')
    open('another')
    assert.deepEqual([ended, unproven.size], [['c1', 'c2'], 64])
  })

  test('keep no place once they have proven something, and are closed for nobody', async () => {
    const { clock, ended, unproven, open } = pool()
    const proven = open('operator')
    unproven.asked(proven)
    unproven.proved(proven)
    unproven.answered(proven)
    for (let n = 0; n < 3 * most; n += 1) open(`c${n}`)
    await clock.advance(10 * patience)
    assert.deepEqual([ended.includes('operator'), unproven.size], [false, 0])
  })

  test('have five seconds for the head of each request, the first and the next', async () => {
    const { clock, ended, unproven, open } = pool()
    const [mute, slow] = [open('mute'), open('slow')]
    unproven.asked(slow)
    await clock.advance(patience - 1)
    assert.deepEqual(ended, [])
    await clock.advance(1)
    assert.deepEqual(ended, ['mute'])
    await clock.advance(3 * patience)
    unproven.answered(slow)
    await clock.advance(patience)
    unproven.gone(mute)
    assert.deepEqual([ended, unproven.size, clock.nextDue()], [['mute', 'slow'], 0, null])
  })

  test('leave no timer behind when they go by themselves', () => {
    const { clock, ended, unproven, open } = pool()
    unproven.gone(open('short'))
    assert.deepEqual([ended, unproven.size, clock.nextDue()], [[], 0, null])
  })
})
