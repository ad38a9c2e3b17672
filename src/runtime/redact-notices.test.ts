// Redaction where the runtime writes and shows: live pieces, blobs, drafts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactor } from '../domain/secrets/redact.ts'
import type { AgentId } from '../domain/ids.ts'
import { newBlob } from '../testing/world/ledger-world.ts'
import type { ModelEvent } from '../models/model.ts'
import type { HostNotice } from './ports.ts'
import { blobOf, redactedNotices, secretsIn } from './redact-notices.ts'

const secret = 'sk-0123456789'
const { redactor } = createRedactor([{ name: 'key', value: secret }])
const agent_id = 'main' as AgentId

const live = (event: ModelEvent, round = 1): HostNotice => ({
  kind: 'live',
  agent_id,
  turn_id: 'turn_1',
  round,
  event,
})
const says = (text: string, round = 1) => live({ type: 'text_delta', text }, round)
const thinks = (text: string) => live({ type: 'reasoning_delta', text })
const retry = (message: string): HostNotice => {
  const turn_id = 'turn_1'
  return { kind: 'retry', agent_id, turn_id, message, delay_ms: 1, attempt: 1 }
}

function told(...given: HostNotice[]): HostNotice[] {
  const out: HostNotice[] = []
  const tell = redactedNotices(redactor, (notice) => out.push(notice))
  for (const notice of given) tell(notice)
  return out
}

test('a secret is found across the pieces of a live text, and a sign of life does not part them', () => {
  const alive = live({ type: 'alive' })
  assert.deepEqual(told(says('the key is sk-0'), says('12345'), alive, says('6789.')), [
    says('the key is '),
    alive,
    says('{{secret:key}}.'),
  ])
})

test('what was held back is told when the text goes over into something else', () => {
  const call = live({ type: 'tool_call_started', tool_name: 'ExecCommand' })
  assert.deepEqual(told(says('ask-01'), call, says('sk-'), thinks('sk-0'), says('next', 2)), [
    says('a'),
    says('sk-01'),
    call,
    says('sk-'),
    thinks('sk-0'),
    says('next', 2),
  ])
})

test('the message of a failed request is redacted and ends the text before it', () => {
  assert.deepEqual(told(says('sk-0'), retry(`refused: ${secret}`), says('12345')), [
    says('sk-0'),
    retry('refused: {{secret:key}}'),
    says('12345'),
  ])
})

test('a blob is redacted when it is text, byte for byte otherwise, and named by what it is then', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const [plain, binary] = [bytes('\ufeffnothing here'), Uint8Array.of(0xff, 0xfe, 0)]
  const [text, ...same] = [bytes(`\ufeffa ${secret}`), plain, binary].map((given) =>
    blobOf(given, redactor),
  )
  assert.deepEqual(text, newBlob(bytes('\ufeffa {{secret:key}}')))
  assert.deepEqual(same, [newBlob(plain), newBlob(binary)])
})

test('without a redactor nothing is in the way', () => {
  const tell = () => {}
  assert.equal(redactedNotices(undefined, tell), tell)
  const bytes = new TextEncoder().encode(secret)
  assert.deepEqual(blobOf(bytes, undefined), newBlob(bytes))
})

test('bytes that are kept whole or not at all hold a secret in any spelling, text or not', () => {
  const holds = secretsIn(redactor)
  const binary = [0xff, 0xfe, 0x00, 0x80]
  const around = (text: string) => Uint8Array.from([...binary, ...Buffer.from(text), ...binary])
  for (const spelling of [secret, Buffer.from(secret).toString('hex')]) {
    assert.deepEqual([holds(Buffer.from(`a ${spelling}`)), holds(around(spelling))], [true, true])
  }
  const half = secret.slice(0, -1)
  assert.deepEqual([holds(Buffer.from(half)), holds(around(half))], [false, false])
  assert.equal(secretsIn(undefined)(around(secret)), false)
})
