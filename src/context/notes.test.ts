import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPrompt, before, now } from '../testing/situations.ts'
import { charTokens } from './estimate.ts'
import {
  cutAnswerNote,
  emptyAnswerNote,
  interjectedNote,
  interruptionNote,
  reportNote,
} from './notes.ts'
import { promptText, sectionsOf, template } from './template.ts'

const held = (cause: string, limits: readonly string[] | null) =>
  interruptionNote({ kind: 'held', since: before(61), cause, limits }, now)

test('notes of the runtime, word for word', (t) => {
  const lost = [
    { tool_name: 'ExecCommand', became: 'outcome_unknown' },
    { tool_name: 'EditFile', became: 'result' },
  ] as const
  const view = { now, fence: 'c0de', tokens: charTokens, max_tokens: 1_000, full_path: () => null }
  const texts = [
    interruptionNote({ kind: 'recovered', since: before(3), calls: [] }, now),
    interruptionNote({ kind: 'recovered', since: before(200), calls: lost }, now),
    held('the provider\nis out', null),
    held('The budget of main is used up: 5 of 5 rounds.', ['5 of 8 rounds of main']),
    held('The budget of main is used up: 5 of 5 rounds.', []),
    interruptionNote({ kind: 'slept', since: before(60 * 50) }, now),
    interjectedNote([aPrompt('msg_5', 'Stop using npm.', { priority: 'interject' })], view, false),
    interjectedNote([aPrompt('msg_5', 'Stop using npm.', { priority: 'interject' })], view, true),
    emptyAnswerNote(),
    cutAnswerNote(),
    reportNote({ id: 'work_1', objective: 'Ship it' }),
    reportNote({ id: 'work_1', objective: 'Ship it' }, [
      { kind: 'unfinished_todos', message: 'Two todos are unfinished.' },
    ]),
  ]
  t.assert.snapshot(texts.join('\n---\n'), { serializers: [(value: string) => value] })
})

test('every place of every template is a name, and an open one is a bug', () => {
  for (const stem of ['anchors', 'notes'] as const) {
    for (const [name, text] of sectionsOf(promptText(stem))) {
      const places = [...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, key]) => key ?? '')
      const values = Object.fromEntries(places.map((key) => [key, `{{${key}}}`]))
      // A value that looks like a place stays as it is.
      assert.equal(template(stem, name, values), text)
      if (places.length > 0) assert.throws(() => template(stem, name), /no value for/)
    }
  }
  assert.throws(() => template('notes', 'nonesuch'), /no section/)
  assert.throws(() => promptText('nonesuch'), /no prompts\/nonesuch\.md/)
})
