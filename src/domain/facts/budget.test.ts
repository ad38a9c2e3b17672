/** Budgets as tables: used, left, over, nearly, allowed, estimated, settled, and set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0 } from '../../testing/world/agent-world.ts'
import {
  allowanceOf,
  budgetLine,
  budgetNow,
  estimated,
  measuredWords,
  nearlyOf,
  overOf,
  settled,
} from './budget.ts'
import { budgetWarnings, changedBudget } from '../budgets/change.ts'
import { evolveMeter, noUse, type Meter, type Use } from '../state/meter.ts'
import { hour, plus } from '../time.ts'
import { noUsage, type Round, type Usage } from '../state/turn.ts'
import type { Budget } from '../state/work-item.ts'
import { meterOpened } from '../../testing/events.ts'

const none: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const use = (given: Partial<Use>): Use => ({ ...noUse, ...given })
const meter = (given: Partial<Meter> = {}): Meter => ({
  id: 'work_1',
  agent_id: 'main',
  kind: 'item',
  allowance: null,
  limits: null,
  draws_on: null,
  over: [],
  shared: 0,
  pays_on: false,
  used: noUse,
  drawn: [],
  drawers: [],
  reserved: null,
  told: [],
  asked: [],
  since: T0,
  ...given,
})
const drawn = (n: number, used: Partial<Use>, reserved: Partial<Use> = {}) => ({
  delegation_id: `deleg_${n}` as const,
  used: use(used),
  reserved: use(reserved),
})

const overs: [string, Partial<Budget>, Partial<Use>, string[]][] = [
  ['no limit', {}, { tokens: 1e9, usd: 1e9, rounds: 1e9 }, []],
  [
    'below each',
    { max_tokens: 10, max_usd: 1, max_rounds: 2 },
    { tokens: 9, usd: 0.99, rounds: 1 },
    [],
  ],
  ['tokens reached', { max_tokens: 10 }, { tokens: 10 }, ['10 of 10 tokens']],
  ['dollars passed', { max_usd: 0.5 }, { usd: 0.625 }, ['$0.63 of $0.50']],
  [
    'known dollars reach it though not all are known',
    { max_usd: 1 },
    { usd: 1, unpriced: 3 },
    ['$1.00 of $1.00'],
  ],
  ['no known price', { max_usd: 0.01 }, { unpriced: 9 }, []],
  ['rounds', { max_rounds: 3 }, { rounds: 4 }, ['4 of 3 rounds']],
  ['the deadline now', { deadline: T0 }, {}, [`the deadline ${T0}`]],
  ['a deadline ahead', { deadline: plus(T0, 1) }, {}, []],
  [
    'several, in the order of the fields',
    { max_rounds: 1, max_tokens: 1_000, deadline: T0 },
    { rounds: 1, tokens: 1_200 },
    ['1,200 of 1,000 tokens', '1 of 1 rounds', `the deadline ${T0}`],
  ],
]
for (const [name, budget, used, expected] of overs) {
  test(`over: ${name}`, () => {
    const over = overOf({ ...none, ...budget }, use(used), T0)
    assert.deepEqual(over.map(measuredWords), expected)
  })
}

const nears: [string, Partial<Budget>, Partial<Use>, number, string[]][] = [
  ['under four fifths', { max_tokens: 100 }, { tokens: 79 }, 0, []],
  ['at four fifths', { max_tokens: 100 }, { tokens: 80 }, 0, ['80 of 100 tokens']],
  [
    'what is over is not nearly',
    { max_tokens: 100, max_rounds: 5 },
    { tokens: 100, rounds: 4 },
    0,
    ['4 of 5 rounds'],
  ],
  ['early in its time', { deadline: plus(T0, 10 * hour) }, {}, 7 * hour, []],
  [
    'late in its time',
    { deadline: plus(T0, 10 * hour) },
    {},
    8 * hour,
    [`the deadline ${plus(T0, 10 * hour)}`],
  ],
  ['its time is over', { deadline: plus(T0, 10 * hour) }, {}, 10 * hour, []],
]
for (const [name, budget, used, passed, expected] of nears) {
  test(`nearly: ${name}`, () => {
    const near = nearlyOf({ ...none, ...budget }, meter({ used: use(used) }), plus(T0, passed))
    assert.deepEqual(near.map(measuredWords), expected)
  })
}

test('a budget shows use with that of children, what is left, and null for unknown dollars', () => {
  const budget: Budget = { max_tokens: 1_000, max_usd: 1, max_rounds: 2, deadline: plus(T0, hour) }
  const priced = meter({
    used: use({ tokens: 300, usd: 0.25, rounds: 1 }),
    drawn: [drawn(1, { tokens: 400, usd: 0.5, rounds: 2 }, { tokens: 9_999 })],
  })
  const now = budgetNow({ budget, state: 'open' }, priced, T0)
  assert.deepEqual(now, {
    used: { tokens: 700, usd: 0.75, known_usd: 0.75, rounds: 3 },
    left: { tokens: 300, usd: 0.25, rounds: 0 },
    over: [{ what: 'rounds', used: 3, limit: 2 }],
    draws_on: null,
  })
  assert.equal(
    now && budgetLine(budget, now),
    `700 of 1,000 tokens, $0.75 of $1.00, 3 of 2 rounds, until ${plus(T0, hour)}`,
  )
  const unpriced = meter({ used: use({ usd: 0.25, unpriced: 1 }) })
  const blind = budgetNow({ budget, state: 'open' }, unpriced, T0)
  assert.deepEqual([blind?.used.usd, blind?.used.known_usd, blind?.left.usd], [null, 0.25, null])
  assert.deepEqual(budgetNow({ budget, state: 'completed' }, priced, T0)?.over, [])
  assert.equal(budgetNow({ budget: null, state: 'open' }, priced, T0), null)
})

test('a child may use what nobody else took or reserved; its own use does not move that', () => {
  const budget: Budget = { ...none, max_tokens: 1_000, max_rounds: 10, deadline: T0 }
  const shared = (own: number) =>
    meter({
      used: use({ tokens: 100, rounds: 1 }),
      reserved: { round_id: 'turn_1:2', use: use({ tokens: 50, rounds: 1 }) },
      drawn: [
        drawn(1, { tokens: own, rounds: 4 }, { tokens: 70, rounds: 1 }),
        drawn(2, { tokens: 200, rounds: 2 }, { tokens: 30, rounds: 1 }),
      ],
    })
  const expected = { max_tokens: 620, max_usd: null, max_rounds: 5, deadline: T0 }
  assert.deepEqual(allowanceOf(budget, shared(0), 'deleg_1'), expected)
  assert.deepEqual(allowanceOf(budget, shared(600), 'deleg_1'), expected)
  assert.equal(allowanceOf({ ...budget, max_tokens: 10 }, shared(0), 'deleg_1').max_tokens, 0)
})

const usage = (given: Partial<Usage>): Usage => ({ ...noUsage, usd: null, ...given })
const round = (given: Partial<Usage>) => ({ usage: usage(given) }) as Round

test('a request is reserved as the round before it, and settled as the provider counted', () => {
  const first = estimated(null, 5_000)
  assert.deepEqual(first, { tokens: 6_000, usd: 0, unpriced: 0, rounds: 1 })
  const next = estimated(round({ input_tokens: 5_000, output_tokens: 200, usd: 0.02 }), 0)
  assert.deepEqual(next, { tokens: 5_400, usd: 0.02, unpriced: 0, rounds: 1 })
  const rows: [Partial<Usage>, Use | null, Use][] = [
    [
      { input_tokens: 10, output_tokens: 5, usd: 0.5 },
      first,
      { tokens: 15, usd: 0.5, unpriced: 0, rounds: 1 },
    ],
    [{ input_tokens: 10, output_tokens: 5 }, first, { tokens: 15, usd: 0, unpriced: 1, rounds: 1 }],
    [
      { input_tokens: null, output_tokens: null },
      first,
      { tokens: 6_000, usd: 0, unpriced: 1, rounds: 1 },
    ],
    [
      { input_tokens: null, output_tokens: 9_000 },
      first,
      { tokens: 9_000, usd: 0, unpriced: 1, rounds: 1 },
    ],
    [
      { input_tokens: null, output_tokens: null },
      null,
      { tokens: 0, usd: 0, unpriced: 1, rounds: 1 },
    ],
  ]
  for (const [given, reserved, expected] of rows) {
    assert.deepEqual(settled(usage(given), reserved), expected)
  }
})

test('a meter is reserved once for a request sent again, settled once, and never loses', () => {
  const meta = { at: T0, agent_id: 'main' }
  const id = 'work_1' as const
  const reserve = { type: 'meter_reserved', id, round_id: 'turn_1:1', told: [] } as const
  let row = evolveMeter(null, meterOpened(id, { used: use({ tokens: 5 }) }), meta)
  row = evolveMeter(row, { ...reserve, use: use({ tokens: 10 }) }, meta)
  row = evolveMeter(row, { ...reserve, use: use({ tokens: 12 }) }, meta)
  assert.deepEqual(row.reserved, { round_id: 'turn_1:1', use: use({ tokens: 12 }) })
  row = evolveMeter(
    row,
    { type: 'meter_settled', id, round_id: 'turn_1:1', use: use({ tokens: 7, rounds: 1 }) },
    meta,
  )
  assert.deepEqual([row.reserved, row.used], [null, use({ tokens: 12, rounds: 1 })])
  // What the ledger sums up may lack what no provider counted.
  row = evolveMeter(row, meterOpened(id, { used: use({ tokens: 9, rounds: 3 }) }), meta)
  assert.deepEqual(row.used, use({ tokens: 12, rounds: 3 }))
  const draws = { type: 'meter_drawn', id, delegation_id: 'deleg_1', reserved: noUse } as const
  row = evolveMeter(row, { ...draws, used: use({ tokens: 3 }) }, meta)
  assert.throws(() => evolveMeter(row, { ...draws, used: use({ tokens: 2 }) }, meta), /less/)
})

const later = plus(T0, hour)
const changes: [
  string,
  Budget | null,
  Parameters<typeof changedBudget>[1],
  Budget | null | string,
][] = [
  ['the first limit', null, { max_tokens: 5 }, { ...none, max_tokens: 5 }],
  [
    'another keeps the first',
    { ...none, max_tokens: 5 },
    { max_usd: 0.5 },
    { ...none, max_tokens: 5, max_usd: 0.5 },
  ],
  [
    'one is taken away',
    { ...none, max_tokens: 5, max_rounds: 1 },
    { max_tokens: null },
    { ...none, max_rounds: 1 },
  ],
  ['the last one is taken away', { ...none, max_tokens: 5 }, { max_tokens: null }, null],
  ['all are', { ...none, max_tokens: 5, max_rounds: 1 }, null, null],
  [
    'a deadline of another zone',
    null,
    { deadline: '2026-03-02T12:00:00+02:00' },
    { ...none, deadline: later },
  ],
  ['zero', null, { max_tokens: 0 }, 'budget_invalid'],
  ['less', null, { max_usd: -1 }, 'budget_invalid'],
  ['no number', null, { max_usd: Number.NaN }, 'budget_invalid'],
  ['half a round', null, { max_rounds: 0.5 }, 'budget_invalid'],
  ['a deadline that is over', null, { deadline: T0 }, 'budget_invalid'],
  ['no time', null, { deadline: 'soon' }, 'budget_invalid'],
]
for (const [name, before, change, expected] of changes) {
  test(`a budget is set: ${name}`, () => {
    const set = changedBudget(before, change, T0)
    assert.deepEqual(set.ok ? set.budget : set.code, expected)
  })
}

test('who sets a budget is told that it is reached already, and that dollars are not metered', () => {
  const budget: Budget = { ...none, max_tokens: 100, max_usd: 1 }
  const price = {
    kind: 'price_unknown',
    message:
      'The price of test/model is not known, so dollars are not metered and max_usd does not ' +
      'stop it. Set max_tokens or max_rounds as well.',
  }
  const used = meter({ used: use({ tokens: 1_234, usd: 2 }) })
  const [over] = budgetWarnings(budget, used, { now: T0, unpriced: null })
  assert.equal(over?.kind, 'budget_reached')
  assert.match(over?.message ?? '', /^It is reached already, so the item is held: .*1,234.*, .*\.$/)
  const rows: [Budget | null, Meter | null, string | null, unknown[]][] = [
    [null, used, 'test/model', []],
    [budget, null, null, []],
    [budget, null, 'test/model', [price]],
    [{ ...budget, max_usd: null }, null, 'test/model', []],
    [budget, used, 'test/model', [over, price]],
  ]
  for (const [of, metered, unpriced, expect] of rows) {
    assert.deepEqual(budgetWarnings(of, metered, { now: T0, unpriced }), expect)
  }
})
