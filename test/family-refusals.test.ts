/**
 * What a child may not, and how many there may be (docs/spec/agent.md): each refusal by its code
 * and its sentence, as the model or the operator reads it. And what a child is given: a fork a view
 * of its parent's work, a fresh one the handoff alone.
 */
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says } from '../src/testing/scripted-model.ts'
import { textOf } from '../src/testing/scenarios/three-children.ts'
import {
  call,
  create,
  happens,
  idsIn,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
  told,
  type Step,
} from './support/parent-and-child.ts'

/** The results that are errors, of an agent's calls. */
const refusals = async (...of: Parameters<typeof told>) =>
  (await told(...of)).filter((line) => /^\w+: \w+: /.test(line))

const over: Step = () => says('It is over.')

test('a child spawns nothing, waits for nobody outside, and touches nothing of its parent', async (t) => {
  let [item, task] = ['', '']
  const parent = steps(
    create('the whole'),
    pick,
    async (text) => {
      item = (await box.ledger.idOfShort('main', idsIn(text, 'work')[0] ?? '')) ?? ''
      return calls(call('ExecCommand', { cmd: 'exec sleep 60', yield_ms: 1 }))
    },
    async (text) => {
      task = (await box.ledger.idOfShort('main', idsIn(text, 'task')[0] ?? '')) ?? ''
      return calls(spawn('Try everything.'))
    },
    (text) => calls(call('TaskStop', { task_id: idsIn(text, 'task')[0] ?? '' })),
    over,
  )
  const child = steps(
    () =>
      calls(
        spawn('One more.'),
        call('SpawnAgent', { preset: 'public_named', agent_id: 'own' }),
        call('WaitFor', { wake: 'external', source: 'ci', reason: 'the build' }),
        call('GetWorkItem', { work_item_id: item }),
        call('UpdateWorkItem', { work_item_id: item, objective: 'mine' }),
        call('PickWorkItem', { work_item_id: item }),
        call('CompleteWorkItem', { work_item_id: item }),
        call('WaitFor', { wake: 'timer', wait_ms: 1, reason: 'a moment', work_item_id: item }),
        call('TaskStatus', { task_id: task }),
        call('TaskStop', { task_id: task }),
        call('TaskInput', { task_id: task, text: 'x' }),
        call('WaitFor', { wake: 'task_result', resource: task, reason: 'its end' }),
        call('AgentGet', { agent_id: 'main' }),
        call('ExecCommand', { cmd: 'echo "url=[$HOLON_TRIGGER_URL]"' }),
      ),
    over,
  )
  const box = await openFamily(t, { parent, child, base_url: 'http://127.0.0.1:1' })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'delegation_ended')
  const named = (lines: string[]) =>
    lines.map((line) => line.replace(item, 'ITEM').replace(task, 'TASK'))
  assert.deepEqual(named(await refusals(box, 'main.1')), [
    'SpawnAgent: spawn_private: main.1 is a private child; it makes no agents.',
    'SpawnAgent: spawn_private: main.1 is a private child; it makes no agents.',
    'WaitFor: external_wait_private: main.1 is a private child; no event reaches it.',
    'GetWorkItem: work_item_not_found: ITEM is not an item of yours.',
    'UpdateWorkItem: work_item_not_found: ITEM is not a work item of main.1.',
    'PickWorkItem: work_item_not_found: ITEM is not a work item of main.1.',
    'CompleteWorkItem: work_item_not_found: ITEM is not a work item of main.1.',
    'WaitFor: work_item_not_found: ITEM is not an item here.',
    'TaskStatus: task_not_found: TASK is not a task of main.1.',
    'TaskStop: task_not_found: TASK is not a task of main.1.',
    'TaskInput: task_not_found: TASK is not a task of main.1.',
    'WaitFor: task_not_found: TASK is not a task of main.1.',
    'AgentGet: agent_not_visible: There is no agent "main" that you made.',
  ])
  // No door of its own, not even by its commands.
  assert.match(textOf(child.requests[1] ?? assert.fail('it asked once')), /url=\[\]/)
  const facts = box.host.facts('main')
  assert.equal(facts?.row('work_items', item)?.revision, 1)
})

test('the operator and the world outside do not reach a child', async (t) => {
  const parent = steps(() => calls(spawn('Wait for me.')), over)
  const child = steps(
    create('a part'),
    pick,
    () => calls(call('ExecCommand', { cmd: 'exec sleep 60', yield_ms: 1 })),
    () => calls(call('WaitFor', { wake: 'timer', wait_ms: 3_600_000, reason: 'later' })),
  )
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main.1', 'wait_registered')
  const agent_id = 'main.1'
  const [item] = await box.ledger.list('work_items', { agent_id, limit: 1 })
  const [wait] = await box.ledger.list('waits', { agent_id, limit: 1 })
  const [command] = await box.ledger.list('tasks', { agent_id, limit: 1 })
  const [turn] = await box.ledger.list('turns', { agent_id, limit: 1 })
  const work_item_id = item?.id ?? ''
  const replies = [
    await box.host.act({ do: 'send', agent_id, text: 'Hello.' }),
    await box.host.act({ do: 'create_item', agent_id, objective: 'more' }),
    await box.host.act({ do: 'update_item', agent_id, work_item_id, objective: 'else' }),
    await box.host.act({ do: 'pick', agent_id, work_item_id }),
    await box.host.act({ do: 'complete', agent_id, work_item_id }),
    await box.host.act({ do: 'cancel_wait', agent_id, wait_id: wait?.id ?? '' }),
    await box.host.act({ do: 'start_task', agent_id, cmd: 'true' }),
    await box.host.act({ do: 'task_input', agent_id, task_id: command?.id ?? '', text: 'x' }),
    await box.host.act({ do: 'abort', agent_id, run_id: turn?.id ?? '' }),
    await box.host.act({ do: 'stop_agent', agent_id }),
    await box.host.act({ do: 'start_agent', agent_id }),
    await box.host.act({ do: 'delete_agent', agent_id }),
    await box.host.act({ do: 'configure_agent', agent_id, model: 'a/other' }),
  ]
  const said = new Set(
    replies.map((reply) => (reply.ok ? 'ok' : `${reply.code}: ${reply.message}`)),
  )
  const [task] = await box.ledger.list('tasks', { agent_id: 'main', limit: 1 })
  assert.deepEqual(
    [...said],
    [`agent_private: main.1 is a private child of main, under ${task?.id}.`],
  )
  assert.deepEqual(await box.ledger.list('triggers', { agent_id, limit: 5 }), [])
  // A process of this machine is the operator's to end, whoever began it.
  const stopped = await box.host.act({ do: 'stop_task', agent_id, task_id: command?.id ?? '' })
  assert.equal(stopped.ok, true)
  assert.equal((await box.ledger.row('tasks', command?.id ?? ''))?.status, 'cancelled')
})

test('eight children are alive at most, and no more than two below the first', async (t) => {
  const handoff = (n: number) => spawn(`Part ${n}.`)
  const parent = steps(
    () => calls(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(handoff)),
    () =>
      calls(
        call('SpawnAgent', {
          preset: 'public_named',
          agent_id: 'p1',
          initial_message: 'Go deeper.',
        }),
      ),
    over,
  )
  const child = steps(...Array.from({ length: 20 }, () => () => 'hang' as const))
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'turn_ended')
  assert.deepEqual(await refusals(box, 'main'), [
    'SpawnAgent: children_limit: 8 agents of it are alive; the limit is 8.',
    'SpawnAgent: children_limit: 8 agents of it are alive; the limit is 8.',
  ])
})

test('an agent two below the first makes no other', async (t) => {
  const deeper =
    (agent_id: string): Step =>
    () =>
      calls(
        call('SpawnAgent', {
          preset: 'public_named',
          agent_id,
          initial_message: 'Go deeper.',
          model: `a/${agent_id}`,
        }),
      )
  const parent = steps(deeper('p1'), over)
  const last: Step = () => calls(spawn('Deeper still.'))
  const models = { 'a/p1': steps(deeper('p2'), over), 'a/p2': steps(last, over) }
  const box = await openFamily(t, { parent, child: steps(), models })
  await tell(box, 'Begin.')
  await happens(box, 'p2', 'turn_ended')
  assert.deepEqual(await refusals(box, 'p2'), [
    'SpawnAgent: spawn_too_deep: p2 is 2 deep already; the limit is 2.',
  ])
  const lineage = (await box.ledger.agents()).map(
    (one) => `${one.id} of ${one.lineage_parent_agent_id}`,
  )
  assert.deepEqual(lineage.toSorted(), ['main of null', 'p1 of main', 'p2 of p1'])
})

test('a child works in its parent’s folder or in one inside it', async (t) => {
  const places = temporaryHome(t)
  mkdirSync(join(places.workspace, 'part'))
  symlinkSync('/usr', join(places.workspace, 'link'))
  const rooted = (root: string) => spawn('Look around.', { workspace_mode: 'explicit_root', root })
  const parent = steps(
    () =>
      calls(
        rooted('..'),
        rooted('/usr'),
        rooted('link'),
        rooted('absent'),
        spawn('Look around.', { workspace_mode: 'explicit_root' }),
        spawn('Look around.', { workspace_mode: 'inherit', root: 'part' }),
        spawn('Look around.', { workspace_mode: 'worktree' }),
        spawn(' '),
        rooted('part'),
      ),
    over,
  )
  const child = steps(() => calls(call('ExecCommand', { cmd: 'pwd' })), over)
  const box = await openFamily(t, { parent, child, ...places })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'delegation_ended')
  const [work] = [places.workspace]
  assert.deepEqual(await refusals(box, 'main'), [
    `SpawnAgent: root_outside: ${join(work, '..')} is not inside ${work}.`,
    `SpawnAgent: root_outside: /usr is not inside ${work}.`,
    `SpawnAgent: root_outside: ${work}/link is not a folder; a link does not count as one.`,
    `SpawnAgent: root_outside: ${work}/absent is not a folder; a link does not count as one.`,
    'SpawnAgent: root_wanted: explicit_root needs a root.',
    'SpawnAgent: root_not_wanted: inherit takes no root.',
    `SpawnAgent: no_repository: ${work} is in no git repository.`,
    'SpawnAgent: handoff_empty: initial_message is empty: the child would have nothing to do.',
  ])
  const said = textOf(child.requests[1] ?? assert.fail('the child asked once'))
  assert.match(said, new RegExp(`${work}/part$`))
})

test('a fork knows the item, its plan and its todos; a fresh child knows the handoff', async (t) => {
  const parent = steps(
    () => {
      const todo_list = [{ text: 'measure twice', state: 'in_progress' }]
      return calls(
        call('CreateWorkItem', { objective: 'paint the shed', plan: 'Cut once.\n', todo_list }),
      )
    },
    pick,
    () => calls(spawn('Go on from here.', { context: 'fork' }), spawn('Begin anew.')),
    over,
  )
  const child = steps(over, over)
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  const ended = new Set<unknown>()
  await happens(box, 'main', 'delegation_ended', ({ id }) => ended.add(id).size === 2)
  const texts = child.requests.map(textOf)
  const knows = (handoff: string) => {
    const text = texts.find((one) => one.includes(handoff)) ?? assert.fail(handoff)
    return ['paint the shed', 'Cut once.', 'measure twice'].map((words) => text.includes(words))
  }
  assert.deepEqual(knows('Go on from here.'), [true, true, true])
  assert.deepEqual(knows('Begin anew.'), [false, false, false])
})
