/** Making another agent: what is refused, in which order, and what one commit of both leaves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, T0, task, World } from '../../testing/world/agent-world.ts'
import { hold } from '../../testing/world/held.ts'
import { ask, begin } from '../../testing/world/turns.ts'
import { FamilyWorld, wish } from '../../testing/world/family-world.ts'
import { tokenHash } from '../../testing/world/operator-inputs.ts'
import { limits } from '../limits.ts'
import { callbackEvent, controlPrompt, delegated } from '../state/provenance.ts'
import { checkSpawn, handoffProvenance, spawnAgent, type Lineage, type SpawnWish } from './spawn.ts'
import { messageAdmitted } from '../../testing/events.ts'

const alone: Lineage = { depth: 0, living: 0 }
const named = { preset: 'public_named', agent_id: 'docs', initial_message: null } as const
const long = 'x'.repeat(limits.operator_text.value + 1)

/** Each is refused for its first reason, whatever else is wrong with it. */
const refused: [what: string, Partial<SpawnWish>, Partial<Lineage>, code: string][] = [
  [
    'a private child with a name',
    { agent_id: 'x', initial_message: '' },
    {},
    'agent_id_not_wanted',
  ],
  ['a public agent without one', { ...named, agent_id: null, root: '/' }, {}, 'agent_id_wanted'],
  ['a name that is none', { ...named, agent_id: '../x', context: 'fork' }, {}, 'agent_id_invalid'],
  ['a public fork', { ...named, context: 'fork', initial_message: '' }, {}, 'fork_wants_child'],
  ['no handoff', { initial_message: null, root: '/' }, {}, 'handoff_empty'],
  ['a blank handoff', { initial_message: ' \n' }, {}, 'handoff_empty'],
  ['a blank handoff to a public agent', { ...named, initial_message: '' }, {}, 'handoff_empty'],
  ['a handoff that is a book', { initial_message: long, root: '/' }, {}, 'over_limit'],
  ['no root', { workspace_mode: 'explicit_root' }, { depth: 9 }, 'root_wanted'],
  ['a root beside inherit', { root: '/w/a' }, { depth: 9 }, 'root_not_wanted'],
  ['a root beside worktree', { workspace_mode: 'worktree', root: '/w/a' }, {}, 'root_not_wanted'],
  ['a third level', {}, { depth: 2, living: 8 }, 'spawn_too_deep'],
  ['a public third level', named, { depth: 2 }, 'spawn_too_deep'],
  ['a ninth agent', {}, { living: 8 }, 'children_limit'],
  ['a ninth agent that is public', named, { living: 8 }, 'children_limit'],
]

for (const [what, given, lineage, code] of refused) {
  test(`${what} is refused with ${code}`, () => {
    const w = new World()
    assert.equal(
      w.refused((d) => checkSpawn(d, wish(given), { ...alone, ...lineage })),
      code,
    )
  })
}

test('what nothing speaks against may be made, up to the limits', () => {
  const w = new World()
  const rows: [Partial<SpawnWish>, Partial<Lineage>][] = [
    [{}, {}],
    [{ context: 'fork' }, {}],
    [named, {}],
    [{ ...named, initial_message: 'Keep the documentation.' }, {}],
    [{ workspace_mode: 'explicit_root', root: '/w/a' }, {}],
    [{ workspace_mode: 'worktree' }, { depth: 1, living: 7 }],
    [{ initial_message: long.slice(1) }, {}],
  ]
  for (const [given, lineage] of rows) {
    assert.equal(checkSpawn(w.facts, wish(given), { ...alone, ...lineage }), null)
  }
})

test('a private child makes nobody, whatever it asks for', () => {
  const child = new FamilyWorld().spawn()
  for (const given of [{}, named, { ...named, agent_id: null }]) {
    assert.equal(
      child.refused((d) => checkSpawn(d, wish(given), alone)),
      'spawn_private',
    )
  }
})

test('children that the rows know count, also where nobody counted agents', () => {
  const family = new FamilyWorld()
  const main = family.of('main')
  for (let n = 0; n < limits.live_children.value; n++) family.spawn()
  assert.equal(
    main.refused((d) => checkSpawn(d, wish(), alone)),
    'children_limit',
  )
  family.stop(family.of('main.3'))
  assert.equal(checkSpawn(main.facts, wish(), alone), null)
  assert.equal(family.spawn().facts.agent_id, 'main.9')
})

test('a child is a running task, a public agent is none', () => {
  const w = new World()
  for (let n = 0; n < limits.running_tasks.value; n++) task(w)
  assert.equal(
    w.refused((d) => checkSpawn(d, wish(), alone)),
    'over_limit',
  )
  assert.equal(checkSpawn(w.facts, wish(named), alone), null)
})

test('a command that waits for a yes takes no place of a running one', () => {
  const w = new World()
  for (let n = 1; n < limits.running_tasks.value; n++) task(w)
  hold(w)
  assert.equal(checkSpawn(w.facts, wish(), alone), null)
  task(w)
  assert.equal(
    w.refused((d) => checkSpawn(d, wish(), alone)),
    'over_limit',
  )
})

/** A family whose parent is in a turn about an item. */
function atWork() {
  const family = new FamilyWorld()
  const main = family.of('main')
  const about = item(main, { focus: true })
  begin(main, 'continue_current')
  return { family, main, about }
}

test('a private child and its supervision are one commit of both', () => {
  const { family, main, about } = atWork()
  const spawn = family.plan(main)
  const { task_id } = spawn.supervision ?? assert.fail()
  assert.deepEqual(family.carryOut(main, spawn), {
    ok: true,
    agent_id: 'main.1',
    task_id,
    made: true,
  })
  assert.deepEqual(
    main.last.map((event) => event.type),
    ['task_queued', 'task_started', 'task_promoted', 'delegation_made'],
  )
  const child = family.of('main.1')
  assert.deepEqual(
    child.last.map((event) => event.type),
    ['agent_created', 'message_admitted'],
  )
  const agent = family.agent(child)
  assert.deepEqual(agent, {
    ...agent,
    preset: 'private_child',
    visibility: 'private',
    ownership: 'parent_supervised',
    lineage_parent_agent_id: 'main',
    supervisor_agent_id: 'main',
    supervising_task_id: task_id,
    state: 'active',
    created_at: T0,
  })
  const supervising = main.row('tasks', task_id)
  assert.deepEqual(supervising, {
    ...supervising,
    work_item_id: about,
    kind: 'child_agent',
    label: 'Count the words.',
    child_agent_id: 'main.1',
    status: 'running',
    promoted: true,
    asking: null,
  })
  const [delegation] = main.all('delegations')
  assert.deepEqual(delegation, {
    id: spawn.supervision?.delegation_id,
    agent_id: 'main',
    work_item_id: about,
    child_agent_id: 'main.1',
    child_work_item_id: null,
    task_id,
    state: 'active',
    result_summary: null,
    created_at: T0,
    ended_at: null,
  })
  const [message] = child.all('messages')
  assert.deepEqual(
    [message?.id, message?.kind, message?.origin, message?.priority, message?.body],
    [spawn.message_id, 'delegation', 'agent', 'next', 'Count the words.\nAll of them.'],
  )
  assert.equal(message?.correlation_id, spawn.supervision?.delegation_id)
  assert.equal(child.all('triggers').length, 0)
  assert.deepEqual(family.violations(true), [])
})

test('the same spawn again makes nothing, also when its child is over', () => {
  const { family, main } = atWork()
  const spawn = family.plan(main)
  family.carryOut(main, spawn)
  const size = family.size
  const again = { ok: true, agent_id: 'main.1', task_id: spawn.supervision?.task_id, made: false }
  assert.deepEqual(family.carryOut(main, spawn), again)
  assert.equal(family.size, size)
  family.stop(family.of('main.1'))
  assert.deepEqual(family.carryOut(main, spawn), again)
})

test('a name that somebody has, or had, is not given again', () => {
  const { family, main } = atWork()
  const spawn = family.plan(main)
  family.carryOut(main, spawn)
  const other = { ...family.plan(main), agent_id: spawn.agent_id }
  const size = family.size
  assert.equal(codeOf(family.carryOut(main, other)), 'agent_exists')
  const onMain = { ...family.plan(main, named), agent_id: 'main' }
  assert.equal(
    codeOf(family.both(main, new World('main'), (p, c) => spawnAgent(p, c, onMain, tokenHash))),
    'agent_exists',
  )
  assert.equal(family.size, size)
})

const codeOf = (value: { ok: boolean }) => ('code' in value ? value.code : 'was not refused')

test('a public agent stands on its own: with a trigger, without task and delegation', () => {
  const family = new FamilyWorld()
  const main = family.of('main')
  const spawned = family.trySpawn(main, { ...named, initial_message: 'Keep the documentation.' })
  assert.deepEqual(spawned, { ok: true, agent_id: 'docs', task_id: null, made: true })
  assert.deepEqual(main.last, [])
  const docs = family.of('docs')
  const { visibility, lineage_parent_agent_id, supervisor_agent_id } = family.agent(docs)
  assert.deepEqual(
    [visibility, lineage_parent_agent_id, supervisor_agent_id],
    ['public', 'main', null],
  )
  assert.equal(docs.all('triggers').length, 1)
  assert.equal(docs.all('messages')[0]?.kind, 'delegation')
  assert.deepEqual(family.violations(true), [])
})

test('an agent that was deleted meanwhile makes nobody, and nothing is left of the attempt', () => {
  const family = new FamilyWorld()
  family.trySpawn(family.of('main'), named)
  const docs = family.of('docs')
  const spawn = family.plan(docs)
  family.delete(docs)
  assert.equal(codeOf(family.carryOut(docs, spawn)), 'agent_deleted')
  assert.deepEqual([docs.all('tasks'), family.all().length], [[], 2])
})

test('a child without a model of its own has its parent’s, and what stands in for it', () => {
  const family = new FamilyWorld()
  const main = family.of('main')
  main.do((d) =>
    d.emit({ type: 'agent_configured', id: 'main', model: 'a/x', fallback_model: 'b/y' }),
  )
  const [same, other] = [family.spawn(main), family.spawn(main, { model: 'c/z' })]
  assert.deepEqual(
    [same, other].map((w) => [family.agent(w).model, family.agent(w).fallback_model]),
    [
      ['a/x', 'b/y'],
      ['c/z', null],
    ],
  )
})

test('a handoff has the lowest authority of what its turn claimed', () => {
  const w = new World()
  assert.equal(handoffProvenance(w.facts).authority_class, 'runtime_instruction')
  say(w)
  begin(w, 'message')
  assert.deepEqual(handoffProvenance(w.facts), delegated([controlPrompt]))
  assert.equal(handoffProvenance(w.facts).authority_class, 'operator_instruction')
})

test('an event that the same turn shows takes the handoff down to a signal', () => {
  const w = new World()
  say(w)
  begin(w, 'message')
  ask(w)
  w.do((d) => {
    const turn = [...d.rows('turns')][0] ?? assert.fail()
    const how = { provenance: callbackEvent, priority: 'interject' } as const
    d.emit(messageAdmitted({ id: 'msg_event', ...how }))
    d.emit({ type: 'message_interjected', id: 'msg_event', turn_id: turn.id, round: 2 })
  })
  assert.equal(handoffProvenance(w.facts).authority_class, 'integration_signal')
})
