/** Agents that draw on an item of another agent: one budget, however they were made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { completeItem } from '../work/complete.ts'
import { useOf } from '../facts/budget.ts'
import { alignDrawing, drawersOf, drawsOn, endDrawing, startDrawing } from './drawers.ts'
import { addUse, noUse, type Use } from '../state/meter.ts'
import { holdForBudget, nothingUsed, openMeter } from './settle.ts'
import type { Budget } from '../state/work-item.ts'

const none: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const one: Use = { tokens: 100, usd: 0, unpriced: 1, rounds: 1 }

/** An owner whose item has ten requests, and an agent that was made in a turn of it. */
function drawing() {
  const o = new World()
  const id = item(o, { focus: true, budget: { ...none, max_rounds: 10 } })
  o.do((d) => openMeter(d, id, nothingUsed))
  const makes = (maker: World, name: string) => {
    const c = new World(name)
    maker.do((p) => c.do((d) => startDrawing(p, d, id)))
    return c
  }
  const align = (c: World) => {
    o.do((d) => c.do((dc) => alignDrawing(d, dc, id)))
    return [o.last, c.last].map((events) => events.map(({ type }) => type))
  }
  const answers = (w: World, of: string = w.facts.agent_id) =>
    w.do((d) => d.emit({ type: 'meter_settled', id: of, round_id: 'turn_9:1', use: one }))
  const left = (c: World) => c.row('meters', c.facts.agent_id).allowance?.max_rounds ?? null
  return { o, id, makes, align, answers, left }
}

test('what an agent takes goes to the item, and what others take is taken from it', () => {
  const { o, id, makes, align, answers, left } = drawing()
  const [a, b] = [makes(o, 'a'), makes(o, 'b')]
  assert.deepEqual([left(a), left(b)], [10, 10])
  answers(a)
  answers(a)
  assert.deepEqual(align(a), [['meter_taken'], []], 'its own use moves nothing of its own')
  assert.deepEqual(align(b), [[], ['meter_allowed']])
  assert.deepEqual(align(b), [[], []], 'in line already')
  assert.deepEqual([useOf(o.row('meters', id)), left(a), left(b)], [addUse(one, one), 10, 8])
  answers(o, id)
  align(a)
  assert.equal(left(a), 9)
})

test('an agent that such an agent makes may use what is left to its maker, and then shares', () => {
  const { o, id, makes, align, answers, left } = drawing()
  const a = makes(o, 'a')
  answers(a)
  const b = makes(a, 'b')
  assert.deepEqual([drawsOn(b.facts), left(b)], [id, 9], 'before its first request')
  align(a)
  align(b)
  answers(b)
  align(b)
  align(a)
  assert.deepEqual([useOf(o.row('meters', id)).rounds, left(a), left(b)], [2, 9, 9])
})

test('an agent that is held for it goes on when the item is given more', () => {
  const { o, id, makes, align, answers } = drawing()
  const a = makes(o, 'a')
  for (let i = 0; i < 10; i += 1) answers(a)
  align(a)
  a.do(holdForBudget)
  const [hold] = a.all('waits')
  assert.equal(hold?.reason, `The budget it draws on, of ${id}, is used up: 10 of 10 rounds.`)
  const changed = { budget: { ...none, max_rounds: 12 } }
  o.do((d) => d.emit({ type: 'work_item_updated', id, by: 'operator', changed }))
  assert.deepEqual(align(a), [[], ['meter_allowed', 'wait_resolved']])
})

test('it binds when the item is completed, until the operator says otherwise', () => {
  const { o, id, makes, align, answers, left } = drawing()
  const a = makes(o, 'a')
  align(a)
  answers(a)
  align(a)
  o.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: null, turn: null }))
  o.reload()
  answers(o, id)
  assert.deepEqual([align(a), left(a)], [[[], ['meter_allowed']], 9])
  a.do(endDrawing)
  assert.deepEqual([align(a), left(a), drawsOn(a.facts)], [[['meter_taken'], []], null, null])
  assert.deepEqual([...drawersOf(o.facts)], [])
  answers(a)
  assert.deepEqual(align(a), [[], []], 'what it takes from then on is its own')
  assert.equal(useOf(o.row('meters', id)).rounds, 2)
})

test('an agent that is deleted leaves what it took', () => {
  const { o, id, makes, align, answers } = drawing()
  const a = makes(o, 'a')
  align(a)
  answers(a)
  a.do((d) => d.emit({ type: 'agent_deleted', id: 'a', by: 'operator' }))
  align(a)
  assert.deepEqual(o.row('meters', id).drawers, [
    { agent_id: 'a', state: 'left', used: one, reserved: noUse },
  ])
})
