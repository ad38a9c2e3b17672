/**
 * An item of the operator's with checks and a budget: the turn that is to take it up says both, and
 * a completion that a check does not bear out is refused with its output while the item is open.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { completes, inOrder, picks, runs } from '../support/scripts.ts'
import { calls } from '../../src/testing/scripted-model.ts'
import { openStage, textOf, type Stage } from '../support/stage.ts'

test('a completion that a check refuses comes back with its output, and the words stay', async (t) => {
  const stage: { now: Stage | null } = { now: null }
  const id = () => stage.now?.id('Mend the sum') ?? ''
  const words = 'The sum is mended: one line of src/sum.js. I ran the tests.'
  const model = scriptedModel(
    inOrder(
      () => picks(id()),
      () => completes(id(), words),
      () => calls(runs('echo 4 >sum')),
      () => completes(id(), words),
    ),
  )
  const s = (stage.now = await openStage(t, { model }))
  writeFileSync(join(s.box.workspace, 'sum'), '5\n')
  const cmd = 'grep -qx 4 sum || { echo "not ok 1 - 2 + 2 is $(cat sum)"; exit 1; }'
  await s.does({
    do: 'create_item',
    objective: 'Mend the sum',
    checks: [{ kind: 'command', name: 'tests', cmd }],
    budget: { max_rounds: 8 },
  })
  const [taken, , refused] = model.requests
  assert.match(textOf(taken), /^- tests \(command\): /m)
  assert.match(textOf(taken), /0 of 8 rounds/)
  assert.match(textOf(refused), /CompleteWorkItem: error/)
  assert.match(textOf(refused), /not ok 1 - 2 \+ 2 is 5/)
  requestSnapshot(t, taken, s.box.home, s.box.workspace)
  requestSnapshot(t, refused, s.box.home, s.box.workspace)
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', words])
  await s.sound()
})
