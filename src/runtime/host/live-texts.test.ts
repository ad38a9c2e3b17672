// What models say in open requests, held until it is recorded or void.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import type { AgentId } from '../../domain/ids.ts'
import type { Emitted } from '../../domain/facts/facts.ts'
import { createRedactor } from '../../domain/secrets/redact.ts'
import { redactedNotices } from '../redact-notices.ts'
import type { HostNotice } from '../ports.ts'
import { LiveTexts } from './live-texts.ts'

const agent_id = 'main' as AgentId
const says = (text: string, round = 1): HostNotice => ({
  kind: 'live',
  agent_id,
  turn_id: 'turn_1',
  round,
  event: { type: 'text_delta', text },
})
const retry: HostNotice = {
  kind: 'retry',
  agent_id,
  turn_id: 'turn_1',
  message: 'It broke off.',
  delay_ms: 1,
  attempt: 1,
}
const committed = (type: string, id: string): HostNotice => {
  const events = [{ event: { type, id }, meta: {} }] as unknown as Emitted[]
  return { kind: 'committed', agent_id, events }
}
const recorded = committed('round_recorded', 'turn_1:1')

function told(...notices: HostNotice[]) {
  const texts = new LiveTexts()
  for (const notice of notices) texts.notice(notice)
  return texts.of(agent_id).map((said) => [said.round, said.attempt, said.length, said.after(0)])
}

const cases: [string, HostNotice[], unknown[]][] = [
  ['pieces are one text', [says('I lo'), says('ok.')], [[1, 1, 7, [{ at: 0, text: 'I look.' }]]]],
  ['its record stands for it', [says('I look.'), recorded], []],
  ['a piece behind the record is of no use', [says('I'), recorded, says(' look.')], []],
  [
    'the next round is another text',
    [says('I'), recorded, says('So.', 2)],
    [[2, 1, 3, [{ at: 0, text: 'So.' }]]],
  ],
  ['an attempt that failed is void', [says('I lo'), retry], [[1, 2, 0, []]]],
  [
    'the next attempt begins anew',
    [says('I lo'), retry, says('Look')],
    [[1, 2, 4, [{ at: 0, text: 'Look' }]]],
  ],
  [
    'another model begins anew',
    [says('I'), committed('model_fell_back', 'turn_1')],
    [[1, 2, 0, []]],
  ],
  ['a turn that was stopped says no more', [says('I'), committed('turn_ended', 'turn_1')], []],
]
for (const [name, notices, wanted] of cases) {
  test(name, () => assert.deepEqual(told(...notices), wanted))
}

test('a reader gets what stands behind the place it was at', () => {
  const texts = new LiveTexts()
  texts.notice(says('one two'))
  const [said] = texts.of(null)
  assert.deepEqual([said?.after(4), said?.after(7)], [[{ at: 4, text: 'two' }], []])
})

test('of a text without end the head and the tail are held, and no more than the limit', () => {
  const texts = new LiveTexts()
  const piece = 'x'.repeat(8_192)
  texts.notice(says('HEAD'))
  for (let n = 0; n < 100; n += 1) texts.notice(says(piece))
  texts.notice(says('TAIL'))
  const [head, tail, ...more] = texts.of(agent_id)[0]?.after(0) ?? []
  const length = 8_192 * 100 + 8
  const held = (head?.text.length ?? 0) + (tail?.text.length ?? 0)
  assert.deepEqual(
    [head?.at, head?.text.slice(0, 4), tail?.text.slice(-4), more, held <= limits.live_text.value],
    [0, 'HEAD', 'TAIL', [], true],
  )
  assert.equal((tail?.at ?? 0) + (tail?.text.length ?? 0), length)
})

test('a secret that comes in two pieces is in no live text', () => {
  const { redactor } = createRedactor([{ name: 'key', value: 'sk-0123456789' }])
  const texts = new LiveTexts()
  const seen: unknown[] = []
  const tell = redactedNotices(redactor, (notice) => texts.notice(notice))
  for (const piece of ['the key is sk-01', '23456789', ' as told']) {
    tell(says(piece))
    seen.push(texts.of(agent_id)[0]?.after(0)[0]?.text)
  }
  assert.deepEqual(seen, [
    'the key is ',
    'the key is {{secret:key}}',
    'the key is {{secret:key}} as told',
  ])
})
