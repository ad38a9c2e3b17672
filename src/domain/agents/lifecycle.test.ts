import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, pick, say, task, wait, World } from '../../testing/world/agent-world.ts'
import { begin } from '../../testing/world/turns.ts'
import { does, every, refusal, tokenHash, type Bare } from '../../testing/world/operator-inputs.ts'
import { AgentFacts } from '../facts/agent-facts.ts'
import { createAgent } from './lifecycle.ts'
import { Draft } from '../facts/facts.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { holdAgent } from '../scheduler/park.ts'
import { isRejection } from '../rejection.ts'

/** The decision to make an agent where there is none. */
function birth(id: string, settings: object = {}) {
  const w = new World()
  const d = new Draft(new AgentFacts(id), { now: w.now, mint: w.mint })
  const made = createAgent(d, settings, `/holon/agents/${id}`, tokenHash)
  return { made, events: d.emitted.map(({ event }) => event.type) }
}

test('an agent is made with its trigger, in its own folder unless told otherwise', () => {
  const { made, events } = birth('docs', { model: 'anthropic/x' })
  assert.deepEqual(events, ['agent_created', 'trigger_created'])
  assert.ok(made.ok)
  const { state, visibility, model, workspace } = made.agent
  assert.deepEqual(
    { state, visibility, model, workspace },
    {
      state: 'active',
      visibility: 'public',
      model: 'anthropic/x',
      workspace: { mode: 'inherit', root: '/holon/agents/docs' },
    },
  )
  const given = birth('docs', {
    workspace: { mode: 'explicit_root', root: '/r' },
    fallback_model: 'b/y',
  })
  assert.ok(given.made.ok)
  assert.deepEqual(
    [given.made.agent.workspace.root, given.made.agent.fallback_model],
    ['/r', 'b/y'],
  )
})

const names: [id: string, settings: object, code: string][] = [
  ['Docs', {}, 'agent_id_invalid'],
  ['../up', {}, 'agent_id_invalid'],
  ['x'.repeat(65), {}, 'agent_id_invalid'],
  ['docs', { model: ' ' }, 'model_unknown'],
  ['docs', { model: 'm'.repeat(201) }, 'over_limit'],
  ['docs', { workspace: { mode: 'inherit', root: '/'.repeat(5_000) } }, 'over_limit'],
]
for (const [id, settings, code] of names) {
  const what = `${id.slice(0, 10)} with ${JSON.stringify(settings).slice(0, 30)}`
  test(`an agent named ${what} is refused with ${code}`, () => {
    const { made, events } = birth(id, settings)
    assert.deepEqual([isRejection(made) && made.code, events], [code, []])
  })
}

test('a name is taken while its agent lives, and after', () => {
  const w = new World('docs')
  assert.equal(refusal(w, { do: 'create_agent' }), 'agent_exists')
  does(w, { do: 'delete_agent' })
  assert.equal(refusal(w, { do: 'create_agent' }), 'agent_exists')
})

test('settings that are equal change nothing, and none at all is a refusal', () => {
  const w = new World()
  does(w, { do: 'configure_agent', model: 'a/b', fallback_model: 'c/d' })
  const { model, fallback_model } = w.row('agents', 'main')
  assert.deepEqual([model, fallback_model], ['a/b', 'c/d'])
  assert.equal(does(w, { do: 'configure_agent', model: 'a/b' }).said, 'main was so already.')
  does(w, { do: 'configure_agent', fallback_model: null })
  assert.equal(w.row('agents', 'main').fallback_model, null)
  assert.equal(refusal(w, { do: 'configure_agent' }), 'nothing_to_update')
})

const hold = (w: World) =>
  w.do((d) => holdAgent(d, { cause: 'provider_setup', message: 'No key.', until: null }))

test('another model ends the hold that the first one caused', () => {
  const w = new World()
  hold(w)
  assert.equal(w.next().do, 'wait')
  does(w, { do: 'configure_agent', model: 'a/b' })
  assert.equal(w.all('waits')[0]?.status, 'resolved')
})

test('start and stop say when there was nothing to do', () => {
  const w = new World()
  assert.equal(does(w, { do: 'start_agent' }).said, 'main is active already.')
  assert.equal(does(w, { do: 'stop_agent' }).said, 'main is stopped; nothing is lost.')
  const again = does(w, { do: 'stop_agent' })
  assert.deepEqual([w.last, again.said], [[], 'main is stopped already.'])
  assert.equal(does(w, { do: 'start_agent' }).said, 'main is started.')
  hold(w)
  assert.equal(does(w, { do: 'start_agent' }).said, 'main is started.')
  assert.deepEqual(
    w.lastOf('agent_started', 'wait_resolved').map(({ type }) => type),
    ['wait_resolved'],
  )
})

test('a deleted agent keeps its rows, and nothing of it waits for anything', () => {
  const w = new World('docs')
  const open = item(w, { focus: true })
  wait(w, { work_item_id: item(w), source: 'ci' })
  does(w, { do: 'create_trigger', label: 'ci' })
  does(w, { do: 'create_schedule', label: 'x', text: 'x', spec: every(5) })
  say(w)
  does(w, { do: 'stop_agent' })
  deliver(w)
  does(w, { do: 'delete_agent' })
  w.reload()
  const states = {
    agent: w.row('agents', 'docs').state,
    focus: w.row('agents', 'docs').current_work_item_id,
    item: w.row('work_items', open).state,
    wait: w.all('waits')[0]?.status,
    trigger: w.all('triggers')[0]?.status,
    schedule: w.all('schedules')[0]?.status,
    messages: w.all('messages').map(({ status }) => status),
    next: w.next().do,
  }
  assert.deepEqual(states, {
    agent: 'deleted',
    focus: null,
    item: 'open',
    wait: 'cancelled',
    trigger: 'revoked',
    schedule: 'removed',
    messages: ['dropped', 'dropped'],
    next: 'stop',
  })
  assert.deepEqual([...w.facts.rows('work_items')].map(({ id }) => id).includes(open), true)
  assert.deepEqual(violations(w.facts), [])
})

const verbs = ['configure_agent', 'start_agent', 'stop_agent', 'delete_agent'] as const
for (const verb of verbs) {
  test(`${verb} is refused of an agent that is deleted`, () => {
    const w = new World('docs')
    does(w, { do: 'delete_agent' })
    assert.equal(refusal(w, { do: verb }), 'agent_deleted')
  })
}

const kept: [what: string, code: string, (w: World) => void, id?: string][] = [
  ['main', 'agent_kept', () => {}, 'main'],
  [
    'an agent that works',
    'turn_running',
    (w) => {
      pick(w, item(w))
      begin(w)
    },
  ],
  ['an agent whose command runs', 'tasks_running', (w) => void task(w)],
  ['an agent that is deleted', 'agent_deleted', (w) => void does(w, { do: 'delete_agent' })],
]
for (const [what, code, before, id = 'docs'] of kept) {
  test(`deleting ${what} is refused with ${code}`, () => {
    const w = new World(id)
    before(w)
    assert.equal(refusal(w, { do: 'delete_agent' }), code)
  })
}

const acts: Bare[] = [
  { do: 'send', text: 'x' },
  { do: 'create_item', objective: 'x' },
  { do: 'start_agent' },
  { do: 'create_trigger', label: 'x' },
  { do: 'deliver', via: { kind: 'webhook', webhook: 'x' }, body: 'x' },
  { do: 'dismiss', attention_id: 'x', fingerprint: 'x' },
]
for (const act of acts) {
  test(`${act.do} on a deleted agent is refused`, () => {
    const w = new World('docs')
    does(w, { do: 'delete_agent' })
    assert.equal(refusal(w, act), 'agent_deleted')
  })
}
