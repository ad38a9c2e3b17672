import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provenanceTable, type MessageKind } from '../../domain/state/provenance.ts'
import { charTokens } from '../estimate.ts'
import {
  cutAnswerNote,
  emptyAnswerNote,
  interjectedNote,
  interruptionNote,
  reportNote,
} from './notes.ts'
import { notesOf, renderNotes } from './rounds.ts'
import { promptText, sectionsOf, template } from '../template.ts'
import { aPrompt, before, now } from '../../testing/rows.ts'

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
    emptyAnswerNote(null),
    emptyAnswerNote('Noted.\nThe rest is open.'),
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

/** In the words of which kind of message the runtime speaks itself: their ids are shown short. */
const speaks: { readonly [K in MessageKind]: boolean } = {
  operator_prompt: false,
  callback_event: false,
  webhook_event: false,
  timer_tick: true,
  task_result: false,
  task_status: false,
  internal_followup: true,
  delegation: false,
}

test('a message in a note has short ids where the words are ours, and its own where they are not', () => {
  const id = 'work_0192a3b4-c5d6-7e8f-9a0b-00000000007f'
  const view = { now, fence: 'c0de', tokens: charTokens, max_tokens: 1_000, full_path: () => null }
  const rows = provenanceTable.flatMap(({ kinds, origin, authority }) =>
    kinds.flatMap((kind) =>
      authority.map((authority_class) => ({ kind, origin, authority_class })),
    ),
  )
  assert.deepEqual(new Set(rows.map(({ kind }) => kind)), new Set(Object.keys(speaks)))
  for (const row of rows) {
    const message = aPrompt('msg_5', `Look at ${id}.`, { ...row, work_item_id: id })
    const note = interjectedNote([message], view, false)
    const [shown] = renderNotes({ n: 2 }, [note], { short: () => 'work_007f' })
    const text = shown?.role === 'user' ? shown.content : ''
    assert.match(text, /about work_007f/, row.kind)
    assert.equal(text.includes(id), !speaks[row.kind], row.kind)
  }
})

/** Which notes say nothing more once the rounds they speak of are recapped. */
const endWithRecap = ['nearly_full']

test('a note that warns of a recap goes with it, and every other note stays', () => {
  const values = Object.fromEntries(
    [...promptText('notes').matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => [name, '1,200']),
  )
  for (const name of sectionsOf(promptText('notes')).keys()) {
    const notes = [`Runtime note: ${template('notes', name, values)}`]
    const round = { n: 4, notes }
    assert.deepEqual(notesOf(round), notes, name)
    assert.deepEqual(notesOf(round, 3), notes, name)
    assert.deepEqual(notesOf(round, 4), endWithRecap.includes(name) ? [] : notes, name)
  }
})
