/** A question that takes the place of another wait of its item keeps the time of that one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, T0, wait, waitCommand, waitOf, World } from '../../testing/world/agent-world.ts'
import type { NewWait } from '../../testing/world/agent-world.ts'
import { act, begin, end } from '../../testing/world/turns.ts'
import { givenUpFor } from '../state/wait.ts'
import { minute, plus } from '../time.ts'
import { fireDue } from './wait-end.ts'
import { waitFor } from './wait-for.ts'

const register = (w: World, given: NewWait) =>
  act(w, { tool: 'WaitFor', input: { work_item_id: given.work_item_id } }, (d) => {
    const waiting = waitFor(d, waitCommand(given))
    assert.ok(waiting.ok)
    return waiting
  })

const kept = [
  { before: { wake: 'timer', wake_at: plus(T0, 9 * minute) }, at: plus(T0, 9 * minute) },
  { before: { source: 'ci', recheck_at: plus(T0, 5 * minute) }, at: plus(T0, 5 * minute) },
  { before: { source: 'ci' }, at: null },
] as const

test('a question keeps the time of the wait that it replaces, and looks at its own if it has one', () => {
  for (const { before, at } of kept) {
    const w = new World()
    const id = item(w, { focus: true })
    wait(w, { work_item_id: id, ...before })
    say(w, { work_item_id: id })
    begin(w, 'message')
    const question = { work_item_id: id, wake: 'operator_input' } as const
    const { wait: asked } = register(w, question)
    assert.equal(waitOf(w, id).recheck_at, at)
    const replaced = w.row('waits', 'wait_0001')
    assert.equal(replaced.status, 'cancelled')
    assert.equal(givenUpFor(asked, [replaced, asked]), replaced)
    register(w, { ...question, recheck_at: plus(T0, minute) })
    assert.equal(waitOf(w, id).recheck_at, plus(T0, minute))
  }
})

test('at that time its item is looked at, while the question stays open', () => {
  const w = new World()
  const id = item(w, { focus: true })
  wait(w, { work_item_id: id, wake: 'timer', wake_at: plus(T0, 9 * minute) })
  say(w, { work_item_id: id })
  begin(w, 'message')
  register(w, { work_item_id: id, wake: 'operator_input' })
  end(w)
  w.pass(10 * minute).do(fireDue)
  begin(w, 'review_triggered')
  assert.equal(waitOf(w, id).status, 'active')
})
