/** Holds: an agent is held once, whatever comes first and whatever comes then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../testing/world/agent-world.ts'
import { activeHold, registerHold, type HoldCause, type NewHold } from './hold.ts'
import { releaseHolds } from '../scheduler/park.ts'

const every: { readonly [C in HoldCause]: C } = {
  provider_world: 'provider_world',
  provider_setup: 'provider_setup',
  disk_full: 'disk_full',
  budget: 'budget',
  spending: 'spending',
}
const causes = Object.values(every)

const holdOf = (runtime_cause: HoldCause): NewHold => ({
  runtime_cause,
  reason: 'It may not act.',
  resource: null,
  source: null,
  wake_at: null,
})

test('an agent that is held is not held again for anything else, until it is let go', () => {
  for (const first of causes) {
    const w = new World()
    w.do((d) => assert.equal(registerHold(d, holdOf(first)), activeHold(d)?.id))
    for (const next of causes) w.do((d) => assert.equal(registerHold(d, holdOf(next)), null))
    const found = causes.filter((cause) => activeHold(w.facts, cause) !== null)
    assert.deepEqual([found, activeHold(w.facts)?.runtime_cause], [[first], first])
    w.do(releaseHolds)
    assert.deepEqual([activeHold(w.facts), activeHold(w.facts, first)], [null, null])
  }
})
