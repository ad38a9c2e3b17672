import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end, turnOf } from '../../testing/world/turns.ts'
import { chargeCut } from './cut-answer.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { isOverBudget, meterOf } from '../facts/payer.ts'
import { nextStep } from '../turns/step.ts'
import { noUsage, type Round, type Usage } from '../state/turn.ts'
import type { Budget } from '../state/work-item.ts'
import { requestSent } from '../../testing/events.ts'

const none: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const took: Usage = { ...noUsage, input_tokens: 900, output_tokens: 100, usd: 0.5 }

/** A turn about an item with this budget, and its first request. */
function asked(budget: Partial<Budget>) {
  const w = new World()
  const id = item(w, { focus: true, budget: { ...none, ...budget } })
  say(w)
  begin(w, 'message')
  const round = ask(w)
  const used = () => meterOf(w.facts, id)?.used
  return { w, id, round, used }
}

const cut = (w: World, { id }: Round, usage = took) => w.do((d) => chargeCut(d, id, usage))

test('17.11 an answer that broke off is charged, and its request stays reserved', () => {
  const { w, id, round, used } = asked({ max_tokens: 10_000 })
  const reserved = meterOf(w.facts, id)?.reserved
  cut(w, round)
  cut(w, round)
  assert.deepEqual(used(), { tokens: 2_000, usd: 1, unpriced: 0, rounds: 1 })
  assert.deepEqual(meterOf(w.facts, id)?.reserved, reserved)
  assert.deepEqual(violations(w.facts, w.events), [])
  answer(w, { text: 'Done.' })
  assert.equal(used()?.rounds, 1, 'a round counts once, however often its answer broke off')
  end(w)
  const turn = w.row('turns', round.turn_id)
  assert.equal(
    turn.usage.input_tokens,
    (w.row('rounds', round.id).usage?.input_tokens ?? 0) + 1_800,
  )
  assert.deepEqual(violations(w.facts, w.events), [])
})

test('17.11 a request whose answer broke off is made again only while a budget allows it', () => {
  const limits: [Partial<Budget>, end: boolean][] = [
    [{ max_tokens: 1_001 }, false],
    [{ max_tokens: 1_000 }, true],
    [{ max_usd: 0.5 }, true],
    [{ max_rounds: 2 }, false],
    [{ max_rounds: 1 }, true],
  ]
  for (const [budget, ends] of limits) {
    const { w, id, round } = asked(budget)
    assert.equal(nextStep(w.facts, w.now).do, 'stream')
    cut(w, round)
    const step = nextStep(w.facts, w.now)
    assert.equal(isOverBudget(w.facts, id, w.now), ends)
    assert.deepEqual(step.do === 'end' ? step.reason : step.do, ends ? 'budget_limit' : 'stream')
  }
})

test('17.11 a round that has its answer, or is gone with its turn, is charged no more', () => {
  const { w, round, used } = asked({ max_tokens: 10_000 })
  answer(w, { text: 'Done.' })
  const before = used()
  cut(w, round)
  assert.deepEqual(used(), before)
  end(w)
  cut(w, round)
  assert.deepEqual(used(), before)
})

test('17.11 what broke off is kept when the request is recorded again', () => {
  const { w, round } = asked({})
  cut(w, round)
  const { turn_id, work_item_id, n, kind, model } = round
  const again = requestSent(turn_id, n, { work_item_id, kind, model, notes: ['A note.'] })
  w.do((d) => d.emit(again))
  assert.equal(w.row('rounds', round.id).cut?.answers, 1)
  assert.equal(turnOf(w).id, turn_id)
})
