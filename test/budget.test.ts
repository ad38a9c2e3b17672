/**
 * Budgets of work items, end to end (docs/spec/budget.md): a breached one stops before the next
 * request and asks once; messages wait for it; a raised limit goes on; a kill settles once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overOf, useOf } from '../src/domain/facts/budget.ts'
import { tableOf, type StoredEvent } from '../src/domain/state/event.ts'
import { covers, evolveMeter, type Meter, type MeterEvent } from '../src/domain/state/meter.ts'
import { meterOf } from '../src/domain/facts/payer.ts'
import { fromMs } from '../src/domain/time.ts'
import type { WorkItem } from '../src/domain/state/work-item.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import {
  calls,
  says,
  scriptedModel,
  type Scripted,
  type ScriptedModel,
} from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { call, completes, picks } from './support/scripts.ts'
import {
  agent,
  hour,
  minute,
  openStage,
  textOf,
  type Stage,
  type StageOptions,
} from './support/stage.ts'

type Budget = {
  max_tokens?: number | null
  max_usd?: number
  max_rounds?: number
  deadline?: string
}

const look = () => calls(call('ListTasks'))

type Ways = {
  /** What the model says once it took `A` up. */
  says_then?: () => Scripted
  /** Instead of the next rest. */
  waits?: (s: Stage) => Promise<void>
}

/**
 * The operator makes `A` with a budget. The model picks it, which is the first request it pays for,
 * then looks around for it, 120 tokens a request.
 */
async function working(
  t: Parameters<typeof openStage>[0],
  budget: (s: Stage) => Budget,
  { says_then = look, waits, ...options }: Partial<StageOptions> & Ways = {},
): Promise<{ s: Stage; model: ScriptedModel; warnings: readonly string[] }> {
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, n) => (n === 1 && stage.s ? picks(stage.s.id('A')) : says_then()))
  const s = (stage.s = await openStage(t, { model, ...options }))
  const make = { do: 'create_item', objective: 'A', budget: budget(s) } as const
  const waited = waits?.(s)
  const { warnings } = await (waits ? s.act(make) : s.does(make))
  await waited
  return { s, model, warnings: warnings.map(({ kind }) => kind) }
}

const meter = (s: Stage): Meter => {
  const facts = s.box.host.facts(agent)
  const found = facts && meterOf(facts, s.id('A'))
  assert.ok(found, 'there is no meter')
  return found
}
const questions = async (s: Stage) =>
  (await s.briefs()).filter(({ kind }) => kind === 'question').map(({ text }) => text)
const lastTurn = async (s: Stage) => {
  const turn = (await s.rows('turns')).at(-1)
  return [turn?.outcome, turn?.reason]
}
const raise = (s: Stage, budget: Budget | null) =>
  s.does({ do: 'update_item', work_item_id: s.id('A'), budget })

/** Of every history: what was used never gets less, and nothing is asked about what is over. */
async function kept(s: Stage): Promise<void> {
  await s.sound()
  neverLess(await s.events())
}

function neverLess(events: readonly StoredEvent[]): void {
  const budgets = new Map<string, WorkItem['budget']>()
  const meters = new Map<string, Meter>()
  const sent = new Set<string>()
  for (const { event, at, agent_id } of events) {
    if (event.type === 'work_item_created') budgets.set(event.id, event.budget)
    if (event.type === 'work_item_updated' && event.changed.budget !== undefined) {
      budgets.set(event.id, event.changed.budget)
    }
    if (event.type === 'request_sent' && !sent.has(event.id)) {
      sent.add(event.id)
      const budget = budgets.get(event.work_item_id ?? '') ?? null
      const use = useOf(meters.get(event.work_item_id ?? '') ?? null)
      const over = budget === null ? [] : overOf(budget, use, at)
      assert.deepEqual(over, [], `${event.id} was sent over the budget`)
    }
    if (tableOf[event.type] !== 'meters') continue
    const before = meters.get(event.id) ?? null
    const after = evolveMeter(before, event as MeterEvent, { at, agent_id })
    assert.ok(covers(useOf(after), useOf(before)), `${event.id} used less after ${event.type}`)
    meters.set(event.id, after)
  }
}

test('tokens: the request that reaches the limit is the last; raised, it goes on', async (t) => {
  const { s, model } = await working(t, () => ({ max_tokens: 500 }))
  assert.equal(model.requests.length, 5)
  assert.deepEqual(await lastTurn(s), ['completed', 'budget_limit'])
  assert.deepEqual(meter(s).used, { tokens: 600, usd: 0, unpriced: 5, rounds: 5 })
  assert.equal(s.next.do, 'wait')
  const [question, ...more] = await questions(s)
  assert.match(question ?? '', /600 of 500 tokens/)
  assert.deepEqual(more, [])
  const requests = model.requests.length
  await s.pass(3 * hour)
  assert.equal(model.requests.length, requests, 'an item over its budget costs nothing')
  await raise(s, { max_tokens: 700 })
  assert.equal(model.requests.length, requests + 1)
  assert.equal((await questions(s)).length, 2)
  await kept(s)
})

test('rounds are counted, and the model is told once that four fifths are used', async (t) => {
  const { s, model } = await working(t, () => ({ max_rounds: 5 }))
  assert.equal(meter(s).used.rounds, 5)
  const told = model.requests.map((request) => textOf(request).includes('Little is left'))
  assert.deepEqual(told, [false, false, false, false, true])
  await raise(s, { max_rounds: 10 })
  assert.equal(meter(s).used.rounds, 10)
  await kept(s)
})

test('dollars are metered where the price is known', async (t) => {
  const { s, warnings } = await working(t, () => ({ max_usd: 0.05 }), { price: () => 0.02 })
  assert.deepEqual(warnings, [])
  assert.deepEqual(meter(s).used, { tokens: 360, usd: 0.06, unpriced: 0, rounds: 3 })
  assert.match((await questions(s))[0] ?? '', /\$0\.06 of \$0\.05/)
  await kept(s)
})

test('without a price dollars are not metered, and it is said so', async (t) => {
  const { s, warnings } = await working(t, () => ({ max_usd: 0.01, max_rounds: 3 }))
  assert.deepEqual(warnings, ['price_unknown'])
  assert.equal(meter(s).used.rounds, 3)
  assert.match((await questions(s))[0] ?? '', /3 of 3 rounds/)
})

test('a deadline holds the item when it comes, also while it sleeps', async (t) => {
  const wait = () => calls(call('WaitFor', { wake: 'timer', wait_ms: 2 * hour, reason: 'later' }))
  const { s, model } = await working(t, ({ now }) => ({ deadline: fromMs(now + hour) }), {
    says_then: wait,
  })
  const requests = model.requests.length
  await s.pass(30 * minute)
  assert.deepEqual(await questions(s), [])
  await s.pass(3 * hour)
  assert.equal(model.requests.length, requests)
  assert.match((await questions(s))[0] ?? '', /the deadline/)
  assert.equal((await questions(s)).length, 1)
  await raise(s, { deadline: fromMs(s.now + 24 * hour) })
  assert.equal(model.requests.length, requests + 1)
  await kept(s)
})

test('messages for an item over its budget wait; an unbound one is not about it', async (t) => {
  let hears = false
  const { s, model } = await working(t, () => ({ max_rounds: 2 }), {
    says_then: () => (hears ? says('Heard.') : look()),
  })
  const requests = model.requests.length
  const item = s.id('A')
  await s.say('More about A.', { work_item_id: item })
  assert.equal(model.requests.length, requests, 'a message about it starts no turn')
  hears = true
  await s.say('Something else.')
  assert.equal(model.requests.length, requests + 1)
  assert.equal((await s.rows('turns')).at(-1)?.work_item_id, null)
  assert.equal(s.focus(), item)
  await s.sound()
  await raise(s, { max_rounds: 3 })
  const last = textOf(model.requests.at(-1))
  assert.match(last, /More about A/)
  await kept(s)
})
test('the calls of the round that reached the limit still run', async (t) => {
  const { s } = await working(t, () => ({ max_rounds: 2 }), {
    says_then: () => calls(call('ListTasks'), call('ListWorkItems')),
  })
  const results = (await s.rows('calls')).map(({ tool_name, result }) => [
    tool_name,
    result?.status,
  ])
  assert.deepEqual(results, [
    ['PickWorkItem', 'success'],
    ['ListTasks', 'success'],
    ['ListWorkItems', 'success'],
  ])
  assert.deepEqual(await lastTurn(s), ['completed', 'budget_limit'])
  await kept(s)
})

test('a completion in the last round counts; its missing report is not asked for', async (t) => {
  const made: { s: Stage | null } = { s: null }
  const { s, model } = await working(t, (stage) => ((made.s = stage), { max_rounds: 2 }), {
    says_then: () => completes(made.s?.id('A') ?? '', ''),
  })
  assert.equal(model.requests.length, 2)
  const item = (await s.rows('work_items'))[0]
  assert.deepEqual([item?.state, item?.result_brief_id], ['completed', null])
  assert.deepEqual(await questions(s), [])
  await kept(s)
})

test('a change of the budget is the operator’s; what is no limit is refused', async (t) => {
  const { s } = await working(t, () => ({ max_tokens: 500, max_rounds: 100 }))
  const refuse = async (budget: Budget) => {
    const reply = await s.try({ do: 'update_item', work_item_id: s.id('A'), budget })
    return reply.ok ? null : reply.code
  }
  assert.equal(await refuse({ max_tokens: 0 }), 'budget_invalid')
  assert.equal(await refuse({ max_rounds: 1.5 }), 'budget_invalid')
  assert.equal(await refuse({ deadline: 'tomorrow' }), 'budget_invalid')
  assert.equal(await refuse({ deadline: fromMs(s.now - 1) }), 'budget_invalid')
  const revision = s.item('A').revision
  await raise(s, { max_tokens: null })
  assert.equal(s.item('A').budget?.max_rounds, 100)
  assert.equal(s.item('A').budget?.max_tokens, null)
  // The use of the turn that followed moved nothing.
  assert.equal(s.item('A').revision, revision + 1)
  await kept(s)
})

test('a request that was open when the process died is counted once', async (t) => {
  const clock = virtualClock()
  const home = temporaryHome(t)
  const first = await working(t, () => ({ max_rounds: 3 }), {
    ...home,
    clock,
    says_then: () => 'hang',
    waits: (s) => s.committed('meter_reserved'),
  })
  const reserved = meter(first.s).reserved
  assert.equal(reserved?.use.rounds, 1)
  await first.s.box.close()
  const again = scriptedModel(look)
  const s = await openStage(t, { ...home, clock, model: again })
  assert.deepEqual([meter(s).used.rounds, meter(s).reserved, again.requests.length], [3, null, 3])
  await kept(s)
})
