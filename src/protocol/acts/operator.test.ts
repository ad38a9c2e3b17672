/** The schema of the operator's acts and the union the rules decide are one thing, said twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import type { OperatorAct } from '../../domain/operator/act.ts'
import type { Done } from '../../domain/state/reply.ts'
import { operatorCommand, type OperatorCommand, type OperatorReply } from './operator.ts'

/** Compiles only while each is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? 'same' : never) : never
const acts: Same<OperatorCommand, OperatorAct> = 'same'
const answers: Same<OperatorReply & { ok: true }, Done> = 'same'

test('the schema and the rules know the same acts, the same fields and the same answer', () => {
  assert.deepEqual([acts, answers], ['same', 'same'])
})

const agent_id = 'main'
const rows: [string, object, boolean][] = [
  [
    'a receipt on any act',
    { do: 'stop_agent', receipt: { id: 'rcpt_1', request_sha256: 'aa' } },
    true,
  ],
  [
    'a delivery by trigger',
    { do: 'deliver', via: { kind: 'trigger', trigger_id: 't' }, body: '' },
    true,
  ],
  ['a delivery without a door', { do: 'deliver', body: '' }, false],
  [
    'a door of two kinds',
    { do: 'deliver', via: { kind: 'webhook', trigger_id: 't' }, body: '' },
    false,
  ],
  ['a blocker taken away', { do: 'update_item', work_item_id: 'w', blocked_by: null }, true],
  ['an unknown field', { do: 'update_item', work_item_id: 'w', state: 'open' }, false],
  [
    'an answer without the mark of its question',
    { do: 'answer', wait_id: 'w', text: 'yes' },
    false,
  ],
  [
    'a schedule with a wrong policy',
    { do: 'pause_schedule', schedule_id: 's', missed: 'all' },
    false,
  ],
  ['an unknown act', { do: 'explode' }, false],
]
for (const [what, act, valid] of rows) {
  test(`${what} is ${valid ? 'an act' : 'none'}`, () => {
    assert.equal(operatorCommand.safeParse({ agent_id, ...act }).success, valid)
  })
}

test('an act that comes in at the door of the owner has these fields and no others', (t) => {
  t.assert.snapshot(z.toJSONSchema(operatorCommand))
})
