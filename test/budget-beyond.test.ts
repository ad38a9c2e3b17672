/**
 * What an agent does about no open item, after a budget paid for what it did before: the rest of a
 * turn that completed its item, and turns which something made in it starts. The budget pays on,
 * until a word from outside.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { useOf } from '../src/domain/facts/budget.ts'
import { meterOf, payingOn } from '../src/domain/facts/payer.ts'
import type { Json } from '../src/ports/json.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { agentView } from '../src/protocol/agent-view.ts'
import { attentionOf } from '../src/protocol/views/attention.ts'
import { deliver } from '../src/testing/host/outside-events.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { call, completes, waitsFor } from './support/scripts.ts'
import { agent, hour, minute, openStage, type Stage } from './support/stage.ts'

const most = 4
let n = 0
/** Something new each time: it is no repeat, and to the rules it is work. */
const look = () => calls(call('ReadFile', { path: `file-${(n += 1)}` }))

type Script = (s: Stage, request: number) => Scripted | Promise<Scripted>

/** The operator makes `A` with four requests, and the model does as it likes. */
async function working(t: TestContext, script: Script, child: () => Scripted = look) {
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, request) => (stage.s ? script(stage.s, request) : look()))
  const children = scriptedModel(() => child())
  const s = (stage.s = await openStage(t, { models: { 'test/first': model, 'a/child': children } }))
  await s.does({ do: 'create_item', objective: 'A', budget: { max_rounds: most } })
  const asked = () => model.requests.length + children.requests.length
  return { s, asked }
}

const used = (s: Stage) => {
  const facts = s.box.host.facts(agent)
  return useOf((facts && meterOf(facts, [...facts.rows('meters')][0]?.id ?? '')) ?? null).rounds
}

const paying = (s: Stage) => {
  const facts = s.box.host.facts(agent)
  return facts && payingOn(facts)
}

/** What the operator is asked of what waits, as the inbox has it. */
async function asks(s: Stage): Promise<string[]> {
  const facts = s.box.host.facts(agent)
  assert.ok(facts)
  const view = agentView(facts, facts.last_at, true)
  const found = attentionOf([view], [])
  return found.map(({ text }) => text.replaceAll(/work_[-\w]+/g, 'A'))
}

const spawns = (message: string, more: Readonly<Record<string, Json>> = {}) =>
  call('SpawnAgent', { initial_message: message, model: 'a/child', ...more })

const done = (s: Stage) => completes(s.id('A'), 'All of A is done now.')

test('the rest of a turn that completed what it was offered is paid for by the item', async (t) => {
  const { s, asked } = await working(t, (stage, request) => (request === 1 ? done(stage) : look()))
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, asked(), used(s), paying(s)], ['completed', most, most, item?.id])
  const reasons = (await s.rows('turns')).map(({ reason }) => reason)
  assert.deepEqual(reasons, ['budget_limit'])
  assert.deepEqual(await asks(s), [], 'nothing waits, so nobody is asked')
  await s.pass(24 * hour)
  assert.equal(asked(), most)
  await s.sound()
})

test('a completed item with something left pays for the last words and asks nobody', async (t) => {
  const { s, asked } = await working(t, (stage, request) =>
    request === 1 ? done(stage) : says('That was A.'),
  )
  assert.deepEqual([asked(), used(s), await asks(s)], [2, 2, []])
  await s.say('And now something else.')
  assert.deepEqual([asked(), used(s), paying(s)], [3, 2, null], 'a word is no work of the item')
  await s.sound()
})

test('timers of the agent itself spend what is left of the item, and no more', async (t) => {
  const timer = () => waitsFor('timer', { wait_ms: 10 * minute })
  const { s, asked } = await working(t, (stage, request) => {
    const completes = () => call('CompleteWorkItem', { work_item_id: stage.id('A') })
    return request === 1 ? calls('All of A is done now.', completes(), timer()) : calls(timer())
  })
  await s.pass(24 * hour)
  assert.deepEqual([asked(), used(s)], [most, most])
  assert.equal((await s.rows('turns')).length, most, 'no turn starts that could ask nothing')
  const question =
    'One thing that came of the work on A, which is completed, waits: its budget is used up, ' +
    '4 of 4 rounds. Any word from you lets the agent go on with it. Shall it?'
  assert.deepEqual(await asks(s), [question])
  assert.match(
    s.next.because,
    /^what came waits: the budget of work_[-\w]+, which pays for it, is /,
  )
  await s.say('Yes.')
  assert.equal(paying(s), null)
  assert.deepEqual(await asks(s), [], 'it was shown with the word')
  await s.pass(2 * hour)
  assert.ok(asked() > most + 4, `${asked()} requests`)
  await s.sound()
})

test('results of children of the queue start no turn once their item is used up', async (t) => {
  const { s, asked } = await working(
    t,
    (_, request) => (request === 1 ? calls(spawns('One.'), spawns('Two.')) : says('Nothing yet.')),
    () => says('Done.'),
  )
  await s.pass(24 * hour)
  assert.ok(asked() >= most && asked() <= most + 1, `${asked()} requests`)
  assert.equal(used(s), asked())
  const ids = [agent, 'main.1', 'main.2']
  const facts = ids.flatMap((id) => s.box.host.facts(id) ?? [])
  assert.deepEqual(
    facts.flatMap((one) => violations(one)),
    [],
  )
})

test('the agent’s own trigger starts no turn that nobody pays for', async (t) => {
  const post = async (s: Stage) => {
    const [trigger] = await s.rows('triggers')
    assert.ok(trigger)
    const about = { sender_id: null, source: null, resource: null, summary: null }
    const via = { kind: 'trigger', trigger_id: trigger.id } as const
    const body = { body: `again ${(n += 1)}`, content_type: null }
    assert.ok((await deliver(s.box.host, { agent_id: agent, via, ...about, ...body })).ok)
  }
  const { s, asked } = await working(t, async (stage, request) => {
    await post(stage)
    return request === 1 ? done(stage) : says('Again.')
  })
  await s.pass(24 * hour)
  assert.deepEqual([asked(), used(s)], [most, most])
  assert.match((await asks(s)).join(), /came of the work on A, which is completed, wait/)
  await s.sound()
})
