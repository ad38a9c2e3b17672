import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, World } from '../../testing/world/agent-world.ts'
import { turn } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'

test('of completed items the twenty changed last are kept over the ends of turns', () => {
  const w = new World()
  const items = Array.from({ length: 23 }, () => item(w))
  const open = item(w)
  for (const id of items) {
    w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: 'Done.', turn: null }))
    say(w)
    turn(w, { rule: 'message' })
  }
  const kept = [...w.facts.rows('work_items')].map(({ id }) => id)
  assert.deepEqual(kept.toSorted(), [...items.slice(3), open].toSorted())
})
