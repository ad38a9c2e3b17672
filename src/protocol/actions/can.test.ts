import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { does } from '../../testing/world/operator-inputs.ts'
import { viewOf } from '../../testing/why/why-world.ts'
import type { Can } from './action.ts'
import { projectionOf } from '../agent-view.ts'
import { canOfItem, canOfWait } from './can.ts'

/** `pick` where it is allowed, `complete: work_item_completed` where it is not. */
const brief = (can: readonly Can[]) =>
  can.map(({ key, allowed, code }) => (allowed ? key : `${key}: ${code}`))

test('what may be done to an item is that of the moment it was looked at', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, wake: 'operator_input' })
  const view = viewOf(w, 'at_rest')
  const p = projectionOf(view, id)
  assert.ok(p)
  const before = brief(canOfItem(view, p))
  // The facts go on while whoever looked was reading a file.
  does(w, { do: 'unblock', work_item_id: id })
  assert.deepEqual(brief(canOfItem(view, p)), before)
})

test('what may be done to a wait is that of the moment it was looked at', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, wake: 'operator_input' })
  const asked = waitOf(w, id)
  const view = viewOf(w, 'at_rest')
  does(w, { do: 'complete', work_item_id: id })
  assert.deepEqual(brief(canOfWait(view, asked)), ['answer', 'cancel_wait'])
})
