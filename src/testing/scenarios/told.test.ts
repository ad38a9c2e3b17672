import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0 } from '../world/agent-world.ts'
import type { Event, EventType, StoredEvent } from '../../domain/state/event.ts'
import { toldHistory } from './told.ts'
import type { Outcome, RoundKind } from '../../domain/state/turn.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

/** Only the fields that are looked at. */
const e = <T extends EventType>(type: T, fields: Partial<Of<T>>): Event =>
  ({ type, ...fields }) as unknown as Event

const found = (...given: Event[]): string[] =>
  toldHistory(
    given.map((event, n): StoredEvent => {
      const meta = { agent_id: 'main', work_item_id: null, turn_id: null, causation_id: null }
      return { id: `evt_${n}`, seq: n, global_seq: n, v: 1, at: T0, ...meta, event }
    }),
  )

const begins = e('turn_started', { work_item_id: 'work_a' })
const round = (n: number, text: string, kind: RoundKind = 'work'): Event[] => [
  e('request_sent', { id: `turn_a:${n}`, n, kind }),
  e('round_recorded', { id: `turn_a:${n}`, parts: [{ type: 'text', text }], finish: 'stop' }),
]
const calls = (n: number) =>
  e('call_recorded', { id: `call_${n}`, round: n, work_item_id: 'work_a' })
const tells = (text: string, kind: Of<'brief_delivered'>['kind'] = 'reply') =>
  e('brief_delivered', { kind, text, wait_id: null })
const ends = (outcome: Outcome = 'completed') => e('turn_ended', { outcome, reason: null })
const lost = (n: number, outcome: Outcome = 'completed') => [
  `45: the words of turn_a:${n} reached nobody (${outcome}, null)`,
]

test('45: words that end an answer, or stand beside the wait that ends the turn, are told', () => {
  assert.deepEqual(found(begins, ...round(1, 'Done.'), tells('Done.'), ends()), [])
  assert.deepEqual(found(begins, ...round(1, 'Done.'), tells('Begun.'), ends()), lost(1))
  assert.deepEqual(found(begins, ...round(1, 'I look.'), calls(1), ...round(2, ''), ends()), [])
  const beside = [begins, ...round(1, 'I wait.'), calls(1)]
  assert.deepEqual(found(...beside, ends('waiting')), lost(1, 'waiting'))
  assert.deepEqual(found(...beside, ends('completed')), [])
  const ended: Outcome[] = ['completed', 'waiting', 'interrupted']
  for (const outcome of ended) {
    assert.deepEqual(found(begins, ...round(1, 'Done.'), ends(outcome)), lost(1, outcome))
  }
  for (const outcome of ['aborted', 'failed'] as const) {
    assert.deepEqual(found(begins, ...round(1, 'Done.'), ends(outcome)), [])
  }
})

test('45: an answer that was cut and went on counts as one; a report may be the better of two', () => {
  const cut = [begins, ...round(1, 'The first'), ...round(2, 'half.', 'continue')]
  assert.deepEqual(found(...cut, tells('half.'), ends()), lost(1))
  assert.deepEqual(found(...cut, tells('The first half.'), ends()), [])
  assert.deepEqual(found(...cut, calls(2), ends()), [])
  const asked = [begins, ...round(1, 'It is all done.', 'report')]
  assert.deepEqual(found(...asked, ends()), lost(1))
  assert.deepEqual(found(...asked, tells('Another text.', 'result'), ends()), [])
})

test('45: a question reaches a person with its text', () => {
  const asks = e('wait_registered', {
    id: 'wait_a',
    wake: 'operator_input',
    question: { text: 'Which?', choices: [], settles: null },
  })
  const nobody = ['45: the question of wait_a reached nobody']
  const brief = (text: string, wait_id: Of<'wait_registered'>['id']) =>
    e('brief_delivered', { kind: 'question', text, wait_id })
  assert.deepEqual(found(asks), nobody)
  assert.deepEqual(found(asks, brief('Something else?', 'wait_a')), nobody)
  assert.deepEqual(found(asks, brief('Which?', 'wait_b')), nobody)
  assert.deepEqual(found(asks, brief('Which?\n1. This', 'wait_a')), [])
  assert.deepEqual(found(e('wait_registered', { id: 'wait_a', wake: 'timer', question: null })), [])
})

test('46: a call begins for the item that the turn is about when it runs', () => {
  const starts = (work_item_id: Of<'call_started'>['work_item_id']) =>
    e('call_started', { id: 'call_1', work_item_id, task_id: null })
  const picks = e('turn_bound', { work_item_id: 'work_b' })
  const wrong = (item: string, about: string) => [
    `46: call_1 began for ${item} in a turn about ${about}`,
  ]
  assert.deepEqual(found(begins, calls(1), starts('work_a')), [])
  assert.deepEqual(found(begins, calls(1), picks, starts('work_b')), [])
  assert.deepEqual(found(begins, calls(1), picks, starts('work_a')), wrong('work_a', 'work_b'))
  assert.deepEqual(found(begins, calls(1), starts(null)), wrong('null', 'work_a'))
})
