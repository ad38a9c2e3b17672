import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timestamp } from '../domain/time.ts'
import { spendRowOf } from './records/spend-record.ts'
import { horizonOf } from './upkeep.ts'

const now: Timestamp = '2026-03-12T09:00:00.000Z'
const no = (message: string) => ({ ok: false, code: 'horizon_invalid', message })

test('history goes up to the time given, or by the days given, or by those of the configuration', () => {
  const to = (value: string) => ({ ok: true, value })
  const given: Parameters<typeof horizonOf>[0][] = [
    { before: now },
    { before: '2026-03-12T10:00:00.001+01:00' },
    { before: '2026-03-01T01:00:00+01:00' },
    { keep_days: 8 },
    {},
    { before: now, keep_days: 8 },
  ]
  assert.deepEqual(
    given.map((one) => horizonOf(one, 10, now)),
    [
      to(now),
      no('2026-03-12T10:00:00.001+01:00 is still to come.'),
      to('2026-03-01T00:00:00.000Z'),
      to('2026-03-04T09:00:00.000Z'),
      to('2026-03-02T09:00:00.000Z'),
      no('Both a time and a number of days are given.'),
    ],
  )
  assert.deepEqual(horizonOf({}, null, now), no('Nothing says what may go.'))
  assert.deepEqual(horizonOf({ keep_days: 8 }, null, now), to('2026-03-04T09:00:00.000Z'))
})

test('a sum with a price that is not known is not known, and what is known stands beside it', () => {
  const used = {
    agent_id: 'main',
    work_item_id: null,
    day: null,
    requests: 3,
    input_tokens: 1,
    output_tokens: 2,
    reasoning_tokens: 3,
    cached_input_tokens: 4,
    cache_write_tokens: 5,
  }
  const row = (usd: number | null, unpriced: number) => spendRowOf({ ...used, usd, unpriced })
  assert.deepEqual(
    [row(1.5, 0), row(1.5, 1), row(null, 1), row(0, 0)],
    [
      { ...used, usd: 1.5, known_usd: 1.5, unpriced_requests: 0 },
      { ...used, usd: null, known_usd: 1.5, unpriced_requests: 1 },
      { ...used, usd: null, known_usd: null, unpriced_requests: 1 },
      { ...used, usd: 0, known_usd: 0, unpriced_requests: 0 },
    ],
  )
})
