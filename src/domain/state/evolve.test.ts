/** How rows follow from their events where no other table shows it: agents, and rounds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin } from '../../testing/world/turns.ts'
import { evolveAgent, type Agent, type AgentEvent } from './agent.ts'
import { callsOf, mustTurn, roundsOf, roundViews } from '../facts/facts.ts'
import { requestAgain, roundText } from './turn.ts'

const at = '2026-03-02T09:00:00.000Z'
const workspace = { mode: 'inherit', root: '/w' } as const

const created = (given: object = {}): AgentEvent => ({
  type: 'agent_created',
  id: 'main',
  model: 'test/model',
  workspace,
  preset: 'public_named',
  ...given,
})

const plain: Agent = {
  id: 'main',
  preset: 'public_named',
  visibility: 'public',
  ownership: 'self_owned',
  lineage_parent_agent_id: null,
  supervisor_agent_id: null,
  supervising_task_id: null,
  state: 'active',
  current_work_item_id: null,
  model: 'test/model',
  fallback_model: null,
  workspace,
  template: null,
  inherited_sha256: null,
  draws_on: null,
  budget: null,
  created_at: at,
}

test('an agent is made whole by its first event', () => {
  const family = {
    preset: 'private_child',
    lineage_parent_agent_id: 'main',
    supervisor_agent_id: 'main',
    supervising_task_id: 'task_1',
    template: { name: 'reviewer' },
    inherited_sha256: 'f'.repeat(64),
  }
  const child = { ...plain, ...family, visibility: 'private', ownership: 'parent_supervised' }
  assert.deepEqual(
    [evolveAgent(null, created(), { at }), evolveAgent(null, created(family), { at })],
    [plain, child],
  )
})

test('each event of an agent changes what it names and nothing else', () => {
  const focused: Agent = { ...plain, current_work_item_id: 'work_1' }
  const by = 'operator'
  const table: [before: Agent, event: object, changed: Partial<Agent>][] = [
    [plain, { type: 'agent_configured', model: 'other/model' }, { model: 'other/model' }],
    [plain, { type: 'agent_configured', fallback_model: 'f/m' }, { fallback_model: 'f/m' }],
    [focused, { type: 'agent_stopped', by }, { state: 'stopped' }],
    [{ ...focused, state: 'stopped' }, { type: 'agent_started', by }, { state: 'active' }],
    [focused, { type: 'agent_deleted', by }, { state: 'deleted', current_work_item_id: null }],
    [
      plain,
      { type: 'work_item_picked', current_work_item_id: 'work_2' },
      {
        current_work_item_id: 'work_2',
      },
    ],
    [focused, { type: 'focus_released', work_item_id: 'work_1' }, { current_work_item_id: null }],
  ]
  for (const [before, event, changed] of table) {
    const after = evolveAgent(before, { id: 'main', ...event } as AgentEvent, { at: 'later' })
    assert.deepEqual(after, { ...before, ...changed })
  }
})

test('nothing happens to an agent before it is made, or after it was deleted', () => {
  const stopped: AgentEvent = { type: 'agent_stopped', id: 'main', by: 'operator' }
  assert.throws(() => evolveAgent(null, stopped, { at }), {
    message: 'agent_stopped before agent_created: main',
  })
  assert.throws(() => evolveAgent({ ...plain, state: 'deleted' }, stopped, { at }), {
    message: 'agent_stopped after main was deleted',
  })
})

test('the rounds of a turn come in order, each with its own calls', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  const first = answer(w, { calls: [{ tool: 'ListTasks' }, { tool: 'ListWorkItems' }] })
  const turn = mustTurn(w.facts)
  w.do((d) => {
    for (const call of callsOf(d, turn, 1)) {
      const result = { tool_name: call.tool_name, summary: '', status: 'success', result: {} }
      const given = { result, result_hash: null, changed_something: false } as never
      d.emit({ type: 'call_finished', id: call.id, ...(given as object) } as never)
    }
  })
  ask(w)
  answer(w, { text: 'Done.' })
  ask(w)
  const views = roundViews(w.facts, turn).map(({ round, calls }) => ({
    n: round.n,
    text: roundText(round),
    calls: calls.map(({ id }) => id),
  }))
  assert.deepEqual(views, [
    { n: 1, text: '', calls: first.map(({ id }) => id) },
    { n: 2, text: 'Done.', calls: [] },
    { n: 3, text: '', calls: [] },
  ])
})

test('a request that is recorded again is the same request', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  const round = ask(w)
  const plainAgain = {
    type: 'request_sent',
    id: 'turn_0001:1',
    turn_id: 'turn_0001',
    work_item_id: 'work_0001',
    n: 1,
    kind: 'work',
    model: 'test/model',
    opening_sha256: null,
    notes: [],
    message_ids: [],
  }
  assert.deepEqual(requestAgain(round), plainAgain)
  assert.deepEqual(requestAgain({ ...round, recapped: 4 }), { ...plainAgain, recapped: 4 })
  w.pass(1_000).do((d) => d.emit(requestAgain(round)))
  assert.deepEqual(roundsOf(w.facts, mustTurn(w.facts)), [round])
})
