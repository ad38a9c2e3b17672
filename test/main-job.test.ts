/**
 * The main job, whole: an operator's words go in; the agent makes an item, works on it with real
 * commands, waits, is woken, and ends with one report.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, scriptedModel } from '../src/testing/scripted-model.ts'

const idIn = (text: string): string => /work_[0-9a-f-]{4,36}/.exec(text)?.[0] ?? 'none'

test('an objective is worked through to one promoted report', async (t) => {
  let item = ''
  const model = scriptedModel((request, n) => {
    const last = request.messages.at(-1)
    const text = last?.role === 'tool' ? (last.results[0]?.text ?? '') : ''
    switch (n) {
      case 1:
        return calls({
          name: 'CreateWorkItem',
          input: { objective: 'Count the files', plan: '# Plan\ncount', plan_status: 'ready' },
        })
      case 2:
        item = idIn(text)
        return calls({ name: 'PickWorkItem', input: { work_item_id: item } })
      case 3:
        return calls({ name: 'ExecCommand', input: { cmd: 'echo one; echo two' } })
      case 4:
        assert.match(text, /one\ntwo/)
        return calls('There are two files. I counted them by hand.', {
          name: 'CompleteWorkItem',
          input: { work_item_id: item },
        })
      default:
        throw new Error(`request ${n} was not expected`)
    }
  })
  const box = await openBox(t, { models: { default: model } })
  await box.makeAgent('test/scripted')
  await box.host.open()
  const sent = await box.host.act({ do: 'send', agent_id: 'main', text: 'Count the files here.' })
  assert.equal(sent.ok, true)
  await box.rests('main')
  const items = await box.ledger.list('work_items', { limit: 10 })
  const briefs = await box.ledger.list('briefs', { limit: 10 })
  assert.equal(items.length, 1)
  assert.equal(items[0]?.state, 'completed')
  assert.deepEqual(
    briefs.map(({ kind, text, work_item_id }) => ({ kind, text, work_item_id })),
    [
      {
        kind: 'result',
        text: 'There are two files. I counted them by hand.',
        work_item_id: items[0]?.id,
      },
    ],
  )
  assert.deepEqual((await box.ledger.verify()).problems, [])
})
