/**
 * Something comes in the middle: words while an answer ends the turn, and an abort. What was said is
 * delivered, and what was done is told.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits } from '../../src/domain/limits.ts'
import { calls, says, scriptedModel, type Scripted } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { errors, onA, scene } from '../support/scene.ts'
import { call, completes, inOrder, runs, until } from '../support/scripts.ts'
import { openStage, resultsOf, textOf, type Stage } from '../support/stage.ts'

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

/** The operator says something while the answer with these calls is written. */
const saidBefore = (made: () => Scripted) => (stage: Stage) => async () => {
  await stage.act({ do: 'send', text: 'Mind the clock.', priority: 'interject' })
  return made()
}

test('words that wait since before an answer cut none of its short calls', async (t) => {
  const s = await onA(
    t,
    saidBefore(() =>
      calls(
        runs('sleep 0.2; echo one > a.txt'),
        call('FindInFiles', { query: 'one' }),
        runs('cat a.txt', { yield_ms: 60_000 }),
      ),
    ),
    () => says('Read.'),
    () => says('Nothing more.'),
    () => says('Nothing more.'),
  )
  await s.say('Begin.')
  assert.deepEqual((await errors(s)).slice(2).map(String), [
    'ExecCommand,success',
    'FindInFiles,success',
    'ExecCommand,success',
  ])
  const text = textOf(s.model.requests[3])
  assert.match(text, /a\.txt:1: one/)
  assert.doesNotMatch(text, /in the background/)
  await s.sound()
})

test('behind a command that words pushed into the background no call of the answer runs', async (t) => {
  const s = await onA(
    t,
    saidBefore(() =>
      calls(
        runs(`touch running; ${until('go')}`, { yield_ms: 60_000 }),
        call('EditFile', { path: 'beside.txt', new_text: 'raced\n' }),
        runs('touch beside'),
      ),
    ),
    () => says('Read.'),
    ...[1, 2, 3].map(() => () => says('Nothing more.')),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  while (!existsSync(join(s.box.workspace, 'running'))) await s.clock.advance(0)
  const ends = s.committed('turn_ended')
  await s.clock.advance(limits.interject_grace.value)
  await ends
  const results = resultsOf(s.model.requests[3]).map(({ text }) => text)
  assert.match(results[0] ?? '', /in the background: a message came in/)
  for (const text of results.slice(1)) assert.match(text, /Not executed: a message came in and/)
  assert.deepEqual(readdirSync(s.box.workspace), ['running'])
  requestSnapshot(t, s.model.requests[3], ...placesOf(s))
  writeFileSync(join(s.box.workspace, 'go'), '')
  await s.rest()
  await s.sound()
})

test('an item is not completed over words that nobody has read', async (t) => {
  const report = 'Cents are counted everywhere. I ran the tests.'
  const s = await onA(
    t,
    (stage) => saidBefore(() => completes(stage.id('A'), report))(stage),
    (stage) => completes(stage.id('A'), ''),
    () => says(''),
  )
  await s.say('Begin.')
  const [refused] = resultsOf(s.model.requests[3])
  assert.match(refused?.text ?? '', /words_unread[^]*It comes with the next request/)
  assert.match(textOf(s.model.requests[3]), /^Mind the clock\.$/m)
  const said = (await s.rows('messages')).find(({ body }) => body === 'Mind the clock.')
  assert.equal(said?.work_item_id, (await s.rows('work_items'))[0]?.id, 'it is about that item')
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', report])
  await s.sound()
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
