/**
 * A person goes on from what was just said, without naming it: the request of the next turn has the
 * words that the new ones refer to.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { onA, scene } from '../support/scene.ts'
import { completes, creates, picks, waitsFor } from '../support/scripts.ts'
import { minute, textOf, type Stage } from '../support/stage.ts'

const placesOf = (s: Stage) => [s.box.home, s.box.workspace]

const list = 'Refactoring list:\n1. src/table.js reads the clock.\n2. src/parse.js is too long.'

test('"do number 1 of your list": the list of the last report is in the request', async (t) => {
  const s = await onA(
    t,
    (s) => completes(s.id('A'), list),
    () => creates('Mend the clock'),
    () => says('I do it next.'),
    () => says('Nothing is left.'),
    () => says('Nothing is left.'),
  )
  await s.say('What would you refactor?')
  await s.say('Do number 1 of your list.')
  const request = s.model.requests[3]
  assert.match(textOf(request), /^1\. src\/table\.js reads the clock\.$/m)
  requestSnapshot(t, request, ...placesOf(s))
})

test('"and would you change that?": question and answer of seconds ago are there', async (t) => {
  const s = await scene(
    t,
    () => says('Because `Number("")` is 0, so an empty field counts as nothing.'),
    () => says('Yes: I would refuse the empty field.'),
  )
  await s.say('Why does parse("") give 0?')
  await s.say('And would you change that?')
  const request = s.model.requests.at(-1)
  const text = textOf(request)
  assert.match(text, /^Why does parse\(""\) give 0\?$/m)
  assert.match(text, /^Because `Number\(""\)` is 0, so an empty field counts as nothing\.$/m)
  requestSnapshot(t, request, ...placesOf(s))
})

test('what the runtime asks about a budget is no word of the agent', async (t) => {
  const s = await scene(
    t,
    (s) => picks(s.id('A')),
    (s) =>
      calls('Begun.', waitsFor('operator_input', { work_item_id: s.id('A'), question: 'Go on?' })),
    (s) => completes(s.id('A'), list),
  )
  const budget = { max_rounds: 2 }
  await s.does({ do: 'create_item', objective: 'A', budget })
  const [wait] = await s.rows('waits')
  await s.does({ do: 'send', text: 'Yes.', wait_id: wait?.id ?? '' })
  assert.equal(s.model.requests.length, 2, 'its budget is used up')
  await s.does({ do: 'update_item', work_item_id: s.id('A'), budget: { max_rounds: 5 } })
  const text = textOf(s.model.requests[2])
  const lately = /# Lately said\n([^]*?)\n# /.exec(text)?.[1] ?? text
  assert.doesNotMatch(text, /Raise the limit/)
  assert.match(lately, /Begun\./)
  const asked = (await s.briefs()).filter(({ text: words }) => words.includes('Raise the limit'))
  assert.deepEqual(
    asked.map(({ kind }) => kind),
    ['question'],
  )
})

test('words that were taken back are in no request', async (t) => {
  const s = await scene(
    t,
    (stage) => async () => {
      await stage.act({ do: 'send', text: 'Second, taken back.' })
      const second = (await stage.rows('messages')).at(-1)
      await stage.act({ do: 'take_back', message_id: second?.id ?? '' })
      return says('One.')
    },
    () => says('Three.'),
  )
  await s.say('First.')
  await s.say('Third.')
  const text = textOf(s.model.requests.at(-1))
  assert.match(text, /^First\.$/m)
  assert.doesNotMatch(text, /taken back/)
})

test('a constraint said once is there after hours of work, whatever the agent told meanwhile', async (t) => {
  const looks = 12
  const report = `Still at it: ${'one more line of what was looked at. '.repeat(24)}`
  const s = await scene(
    t,
    () => says('I will not.'),
    () => creates('Watch the build'),
    (stage) => picks(stage.id('Watch the build')),
    ...Array.from(
      { length: looks },
      (_, n) => () => calls(`${n}. ${report}`, waitsFor('timer', { wait_ms: 10 * minute })),
    ),
    (stage) => completes(stage.id('Watch the build'), 'It is built. I read the log of it.'),
  )
  await s.say('Whatever happens: never push to main.')
  await s.say('Watch the build.')
  for (let n = 1; n <= looks; n++) await s.passOn()
  const texts = s.model.requests.slice(3).map(textOf)
  assert.equal((await s.briefs()).filter(({ kind }) => kind === 'progress').length, looks)
  for (const [n, text] of texts.entries()) {
    assert.match(text, /^Whatever happens: never push to main\.$/m, `look ${n}`)
    if (n > 0) assert.ok(text.includes(`${n - 1}. ${report.trim()}`), `look ${n}: its last words`)
  }
})

test('a lasting wish of an hour ago is there behind forty turns of nods and looks', async (t) => {
  const looks = Array.from({ length: 42 }, (_, n) => () => says(`Look ${n}: CI is still red.`))
  const s = await scene(t, ...looks)
  await s.say('Remember: nothing is ever pushed.')
  for (let n = 0; n < 40; n += 1) await s.say(n % 2 === 0 ? 'go on' : `ok, and ${n}`)
  await s.say('Make the release.')
  const request = s.model.requests.at(-1)
  assert.match(textOf(request), /^Remember: nothing is ever pushed\.$/m)
  requestSnapshot(t, request, ...placesOf(s))
})
