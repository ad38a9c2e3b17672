/** What makes a stream a round, and what makes it none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { RoundBuilder } from './round.ts'

const usage = {
  inputTokens: { total: 10, noCache: undefined, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
}

const finish = (unified: LanguageModelV4FinishReason['unified']): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: 'as sent' },
  usage,
})

const said: LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Half a sen' },
]
const call: LanguageModelV4StreamPart = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'ExecCommand',
  input: '{"cmd":"rm -r build"}',
}

const whole = {
  parts: [{ type: 'text', text: 'Half a sen' }],
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    reasoning_tokens: null,
    cached_input_tokens: 4,
    cache_write_tokens: null,
  },
  model: 'openai/gpt',
  response_id: null,
}

function endOf(parts: readonly LanguageModelV4StreamPart[]) {
  const builder = new RoundBuilder('openai/gpt')
  for (const part of parts) builder.take(part)
  return builder.end()
}

describe('a stream is a round when it said that it finished, and how', () => {
  const broken = { ok: false, why: 'the stream ended before its answer did' }
  const table: [name: string, parts: LanguageModelV4StreamPart[], ending: unknown][] = [
    ['nothing at all', [], broken],
    ['words without an end', said, broken],
    ['a call without an end', [call], broken],
    [
      'an error for an end',
      [...said, finish('error')],
      {
        ok: false,
        why: 'the stream ended with as sent',
      },
    ],
    ['an end', [...said, finish('stop')], { ok: true, round: { ...whole, finish: 'stop' } }],
    [
      'an end by length',
      [...said, finish('length')],
      {
        ok: true,
        round: { ...whole, finish: 'length' },
      },
    ],
  ]
  for (const [name, parts, ending] of table) {
    test(name, () => assert.deepEqual(endOf(parts), ending))
  }
})

test('each word for a call that could not be read is one ending, and the model is told the word', () => {
  for (const raw of [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
  ]) {
    for (const unified of ['error', 'other', 'stop'] as const) {
      const ended = { type: 'finish', finishReason: { unified, raw }, usage } as const
      const round = { ...whole, parts: [], finish: 'unreadable_call', finish_word: raw }
      assert.deepEqual(endOf([ended]), { ok: true, round })
    }
  }
})

test('what a provider says of a part at its end stays with the part', () => {
  const ending = endOf([
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 'sig' } } },
    finish('stop'),
  ])
  assert.deepEqual(ending, {
    ok: true,
    round: {
      ...whole,
      parts: [
        { type: 'reasoning', text: 'Hm.', provider_metadata: { anthropic: { signature: 'sig' } } },
      ],
      finish: 'stop',
    },
  })
})
