/**
 * Something comes in the middle: words while an answer ends the turn, and an abort. What was said is
 * delivered, and what was done is told.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { onA, scene } from '../support/scene.ts'
import { call, inOrder } from '../support/scripts.ts'
import { openStage, textOf, type Stage } from '../support/stage.ts'

const placesOf = (s: Stage) => [s.box.home, s.box.workspace]

test('an answer that ends the turn is delivered although words came meanwhile', async (t) => {
  const s = await scene(
    t,
    (stage) => async () => {
      await stage.act({ do: 'send', text: 'How many tests are there?', priority: 'interject' })
      return says("It prints '1024 KiB' (measured).")
    },
    () => says('There are 34 tests.'),
  )
  await s.say('What does it print?')
  assert.deepEqual(await s.briefs(), [
    { kind: 'reply', text: "It prints '1024 KiB' (measured)." },
    { kind: 'reply', text: 'There are 34 tests.' },
  ])
  const request = s.model.requests[1]
  assert.match(textOf(request), /Runtime note: Your text above was delivered\. The operator wrote/)
  requestSnapshot(t, request, ...placesOf(s))
  await s.sound()
})

test('words beside calls are no answer: nothing is delivered, and no note says so', async (t) => {
  const s = await onA(
    t,
    (stage) => async () => {
      await stage.act({ do: 'send', text: 'Mind the clock.', priority: 'interject' })
      return calls('I look.', call('ReadFile', { path: 'x' }))
    },
    () => says('Done with that.'),
    () => says('Nothing more.'),
    () => says('Nothing more.'),
  )
  await s.say('Begin.')
  const text = textOf(s.model.requests[3])
  assert.match(text, /Runtime note: The operator wrote while you worked\./)
  assert.ok(!(await s.briefs()).some((brief) => brief.text === 'I look.'))
})

const edits = (path: string) => calls(call('EditFile', { path, new_text: 'one\n' }))

/** A turn that has changed a file hangs, two messages wait, and the operator aborts it. */
async function aborted(s: Stage, requests: () => number): Promise<void> {
  await s.act({ do: 'send', text: 'Rewrite the table.' })
  while (requests() < 2) await s.clock.advance(0)
  await s.act({ do: 'send', text: 'First: what is changed?' })
  await s.act({ do: 'send', text: 'Second: and why?' })
  const turn = (await s.rows('turns')).at(-1)
  await s.act({ do: 'abort', run_id: turn?.id ?? '' })
}

test('after an abort the next turn says so, with the calls that were done', async (t) => {
  const model = scriptedModel(
    inOrder(edits('table.js'), 'hang', says('table.js is half done.'), says('You asked for it.')),
  )
  const s = await openStage(t, { model })
  await aborted(s, () => model.requests.length)
  await s.does({ do: 'start_agent' })
  await s.say('Third.')
  const [next, later] = model.requests.slice(2)
  for (const words of ['First: what is changed?', 'Second: and why?', 'Rewrite the table.']) {
    assert.ok(textOf(next).includes(words), words)
  }
  assert.match(textOf(next), /The operator aborted the turn before this one/)
  assert.match(
    textOf(next),
    /^- EditFile: created [^\n]*table\.js [^\n]*\[call_[0-9a-f-]{4,36}\]$/m,
  )
  assert.doesNotMatch(textOf(later), /aborted the turn before/)
  requestSnapshot(t, next, ...placesOf(s))
  await s.sound()
})

test('it says so too when the runtime was restarted in between', async (t) => {
  const model = scriptedModel(inOrder(edits('table.js'), 'hang'))
  const s = await openStage(t, { model })
  await aborted(s, () => model.requests.length)
  await s.box.close()
  const after = scriptedModel(inOrder(says('It is half done.'), says('You asked for it.')))
  const { home, workspace } = s.box
  const again = await openStage(t, { model: after, home, workspace, clock: s.clock })
  await again.does({ do: 'start_agent' })
  assert.match(textOf(after.requests[0]), /The operator aborted the turn before this one/)
  assert.match(textOf(after.requests[0]), /^- EditFile: /m)
})
