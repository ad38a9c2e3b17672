/** What a model reads of the results: what is set, once, and nothing that was said before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { projectItem } from '../domain/facts/readiness.ts'
import { itemRecord } from '../domain/work/item-record.ts'
import type { WorkItem } from '../domain/state/work-item.ts'
import { charTokens } from './estimate.ts'
import { itemMarks, type ItemsShown } from './result-view.ts'
import { renderResult } from './result.ts'
import { anItem, aPlan, aWait, now, planPath, succeededWith } from '../testing/rows.ts'

const id = 'work_01a204c3-f203-7535-8f6b-1760c00041b4'
const other = 'work_01a204c3-f204-7dcb-b7d7-ec0bf14189f3'

const record = (item: Partial<WorkItem> = {}, of: WorkItem['id'] = id, plan = aPlan(of, '')) =>
  itemRecord(
    projectItem(anItem(of, { objective: 'The tests pass', ...item }), null, of, now),
    plan,
    {
      include_todo_list: true,
    },
  )

const shown = (
  tool: string,
  summary: string,
  result: unknown,
  more: { form?: 'turn' | 'history'; items?: ItemsShown } = {},
) =>
  renderResult(succeededWith(tool, summary, result), {
    max_tokens: 8_000,
    full_path: null,
    estimate: charTokens,
    fence: 'c0de',
    ...more,
  })

test('an item with only what it must have takes at most 400 bytes without its path', () => {
  const sizes = [
    shown('GetWorkItem', `${id} is runnable.`, { item: record() }),
    shown('PickWorkItem', `${id} is in focus.`, { current: record(), binding: 'Further calls …' }),
    shown('CreateWorkItem', `Created ${id}.`, { item: record() }),
    shown('UpdateWorkItem', `Updated ${id}.`, { item: record(), changed: true, cleared: null }),
    shown('ListWorkItems', '1 item.', { items: [record()], total: 1, filter: 'open' }),
  ].map((text) => Buffer.byteLength(text.replaceAll(planPath(id), '')))
  for (const size of sizes) assert.ok(size <= 400, `${sizes.join(', ')} bytes`)
})

test('of an item in a result what is set is shown, each once and in words', () => {
  const held = {
    ...record({ blocked_by: 'legal must agree' }),
    wait: { ...aWait('wait_1'), resource: null, source: null, condition: null },
  }
  const todo_list = [{ text: 'read', state: 'completed' }]
  const item = { ...held, todo_list, plan_artifact: aPlan(id, 'Read, then write.') }
  assert.equal(
    shown('GetWorkItem', `${id} is blocked.`, { item }),
    [
      `GetWorkItem: ${id} is blocked.`,
      'item:',
      `  id: ${id}`,
      '  objective: The tests pass',
      '  state: blocked, in focus',
      `  plan: ${planPath(id)}`,
      '  bytes: 17',
      '  preview: Read, then write.',
      '  preview_complete: true',
      '  todo_list:',
      '    - [x] read',
      '  blocked_by: legal must agree',
      '  wait:',
      '    id: wait_1',
      '    wake: external',
      '    reason: reason of wait_1',
    ].join('\n'),
  )
})

test('an item stands in full once in a request, of two the other one too; then what has changed', () => {
  const items: ItemsShown = new Map()
  const get = (of: Record<string, unknown>, said: string) =>
    shown('GetWorkItem', said, { item: of }, { items })
  const first = get(record(), 'a')
  assert.match(first, /objective: The tests pass/)
  assert.match(get(record({}, other), 'b'), /objective: The tests pass/)
  assert.equal(get(record(), 'c'), `GetWorkItem: c\nitem: ${id} is as it stands above`)
  assert.equal(get(record({}, other), 'd'), `GetWorkItem: d\nitem: ${other} is as it stands above`)
  assert.equal(
    shown('PickWorkItem', 'e', { current: record({ blocked_by: 'no key' }) }, { items }),
    [
      'PickWorkItem: e',
      'item:',
      `  id: ${id}`,
      '  changed since it was shown above:',
      '    state: blocked, in focus',
      '    blocked_by: no key',
    ].join('\n'),
  )
  assert.equal(get(record(), 'f').includes('not set any more:\n    - blocked_by'), true)
})

test('an item that the opening has in full is not shown again, unless it changed', () => {
  const opening: ItemsShown = new Map([[id, itemMarks(record())]])
  const get = (of: Record<string, unknown>) =>
    shown('GetWorkItem', 'x', { item: of }, { items: new Map(opening) })
  assert.equal(get(record()), `GetWorkItem: x\nitem: ${id} is as it stands above`)
  assert.match(get(record({ objective: 'All tests pass' })), /objective: All tests pass/)
  assert.match(get(record({}, other)), /objective: The tests pass/)
})

test('history has no item in full', () => {
  const item = record({}, id, aPlan(id, '# Plan\n\nA long one.'))
  const text = shown('PickWorkItem', `${id} is in focus.`, { current: item }, { form: 'history' })
  assert.doesNotMatch(text, /A long one/)
  assert.match(text, /objective: The tests pass/)
})

test('what the status line says of ids and paths is not said again; what is not set is not said', () => {
  const result = {
    path: '/repo/a.ts',
    task_id: id,
    stderr: '',
    exit_status: null,
    list: [],
    of: {},
  }
  assert.equal(
    shown('Any', `${id} read /repo/a.ts`, { ...result, stdout: 'read', count: 0, ok: false }),
    `Any: ${id} read /repo/a.ts\nstdout: read\ncount: 0\nok: false`,
  )
})

test('an ended task in a list is one line', () => {
  const task = { task_kind: 'command', status: 'completed', label: 'npm test', exit_status: 1 }
  const text = shown('ListTasks', '0 running, 2 ended', {
    running: [],
    ended: [
      {
        ...task,
        task_id: 'task_1',
        work_item_id: id,
        created_at: now,
        reason: null,
        ended_at: now,
      },
      { ...task, task_id: 'task_2', work_item_id: null, reason: 'it was asked for', ended_at: now },
    ],
  })
  assert.equal(
    text,
    [
      'ListTasks: 0 running, 2 ended',
      'ended:',
      `  - task_1 completed, exit status 1: npm test (${id})`,
      '  - task_2 completed, exit status 1, it was asked for: npm test',
    ].join('\n'),
  )
})

test('a running child in a list says for whose answer it waits', () => {
  const child = { task_kind: 'child_agent', status: 'running', label: 'Look', work_item_id: null }
  const text = shown('ListTasks', '3 running, 0 ended', {
    running: [
      { ...child, task_id: 'task_1', asks: 'supervisor' },
      { ...child, task_id: 'task_2', asks: 'operator' },
      { ...child, task_id: 'task_3' },
    ],
    ended: [],
  })
  assert.deepEqual(text.split('\n').slice(2), [
    '  - task_1 running, asks you and waits for TaskInput (question in TaskOutput): Look',
    '  - task_2 running, asks the operator: Look',
    '  - task_3 running: Look',
  ])
})

test('the condition of a wait is told where the wait is: as it is made, with its item, in a list', () => {
  const wait = { ...aWait('wait_1', { resource: 'pr/12', condition: 'both have approved' }) }
  const item = { ...record({ blocked_by: 'legal must agree' }), wait }
  const texts = [
    shown('WaitFor', `${id} waits for external as wait_1.`, { wait, status: 'active' }),
    shown('GetWorkItem', `${id} is waiting_external.`, { item }),
    shown('ListWorkItems', '1 item.', { items: [item], total: 1, filter: 'open' }),
  ]
  for (const text of texts) assert.match(text, /condition:? both have approved/)
  for (const text of texts.slice(1)) assert.match(text, /blocked_by: legal must agree/)
  assert.match(texts[2] ?? '', /wait: wait_1 external, reason of wait_1, resource pr\/12, /)
})

test('of a task and an agent what two fields say alike is said once', () => {
  const cmd = { label: 'npm test', cmd: 'npm test', input: 'none', process: 'running' }
  const times = { created_at: now, started_at: now }
  const task = { task_id: 'task_1', task_kind: 'command', status: 'running', ...cmd, ...times }
  const status = shown('TaskStatus', 'task_1: running', task)
  assert.deepEqual(status.split('\n'), [
    'TaskStatus: task_1: running',
    'cmd: npm test',
    `started_at: ${now}`,
  ])
  const child = { agent_id: 'main.1', preset: 'private_child', visibility: 'private' }
  const seen = { ...child, posture: 'noop', supervisor_agent_id: 'main', model: 'a/b' }
  assert.deepEqual(shown('AgentGet', 'main.1: noop', seen).split('\n'), [
    'AgentGet: main.1: noop',
    'preset: private_child',
    'supervisor_agent_id: main',
    'model: a/b',
  ])
})

test('an edit shows the lines around it, of several places their numbers; in history neither', () => {
  const one = {
    path: '/x/a.ts',
    change: 'changed',
    replacements: 1,
    lines: [2],
    text: '1\ta\n2\tB',
  }
  const said = '1 replaced in /x/a.ts'
  const first = shown('EditFile', said, one).split('\n')
  assert.deepEqual([first[0], first[2], first[3]], [`EditFile: ${said}`, '1\ta', '2\tB'])
  const many = shown('EditFile', '3 replaced in /x/a.ts', {
    ...one,
    lines: [2, 7, 9],
    replacements: 3,
  })
  assert.match(many, /^lines: 2, 7, 9$/m)
  assert.equal(shown('EditFile', said, one, { form: 'history' }), `EditFile: ${said}`)
})
