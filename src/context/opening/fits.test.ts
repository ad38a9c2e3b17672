import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charTokens } from '../estimate.ts'
import { answerTokens, fits, messageTokens } from './fits.ts'
import { ago, clip, oneLine, span, thousands } from '../phrase.ts'

test('a request fits while a tenth of the window, at most 16,000 tokens, stays free', () => {
  assert.deepEqual([8_000, 160_000, 1_000_000].map(answerTokens), [800, 16_000, 16_000])
  const table = [
    [7_200, 8_000, true],
    [7_201, 8_000, false],
    [984_000, 1_000_000, true],
    [984_001, 1_000_000, false],
  ] as const
  for (const [tokens, window, answer] of table) assert.equal(fits(tokens, window), answer)
})

test('four ASCII characters are a token, and each other character is one', () => {
  assert.deepEqual(
    ['', 'a', 'abcd', 'abcde', '日本語', 'naïve'].map(charTokens),
    [0, 1, 1, 2, 3, 2],
  )
})

test('the size of a message is the sum of its texts and its framing', () => {
  const parts = [
    { type: 'text', text: 'x'.repeat(40) },
    { type: 'reasoning', text: '', provider_metadata: { s: 'abcd' } },
    { type: 'tool_call', provider_call_id: 'c', tool_name: 'Tool', input_json: '{"a":1}' },
  ] as const
  const result = { call_id: 'c', provider_call_id: 'c', tool_name: 'Tool', is_error: false }
  assert.deepEqual(
    [
      messageTokens({ role: 'user', content: 'x'.repeat(40) }, charTokens),
      messageTokens({ role: 'assistant', parts }, charTokens),
      messageTokens({ role: 'tool', results: [{ ...result, text: 'abcd' }] }, charTokens),
    ],
    [18, 8 + 10 + 3 + 8 + 1 + 2, 17],
  )
})

test('spans are said in their two largest units', () => {
  const minute = 60_000
  assert.deepEqual(
    [0, 850, 42_900, 5 * minute, 200 * minute, 120 * minute, 1_500 * minute, 4_330 * minute].map(
      span,
    ),
    ['0 ms', '850 ms', '42 s', '5 min', '3 h 20 min', '2 h', '1 day 1 h', '3 days'],
  )
  assert.equal(ago('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.500Z'), 'just now')
})

test('one line stays one line, and a clipped one ends in an ellipsis', () => {
  assert.equal(oneLine(' a\r\nb\u2028c\u0085d\ve '), 'a b c d e')
  assert.equal(clip('abcdef', 4), 'abc…')
  assert.equal(clip('ab😀cd', 4), 'ab\ufffd…')
  assert.equal(thousands(1_234_567), '1,234,567')
})
