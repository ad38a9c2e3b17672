import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMs } from './retry-after.ts'

const now = Date.UTC(2026, 10, 21, 12, 0, 0)

test('when a provider takes requests again, in order of precedence', () => {
  const table: readonly (readonly [Record<string, string>, string | null, number | null])[] = [
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, null, 1_500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, null, 9_000],
    [{ 'retry-after': ' 0.5 ' }, null, 500],
    [{ 'retry-after': '0' }, null, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' }, null, 60_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, null, 0],
    [{ 'retry-after': '-5' }, null, null],
    [{ 'retry-after': 'tomorrow' }, null, null],
    [
      {
        'anthropic-ratelimit-requests-remaining': '3',
        'anthropic-ratelimit-requests-reset': '2026-11-21T13:00:00Z',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:00:20Z',
        'anthropic-ratelimit-output-tokens-remaining': '0',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-21T12:00:10Z',
      },
      null,
      20_000,
    ],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0.5s' }, null, 360_500],
    [{ 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '6m0s' }, null, null],
    [{ 'x-ratelimit-remaining-requests': '0' }, null, null],
    // OpenRouter's moment, in milliseconds; others say it in seconds, or for how long.
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now + 30_000}` }, null, 30_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now / 1_000 + 20}` }, null, 20_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '15' }, null, 15_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now - 5}` }, null, 0],
    [{ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': `${now + 30_000}` }, null, null],
    [{}, '{"error":{"details":[{"retryDelay": "34.5s"}]}}', 34_500],
    [{}, '{"error":{"message":"later"}}', null],
    [{}, null, null],
  ]
  for (const [headers, body, expected] of table) {
    assert.equal(retryAfterMs({ headers, body }, now), expected, JSON.stringify(headers))
  }
})

test('a provider that asks for an impossible wait is asked again after 31 days', () => {
  const most = 31 * 24 * 3_600_000
  const digits = '9'.repeat(400)
  for (const headers of [
    { 'retry-after': '99999999999999999999' },
    { 'retry-after': digits },
    { 'retry-after-ms': digits },
    { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
  ]) {
    assert.equal(retryAfterMs({ headers, body: null }, now), most, JSON.stringify(headers))
  }
  const body = `{"retryDelay": "${'9'.repeat(18)}s"}`
  assert.equal(retryAfterMs({ headers: {}, body }, now), most)
})
