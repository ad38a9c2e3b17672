/**
 * Reports, answers and plans in what `briefs` and `work show` print: rendered on a terminal as a run
 * renders them, in a pipe as they were written.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { textOf } from './support/stage.ts'
import { printed } from './support/typed-command.ts'

const report = '## Found\n\nThe **parser** is slow:\n\n- it reads `twice`'
const plan = '# Look\n\n1. **Read** it'

test('what agents write is rendered on a terminal, and stands as it was in a pipe', async (t) => {
  const model = scriptedModel((request, n) => {
    const [id = ''] = textOf(request).match(/work_[0-9a-f-]{4,36}/) ?? []
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Look', plan }))
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: id }))
    if (n === 3) return calls(call('CompleteWorkItem', { work_item_id: id }))
    return says(report)
  })
  const box = await openBox(t, { models: { default: model } })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Look.' })
  await box.rests('main')
  const [item] = await box.ledger.list('work_items', { agent_id: 'main', limit: 1 })
  assert.equal(item?.state, 'completed')
  for (const words of [['briefs'], ['work', 'show', item.id]]) {
    const [shown, piped] = await Promise.all(
      [true, false].map((terminal) => printed(box.home, words, { terminal, colour: false })),
    )
    assert.match(shown ?? '', /^ {2}The parser is slow:$/m)
    assert.match(shown ?? '', /^ {2}[•-] it reads twice$/m)
    assert.match(piped ?? '', /^ {2}The \*\*parser\*\* is slow:$/m)
    assert.match(piped ?? '', /^ {2}- it reads `twice`$/m)
  }
  const show = await printed(box.home, ['work', 'show', item.id])
  assert.doesNotMatch(show, /\*\*Read\*\*/)
})
