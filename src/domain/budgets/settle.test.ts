/** What moves a meter: a request reserves, its answer settles, the end of its turn releases. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { noUse, type Use } from '../state/meter.ts'
import {
  alignBudgets,
  askOverBudget,
  heldMessages,
  holdForBudget,
  openMeter,
  release,
} from './settle.ts'
import type { Budget } from '../state/work-item.ts'

const none: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }

/** An item in focus that has a budget, and a turn about it with its first request out. */
function asked(budget: Partial<Budget> = { max_tokens: 10_000 }) {
  const w = new World()
  const id = item(w, { focus: true, budget: { ...none, ...budget } })
  w.do((d) => openMeter(d, id, { used: noUse, drawn: [] }))
  begin(w, 'continue_current')
  ask(w)
  return { w, id }
}

const stands = (w: World, id: string) => {
  const { used, reserved, told, asked: marks } = w.row('meters', id)
  return { used, reserved, told, asked: marks }
}
const unused = { used: noUse, reserved: null, told: [], asked: [] }

test('a request reserves, and its answer settles what it took instead', () => {
  const { w, id } = asked()
  const reserved = stands(w, id).reserved
  assert.deepEqual([reserved?.round_id, reserved?.use.rounds], ['turn_0001:1', 1])
  answer(w, { text: 'Done so far.' })
  const used = { tokens: 110, usd: 0.01, unpriced: 0, rounds: 1 }
  assert.deepEqual(stands(w, id), { ...unused, used })
})

test('a turn that ends with its request unanswered takes nothing and holds nothing back', () => {
  const { w, id } = asked()
  end(w, { outcome: 'interrupted' })
  assert.deepEqual(stands(w, id), unused)
})

test('the end of a turn releases its own request and no other', () => {
  const { w, id } = asked()
  const turn = w.row('turns', 'turn_0001')
  w.do((d) => {
    const use = { ...noUse, tokens: 7 }
    d.emit({ type: 'meter_reserved', id, round_id: 'turn_0009:1', use, told: [] })
  })
  w.do((d) => release(d, turn))
  const reserved = { round_id: 'turn_0009:1', use: { ...noUse, tokens: 7 } }
  assert.deepEqual([w.last, stands(w, id)], [[], { ...unused, reserved }])
})

test('a limit that is reached is asked about once, however often it is looked at', () => {
  const { w, id } = asked({ max_rounds: 1 })
  answer(w, { text: 'Done so far.' })
  const questions = () => w.all('briefs').filter(({ kind }) => kind === 'question')
  w.do(askOverBudget)
  w.do(askOverBudget)
  assert.deepEqual(
    questions().map(({ text, work_item_id, turn_id }) => ({ text, work_item_id, turn_id })),
    [
      {
        text:
          'work_0001 ("Objective of work_0001") is held. It reached its budget: 1 of 1 rounds. ' +
          'Shall it go on? Raise the limit: holon work update work_0001 --max-rounds <n>.',
        work_item_id: id,
        turn_id: null,
      },
    ],
  )
  assert.deepEqual([stands(w, id).asked, heldMessages(w.facts, id, w.now)], [['rounds:1'], 0])
})

const delegation = { id: 'deleg_1', work_item_id: 'work_0001' } as const
const spent = (tokens: number, rounds = 1): Use => ({ tokens, usd: 0, unpriced: 0, rounds })

/** A parent whose item has a budget, and its child; `align` is the one commit of both. */
function family(budget: Budget | null) {
  const p = new World()
  const c = new World('child')
  const id = item(p, { focus: true, budget })
  if (budget !== null) p.do((d) => openMeter(d, id, { used: noUse, drawn: [] }))
  const align = (given: { spent?: Use | null; about?: typeof delegation | null } = {}) => {
    const { spent: known = null, about = delegation } = given
    p.do((pd) => c.do((cd) => alignBudgets(pd, cd, about, known)))
    return [p.last, c.last].map((events) => events.map(({ type }) => type))
  }
  const use = (used: Use) => {
    c.do((d) => d.emit({ type: 'meter_settled', id: 'child', round_id: 'turn_9:1', use: used }))
  }
  const own = () => c.facts.row('meters', 'child') ?? null
  return { p, c, id, align, use, own }
}

test('a child is metered once its parent knows what it used, and then drawn and allowed', () => {
  const { p, id, align, use, own } = family({ ...none, max_tokens: 1_000 })
  assert.deepEqual(align(), [[], []], 'nobody knows what it used so far')
  const opened = ['meter_opened', 'meter_allowed']
  assert.deepEqual(align({ spent: spent(300) }), [['meter_drawn'], opened])
  assert.deepEqual(p.row('meters', id).drawn, [
    { delegation_id: 'deleg_1', used: spent(300), reserved: noUse },
  ])
  assert.deepEqual(own()?.allowance, { ...none, max_tokens: 1_000 })
  assert.deepEqual(align({ spent: spent(300) }), [[], []], 'in line already')
  use(spent(200))
  assert.deepEqual(align(), [['meter_drawn'], []], 'its own use moves no allowance of its own')
  assert.deepEqual(p.row('meters', id).drawn[0]?.used, spent(500, 2))
})

test('what the parent uses itself is taken from what the child may', () => {
  const { p, id, align, own } = family({ ...none, max_tokens: 1_000, max_rounds: 3 })
  align({ spent: noUse })
  p.do((d) => d.emit({ type: 'meter_settled', id, round_id: 'turn_1:1', use: spent(400) }))
  assert.deepEqual(align(), [[], ['meter_allowed']])
  assert.deepEqual(own()?.allowance, { ...none, max_tokens: 600, max_rounds: 2 })
})

test('a child that is held for its budget goes on when more is allowed, and not before', () => {
  const { p, c, id, align } = family({ ...none, max_tokens: 100 })
  align({ spent: spent(100) })
  c.do(holdForBudget)
  const hold = () =>
    c.all('waits').map(({ wake, runtime_cause, status }) => [wake, runtime_cause, status])
  assert.deepEqual([align(), hold()], [[[], []], [['system', 'budget', 'active']]])
  c.do(holdForBudget)
  assert.equal(c.all('waits').length, 1, 'it is held once')
  const changed = { budget: { ...none, max_tokens: 500 } }
  p.do((d) => d.emit({ type: 'work_item_updated', id, by: 'operator', changed }))
  assert.deepEqual(align(), [[], ['meter_allowed', 'wait_resolved']])
  assert.deepEqual(hold(), [['system', 'budget', 'resolved']])
})

test('without a budget, or a delegation, a child that was limited is free', () => {
  const { align, own } = family({ ...none, max_tokens: 1_000 })
  assert.deepEqual([align({ about: null }), own()], [[[], []], null], 'one that never was stays so')
  align({ spent: noUse })
  assert.deepEqual(align({ about: null }), [[], ['meter_allowed']])
  assert.equal(own()?.allowance, null)
})

test('an item that is over keeps what it gave', () => {
  const { p, id, align, own } = family({ ...none, max_tokens: 1_000 })
  align({ spent: noUse })
  p.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null }))
  assert.deepEqual(align({ about: delegation }), [[], []])
  assert.deepEqual(own()?.allowance, { ...none, max_tokens: 1_000 })
})
