import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleSpec } from '../domain/state/schedule.ts'
import { timetable } from './cron.ts'

const cron = (expression: string, time_zone = 'UTC') =>
  ({ kind: 'cron', expression, time_zone }) as const satisfies ScheduleSpec

// The moments after one moment: strictly after, by the wall clock of the zone.
const after: [expression: string, zone: string, after: string, moments: string[]][] = [
  ['*/5 * * * *', 'UTC', '2026-03-02T09:00:00.000Z', ['2026-03-02T09:05', '2026-03-02T09:10']],
  ['*/5 * * * *', 'UTC', '2026-03-02T08:59:59.999Z', ['2026-03-02T09:00', '2026-03-02T09:05']],
  [
    '0 9 * * *',
    'Europe/Berlin',
    '2026-03-28T00:00:00.000Z',
    ['2026-03-28T08:00', '2026-03-29T07:00'],
  ],
  [
    '0 9 * * 1',
    'America/New_York',
    '2026-03-02T00:00:00.000Z',
    ['2026-03-02T14:00', '2026-03-09T13:00'],
  ],
  // 02:30 is skipped in spring: it falls due when the clocks have moved on.
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00:00.000Z',
    ['2026-03-29T01:00', '2026-03-30T00:30'],
  ],
  // 02:30 comes twice in autumn: it falls due once.
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00:00.000Z',
    ['2026-10-25T00:30', '2026-10-26T01:30'],
  ],
  ['0 0 29 2 *', 'UTC', '2026-03-02T00:00:00.000Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['@daily', 'UTC', '2026-03-02T00:00:00.000Z', ['2026-03-03T00:00', '2026-03-04T00:00']],
]
for (const [expression, zone, from, moments] of after) {
  test(`${expression} in ${zone} after ${from}`, () => {
    const found = timetable.occurrences(cron(expression, zone), from, 2)
    assert.deepEqual(
      found,
      moments.map((at) => `${at}:00.000Z`),
    )
  })
}

test('moments before a moment come in order, and leave that one out', () => {
  const at = '2026-03-02T09:10:00.000Z'
  assert.deepEqual(timetable.occurred(cron('*/5 * * * *'), at, 3), [
    '2026-03-02T08:55:00.000Z',
    '2026-03-02T09:00:00.000Z',
    '2026-03-02T09:05:00.000Z',
  ])
})

test('a moment looked at from before and from after is one', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu']) {
    for (const from of ['2026-03-28T00:00:00.000Z', '2026-10-24T00:00:00.000Z']) {
      const forward = timetable.occurrences(cron('30 */2 * * *', zone), from, 40)
      const end = forward.at(-1) ?? assert.fail()
      const back = timetable.occurred(cron('30 */2 * * *', zone), end, 39)
      assert.deepEqual(back, forward.slice(0, -1), `${zone} from ${from}`)
    }
  }
})

test('a one-shot has one moment', () => {
  const spec = { kind: 'once', at: '2026-03-02T09:00:00.000Z' } as const
  const [before, later] = ['2026-03-02T08:00:00.000Z', '2026-03-02T09:00:00.001Z']
  assert.deepEqual(timetable.occurrences(spec, before, 5), [spec.at])
  assert.deepEqual(timetable.occurrences(spec, spec.at, 5), [])
  assert.deepEqual(timetable.occurred(spec, later, 5), [spec.at])
  assert.deepEqual(timetable.occurred(spec, spec.at, 5), [])
})

test('an expression that is never due has no moment', () => {
  assert.deepEqual(timetable.occurrences(cron('0 0 30 2 *'), '2026-03-02T09:00:00.000Z', 1), [])
})

const problems: [expression: string, zone: string, problem: RegExp | null][] = [
  ['*/5 * * * *', 'UTC', null],
  ['  0  9 * * MON-FRI ', 'Europe/Berlin', null],
  ['@hourly', 'UTC', null],
  ['*/5 * * * * *', 'UTC', /has 6 fields; five are wanted/],
  ['2026-03-02T09:00:00', 'UTC', /has 1 fields; five are wanted/],
  ['', 'UTC', /five are wanted/],
  ['@never', 'UTC', /cannot be read/],
  ['61 * * * *', 'UTC', /cannot be read/],
  ['0 9 * * *', 'Mars/Base', /"Mars\/Base" is not an IANA time zone/],
  ['0 9 * * *', '+01:00', /is not an IANA time zone/],
  ['0 9 * * *', '', /is not an IANA time zone/],
]
for (const [expression, zone, problem] of problems) {
  test(`"${expression}" in "${zone}" ${problem === null ? 'can be read' : 'is refused'}`, () => {
    const told = timetable.problem(cron(expression, zone))
    if (problem === null) assert.equal(told, null)
    else assert.match(told ?? '', problem)
  })
}

test('a moment given once is due after what is earlier, and was due before what is later', () => {
  const at = '2026-03-02T09:00:00.000Z'
  const once: ScheduleSpec = { kind: 'once', at }
  const [before, after] = ['2026-03-02T08:59:59.999Z', '2026-03-02T09:00:00.001Z']
  assert.deepEqual(
    [before, at, after].map((moment) => [
      timetable.occurrences(once, moment, 2),
      timetable.occurred(once, moment, 2),
    ]),
    [
      [[at], []],
      [[], []],
      [[], [at]],
    ],
  )
  assert.deepEqual(
    [timetable.occurrences(once, before, 0), timetable.occurred(once, after, 0)],
    [[], []],
  )
})
