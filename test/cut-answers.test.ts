/**
 * Answers that break off are paid for: by every budget, in the sums of the turn and of the ledger,
 * and an answer that always breaks off ends at the budget
 * (docs/spec/turn.md#answers-that-break-off).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOf } from '../src/domain/facts/budget.ts'
import { noUse, type Use } from '../src/domain/state/meter.ts'
import { meterOf } from '../src/domain/facts/payer.ts'
import { roundUsage } from '../src/domain/state/turn.ts'
import {
  cutAfter,
  fails,
  says,
  scriptedModel,
  type Scripted,
} from '../src/testing/scripted-model.ts'
import { picks } from './support/scripts.ts'
import { agent, openStage, type Stage } from './support/stage.ts'

const chars = 4_000
const broken = () => fails({ kind: 'world', code: 'stream_broken', cut: cutAfter(chars) })

type Limits = { max_rounds?: number; max_tokens?: number }

/** The model picks `A`, which the operator made; then it does as the script says. */
async function working(
  t: Parameters<typeof openStage>[0],
  budget: Limits,
  then: (request: number) => Scripted,
) {
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, n) => (n === 1 && stage.s ? picks(stage.s.id('A')) : then(n - 1)))
  const s = (stage.s = await openStage(t, { model }))
  await s.does({ do: 'create_item', objective: 'A', budget })
  return { s, model }
}

/** What the meter of `A` says; and the ledger's sums say the same. */
async function usedOf(s: Stage): Promise<Use> {
  const facts = s.box.host.facts(agent)
  const used = useOf((facts && meterOf(facts, s.id('A'))) ?? null)
  const { id } = s.item('A')
  const [all] = await s.box.ledger.spend({ by: [], work_item_id: id })
  // The request that picked it paid for it, and is the item's own in the ledger too.
  assert.deepEqual(
    [all?.requests, (all?.input_tokens ?? 0) + (all?.output_tokens ?? 0)],
    [used.rounds, used.tokens],
  )
  return used
}

const charges = async (s: Stage) =>
  (await s.events()).flatMap(({ event }) => (event.type === 'answer_cut' ? [event.usage] : []))

const reasons = async (s: Stage) => (await s.rows('turns')).map(({ reason }) => reason)

test('an answer that always breaks off ends at the budget in tokens', async (t) => {
  const { s, model } = await working(t, { max_tokens: 3_000 }, broken)
  assert.ok(model.requests.length <= 4, `${model.requests.length} requests`)
  assert.deepEqual(await reasons(s), ['budget_limit'])
  const { tokens, rounds } = await usedOf(s)
  assert.ok(tokens >= 3_000, `${tokens} tokens`)
  assert.equal(rounds, 2)
  await s.sound()
})

test('the first answer that breaks off counts as a request, the next ones do not', async (t) => {
  const once = await working(t, { max_rounds: 2 }, broken)
  assert.equal(once.model.requests.length, 2)
  assert.deepEqual(await reasons(once.s), ['budget_limit'])
  await usedOf(once.s)

  const twice = await working(t, { max_rounds: 9 }, (n) => (n < 3 ? broken() : says('Done.')))
  const { rounds } = await usedOf(twice.s)
  assert.equal((await charges(twice.s)).length, 2)
  const answered = (await twice.s.rows('rounds')).filter(({ state }) => state === 'recorded')
  assert.equal(rounds, answered.length)
  await twice.s.sound()
})

test('what broke off is in the sums of its turn, beside the answer that came', async (t) => {
  const { s } = await working(t, { max_tokens: 1e9 }, (n) => (n === 1 ? broken() : says('Done.')))
  const [charge] = await charges(s)
  assert.ok(charge)
  assert.equal(charge.output_tokens, chars / 4)
  assert.ok((charge.input_tokens ?? 0) > 500, `${charge.input_tokens} tokens were sent`)
  const [turn] = await s.rows('turns')
  const rounds = (await s.rows('rounds')).filter(({ turn_id }) => turn_id === turn?.id)
  const sum = rounds.reduce((tokens, round) => tokens + (roundUsage(round).output_tokens ?? 0), 0)
  assert.equal(turn?.usage.output_tokens, sum)
  assert.ok(sum > chars / 4)
  await usedOf(s)
  await s.sound()
})

test('what the provider had reported is charged as it was reported', async (t) => {
  const usage = { ...cutAfter(0).usage, input_tokens: 7_000, output_tokens: 9 }
  const fault = fails({ kind: 'world', code: 'stream_broken', cut: { chars, usage } })
  const { s } = await working(t, { max_tokens: 1e9 }, (n) => (n === 1 ? fault : says('Done.')))
  const [charge] = await charges(s)
  assert.deepEqual([charge?.input_tokens, charge?.output_tokens], [7_000, 9])
  await usedOf(s)
})

test('an answer that the operator aborts is paid for', async (t) => {
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, n) =>
    n === 1 && stage.s ? picks(stage.s.id('A')) : { hangs_after: cutAfter(chars) },
  )
  const s = (stage.s = await openStage(t, { model }))
  const second = s.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'request_sent' && event.n === 2),
  )
  await s.act({ do: 'create_item', objective: 'A', budget: { max_tokens: 1e9 } })
  await second
  const [turn] = await s.rows('turns')
  assert.ok(turn)
  await s.act({ do: 'abort', run_id: turn.id })
  assert.deepEqual(await reasons(s), ['operator_aborted'])
  const [charge] = await charges(s)
  assert.equal(charge?.output_tokens, chars / 4)
  assert.equal((await usedOf(s)).rounds, 2)
  await s.sound()
})

test('a request that failed before anything came takes nothing', async (t) => {
  const fault = () => fails({ kind: 'world', code: 'network' })
  const { s } = await working(t, { max_rounds: 9 }, (n) => (n === 1 ? fault() : says('Done.')))
  assert.deepEqual(await charges(s), [])
  const facts = s.box.host.facts(agent)
  assert.notDeepEqual(useOf((facts && meterOf(facts, s.id('A'))) ?? null), noUse)
  await usedOf(s)
})
