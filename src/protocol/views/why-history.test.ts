import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decision } from '../../domain/state/decision.ts'
import { whyHistory } from './why-history.ts'

const id = 'work_1'
const other = 'work_2'
const at = (n: number) => new Date(Date.UTC(2026, 2, 2) + n * 1_000).toISOString()

function decision(n: number, about: Partial<Decision>): Decision {
  return {
    id: `dec_${String(n).padStart(6, '0')}`,
    agent_id: 'main',
    at: at(n),
    decision: 'start_turn(message)',
    because: 'the operator spoke',
    work_item_id: null,
    message_id: null,
    evidence: [],
    considered: [],
    ...about,
  }
}
const chose = (n: number) => decision(n, { work_item_id: id })
const passed = (n: number, verdict = 'rule 6 goes before rule 9') =>
  decision(n, {
    work_item_id: other,
    considered: [{ work_item_id: id, candidate_class: 'queued_runnable', verdict }],
  })

/** As a ledger reads them, and how often it was asked. */
function ledger(all: readonly Decision[]) {
  const asked = { times: 0 }
  const read = async ({ before, limit }: { before?: string; limit: number }) => {
    asked.times += 1
    const end = before === undefined ? all.length : all.findIndex((one) => one.id === before)
    return all.slice(Math.max(0, end - limit), end)
  }
  return { read, asked }
}
const told = async (all: readonly Decision[]) => {
  const { runs, complete } = await whyHistory(ledger(all).read, id)
  const lines = runs.map(({ id: name, chosen, times, first_at }) => {
    return `${name} ${chosen ? 'chosen' : 'passed over'} ×${times} from ${first_at.slice(14, 19)}`
  })
  return { lines, complete }
}

test('decisions that passed it over stand beside those that chose it, newest first', async () => {
  const all = [chose(1), decision(2, { work_item_id: other }), passed(3), chose(4)]
  assert.deepEqual(await told(all), {
    lines: [
      'dec_000004 chosen ×1 from 00:04',
      'dec_000003 passed over ×1 from 00:03',
      'dec_000001 chosen ×1 from 00:01',
    ],
    complete: true,
  })
})

test('a run that says the same of it is one, also with other moments and others between', async () => {
  const until = (n: number) => `wait_1 (timer) is active until ${at(n)}`
  const all = [passed(1, until(90)), decision(2, {}), passed(3, until(95)), passed(4), passed(5)]
  assert.deepEqual((await told(all)).lines, [
    'dec_000005 passed over ×2 from 00:04',
    'dec_000003 passed over ×2 from 00:01',
  ])
})

test('it looks at no more than five thousand, tells no more than a hundred, and says so', async () => {
  const long = Array.from({ length: 6_000 }, (_, n) => decision(n, { work_item_id: other }))
  const far = ledger([chose(0), ...long.slice(1)])
  assert.deepEqual(await whyHistory(far.read, id), { runs: [], complete: false })
  assert.equal(far.asked.times, 10)
  const many = Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? chose(n) : passed(n)))
  const { lines, complete } = await told(many)
  assert.deepEqual([lines.length, complete], [100, false])
  assert.equal(lines[0], 'dec_000299 passed over ×1 from 04:59')
})

test('an item nobody ever decided about has a whole and empty history', async () => {
  assert.deepEqual(await told([]), { lines: [], complete: true })
  assert.deepEqual(await told([decision(1, {})]), { lines: [], complete: true })
})
