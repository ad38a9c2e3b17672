/**
 * What agents may spend beside the budgets of items (docs/spec/budget.md#what-is-made-on-the-way):
 * budgets of an agent and of the home, and the one question after a thousand requests where there
 * is none.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { limits } from '../src/domain/limits.ts'
import type { Ledger } from '../src/ledger/port.ts'
import { agentView, projectionOf } from '../src/protocol/agent-view.ts'
import { attentionOf } from '../src/protocol/views/attention.ts'
import { whyOf } from '../src/protocol/views/why.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import {
  calls,
  cutAfter,
  fails,
  says,
  scriptedModel,
  type Script,
} from '../src/testing/scripted-model.ts'
import { settle, virtualClock } from '../src/testing/virtual-clock.ts'
import { call } from './support/scripts.ts'
import { agent, hour, openStage, textOf, type Stage, type StageOptions } from './support/stage.ts'

let n = 0
/** Something new each time: it is no repeat, and to the rules it is work. */
const look = () => calls(call('FindInFiles', { query: `word-${(n += 1)}` }))

/** A ledger that knows of so many requests more since the last word, from before it was opened. */
const since = (before: number) => (ledger: Ledger) =>
  new Proxy(ledger, {
    get(target, name) {
      if (name === 'requestsSinceWord') {
        return async (...of: Parameters<Ledger['requestsSinceWord']>) =>
          before + (await target.requestsSinceWord(...of))
      }
      const found: unknown = Reflect.get(target, name, target)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })

async function spending(
  t: Parameters<typeof openStage>[0],
  {
    script = look,
    child = look,
    ...more
  }: Partial<StageOptions> & { script?: Script; child?: Script },
) {
  const model = scriptedModel(script)
  const children = scriptedModel(child)
  const s = await openStage(t, { models: { 'test/first': model, 'a/child': children }, ...more })
  const sent = () => model.requests.length + children.requests.length
  return { s, sent, model, children }
}

const held = (s: Stage, id = agent) =>
  [...(s.box.host.facts(id)?.rows('waits') ?? [])].find(
    ({ status, runtime_cause }) => status === 'active' && runtime_cause === 'spending',
  )?.reason ?? null

const questions = async (s: Stage) =>
  (await s.rows('waits')).filter(({ runtime_cause }) => runtime_cause === 'requests_unasked')

async function sound(s: Stage, ...others: string[]): Promise<void> {
  for (const id of [agent, ...others]) {
    const facts = s.box.host.facts(id)
    assert.deepEqual(facts && violations(facts), facts && [])
  }
  assert.deepEqual((await s.box.ledger.verify()).problems, [])
}

const most = limits.requests_unasked.value

/** Two requests about an item, a kill, and so many before that nobody said a word in between. */
async function goesOn(
  t: Parameters<typeof openStage>[0],
  before: number,
  more: { script: Script; child?: Script },
) {
  const given = { ...temporaryHome(t), clock: virtualClock() }
  const third = Promise.withResolvers<void>()
  const first = await spending(t, {
    ...given,
    script: (_, request) => {
      if (request < 3) return look()
      third.resolve()
      return 'hang'
    },
  })
  await first.s.act({ do: 'create_item', objective: 'A' })
  await third.promise
  await first.s.box.close()
  return spending(t, { ...given, ...more, over: since(before) })
}

test('without a budget an agent asks once after a thousand requests, and any word lets it go on', async (t) => {
  const { s, sent } = await goesOn(t, most - 10, {
    script: (_, request) => (request < 20 ? look() : calls('All is looked at.')),
  })
  await s.pass(24 * hour)
  // Two were sent before the restart, and count.
  assert.equal(sent(), 8)
  assert.match(
    held(s) ?? '',
    /^main and the agents made under it sent 1000 requests since the operator's last/,
  )
  assert.equal(s.next.do, 'wait')
  await s.pass(24 * hour)
  assert.deepEqual([sent(), (await questions(s)).length], [8, 1], 'it waits, and asks once')
  await s.say('Go on.')
  assert.ok(sent() >= 20, `${sent()} requests`)
  assert.equal(held(s), null)
  assert.deepEqual(
    (await questions(s)).map(({ status }) => status),
    ['resolved'],
  )
  await sound(s)
})

test('what children send counts, and the word is said to who made them', async (t) => {
  const spawns = calls(call('SpawnAgent', { initial_message: 'Look around.', model: 'a/child' }))
  const waits = calls(call('WaitFor', { wake: 'operator_input', reason: 'what now?' }))
  const { s, sent } = await goesOn(t, most - 10, {
    script: (_, request) => (request === 1 ? spawns : waits),
    child: (_, request) => (request < 20 ? look() : calls('All is looked at.')),
  })
  if (held(s, 'main.1') === null) await s.committed('wait_registered')
  await s.rest()
  // At most one of each was under way.
  assert.ok(sent() >= 8 && sent() <= 9, `${sent()} requests`)
  assert.match(
    held(s, 'main.1') ?? '',
    /main and the agents made under it sent .* main asks the operator/,
  )
  assert.equal((await questions(s)).length, 1)
  const ended = s.committed('task_ended')
  await s.act({ do: 'start_agent' })
  await ended
  assert.ok(sent() >= 21, 'it went on')
  await sound(s)
})

test('agents of which none has sent a thousand are not held', async (t) => {
  const { s, sent } = await goesOn(t, most - 100, {
    script: (_, request) => (request < 20 ? look() : calls('All is looked at.')),
  })
  await s.pass(hour)
  assert.ok(sent() >= 20)
  assert.deepEqual([held(s), await questions(s)], [null, []])
})

const readings = (limit: number) => ({
  script: (_: unknown, request: number) => (request < limit ? look() : calls('All is looked at.')),
})

test('an agent is held at its budget, and goes on when it is raised', async (t) => {
  const { s, sent, model } = await spending(t, readings(20))
  await s.act({ do: 'configure_agent', budget: { all: { max_rounds: 5 } } })
  await s.does({ do: 'create_item', objective: 'A' })
  await s.pass(48 * hour)
  assert.equal(sent(), 5)
  const words = 'The budget of main and the agents made under it is used up: 5 of 5 rounds.'
  assert.equal(held(s), words)
  const facts = s.box.host.facts(agent)
  assert.ok(facts)
  const view = agentView(facts, new Date(s.now).toISOString(), true)
  assert.match(view.next.because, /main and the agents made under it is used up: 5 of 5 rounds/)
  const [entry] = attentionOf([view], [])
  assert.deepEqual(
    [entry?.kind, entry?.text, entry?.can[0]?.cli],
    ['held', words, 'holon agents configure main --max-usd <n>'],
  )
  const projection = projectionOf(view, s.id('A'))
  assert.match(projection ? whyOf(view, projection, null).why : '', /5 of 5 rounds/)
  await s.does({ do: 'configure_agent', budget: { all: { max_rounds: 8 } } })
  assert.equal(sent(), 8)
  const whose = 'main and the agents made under it'
  assert.match(
    textOf(model.requests[5]),
    new RegExp(`Used by now: 5 of 8 rounds of ${whose}\\. It`),
  )
  await s.does({ do: 'configure_agent', budget: null })
  assert.ok(sent() >= 20)
  assert.match(
    textOf(model.requests[8]),
    /used up: 8 of 8 rounds\. No budget holds it now\. It goes on/,
  )
  await sound(s)
})

test('a budget that is set while an opening is gathered holds for its request', async (t) => {
  let meanwhile: (() => Promise<unknown>) | null = null
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    async list(table, filter) {
      const rows = await ledger.list(table, filter)
      const act = table === 'turns' ? meanwhile : null
      if (act !== null) meanwhile = null
      await act?.()
      return rows
    },
  })
  const { s, sent } = await spending(t, { script: () => says('Done.'), over })
  await s.say('First.')
  assert.equal(sent(), 1)
  const set = { do: 'configure_agent', budget: { all: { max_rounds: 1 } } } as const
  meanwhile = () => s.box.host.act({ ...set, agent_id: agent })
  await s.say('Second.')
  assert.equal(meanwhile, null)
  assert.equal(sent(), 1)
  assert.match(held(s) ?? '', /1 of 1/)
  await sound(s)
})

test('a budget of the day goes on with the next day', async (t) => {
  const { s, sent } = await spending(t, readings(100))
  await s.act({ do: 'configure_agent', budget: { day: { max_rounds: 5 } } })
  await s.does({ do: 'create_item', objective: 'A' })
  assert.equal(sent(), 5)
  const end = s.next.do === 'wait' ? s.next.until : null
  assert.match(end ?? '', /T00:00:00.000Z$/)
  await s.passUntil(Date.parse(end ?? ''))
  assert.equal(sent(), 10)
  await s.pass(24 * hour)
  assert.equal(sent(), 15)
  await sound(s)
})

test('what an agent makes draws on its budget: children, public agents, and theirs', async (t) => {
  const names = ['one', 'two', 'three']
  const makes = (id: string) =>
    call('SpawnAgent', {
      preset: 'public_named',
      agent_id: id,
      initial_message: 'Look around.',
      model: 'a/child',
    })
  const { s, sent } = await spending(t, {
    script: (_, request) =>
      request === 1
        ? calls(
            makes('one'),
            call('SpawnAgent', { initial_message: 'Look around.', model: 'a/child' }),
          )
        : look(),
    child: (_, request) => (request < 3 ? calls(makes(names[request] ?? '')) : look()),
  })
  await s.act({ do: 'configure_agent', budget: { all: { max_rounds: 20 } } })
  await s.does({ do: 'create_item', objective: 'A' })
  const family = () => ['main', 'main.1', ...names].filter((id) => s.box.host.facts(id) !== null)
  await s.held(family)
  await s.pass(24 * hour)
  const all = family()
  assert.ok(sent() >= 20 && sent() <= 20 + all.length - 1, `${sent()} requests of ${all.join()}`)
  for (const id of all) assert.match(held(s, id) ?? '', /budget of main and the agents made/)
  await sound(s, ...all)
})

test('the home is held at its budget, each agent before its next request, also after a restart', async (t) => {
  const given = { ...temporaryHome(t), clock: virtualClock() }
  const limit = (max_rounds: number) => ({
    day: null,
    all: { max_tokens: null, max_usd: null, max_rounds },
  })
  const first = await spending(t, { ...given, ...readings(100), budget: limit(5) })
  await first.s.does({ do: 'create_item', objective: 'A' })
  assert.deepEqual(
    [first.sent(), held(first.s)],
    [5, 'The budget of the home is used up: 5 of 5 rounds.'],
  )
  await first.s.box.close()
  const again = await spending(t, { ...given, ...readings(100), budget: limit(5) })
  await again.s.say('Go on.')
  assert.equal(again.sent(), 0)
  await again.s.box.close()
  const raised = await spending(t, { ...given, ...readings(100), budget: limit(9) })
  assert.deepEqual(
    [raised.sent(), held(raised.s)],
    [4, 'The budget of the home is used up: 9 of 9 rounds.'],
  )
  await sound(raised.s)
})

test('a request of which an answer broke off counts once, also when a restart comes between', async (t) => {
  const given = { ...temporaryHome(t), clock: virtualClock() }
  const cut = Promise.withResolvers<void>()
  const first = await spending(t, {
    ...given,
    script: (_, request) => {
      if (request === 1) return fails({ kind: 'world', code: 'stream_broken', cut: cutAfter(400) })
      cut.resolve()
      return 'hang'
    },
  })
  const retry = first.s.box.until(({ kind }) => kind === 'retry')
  await first.s.act({ do: 'configure_agent', budget: { all: { max_rounds: 3 } } })
  await first.s.act({ do: 'create_item', objective: 'A' })
  const notice = await retry
  await settle()
  if (notice.kind === 'retry') await first.s.clock.advance(notice.delay_ms)
  await cut.promise
  await first.s.box.close()
  const { s, sent } = await spending(t, given)
  assert.deepEqual(
    [sent(), held(s)],
    [3, 'The budget of main and the agents made under it is used up: 3 of 3 rounds.'],
  )
  await sound(s)
})

test('a budget of its own frees an agent from the item that it was made for', async (t) => {
  const { s, sent } = await spending(t, {
    script: (_, request) =>
      request === 1
        ? calls(
            call('SpawnAgent', {
              preset: 'public_named',
              agent_id: 'one',
              initial_message: 'Look around.',
              model: 'a/child',
            }),
          )
        : look(),
    child: (_, request) => (request < 30 ? look() : calls('All is looked at.')),
  })
  await s.does({ do: 'create_item', objective: 'A', budget: { max_rounds: 6 } })
  await s.held(() => ['one'])
  assert.match(s.box.host.next('one')?.because ?? '', /budget it draws on/)
  const before = sent()
  const rests = s.box.rests('one', ({ next }) => next.do === 'sleep')
  const done = await s.box.host.act({ do: 'configure_agent', agent_id: 'one', budget: null })
  assert.ok(done.ok)
  await rests
  assert.ok(sent() >= before + 20, `${sent()} after ${before}`)
  await sound(s, 'one')
})
