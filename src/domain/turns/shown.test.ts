import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, say, task, World } from '../../testing/world/agent-world.ts'
import { begin, taskEnds } from '../../testing/world/turns.ts'
import { originOf } from './shown.ts'

type Comes = 'words' | 'event' | 'result'

/** What a turn is on the words of that these started. */
function origin(...comes: readonly Comes[]): string {
  const w = new World()
  const id = item(w, { focus: comes.length === 0 })
  const promoted = task(w, { work_item_id: id })
  const brings: { readonly [C in Comes]: () => void } = {
    words: () => void say(w, { work_item_id: id }),
    event: () => void deliver(w),
    result: () => taskEnds(w, promoted),
  }
  for (const one of comes) brings[one]()
  return originOf(w.facts, begin(w))
}

test('a turn is on the words of the least that it claims; an own result is nobody’s words', () => {
  assert.equal(origin('words'), 'operator')
  assert.equal(origin('event'), 'external')
  assert.equal(origin('result'), 'runtime')
  assert.equal(origin('words', 'result'), 'operator')
  assert.equal(origin(), 'runtime')
})
