/**
 * One budget for an item and the children that work for it (docs/spec/agent.md#delegation,
 * docs/spec/budget.md): what a child uses is the item's, what is left is the child's, and the
 * operator is asked once, about the item.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOf } from '../src/domain/facts/budget.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import type { Emitted } from '../src/domain/facts/facts.ts'
import { noUse, type Meter } from '../src/domain/state/meter.ts'
import {
  calls,
  scriptedModel,
  type Scripted,
  type ScriptedModel,
} from '../src/testing/scripted-model.ts'
import { agentRecordOf } from '../src/protocol/records/agent-record.ts'
import { agentView } from '../src/protocol/agent-view.ts'
import { call, picks } from './support/scripts.ts'
import { agent, hour, openStage, textOf, type Stage } from './support/stage.ts'

const look = () => calls(call('ListTasks'))

/** The parent picks `A`, hands work over so many times, and waits for the first of them. */
async function family(
  t: Parameters<typeof openStage>[0],
  budget: { max_tokens?: number; max_rounds?: number } | null,
  {
    children = 1,
    child = look,
    third = null,
  }: { children?: number; child?: () => Scripted; third?: Scripted | null } = {},
): Promise<{ s: Stage; parent: ScriptedModel; child: ScriptedModel }> {
  const stage: { s: Stage | null } = { s: null }
  const waits = Promise.withResolvers<void>()
  const parent = scriptedModel((request, n) => {
    if (n === 1 && stage.s) return picks(stage.s.id('A'))
    if (n === 2) {
      const spawns = Array.from({ length: children }, (_, i) =>
        call('SpawnAgent', { initial_message: `Look around, ${i}.`, model: 'a/child' }),
      )
      return calls(...spawns)
    }
    if (n === 3 && third !== null) return third
    waits.resolve()
    const [task] = /task_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages)) ?? ['']
    return calls(call('WaitFor', { wake: 'task_result', resource: task, reason: 'the child' }))
  })
  // Not before the parent waits, so that every run counts the same.
  const model = scriptedModel(async () => {
    await waits.promise
    return child()
  })
  const s = (stage.s = await openStage(t, { models: { 'test/first': parent, 'a/child': model } }))
  await s.act({ do: 'create_item', objective: 'A', ...(budget === null ? {} : { budget }) })
  return { s, parent, child: model }
}

const meter = (s: Stage, agent_id = agent): Meter => {
  const id = agent_id === agent ? s.id('A') : agent_id
  const found = s.box.host.facts(agent_id)?.row('meters', id)
  assert.ok(found, `there is no meter of ${id}`)
  return found
}

/** From now on: the child may start no request. */
async function held(s: Stage): Promise<void> {
  const from = s.box.notices.length
  const isHold = ({ event }: Emitted) =>
    event.type === 'wait_registered' && event.runtime_cause === 'budget'
  await s.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(isHold) &&
      s.box.notices.indexOf(notice) >= from,
    'the hold of a child',
  )
}

const asked = (s: Stage) => s.committed('meter_asked')
const questions = async (s: Stage) =>
  (await s.briefs()).filter(({ kind }) => kind === 'question').map(({ text }) => text)

/** Of both agents: the invariants, and the item's meter is the sum of what they used. */
async function inLine(s: Stage): Promise<void> {
  for (const id of [agent, 'main.1']) {
    const facts = s.box.host.facts(id)
    assert.ok(facts)
    assert.deepEqual(violations(facts), [])
  }
  assert.deepEqual((await s.box.ledger.verify()).problems, [])
  assert.deepEqual(
    meter(s).drawn.map(({ used, reserved }) => ({ used, reserved })),
    [{ used: meter(s, 'main.1').used, reserved: noUse }],
  )
}

test('a child draws on its parent’s item, is held at its limit, and goes on when raised', async (t) => {
  const { s, parent, child } = await family(t, { max_tokens: 1_000 })
  await Promise.all([held(s), asked(s)])
  await s.rest()
  // Three rounds of the parent, and six of the child: the last one reached the limit.
  assert.deepEqual([parent.requests.length, child.requests.length], [3, 6])
  assert.equal(useOf(meter(s)).tokens, 9 * 120)
  await inLine(s)
  assert.match((await questions(s)).join(), /1,080 of 1,000 tokens/)
  await s.pass(48 * hour)
  assert.equal(child.requests.length, 6, 'a child that is held costs nothing, and is not given up')
  const again = Promise.all([held(s), asked(s)])
  await s.act({ do: 'update_item', work_item_id: s.id('A'), budget: { max_tokens: 1_300 } })
  await again
  await s.rest()
  assert.deepEqual([parent.requests.length, child.requests.length], [3, 8])
  // What its parent took is taken off: 1,300 less three rounds, of which it used its six.
  assert.match(textOf(child.requests[6]), /Used by now: 720 of 940 tokens\. It goes on/)
  await inLine(s)
  assert.equal((await questions(s)).length, 2)
})

test('several children together overshoot by no more than their open requests', async (t) => {
  const { s, parent, child } = await family(t, { max_rounds: 20 }, { children: 3 })
  await asked(s)
  await s.rest()
  const { rounds } = useOf(meter(s))
  assert.equal(rounds, child.requests.length + parent.requests.length)
  assert.ok(rounds >= 20 && rounds <= 20 + 3, `${rounds} rounds`)
  assert.equal((await questions(s)).length, 1)
})

test('a budget set while a child works counts what it used before', async (t) => {
  let more = 4
  const { s, child } = await family(t, null, { child: () => ((more -= 1) >= 0 ? look() : 'hang') })
  await s.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'request_sent' && event.n === 5),
    'the child’s fifth request',
  )
  const question = asked(s)
  await s.act({ do: 'update_item', work_item_id: s.id('A'), budget: { max_rounds: 3 } })
  await question
  await s.rest()
  assert.equal(child.requests.length, 5)
  assert.deepEqual(useOf(meter(s)), { tokens: 7 * 120, usd: 0, unpriced: 7, rounds: 7 })
  assert.deepEqual(
    meter(s).drawn.map(({ used }) => used.rounds),
    [4],
  )
})

test('a child that is held ends when its item is over: nobody raises it any more', async (t) => {
  const { s, child } = await family(t, { max_rounds: 4 })
  await Promise.all([held(s), asked(s)])
  await s.rest()
  const ended = s.committed('task_ended')
  await s.act({ do: 'complete', work_item_id: s.id('A'), report: 'Enough.' })
  await ended
  const [task] = await s.rows('tasks')
  assert.deepEqual([task?.status, task?.reason], ['failed', 'the budget of its work is used up'])
  assert.equal(child.requests.length, 1)
  assert.deepEqual((await s.box.ledger.verify()).problems, [])
})

test('a child is told what it may use from its first request on, and so is who asks', async (t) => {
  const asks = Promise.withResolvers<void>()
  const hangs = (): Scripted => {
    asks.resolve()
    return 'hang'
  }
  const { s, parent, child } = await family(
    t,
    { max_tokens: 100_000, max_rounds: 50 },
    { child: hangs, third: calls(call('AgentGet', { agent_id: 'main.1' })) },
  )
  // The child answers nobody before the parent waits, so the parent has seen it by then.
  await asks.promise
  const [message] = child.requests[0]?.messages ?? []
  assert.ok(message?.role === 'user')
  const [line] = /as you have used it: .*?\.(?= main)/.exec(message.content) ?? []
  // The parent had answered twice about the item; it may have gone on to ask its last two times.
  assert.match(line ?? '', /^as you have used it: 0 of 9\d,\d{3} tokens, 0 of 4[678] rounds\.$/)
  const facts = s.box.host.facts('main.1')
  assert.ok(facts)
  const now = new Date(s.now).toISOString()
  const { allowance } = agentRecordOf(agentView(facts, now, true), [])
  const allowed = meter(s, 'main.1').allowance
  assert.deepEqual(allowance, {
    allowed,
    used: { tokens: 0, usd: 0, known_usd: 0, rounds: 0 },
    left: { tokens: allowed?.max_tokens, usd: null, rounds: allowed?.max_rounds },
    over: [],
    draws_on: null,
  })
  const answer = parent.requests[3]?.messages.at(-1)
  assert.ok(answer?.role === 'tool')
  assert.match(answer.results[0]?.text ?? '', /allowance:\n {2}allowed:\n {4}max_tokens: \d+/)
})
