import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPrompt, before, now } from '../testing/situations.ts'
import { charTokens } from './estimate.ts'
import {
  cutAnswerNote,
  emptyAnswerNote,
  interjectedNote,
  interruptionNote,
  operatorChangeNote,
  reportNote,
} from './notes.ts'
import { promptText, sectionsOf, template } from './template.ts'

test('notes of the runtime, word for word', (t) => {
  const lost = [
    { tool_name: 'ExecCommand', became: 'outcome_unknown' },
    { tool_name: 'EditFile', became: 'result' },
  ] as const
  const view = { now, fence: 'c0de', tokens: charTokens, max_tokens: 1_000, full_path: () => null }
  const texts = [
    interruptionNote({ kind: 'recovered', since: before(3), calls: [] }, now),
    interruptionNote({ kind: 'recovered', since: before(200), calls: lost }, now),
    interruptionNote({ kind: 'held', since: before(61), cause: 'the provider\nis out' }, now),
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

test('a change of the operator is told field by field, others are not', () => {
  const changed = {
    objective: 'Ship it\ntoday',
    plan_status: 'ready',
    todo_list: [{ text: 'a', state: 'pending' }],
    blocked_by: null,
  } as const
  const note = operatorChangeNote('work_1', [
    { type: 'work_item_updated', id: 'work_1', by: 'operator', changed },
    { type: 'work_item_updated', id: 'work_1', by: 'agent', changed: { plan_status: 'draft' } },
    { type: 'work_item_updated', id: 'work_2', by: 'operator', changed },
    { type: 'wait_cancelled', id: 'wait_1', by: 'operator', because: 'unblocked' },
  ])
  assert.equal(
    note,
    'Runtime note: While you worked, the operator changed work item work_1: ' +
      'objective: "Ship it today"; plan_status: ready; blocker cleared; ' +
      'todo list: pending "a"; cancelled its wait wait_1. These values hold now.',
  )
  assert.equal(operatorChangeNote('work_3', []), null)
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
