/** A summary at a compaction: where it has room, what holds it, and what it is charged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end } from '../../testing/world/turns.ts'
import { noUse } from '../state/meter.ts'
import { leavesRoom, reserveSummary, settleSummary } from './settle-summary.ts'
import { openMeter } from './settle.ts'
import type { Usage } from '../state/turn.ts'
import type { Budget } from '../state/work-item.ts'

const none: Budget = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }
const estimate = { tokens: 5_000, usd: 0.02, beside: 900 }
const usage: Usage = {
  input_tokens: 3_000,
  output_tokens: 200,
  reasoning_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  usd: 0.015,
}

/** An item with a budget, one answered request (110 tokens, $0.01), and the next one out. */
function second(budget: Partial<Budget>) {
  const w = new World()
  const id = item(w, { focus: true, budget: { ...none, ...budget } })
  w.do((d) => openMeter(d, id, { used: noUse, drawn: [] }))
  begin(w, 'continue_current')
  ask(w)
  answer(w, { text: 'I look.' })
  ask(w)
  const [turn, round] = [w.row('turns', 'turn_0001'), w.row('rounds', 'turn_0001:2')]
  return { w, id, turn, round }
}

test('a summary is asked where no limit is reached by it and the request it is for', () => {
  const rows: [budget: Partial<Budget>, usd: number | null, expected: boolean][] = [
    [{}, null, true],
    [{ max_tokens: 5_000 }, 0.02, false],
    [{ max_tokens: 6_000 }, 0.02, true],
    [{ max_tokens: 6_000 }, null, true],
    [{ max_usd: 0.03 }, 0.02, false],
    [{ max_usd: 0.5 }, 0.02, true],
    [{ max_usd: 0.5 }, null, false],
    [{ max_rounds: 2 }, 0.02, false],
    [{ max_rounds: 3 }, 0.02, true],
    [{ deadline: '2999-01-01T00:00:00.000Z' }, 0.02, true],
  ]
  for (const [budget, usd, expected] of rows) {
    const { w, turn, round } = second(budget)
    const said = leavesRoom(w.facts, turn, round, { ...estimate, usd }, w.now)
    assert.equal(said, expected, JSON.stringify([budget, usd]))
  }
  const { w, turn, round } = second({ deadline: '2999-01-01T00:00:00.000Z' })
  assert.equal(leavesRoom(w.facts, turn, round, estimate, '3000-01-01T00:00:00.000Z'), false)
})

const stands = (w: World, id: string) => {
  const { used, reserved } = w.row('meters', id)
  return [used.tokens, used.rounds, reserved?.use.tokens ?? null]
}

test('a summary is reserved on top of its request, settled alone, and is no round', () => {
  const { w, id, turn, round } = second({ max_tokens: 50_000 })
  const [used, rounds, request] = stands(w, id)
  assert.deepEqual([used, rounds], [110, 1])
  w.do((d) => reserveSummary(d, turn, round, estimate))
  w.do((d) => reserveSummary(d, turn, round, estimate))
  assert.deepEqual(stands(w, id), [110, 1, Number(request) + 5_000])
  w.do((d) => settleSummary(d, turn, round, estimate, usage))
  assert.deepEqual(stands(w, id), [3_310, 1, request])
  answer(w, { text: 'Done so far.' })
  assert.deepEqual(stands(w, id), [3_420, 2, null])
})

test('a summary without an answer takes nothing; one without counts takes its estimate', () => {
  const unknown = { ...usage, input_tokens: null, output_tokens: null }
  for (const [given, tokens] of [
    [null, 110],
    [unknown, 5_110],
  ] as const) {
    const { w, id, turn, round } = second({ max_tokens: 50_000 })
    const before = stands(w, id)
    w.do((d) => reserveSummary(d, turn, round, estimate))
    w.do((d) => settleSummary(d, turn, round, estimate, given))
    assert.deepEqual(stands(w, id), [tokens, 1, before[2]])
    end(w, { outcome: 'interrupted' })
    assert.deepEqual(stands(w, id), [tokens, 1, null])
  }
})

test('what children used and reserved leaves less room for a summary', () => {
  for (const [used, reserved, expected] of [
    [0, 0, true],
    [20_000, 0, false],
    [0, 20_000, false],
  ] as const) {
    const { w, id, turn, round } = second({ max_tokens: 20_000 })
    w.do((d) =>
      d.emit({
        type: 'meter_drawn',
        id,
        delegation_id: 'deleg_0001',
        used: { ...noUse, tokens: used },
        reserved: { ...noUse, tokens: reserved },
      }),
    )
    assert.equal(leavesRoom(w.facts, turn, round, estimate, w.now), expected)
  }
})
