/**
 * A budget and models that do not co-operate: one that never takes the item up, one that makes
 * items beside it, one that hands work to others. Each is bounded, and the inbox says so.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOf } from '../src/domain/facts/budget.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { meterOf } from '../src/domain/facts/payer.ts'
import { project } from '../src/domain/facts/candidates.ts'
import { calls, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { agent, hour, openStage, type Stage } from './support/stage.ts'

const most = 3
let n = 0
/** Something new each time: it is no repeat, and to the rules it is work. */
const look = () => calls(call('ReadFile', { path: `file-${(n += 1)}` }))

/** The operator makes `A` with three requests, and the model does as it likes; a day passes. */
async function bounded(
  t: Parameters<typeof openStage>[0],
  script: (s: Stage, request: number) => Scripted,
  child: () => Scripted = look,
  max_rounds = most,
) {
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, request) => (stage.s ? script(stage.s, request) : look()))
  const children = scriptedModel(() => child())
  const s = (stage.s = await openStage(t, { models: { 'test/first': model, 'a/child': children } }))
  await s.does({ do: 'create_item', objective: 'A', budget: { max_rounds } })
  await s.pass(24 * hour)
  return { s, asked: () => model.requests.length, asked_children: () => children.requests.length }
}

const used = (s: Stage, objective = 'A') => {
  const facts = s.box.host.facts(agent)
  return useOf((facts && meterOf(facts, s.id(objective))) ?? null).rounds
}

const questions = async (s: Stage) =>
  (await s.briefs()).filter(({ kind }) => kind === 'question').map(({ text }) => text)

const sound = async (s: Stage, ...others: string[]) => {
  for (const id of [agent, ...others]) {
    const facts = s.box.host.facts(id)
    assert.deepEqual(facts && violations(facts), facts && [])
  }
  assert.deepEqual((await s.box.ledger.verify()).problems, [])
}

test('a model that never takes the item up pays from the item it was offered', async (t) => {
  const { s, asked } = await bounded(t, () => look())
  assert.deepEqual([asked(), used(s)], [most, most])
  assert.match((await questions(s)).join(), /3 of 3 rounds/)
  await s.does({ do: 'update_item', work_item_id: s.id('A'), budget: { max_rounds: most + 2 } })
  assert.deepEqual([asked(), used(s)], [most + 2, most + 2])
  await sound(s)
})

test('items that a model makes in a turn of the item draw on its budget', async (t) => {
  const { s, asked } = await bounded(t, (stage, request) => {
    if (request === 1) return calls(call('CreateWorkItem', { objective: 'B' }))
    if (request === 2) return calls(call('PickWorkItem', { work_item_id: stage.id('B') }))
    return look()
  })
  assert.deepEqual([asked(), used(s), used(s, 'B')], [most, most, most - 2])
  assert.match((await questions(s)).join(), /3 of 3 rounds/)
  const b = s.item('B')
  const facts = s.box.host.facts(agent)
  const held = facts && project(facts, b.id, facts.last_at)
  assert.deepEqual(
    [held?.scheduling_state, held?.reason.code, held?.budget?.draws_on],
    ['waiting_operator', 'budget', s.id('A')],
  )
  // The operator's word: it has none of its own, and draws on nobody's.
  await s.does({ do: 'update_item', work_item_id: b.id, budget: null })
  assert.ok(asked() > most + 5, `${asked()} requests`)
  assert.equal(used(s), most)
  await sound(s)
})

test('what was made in a completed item’s turns goes on drawing on its budget', async (t) => {
  const { s, asked } = await bounded(t, (stage, request) => {
    if (request === 1) {
      return calls(
        call('PickWorkItem', { work_item_id: stage.id('A') }),
        call('CreateWorkItem', { objective: 'B' }),
      )
    }
    if (request === 2) {
      return calls(
        'All of A is done now.',
        call('CompleteWorkItem', { work_item_id: stage.id('A') }),
      )
    }
    return request === 3 ? calls(call('PickWorkItem', { work_item_id: stage.id('B') })) : look()
  })
  assert.deepEqual([asked(), used(s)], [most, most])
  assert.match((await questions(s)).join(), /draw on the budget of work_\S+, which is completed/)
  await sound(s)
})

test('children of a turn that took nothing up draw on the item it was offered', async (t) => {
  const { s, asked, asked_children } = await bounded(t, (_, request) => {
    if (request > 1) return look()
    const spawns = [1, 2, 3].map((i) =>
      call('SpawnAgent', { initial_message: `Look around, ${i}.`, model: 'a/child' }),
    )
    return calls(...spawns)
  })
  // Each that is under way when the limit is reached may end above it.
  const all = asked() + asked_children()
  assert.ok(all >= most && all <= most + 4, `${all} requests`)
  assert.equal(used(s), all)
  assert.match((await questions(s)).join(), /of 3 rounds/)
  await sound(s, 'main.1', 'main.2', 'main.3')
})

const makes = (agent_id: string) =>
  calls(
    call('SpawnAgent', {
      preset: 'public_named',
      agent_id,
      initial_message: 'Look around, and let others look.',
      model: 'a/child',
    }),
  )

test('public agents made in a turn of the item draw on its budget, and so does what they make', async (t) => {
  const made: string[] = []
  const { s, asked, asked_children } = await bounded(
    t,
    (stage, request) => {
      if (request === 1) return calls(call('PickWorkItem', { work_item_id: stage.id('A') }))
      return request === 2 ? makes('one') : look()
    },
    () => {
      if (made.length > 3) return look()
      made.push(`made-${made.length}`)
      return makes(made.at(-1) ?? '')
    },
    10,
  )
  const makers = () => ['one', ...made].filter((id) => s.box.host.facts(id) !== null)
  await s.held(makers)
  const all = asked() + asked_children()
  assert.ok(all >= 10 && all <= 10 + made.length + 2, `${all} requests`)
  assert.equal(used(s), all)
  assert.match((await questions(s)).join(), /of 10 rounds/)
  const alive = makers()
  assert.ok(alive.length > 1, 'one of them made another')
  for (const id of alive) {
    assert.match(s.box.host.next(id)?.because ?? '', /budget it draws on, of work_/)
  }
  await s.does({ do: 'update_item', work_item_id: s.id('A'), budget: { max_rounds: 30 } })
  await s.held(makers)
  const more = asked() + asked_children()
  assert.ok(more >= 30 && more <= 30 + made.length + 2, `${more} requests`)
  await sound(s, ...alive)
})

test('a public agent goes on drawing on an item that is completed, and the operator is asked', async (t) => {
  const { s, asked, asked_children } = await bounded(
    t,
    (stage, request) => {
      if (request === 1) return calls(call('PickWorkItem', { work_item_id: stage.id('A') }))
      if (request === 2) return makes('one')
      return calls(
        'All of A is done now.',
        call('CompleteWorkItem', { work_item_id: stage.id('A'), leave_running: true }),
      )
    },
    look,
    10,
  )
  await s.held(() => ['one'])
  const all = asked() + asked_children()
  assert.ok(all >= 10 && all <= 12, `${all} requests`)
  assert.match(
    (await questions(s)).join(),
    /one draw on the budget of work_\S+, which is completed/,
  )
  await sound(s, 'one')
})
