/**
 * The acceptance of supervised children: a parent splits its work over three of them in worktrees
 * of a real repository, goes on with something else, is woken by each on the item it was spawned
 * for, merges, and reports. Scripted models; ledger, git and processes are real.
 */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { StoredEvent } from '../src/domain/state/event.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { expectedEnd, familyEnd } from '../src/testing/scenarios/family-end.ts'
import { familyModel } from '../src/testing/scenarios/three-children.ts'
import { runShip } from './support/family.ts'
import { makeRepository } from './support/repository.ts'
import { leftProcesses } from './support/processes.ts'

async function undisturbed(t: TestContext) {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const box = await openBox(t, { models: { default: familyModel() }, ...places })
  await runShip(box, 'r1')
  const end = await familyEnd(box.ledger, places)
  const events = await box.ledger.events({ after: 0, limit: 10_000 })
  await box.close()
  return { end, events, places }
}

test('three children in worktrees: each result wakes its item, is merged and told', async (t) => {
  const { end, events, places } = await undisturbed(t)
  const { tasks, ...rest } = end
  assert.deepEqual(rest, expectedEnd(['r1']))
  assert.equal(tasks.length, 10)
  assert.ok(shippedBesideFocus(events), 'no result woke the ship while the focus was elsewhere')
  assert.deepEqual(await leftProcesses(dirname(places.home)), [])
})

/** Whether a message woke the parent on one item while another was in its focus. */
function shippedBesideFocus(events: readonly StoredEvent[]): boolean {
  let focus: string | null = null
  return events.some(({ agent_id, event }) => {
    if (agent_id !== 'main') return false
    if (event.type === 'work_item_picked') focus = event.current_work_item_id
    if (event.type === 'focus_released') focus = null
    if (event.type !== 'turn_started' || event.cause.kind !== 'message') return false
    return focus !== null && event.work_item_id !== null && event.work_item_id !== focus
  })
}
