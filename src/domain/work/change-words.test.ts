import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { begin, turnOf } from '../../testing/world/turns.ts'
import type { Check } from '../state/check.ts'
import type { WorkItemId } from '../ids.ts'
import { updateItem, type UpdateItem } from './create-and-update.ts'
import type { WorkItemChanges } from '../state/work-item.ts'

type Change = Omit<UpdateItem, 'work_item_id' | 'by'>

const update = (w: World, work_item_id: WorkItemId, change: Change) =>
  w.do((d) => updateItem(d, { work_item_id, by: 'operator', ...change }))

const noBudget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const tests: Check = {
  kind: 'command',
  name: 'tests',
  cmd: 'npm test',
  workdir: null,
  timeout_ms: 1_000,
  run: null,
}

/** Each field that an operator can change: what the turn reads of it, set and taken away. */
const changes: { [K in keyof WorkItemChanges]-?: [Change, string][] } = {
  objective: [[{ objective: 'Something else' }, 'objective: "Something else"']],
  plan_status: [[{ plan_status: 'ready' }, 'plan_status: ready']],
  input_wanted: [
    [
      { plan_status: 'needs_input', question: 'Which one?' },
      'plan_status: needs_input; asks "Which one?"',
    ],
  ],
  todo_list: [
    [{ todo_list: [{ text: 'a', state: 'pending' }] }, 'todos: pending "a"'],
    [{ todo_list: [] }, 'todos: none'],
    [
      { todo_list: Array.from({ length: 9 }, () => ({ text: 'a'.repeat(200), state: 'pending' })) },
      'todo_list, to be read with GetWorkItem',
    ],
  ],
  blocked_by: [
    [{ blocked_by: 'wait for me' }, 'blocked_by: "wait for me"'],
    [{ blocked_by: null }, 'no blocker any more'],
  ],
  budget: [
    [{ budget: { ...noBudget, max_rounds: 8 } }, 'budget, used so far: 0 of 8 rounds'],
    [{ budget: null }, 'no budget any more'],
  ],
  checks: [
    [{ checks: [tests] }, 'checks: tests (npm test)'],
    [{ checks: [] }, 'checks: none'],
  ],
}

test('a change by the operator reaches the running turn with what it is now', () => {
  for (const steps of Object.values(changes)) {
    const w = new World()
    const [id, other] = [
      item(w, { focus: true, todo_list: [{ text: 'x', state: 'pending' }] }),
      item(w),
    ]
    begin(w, 'continue_current')
    update(w, other, { objective: 'Not its item' })
    assert.deepEqual(w.lastOf('message_admitted'), [])
    for (const [change, words] of steps) {
      update(w, id, change)
      const [note] = w.lastOf('message_admitted')
      assert.deepEqual(
        [note?.provenance.kind, note?.priority, note?.work_item_id, note?.body],
        ['internal_followup', 'interject', id, `The operator changed ${id}: ${words}.`],
      )
      assert.equal(turnOf(w).work_item_id, id)
    }
  }
})
