/** A forked child knows what its parent finished before: what came of it, and how it went. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, completes, creates, inOrder, picks } from '../support/scripts.ts'
import { openStage, textOf, type Stage } from '../support/stage.ts'

const report = 'The clock is mended: clock.txt says so now. I looked twice.'

test('a fork made in a later turn has report and notes of the item before', async (t) => {
  const stage: { now: Stage | null } = { now: null }
  const id = () => stage.now?.id('Mend the clock') ?? ''
  const fork = { initial_message: 'Write its page.', model: 'a/child', context: 'fork' }
  const model = scriptedModel(
    inOrder(
      creates('Mend the clock'),
      () => picks(id()),
      calls(call('EditFile', { path: 'clock.txt', new_text: 'mended\n' })),
      () => completes(id(), report),
      calls(call('SpawnAgent', fork)),
      says('It works.'),
      says('It is written.'),
    ),
  )
  const child = scriptedModel(() => says('The page is written.'))
  const s = (stage.now = await openStage(t, { model, models: { 'a/child': child } }))
  await s.say('Mend the clock.')
  await s.say('Have a page written about it.')
  await s.box.until(() => child.requests.length > 0, 'the child')
  const text = textOf(child.requests[0])
  assert.match(text, /^- work_\S+ "Mend the clock", report: "The clock is mended: /m)
  const notes = /<<\S+ process notes of work_\S+, oldest first>>\n([\s\S]*?)\n<</.exec(text)?.[1]
  assert.match(notes ?? '', /^- output: created \S*clock\.txt \[call_/m)
})
