// A home is given back part by part: what writes before what it writes into, and the lock last.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveBack, type TakenHome } from './own-home.ts'

/** A home whose parts tell when they have ended; the host ends with this. */
function partsOf(host: () => Promise<void>) {
  const ended: string[] = []
  const part = (name: string) => ({
    close: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      ended.push(name)
    },
  })
  const taken = {
    host: { close: (how: string) => host().finally(() => ended.push(`host ${how}`)) },
    memory: part('memory'),
    processes: part('processes'),
    models: { close: () => ended.push('models') },
    ledger: part('ledger'),
  }
  return { ended, taken: taken as unknown as TakenHome }
}

const all = ['memory', 'processes', 'models', 'ledger']

test('a home is given back in the order in which its parts need each other', async () => {
  const { ended, taken } = partsOf(() => Promise.resolve())
  await giveBack(taken, 'safe_point')
  assert.deepEqual(ended, ['host safe_point', ...all])
})

test('a host that failed is told of when all else is given back', async () => {
  const broken = new Error('it broke')
  const { ended, taken } = partsOf(() => Promise.reject(broken))
  await assert.rejects(giveBack(taken, 'now'), broken)
  assert.deepEqual(ended, ['host now', ...all])
})
