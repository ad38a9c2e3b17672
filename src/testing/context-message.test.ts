import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelMessage } from '../ports/model-message.ts'
import { toMessages } from './whole-request.ts'
import { aCall, aRound, succeededWith } from './rows.ts'

test('what context renders is what a model takes', () => {
  const call = aCall('ReadFile', { path: 'a' }, succeededWith('ReadFile', 'read'))
  const messages: readonly ModelMessage[] = toMessages(
    { system: '', user: 'opening', items: {} },
    [aRound(1, 'words', [call])],
    [],
    { model: 'scripted/one', full_path: () => null },
  )
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  )
})
