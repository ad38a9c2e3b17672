import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContextMessage } from '../context/message.ts'
import type { ModelMessage } from '../models/model.ts'
import { toMessages } from './whole-request.ts'
import { aCall, aRound, succeededWith } from './rows.ts'

test('what context renders is what a model takes, and the other way round', () => {
  const call = aCall('ReadFile', { path: 'a' }, succeededWith('ReadFile', 'read'))
  const messages: readonly ModelMessage[] = toMessages(
    { system: '', user: 'opening', items: {} },
    [aRound(1, 'words', [call])],
    [],
    { model: 'scripted/one', full_path: () => null },
  )
  const back: readonly ContextMessage[] = messages
  assert.deepEqual(
    back.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  )
})
