/** The loser of a race for a question learns who was faster, and by which way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, T0, wait, World } from '../../testing/world/agent-world.ts'
import { answerWait, boundHash, type Answer } from './answer-question.ts'
import type { Message } from '../state/message.ts'
import {
  controlPrompt,
  localPrompt,
  runtimeFollowup,
  type Provenance,
} from '../state/provenance.ts'
import { plainQuestion } from '../state/question.ts'
import { isRejection } from '../rejection.ts'

function asked(): { w: World; answer: (given?: Partial<Answer>) => Answer } {
  const w = new World()
  const { wait: row } = wait(w, { work_item_id: item(w), wake: 'operator_input', reason: 'Which?' })
  const answer = (given: Partial<Answer> = {}): Answer => ({
    provenance: controlPrompt,
    wait_id: row.id,
    text: 'The first.',
    is_choice: false,
    bound_hash: boundHash(row),
    start: false,
    ...given,
  })
  return { w, answer }
}

const refusalOf = (result: object) =>
  isRejection(result) ? [result.code, result.message] : 'accepted'
const by = (provenance: Provenance): Message =>
  ({ ...provenance, id: 'msg_9', wait_id: 'wait_0001' }) as unknown as Message

test('an answer to a question that was answered says who was faster', () => {
  const rows: [Message | null, string][] = [
    [null, `wait_0001 was settled at ${T0}, not by an answer to it.`],
    [by(localPrompt('cli_prompt')), `was answered from the command line at ${T0}, in msg_9.`],
    [by(localPrompt('run_once')), `was answered from \`holon run\` at ${T0}, in msg_9.`],
    [by(localPrompt('tui')), `was answered from the terminal screen at ${T0}, in msg_9.`],
    [by(controlPrompt), `was answered through the control API at ${T0}, in msg_9.`],
    [by(runtimeFollowup), `was answered by the operator at ${T0}, in msg_9.`],
    [
      by({ ...controlPrompt, delivery_surface: 'http_webhook' }),
      `was answered http_webhook at ${T0}, in msg_9.`,
    ],
  ]
  for (const [message, words] of rows) {
    const { w, answer } = asked()
    w.do((d) => d.emit({ type: 'wait_resolved', id: 'wait_0001', by: { kind: 'runtime' } }))
    const expect = words.startsWith('wait') ? words : `wait_0001 ${words}`
    const late = refusalOf(w.try((d) => answerWait(d, answer(), message)))
    assert.deepEqual(late, ['already_answered', expect])
  }
})

test('the message that answered goes before what the facts have forgotten', () => {
  const { w, answer } = asked()
  w.do((d) => answerWait(d, answer(), null))
  const [message] = w.all('messages')
  assert.ok(message)
  const late = refusalOf(w.try((d) => answerWait(d, answer(), by(localPrompt('tui')))))
  const words = `wait_0001 was answered through the control API at ${T0}, in ${message.id}.`
  assert.deepEqual(late, ['already_answered', words])
})

test('only the question that was shown, and is open, is answered', () => {
  const { w, answer } = asked()
  const other = wait(w, { work_item_id: item(w), source: 'ci' }).wait
  const told = (given: Partial<Answer>) =>
    refusalOf(w.try((d) => answerWait(d, answer(given), null)))
  assert.deepEqual(told({ wait_id: 'wait_none' }), [
    'wait_not_found',
    'wait_none is not a wait of main.',
  ])
  assert.deepEqual(told({ wait_id: other.id }), [
    'not_a_question',
    `${other.id} waits for external, not for the operator.`,
  ])
  assert.deepEqual(told({ bound_hash: 'x' }), [
    'question_changed',
    'wait_0001 asks something else now: "Which?"',
  ])
  const cancelled = { type: 'wait_cancelled', id: 'wait_0001', by: 'agent', because: 'x' } as const
  w.do((d) => d.emit(cancelled))
  assert.deepEqual(told({}), ['wait_not_active', `wait_0001 was cancelled at ${T0}.`])
  const row = w.row('waits', 'wait_0001')
  w.facts.include('waits', { ...row, status: 'active', agent_id: 'other' })
  assert.deepEqual(told({}), ['wait_not_found', 'wait_0001 is not a wait of main.'])
})

test('the mark of a question changes with its wait, its words, and when it was asked', () => {
  const of = {
    id: 'wait_1',
    reason: 'Which?',
    question: plainQuestion('Which?'),
    created_at: T0,
  } as const
  const choices = [{ key: '1', label: 'red' }]
  const marks = [
    of,
    { ...of, id: 'wait_2' } as const,
    { ...of, question: plainQuestion('What?') },
    { ...of, question: { ...of.question, choices } },
    { ...of, created_at: '2026-03-02T09:00:00.001Z' } as const,
  ].map(boundHash)
  assert.equal(new Set(marks).size, 5)
  assert.equal(boundHash({ ...of }), marks[0])
})
