/**
 * Waiting in small: every order around a wait, orders chosen by fast-check's scheduler, and what
 * may happen while the runtime waits for one thing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explore } from './races/explore.ts'
import { interleave } from './races/meanwhile.ts'
import { scheduled } from './races/scheduled.ts'
import { crowded, scenes, type Scene } from './races/scenes.ts'

const named = (all: readonly Scene[], start: string): Scene => {
  const found = all.find(({ name }) => name.startsWith(start))
  assert.ok(found, `there is no scene ${start}`)
  return found
}

test('a delivery and a death in every order around a wait: nothing is lost or read twice', async () => {
  const explored = await explore(named(scenes, 'an external wait, delivery 1, a death'), 1_000)
  assert.deepEqual(explored.violations, [])
  assert.ok(explored.orders > 50, `${explored.orders} orders`)
  assert.ok(explored.deaths > explored.orders / 2, `${explored.deaths} deaths`)
})

test('an answer and a delivery in every order around a question', async () => {
  const explored = await explore(named(scenes, 'an operator wait, answer, delivery 1'), 1_000)
  assert.deepEqual(explored.violations, [])
  assert.ok(explored.orders > 20, `${explored.orders} orders`)
})

test('whatever order the scheduler chooses, every event around a timer is read', async () => {
  await scheduled(named(crowded, 'a timer'), 6, 1)
})

test('whatever happens while the runtime waits for one thing, what it promises holds', async () => {
  // The whole takes an hour: `npm run races -- --every 1`.
  const { points, possible, tried, violations } = await interleave(307, 0)
  assert.deepEqual(violations, [])
  assert.ok(points > 800, `${points} points`)
  assert.ok(possible > 20_000 && tried > 80, `${tried} of ${possible}`)
})
