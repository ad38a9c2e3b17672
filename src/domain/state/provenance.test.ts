import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delegated, isAdmitted, provenanceTable } from './provenance.ts'
import type { AuthorityClass, Provenance } from './provenance.ts'

const kinds = [
  'operator_prompt',
  'callback_event',
  'webhook_event',
  'timer_tick',
  'task_result',
  'task_status',
  'internal_followup',
  'delegation',
] as const
const origins = ['operator', 'callback', 'webhook', 'timer', 'task', 'system', 'agent'] as const
const surfaces = [
  'cli_prompt',
  'run_once',
  'tui',
  'http_control',
  'http_callback',
  'http_webhook',
  'timer_scheduler',
  'task_rejoin',
  'runtime_system',
] as const
const contexts = [
  'local_process',
  'control_authenticated',
  'trigger_capability',
  'signature_verified',
  'runtime_owned',
] as const
const authorities = [
  'operator_instruction',
  'integration_signal',
  'runtime_instruction',
  'external_evidence',
] as const

// The table of docs/spec/message.md#provenance, written out: origin kind authority surface context.
const allowed = [
  'operator operator_prompt operator_instruction cli_prompt local_process',
  'operator operator_prompt operator_instruction run_once local_process',
  'operator operator_prompt operator_instruction tui local_process',
  'operator operator_prompt operator_instruction http_control control_authenticated',
  'callback callback_event integration_signal http_callback trigger_capability',
  'webhook webhook_event integration_signal http_webhook signature_verified',
  'timer timer_tick runtime_instruction timer_scheduler runtime_owned',
  'task task_result external_evidence task_rejoin runtime_owned',
  'task task_status external_evidence task_rejoin runtime_owned',
  'system internal_followup runtime_instruction runtime_system runtime_owned',
  'agent delegation operator_instruction runtime_system runtime_owned',
  'agent delegation integration_signal runtime_system runtime_owned',
  'agent delegation runtime_instruction runtime_system runtime_owned',
]

function* every(): Iterable<Provenance> {
  for (const origin of origins) {
    for (const kind of kinds) {
      for (const authority_class of authorities) {
        for (const delivery_surface of surfaces) {
          for (const admission_context of contexts) {
            yield { origin, kind, authority_class, delivery_surface, admission_context }
          }
        }
      }
    }
  }
}

const words = (p: Provenance) =>
  [p.origin, p.kind, p.authority_class, p.delivery_surface, p.admission_context].join(' ')

test('of all combinations of the five fields exactly those of the table are admitted', () => {
  const all = [...every()]
  assert.equal(all.length, 7 * 8 * 4 * 9 * 5)
  assert.deepEqual(all.filter(isAdmitted).map(words).toSorted(), allowed.toSorted())
})

test('external evidence is what tasks bring, and nothing else that comes in', () => {
  const origins = provenanceTable.filter((row) => row.authority.includes('external_evidence'))
  assert.deepEqual(
    origins.map(({ origin, authority }) => [origin, authority]),
    [['task', ['external_evidence']]],
  )
})

const [operator, runtime, signal, evidence] = [
  'operator_instruction',
  'runtime_instruction',
  'integration_signal',
  'external_evidence',
] as const
const lowest: [claimed: AuthorityClass[], carries: AuthorityClass][] = [
  [[], runtime],
  [[operator], operator],
  [[runtime], runtime],
  [[signal], signal],
  [[operator, runtime], runtime],
  [[runtime, operator, operator], runtime],
  [[operator, signal], signal],
  [[signal, runtime, operator], signal],
  [[evidence], runtime],
  [[operator, evidence], operator],
  [[operator, evidence, signal], signal],
]
/** Who brings a message of this class; a runtime's is a parent's that started by itself. */
const bringing = {
  operator_instruction: 'operator',
  runtime_instruction: 'agent',
  integration_signal: 'webhook',
  external_evidence: 'task',
} as const
test('a delegation carries the lowest authority that its turn claimed, and has a route', () => {
  for (const [claimed, carries] of lowest) {
    const made = delegated(
      claimed.map((authority_class) => ({ origin: bringing[authority_class], authority_class })),
    )
    assert.deepEqual(
      [words(made), isAdmitted(made)],
      [`agent delegation ${carries} runtime_system runtime_owned`, true],
      `of ${claimed.join(', ') || 'nothing'}`,
    )
  }
})

test('a clock and a note of the runtime take no weight from what the operator asked', () => {
  const others = (['timer', 'system', 'task'] as const).map((origin) => ({
    origin,
    authority_class: runtime,
  }))
  const asked = [...others, { origin: 'operator' as const, authority_class: operator }]
  assert.equal(delegated(asked).authority_class, operator)
})
