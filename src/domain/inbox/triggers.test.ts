import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0, World } from '../../testing/world/agent-world.ts'
import { does, refusal, tokenHash } from '../../testing/world/operator-inputs.ts'
import type { TriggerId } from '../ids.ts'
import { limits } from '../limits.ts'
import { minute, plus } from '../time.ts'
import { ensureDefaultTrigger } from './triggers.ts'

const ensured = (w: World): boolean => w.do((d) => ensureDefaultTrigger(d, tokenHash))

test('a public agent gets a trigger of its own, once', () => {
  const w = new World()
  assert.deepEqual([ensured(w), ensured(w.reload())], [true, false])
  assert.deepEqual(w.all('triggers'), [
    {
      id: 'trig_0001',
      agent_id: 'main',
      label: 'default',
      by: 'runtime',
      generation: 1,
      token_sha256: 'hash-of-trig_0001-1',
      source: null,
      resource: null,
      delivery_mode: null,
      status: 'active',
      delivered: 0,
      last_delivered_at: null,
      created_at: T0,
      reset_at: null,
    },
  ])
})

test('without the secret nothing is minted, and the agent is none the worse', () => {
  const w = new World()
  assert.equal(
    w.do((d) => ensureDefaultTrigger(d, null)),
    false,
  )
  const create = { do: 'create_trigger', label: 'ci' } as const
  assert.equal(refusal(w, create, { token_hash: null }), 'trigger_secret_missing')
  const id = does(w, create).id ?? ''
  assert.equal(
    refusal(w, { do: 'reset_trigger', trigger_id: id }, { token_hash: null }),
    'trigger_secret_missing',
  )
})

test('a private agent has no trigger', () => {
  const w = new World()
  w.facts.include('agents', { ...w.row('agents', 'main'), visibility: 'private' })
  assert.equal(ensured(w), false)
  assert.equal(refusal(w, { do: 'create_trigger', label: 'ci' }), 'agent_private')
})

test('a reset moves the generation, and with it the token', () => {
  const w = new World()
  ensured(w)
  does(w.pass(minute), { do: 'reset_trigger', trigger_id: 'trig_0001' })
  const { generation, token_sha256, reset_at } = w.row('triggers', 'trig_0001')
  assert.deepEqual(
    [generation, token_sha256, reset_at],
    [2, 'hash-of-trig_0001-2', plus(T0, minute)],
  )
})

test('a revoked trigger opens nothing again; the agent’s own is reset instead', () => {
  const w = new World()
  ensured(w)
  const trigger_id = does(w, { do: 'create_trigger', label: 'ci' }).id as TriggerId
  does(w, { do: 'revoke_trigger', trigger_id })
  assert.equal(w.row('triggers', trigger_id).status, 'revoked')
  assert.equal(refusal(w, { do: 'reset_trigger', trigger_id }), 'trigger_not_found')
  assert.equal(refusal(w, { do: 'revoke_trigger', trigger_id }), 'trigger_not_found')
  assert.equal(refusal(w, { do: 'revoke_trigger', trigger_id: 'trig_0001' }), 'trigger_default')
})

const refused: [what: string, object, code: string][] = [
  ['no label', { label: '' }, 'label_invalid'],
  ['a label of two lines', { label: 'a\nb' }, 'label_invalid'],
  ['a label over the limit', { label: 'x'.repeat(101) }, 'over_limit'],
  ['a source over the limit', { source: 'x'.repeat(501) }, 'over_limit'],
  ['a resource over the limit', { resource: 'x'.repeat(501) }, 'over_limit'],
]
for (const [what, more, code] of refused) {
  test(`a trigger with ${what} is refused with ${code}`, () => {
    assert.equal(refusal(new World(), { do: 'create_trigger', label: 'ci', ...more }), code)
  })
}

test('an agent has a hundred triggers at most; one that is revoked counts no more', () => {
  const w = new World()
  const create = { do: 'create_trigger', label: 'ci' } as const
  for (let n = 0; n < limits.agent_triggers.value; n++) does(w, create)
  assert.equal(refusal(w, create), 'over_limit')
  does(w, { do: 'revoke_trigger', trigger_id: 'trig_0001' })
  assert.equal(does(w, create).id, 'trig_0101')
})
