import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { safe } from './safe.ts'
import { ShortIds } from './short-id.ts'
import { clock, clockSpan, due, span, took } from './span.ts'
import { apart, table } from './table.ts'
import { cut, padEnd, width, wrap } from './width.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

describe('times', () => {
  const spans: [ms: number, shown: string][] = [
    [-5, '0 ms'],
    [0, '0 ms'],
    [850, '850 ms'],
    [1_000, '1 s'],
    [1_990, '2 s'],
    [59_400, '59 s'],
    [59_600, '1 m'],
    [minute, '1 m'],
    [9 * minute + 59 * second, '9 m'],
    [2 * hour + minute, '2 h 1 m'],
    [2 * hour, '2 h'],
    [3 * day + 2 * hour, '3 d 2 h'],
  ]
  for (const [ms, shown] of spans) {
    test(`a span of ${ms} ms reads ${shown}`, () => assert.equal(span(ms), shown))
  }

  const took_: [ms: number, shown: string][] = [
    [40, '0.0 s'],
    [200, '0.2 s'],
    [9_900, '9.9 s'],
    [12_000, '12 s'],
    [72_000, '1:12'],
    [2 * hour + minute, '2 h 1 m'],
  ]
  for (const [ms, shown] of took_) {
    test(`what took ${ms} ms reads ${shown}`, () => assert.equal(took(ms), shown))
  }

  test('a stretch that runs counts like a clock', () => {
    assert.deepEqual([0, 161_000, hour + 2 * minute + 3_000].map(clockSpan), [
      '0:00',
      '2:41',
      '1:02:03',
    ])
  })

  const zone = { now: '2026-11-21T14:05:00.000Z', utc: true }
  const clocks: [at: string, shown: string][] = [
    ['2026-11-21T00:00:00.000Z', '00:00'],
    ['2026-11-21T23:59:59.000Z', '23:59'],
    ['2026-11-20T23:59:00.000Z', '20 Nov 23:59'],
    ['2025-11-21T14:05:00.000Z', '2025-11-21 14:05'],
  ]
  for (const [at, shown] of clocks) {
    test(`${at} reads ${shown}`, () => assert.equal(clock(at, zone), shown))
  }

  test('a due time says in how long, and when it has passed', () => {
    assert.equal(due('2026-11-21T14:35:00.000Z', zone), '14:35, in 30 m')
    assert.equal(due('2026-11-21T14:05:00.000Z', zone), '14:05, due')
  })
})

describe('widths', () => {
  const widths: [text: string, cells: number][] = [
    ['', 0],
    ['npm test', 8],
    ['Grüße', 5],
    ['東京', 4],
    ['e\u0301', 1],
    ['👍', 2],
    ['👨\u200d👩\u200d👧', 2],
    ['✓ ok', 4],
  ]
  for (const [text, cells] of widths) {
    test(`"${text}" takes ${cells} cells`, () => assert.equal(width(text), cells))
  }

  test('a text is cut to cells, never inside a character', () => {
    assert.deepEqual(
      [cut('release notes', 9), cut('release', 7), cut('東京都', 4), cut('ab', 1), cut('ab', 0)],
      ['release…', 'release', '東…', '…', ''],
    )
  })

  test('lines break between words and keep their indent', () => {
    assert.deepEqual(wrap('  one two three', 9), ['  one two', '  three'])
    assert.deepEqual(wrap('unbreakable', 4), ['unbreakable'])
  })

  test('padding counts cells', () => assert.equal(padEnd('東', 4), '東  '))
})

const asLines = { serializers: [(lines: readonly string[]) => lines.join('\n')] }
const columns = [
  { title: 'ITEM' },
  { title: 'OBJECTIVE', min: 9 },
  { title: 'STATE', min: 6 },
  { title: 'SPENT', align: 'right' as const },
]
const rows = [
  ['work_7f3a', 'Upgrade the parser to ES2027 syntax', 'turn 7, 2:41', '$0.31'],
  ['work_09e1', 'Watch CI', 'timer 14:35, in 30 m', '-'],
].map((cells) => cells.map(safe))

describe('tables', () => {
  test('a wide terminal shows everything in columns', (t) => {
    t.assert.snapshot(table(columns, rows, { columns: 100, wide: false }), asLines)
  })
  test('a narrow terminal cuts the widest columns', (t) => {
    t.assert.snapshot(table(columns, rows, { columns: 60, wide: false }), asLines)
  })
  test('nothing is drawn narrower than 40 cells', () => {
    const at = (cells: number) => table(columns, rows, { columns: cells, wide: false })
    assert.deepEqual(at(10), at(40))
  })
  test('--wide cuts nothing', (t) => {
    t.assert.snapshot(table(columns, rows, { columns: 60, wide: true }), asLines)
  })
  test('a pipe gets whole values between tabs', () => {
    assert.deepEqual(table(columns, rows, { columns: null, wide: false }), [
      'ITEM\tOBJECTIVE\tSTATE\tSPENT',
      'work_7f3a\tUpgrade the parser to ES2027 syntax\tturn 7, 2:41\t$0.31',
      'work_09e1\tWatch CI\ttimer 14:35, in 30 m\t-',
    ])
  })

  test('two ends of a line stand apart, and the left one gives way', () => {
    assert.equal(apart('left', 'right', 16), 'left       right')
    assert.equal(apart('a rather long left end', 'right', 24), 'a rather long le…  right')
    assert.equal(apart('left', 'right', null), 'left\tright')
    const long = 'a right end that is longer than half of the line'
    const both = apart('waits 2 s, until 14:02:13; no cost', long, 70)
    assert.equal(both, 'waits 2 s, until 14:02:13; no cost  a right end that is longer than h…')
    assert.equal(width(apart(long, long, 60)), 60)
    assert.equal(apart('too long for the line', '', 10), 'too long…')
  })
})

describe('short ids', () => {
  const one = 'work_01a20081-e48b-7954-8bef-b17872407f3a'
  const two = 'work_01a20081-e48b-7954-8bef-b1787240bf3a'
  const three = 'work_01a20081-e48b-7954-8bef-b17872417f3a'

  test('the last four characters are enough while nobody else has them', () => {
    const ids = new ShortIds()
    ids.know([one, two])
    assert.deepEqual([ids.short(one), ids.short(two)], ['work_7f3a', 'work_bf3a'])
  })
  test('two with the same end are both longer, as far as it takes', () => {
    const ids = new ShortIds()
    ids.know([one, three])
    assert.deepEqual([ids.short(one), ids.short(three)], ['work_07f3a', 'work_17f3a'])
  })
  test('another noun with the same end changes nothing', () => {
    const ids = new ShortIds()
    ids.know([one, one.replace('work', 'task')])
    assert.equal(ids.short(one), 'work_7f3a')
  })
  test('whole ids inside a sentence are made short', () => {
    assert.equal(
      new ShortIds().within(`waits for ${one.replace('work', 'task')}, because ${one} does`),
      'waits for task_7f3a, because work_7f3a does',
    )
  })
})
