/** An answer stands below the question it answers, whole and once, and says whose it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainQuestion } from '../../domain/state/question.ts'
import { aSituation } from '../../testing/world/situations.ts'
import { anchorSection } from './anchor.ts'
import { charTokens } from '../estimate.ts'
import { inputSection } from './messages.ts'
import { aPrompt, aTurn, aWait, now } from '../../testing/rows.ts'

const choices = [{ key: '1', label: 'red' }]
const colour = { ...plainQuestion('Which colour?\nI would take red.'), choices }
const view = {
  now,
  fence: 'f',
  tokens: charTokens,
  max_tokens: 4_000,
  full_path: () => null,
  goes_on: false,
}

function answered(origin: 'operator' | 'agent', parent: string | null = null): string {
  const waits = [
    aWait('wait_1', { wake: 'operator_input', question: colour, status: 'resolved' }),
    aWait('wait_2', {
      wake: 'operator_input',
      question: plainQuestion('When?'),
      status: 'resolved',
    }),
  ]
  const said = [
    aPrompt('msg_1', 'red', { wait_id: 'wait_1', origin }),
    aPrompt('msg_2', 'Now.', { wait_id: 'wait_2', origin }),
  ]
  const turn = aTurn({ cause: { kind: 'message', message_id: 'msg_1' } })
  const base = aSituation({ messages: said, turn })
  const agent = { ...base.agent, supervisor_agent_id: parent }
  const situation = { ...base, agent, answered: waits, woken_by: waits }
  assert.doesNotMatch(anchorSection(situation, false), /Which colour|When\?/)
  return inputSection(situation, view)
}

test('each of two answers stands below its own question, with the choices that were offered', () => {
  const text = answered('operator')
  const order = ['Which colour?', 'I would take red.', '1: red', 'The operator answered:', 'red']
  let from = 0
  for (const words of [...order, 'When?', 'The operator answered:', 'Now.']) {
    const at = text.indexOf(words, from)
    assert.ok(at >= from, `${words} in its place in:\n${text}`)
    from = at + words.length
  }
  assert.equal(text.split('Which colour?').length, 2)
})

test('an answer of the parent has the parent’s name, and never the operator’s', () => {
  const text = answered('agent', 'main')
  assert.match(text, /main answered:/)
  assert.doesNotMatch(text, /operator answered/)
})
