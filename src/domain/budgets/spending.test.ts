/** Whom budgets of agents and of the home hold, for how long, and in which words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0, World } from '../../testing/world/agent-world.ts'
import { limits } from '../limits.ts'
import { noUse, type Use } from '../state/meter.ts'
import type { SpendLimits } from '../state/spend-budget.ts'
import { activeHold } from '../waits/hold.ts'
import { alignSpending, askAboutSpending, endOfHold, holdForSpending } from './spending.ts'
import { overspent, overspentWords, type Overspent, type Purse } from './spending.ts'

const of = (given: Partial<SpendLimits>): SpendLimits => ({
  max_tokens: null,
  max_usd: null,
  max_rounds: null,
  ...given,
})
const use = (given: Partial<Use>): Use => ({ ...noUse, ...given })

const purse = (given: Partial<Purse>): Purse => ({
  agent_id: 'main',
  budget: null,
  used: { day: noUse, all: noUse },
  unasked: 0,
  ...given,
})
const home = (given: Partial<Purse> = {}) => purse({ agent_id: null, ...given })
const found = (...purses: Purse[]) => overspent(purses, T0).map(overspentWords)

test('a budget holds from its limit on, of the day or in all, of an agent or of the home', () => {
  const budget = { day: of({ max_usd: 5 }), all: of({ max_rounds: 100 }) }
  const used = (usd: number, rounds: number) => ({ day: use({ usd }), all: use({ rounds }) })
  assert.deepEqual(found(purse({ budget, used: used(4.99, 99) }), home()), [])
  assert.deepEqual(found(purse({ budget, used: used(5, 99) }), home()), [
    'The budget of main and the agents made under it for the day is used up: $5.00 of $5.00.',
  ])
  assert.deepEqual(found(purse({}), home({ budget, used: used(0, 100) })), [
    'The budget of the home is used up: 100 of 100 rounds.',
  ])
})

const many = limits.requests_unasked.value

test('without any budget the operator is asked after a thousand requests, and only then', () => {
  const asks = purse({ unasked: many })
  assert.deepEqual(overspent([purse({ unasked: many - 1 }), home()], T0), [])
  assert.deepEqual(overspent([asks, home()], T0), [
    { by: 'question', agent_id: 'main', requests: many },
  ])
  const all = (given: Partial<SpendLimits>) => ({ day: null, all: of(given) })
  const unpriced = { day: noUse, all: use({ unpriced: 1 }) }
  // [what limits them, whether the operator is asked all the same]
  const cases: [Partial<Purse>, boolean][] = [
    [{ budget: all({ max_rounds: 10_000 }) }, false],
    [{ budget: all({ max_usd: 5 }) }, false],
    [{ budget: all({ max_usd: 5 }), used: unpriced }, true],
    [{ budget: all({}) }, true],
  ]
  for (const [given, isAsked] of cases) {
    assert.equal(overspent([asks, home(given)], T0).length > 0, isAsked, JSON.stringify(given))
  }
})

const ofDay: Overspent = {
  by: 'budget',
  agent_id: 'main',
  window: 'day',
  over: [{ what: 'rounds', used: 3, limit: 3 }],
}
const inAll: Overspent = { ...ofDay, agent_id: null, window: 'all' }
const question: Overspent = { by: 'question', agent_id: 'main', requests: many }

test('a budget of the day ends with the day, every other with a word', () => {
  assert.equal(endOfHold([ofDay], T0), '2026-03-03T00:00:00.000Z')
  assert.deepEqual(
    [endOfHold([ofDay, inAll], T0), endOfHold([question], T0), endOfHold([inAll], T0)],
    [null, null, null],
  )
})

test('an agent is held once, told how it goes on, and let go when nothing holds it', () => {
  const w = new World()
  w.do((d) => holdForSpending(d, [ofDay]))
  w.do((d) => holdForSpending(d, [ofDay]))
  const reason =
    'The budget of main and the agents made under it for the day is used up: 3 of 3 rounds.'
  assert.equal(activeHold(w.facts, 'spending')?.reason, reason)
  assert.deepEqual(
    w.all('briefs').map(({ text }) => text),
    [
      `main is held. ${reason} It goes on by itself at 2026-03-03T00:00:00.000Z. Shall it go ` +
        'on? Raise it: holon agents configure main --max-rounds <n> --per day.',
    ],
  )
  w.do((d) => alignSpending(d, [ofDay]))
  assert.ok(activeHold(w.facts, 'spending'))
  w.do((d) => alignSpending(d, [inAll]))
  assert.equal(activeHold(w.facts, 'spending'), null, 'it no longer ends by itself')
  w.do((d) => holdForSpending(d, [inAll]))
  w.do((d) => alignSpending(d, []))
  assert.equal(activeHold(w.facts, 'spending'), null)
})

test('the question stands while it holds somebody, once', () => {
  const w = new World()
  const asked = () => w.all('waits').filter(({ wake }) => wake === 'operator_input')
  w.do((d) => askAboutSpending(d, [{ ...question, agent_id: 'other' }]))
  assert.deepEqual(asked(), [])
  w.do((d) => askAboutSpending(d, [question]))
  w.do((d) => askAboutSpending(d, [question]))
  w.do((d) => alignSpending(d, [question]))
  assert.deepEqual(
    asked().map(({ status }) => status),
    ['active'],
  )
  w.do((d) => alignSpending(d, []))
  assert.deepEqual(
    asked().map(({ status }) => status),
    ['resolved'],
  )
})
