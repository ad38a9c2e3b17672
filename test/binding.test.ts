/**
 * What a call is about: the item of its turn as it is when the call runs, or the item that the call
 * itself makes, picks, waits on, changes or completes. Its task, its delegation and the history of
 * the item follow.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '../src/ports/json.ts'
import { calls, says, type ScriptedCall } from '../src/testing/scripted-model.ts'
import { tools } from '../src/tools/registry.ts'
import { scene, todo } from './support/scene.ts'
import { call, completes, creates, runs, waitsFor } from './support/scripts.ts'
import { resultsOf, textOf, type Stage } from './support/stage.ts'

type Probe = {
  input: (s: Stage, turn: string) => Json
  /** It is about an item of its own instead. */
  about?: 'named' | 'made'
}

const patch = (name: string) => `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`

/** Every tool there is, called behind a pick in the same round. */
const probes: Readonly<Record<string, Probe>> = {
  CreateWorkItem: { input: () => ({ objective: 'C' }), about: 'made' },
  UpdateWorkItem: {
    input: (s, turn) => ({ work_item_id: s.id(`other ${turn}`), todo_list: todo('x') }),
    about: 'named',
  },
  PickWorkItem: { input: (s, turn) => ({ work_item_id: s.id(`other ${turn}`) }), about: 'named' },
  GetWorkItem: { input: (s, turn) => ({ work_item_id: s.id(`other ${turn}`) }) },
  ListWorkItems: { input: () => ({}) },
  CompleteWorkItem: {
    input: (s, turn) => ({ work_item_id: s.id(`other ${turn}`) }),
    about: 'named',
  },
  WaitFor: {
    input: (s, turn) => ({
      wake: 'operator_input',
      reason: 'which one?',
      work_item_id: s.id(`other ${turn}`),
    }),
    about: 'named',
  },
  ExecCommand: { input: () => ({ cmd: 'echo hello' }) },
  ListTasks: { input: () => ({}) },
  TaskStatus: { input: () => ({ task_id: 'task_0' }) },
  TaskOutput: { input: () => ({ task_id: 'task_0' }) },
  TaskStop: { input: () => ({ task_id: 'task_0' }) },
  TaskInput: { input: () => ({ task_id: 'task_0', text: 'y' }) },
  SpawnAgent: { input: () => ({ initial_message: 'look around', model: 'a/child' }) },
  AgentGet: { input: () => ({}) },
  FindInFiles: { input: () => ({ query: 'hello' }) },
  WebFetch: { input: () => ({ url: 'http://127.0.0.1/' }) },
  ViewImage: { input: () => ({ path: 'there.png' }) },
  ReadFile: { input: () => ({ path: 'there.txt' }) },
  EditFile: { input: (_, turn) => ({ path: `${turn}.txt`, new_text: 'x' }) },
  ApplyPatch: { input: (_, turn) => ({ patch: patch(`${turn}-patched.txt`) }) },
  MemorySearch: { input: () => ({ query: 'hello' }) },
  MemoryGet: { input: () => ({ source_ref: 'turn_0/1' }) },
}

const ofMain = (s: Stage, type: string) =>
  s.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === 'main' &&
      notice.events.some(({ event }) => event.type === type),
    `${type} of main`,
  )

test('every tool is probed behind a pick', () => {
  assert.deepEqual(Object.keys(probes).sort(), tools.map(({ name }) => name).sort())
})

for (const [name, { input, about }] of Object.entries(probes)) {
  test(`${name} behind PickWorkItem in one round is about what was picked`, async (t) => {
    const s = await scene(
      t,
      () => creates('A', 'B', 'other A', 'other B'),
      (s) =>
        calls(
          ...['A', 'B'].flatMap((one): ScriptedCall[] => [
            call('PickWorkItem', { work_item_id: s.id(one) }),
            call(name, input(s, one)),
          ]),
        ),
      ...Array.from({ length: 30 }, () => () => says('That is all.')),
    )
    writeFileSync(join(s.box.workspace, 'there.txt'), 'hello')
    await s.act({ do: 'send', text: 'Begin.' })
    await ofMain(s, 'turn_ended')
    const turns = await s.rows('turns')
    const mine = (await s.rows('calls')).filter((one) => one.turn_id === turns[0]?.id)
    const items = new Map((await s.rows('work_items')).map((one) => [one.id, one.objective]))
    const named = (id: string | null) => items.get(id as never) ?? null
    const probed = mine.filter((one) => one.round === 2 && one.index % 2 === 1)
    const expected = about === 'named' ? ['other A', 'other B'] : about ? ['C', 'C'] : ['A', 'B']
    const said = JSON.stringify(
      probed.map(({ result }) => result),
      null,
      1,
    )
    assert.deepEqual(
      probed.map((one) => named(one.work_item_id)),
      expected,
      said,
    )
    const tasks = await s.rows('tasks')
    assert.deepEqual(
      tasks.map((one) => named(one.work_item_id)),
      tasks.map((_, i) => ['A', 'B'][i]),
    )
    const delegations = await s.rows('delegations')
    assert.deepEqual(
      delegations.map((one) => named(one.work_item_id)),
      delegations.map((_, i) => ['A', 'B'][i]),
    )
    if (name === 'SpawnAgent') assert.equal(delegations.length, 2)
    if (name === 'ExecCommand') assert.equal(tasks.length, 2)
  })
}

test('the round in which an item is taken up is the first of its history', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) =>
      calls(
        'I take A up and look at its size.',
        call('PickWorkItem', { work_item_id: s.id('A') }),
        runs('echo the size is 4711'),
        waitsFor('timer', { wait_ms: 1_000 }),
      ),
    (s) =>
      calls(
        'Now B.',
        call('PickWorkItem', { work_item_id: s.id('B') }),
        runs('echo the colour is blue'),
        waitsFor('timer', { wait_ms: 60_000 }),
      ),
    () => says('I go on with A.'),
    () => calls(call('MemorySearch', { query: 'take size', kinds: ['round'] })),
    () => says('Found.'),
    () => says('I go on with B.'),
    ...Array.from({ length: 9 }, () => () => says('Nothing.')),
  )
  await s.say('Do A and B.')
  await s.pass(2_000)
  const onA = s.model.requests.findIndex((one) => textOf(one).includes('You said: I take A up'))
  const text = textOf(s.model.requests[onA])
  assert.match(text, /# Earlier rounds of this work item/)
  assert.match(text, /You said: I take A up/)
  assert.match(text, /the size is 4711/)
  assert.doesNotMatch(text, /the colour is blue/)
  const own = (await s.rows('rounds')).filter(({ work_item_id }) => work_item_id === s.id('A'))
  assert.equal(own[0]?.n, 1, 'the request that made it is paid for by it')
  await s.pass(61_000)
  const searched = s.model.requests.find((one) =>
    /source_ref: turn_/.test(resultsOf(one)[0]?.text ?? ''),
  )
  assert.match(resultsOf(searched)[0]?.text ?? '', new RegExp(s.id('A').slice(-4)))
  await s.sound()
})

test('what the operator said in the turn that made items is kept with each of them', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    () => says('Both are noted.'),
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('A') })),
    (s) =>
      completes(s.id('A'), 'A is done and was checked in every way that I know of, twice. Really.'),
    (s) =>
      calls(
        call('PickWorkItem', { work_item_id: s.id('B') }),
        waitsFor('timer', { wait_ms: 9_000 }),
      ),
    (s) =>
      completes(s.id('B'), 'B is done and was checked in every way that I know of, twice. Really.'),
  )
  await s.say('Make A and B, and never touch the cellar.')
  await s.pass(180_000)
  // Woken by its timer: no turn about B has had those words before.
  const last = textOf(s.model.requests.findLast(({ messages }) => messages.length === 1))
  assert.match(last, /B/)
  assert.match(last, /never touch the cellar/)
  await s.sound()
})

test('whatever names a task says whether it is about the item of it', () => {
  const naming = tools.filter((tool) =>
    JSON.stringify(tool.input().toJSONSchema()).includes('"task_id"'),
  )
  assert.deepEqual(
    naming.map((tool) => [tool.name, tool.about_task?.({ task_id: 'task_0' }) ?? null]),
    [
      // It looks at a row, as GetWorkItem does.
      ['TaskStatus', null],
      ['TaskOutput', 'task_0'],
      ['TaskStop', 'task_0'],
      ['TaskInput', 'task_0'],
    ],
  )
})

test('what is said to a task, read of it or done to it is in the history of its item', async (t) => {
  const forever = 'read line; echo "it said $line"; sleep 600'
  const s = await scene(
    t,
    () => creates('A', 'B', 'C'),
    (s) =>
      calls(
        call('PickWorkItem', { work_item_id: s.id('A') }),
        runs(forever, { yield_ms: 0, accepts_input: true }),
        call('PickWorkItem', { work_item_id: s.id('B') }),
        runs(forever, { yield_ms: 0, accepts_input: true }),
        call('PickWorkItem', { work_item_id: s.id('C') }),
      ),
    () => (request) => {
      const shown = textOf(request).match(/task_[0-9a-f]{4,}/g) ?? []
      const each = (tool: string, more: Record<string, Json> = {}) =>
        [...new Set(shown)].map((task_id) => call(tool, { task_id, ...more }))
      return calls(
        ...each('TaskStatus'),
        ...each('TaskInput', { text: 'hello\n' }),
        ...each('TaskOutput'),
        ...each('TaskStop'),
        call('TaskOutput', { task_id: 'task_none' }),
      )
    },
    ...Array.from({ length: 9 }, () => () => says('That is all.')),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurryTo('task_promoted', 2)
  await ofMain(s, 'turn_ended')
  const items = new Map((await s.rows('work_items')).map((one) => [one.id, one.objective]))
  const named = (await s.rows('calls'))
    .filter(({ tool_name, round }) => round === 3 && tool_name.startsWith('Task'))
    .map(
      ({ tool_name, work_item_id }) => `${tool_name} ${items.get(work_item_id ?? ('' as never))}`,
    )
  assert.deepEqual(named, [
    'TaskStatus C',
    'TaskStatus C',
    'TaskInput A',
    'TaskInput B',
    'TaskOutput A',
    'TaskOutput B',
    'TaskStop A',
    'TaskStop B',
    'TaskOutput C',
  ])
  for (const objective of ['A', 'B', 'C']) {
    const about = await s.box.ledger.roundsAbout(s.id(objective) as never, 9)
    const told = about.map(({ round }) => round.n)
    assert.ok(told.includes(3), `the round stands in the history of ${objective}`)
  }
  await s.sound()
})
