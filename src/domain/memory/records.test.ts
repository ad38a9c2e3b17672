/** What of a row can be found again, and how a long text is handed out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsOfText } from './memory.ts'
import type { Brief } from '../state/brief.ts'
import { errorResult, succeeded, type Call } from '../state/call.ts'
import { tables } from '../state/event.ts'
import type { Message } from '../state/message.ts'
import {
  isMemoryTable,
  memoryTables,
  nothingBeside,
  recordsOf,
  refsOf,
  type ExternalTexts,
} from './records.ts'
import {
  callbackEvent,
  controlPrompt,
  runtimeFollowup,
  taskResult,
  timerTick,
  webhookEvent,
  type Provenance,
} from '../state/provenance.ts'
import type { Task } from '../state/task.ts'
import type { WorkItem } from '../state/work-item.ts'
import { noUsage, type AssistantPart, type Round } from '../state/turn.ts'

const T = '2026-03-02T09:00:00.000Z'
const later = '2026-03-02T09:00:05.000Z'

const round = (given: Partial<Round> = {}): Round => ({
  id: 'turn_1:2',
  turn_id: 'turn_1',
  work_item_id: 'work_1',
  agent_id: 'main',
  n: 2,
  kind: 'work',
  model: 'test/model',
  opening_sha256: null,
  notes: [],
  message_ids: [],
  state: 'recorded',
  parts: [{ type: 'text', text: 'What I found.' }],
  finish: 'stop',
  usage: noUsage,
  requested_at: T,
  recorded_at: later,
  ...given,
})

const call: AssistantPart = {
  type: 'tool_call',
  provider_call_id: 'c',
  tool_name: 'ListTasks',
  input_json: '{}',
}

test('a round is a record of its own words, once it was recorded and said any', () => {
  const found = {
    ref: 'turn_1/2',
    kind: 'round',
    agent_id: 'main',
    work_item_id: 'work_1',
    at: later,
    text: 'What I found.',
    provenance: null,
    words: 'own',
    path: null,
  }
  const table: [given: Partial<Round>, records: unknown[]][] = [
    [{}, [found]],
    [{ recorded_at: null }, [{ ...found, at: T }]],
    [{ state: 'requested' }, []],
    [{ parts: [] }, []],
    [{ parts: [call] }, []],
    [
      { parts: [call, { type: 'text', text: 'One.' }, { type: 'text', text: 'Two.' }] },
      [{ ...found, text: 'One.\n\nTwo.' }],
    ],
  ]
  assert.deepEqual(
    table.map(([given]) => [given, recordsOf('rounds', round(given), nothingBeside)]),
    table,
  )
  assert.deepEqual(refsOf('rounds', round()), ['turn_1/2'])
})

test('a text is handed out whole, or by its ends around what is said of the rest', () => {
  const shown = (text: string, head: number, tail: number) =>
    endsOfText(text, head, tail, (left) => `(${left} left out)`)
  const table: [text: string, head: number, tail: number, shown: string][] = [
    ['', 0, 0, ''],
    ['abcdef', 4, 2, 'abcdef'],
    ['abcdef', 6, 0, 'abcdef'],
    ['abcdefg', 4, 2, 'abcd\n(1 left out)\nfg'],
    ['abcdefg', 5, 0, 'abcde\n(2 left out)\n'],
    ['abcdefg', 0, 3, '\n(4 left out)\nefg'],
    ['a😀b😀c', 2, 2, 'a\ufffd\n(3 left out)\n\ufffdc'],
  ]
  assert.deepEqual(
    table.map(([text, head, tail]) => [text, head, tail, shown(text, head, tail)]),
    table,
  )
})

const own = { provenance: null, words: 'own', path: null }
const common = { agent_id: 'main', work_item_id: 'work_1', at: later }

const plan_artifact = { path: '/h/plan.md', sha256: null, bytes: 0, good_sha256: null }
const item = {
  id: 'work_1',
  agent_id: 'main',
  objective: 'Count the words.',
  blocked_by: null,
  todo_list: [],
  result_summary: null,
  plan_artifact,
  created_at: T,
  updated_at: later,
} as unknown as WorkItem

test('an item is a record of its words, and its plan is another where there is one', () => {
  const record = { ...common, ...own, ref: 'work_1', kind: 'work_item', text: 'Count the words.' }
  const plan = {
    ...common,
    ...own,
    ref: 'work_1/plan',
    kind: 'plan',
    text: 'First this.\n',
    path: '/h/plan.md',
  }
  const whole: Partial<WorkItem> = {
    blocked_by: 'no text',
    todo_list: [
      { text: 'read', state: 'completed' },
      { text: 'count', state: 'pending' },
    ],
    result_summary: 'There are 42.',
  }
  const text =
    'Count the words.\nblocked by: no text\ncompleted: read\npending: count\nThere are 42.'
  const table: [given: Partial<WorkItem>, plan: string | null, records: unknown[]][] = [
    [{}, null, [record]],
    [{}, ' \n', [record]],
    [{}, 'First this.\n', [record, plan]],
    [whole, null, [{ ...record, text }]],
  ]
  assert.deepEqual(
    table.map(([given, plan]) => [
      given,
      plan,
      recordsOf('work_items', { ...item, ...given }, { ...nothingBeside, plan }),
    ]),
    table,
  )
  assert.deepEqual(refsOf('work_items', item), ['work_1', 'work_1/plan'])
})

test('an item that was brought in is no record until it is picked, and one like any other then', () => {
  const from = { agent_id: 'main', work_item_id: 'work_9', exported_at: T, file_sha256: 'f' }
  const recordsWith = (adopted_at: string | null) => {
    const imported = { ...from, adopted_at }
    const records = recordsOf(
      'work_items',
      { ...item, imported },
      { ...nothingBeside, plan: 'Go.' },
    )
    return records.map(({ ref, words }) => [ref, words])
  }
  assert.deepEqual(
    [recordsWith(null), recordsWith(later)],
    [
      [],
      [
        ['work_1', 'own'],
        ['work_1/plan', 'own'],
      ],
    ],
  )
})

test('a brief is a record, and a result is a report', () => {
  const brief = {
    id: 'brief_1',
    agent_id: 'main',
    work_item_id: 'work_1',
    kind: 'progress',
    text: 'Half of it.',
    created_at: later,
  } as unknown as Brief
  const record = { ...common, ...own, ref: 'brief_1', text: 'Half of it.' }
  for (const kind of ['progress', 'reply', 'question', 'failure', 'result'] as const) {
    const expect = [{ ...record, kind: kind === 'result' ? 'report' : 'brief' }]
    assert.deepEqual(recordsOf('briefs', { ...brief, kind }, nothingBeside), expect, kind)
  }
  assert.deepEqual(refsOf('briefs', brief), ['brief_1'])
})

test('a message is a record with its provenance, and says whose words it holds', () => {
  const message = {
    id: 'msg_1',
    agent_id: 'main',
    work_item_id: 'work_1',
    source: null,
    resource: null,
    body: 'Look at this.',
    created_at: later,
  } as unknown as Message
  const record = { ...common, ref: 'msg_1', kind: 'message', text: 'Look at this.', path: null }
  const evidence = { ...webhookEvent, authority_class: 'external_evidence' } as const
  const table: [Provenance, words: string][] = [
    [controlPrompt, 'own'],
    [callbackEvent, 'external'],
    [webhookEvent, 'external'],
    [evidence, 'external'],
    [taskResult, 'tool'],
    [timerTick, 'own'],
  ]
  for (const [provenance, words] of table) {
    const found = recordsOf('messages', { ...message, ...provenance }, nothingBeside)
    assert.deepEqual(found, [{ ...record, provenance, words }], provenance.kind)
  }
  assert.deepEqual(recordsOf('messages', { ...message, ...runtimeFollowup }, nothingBeside), [])
  const texts = [
    { source: 'ci', resource: 'build 7' },
    { source: 'ci', resource: null },
    { source: null, resource: 'build 7' },
  ].map((about) => recordsOf('messages', { ...message, ...about }, nothingBeside)[0]?.text)
  assert.deepEqual(texts, [
    'ci build 7\nLook at this.',
    'ci\nLook at this.',
    'build 7\nLook at this.',
  ])
  assert.deepEqual(refsOf('messages', message), ['msg_1'])
})

test('a command is a record of what it was, and each of its outputs that says something', () => {
  const task = {
    id: 'task_1',
    agent_id: 'main',
    work_item_id: 'work_1',
    label: 'count',
    cmd: 'wc -w a.txt',
    reason: null,
    output: { path: '/h/tasks/task_1', bytes: 3 },
    created_at: T,
    started_at: null,
    ended_at: null,
  } as unknown as Task
  const beside = (given: Partial<ExternalTexts>): ExternalTexts => ({ ...nothingBeside, ...given })
  const record = { ...common, ...own, ref: 'task_1', kind: 'task', text: 'count\nwc -w a.txt' }
  const output = (stream: string, text: string, at: string) => ({
    ...record,
    at,
    ref: `task_1/${stream}`,
    kind: 'task_output',
    words: 'tool',
    text,
    path: `/h/tasks/task_1/${stream}`,
  })
  const table: [given: Partial<Task>, beside: Partial<ExternalTexts>, records: unknown[]][] = [
    [{}, {}, [{ ...record, at: T }]],
    [{ started_at: later }, {}, [record]],
    [{ started_at: T, ended_at: later }, {}, [record]],
    [
      { reason: 'it was stopped' },
      {},
      [{ ...record, at: T, text: `${record.text}\nit was stopped` }],
    ],
    [{ label: 'wc -w a.txt' }, {}, [{ ...record, at: T, text: 'wc -w a.txt' }]],
    [{ label: '', cmd: null }, {}, [{ ...record, at: T, text: '' }]],
    [{}, { stdout: ' \n', stderr: '' }, [{ ...record, at: T }]],
    [{}, { stdout: '42' }, [{ ...record, at: T }, output('stdout', '42', T)]],
    [
      { ended_at: later },
      { stdout: '42', stderr: 'hm' },
      [record, output('stdout', '42', later), output('stderr', 'hm', later)],
    ],
  ]
  assert.deepEqual(
    table.map(([given, files]) => [
      given,
      files,
      recordsOf('tasks', { ...task, ...given }, beside(files)),
    ]),
    table,
  )
  assert.deepEqual(refsOf('tasks', task), ['task_1', 'task_1/stdout', 'task_1/stderr'])
})

test('a call is a record of what went in and what came out, but for those that search', () => {
  const of = {
    id: 'call_1',
    agent_id: 'main',
    work_item_id: 'work_1',
    tool_name: 'ReadFile',
    input: { path: 'a.txt', from: 3, whole: false, none: null, lines: ['x', ['y']] },
    result: null,
    started_at: T,
    finished_at: null,
  } as unknown as Call
  const went = 'ReadFile\npath: a.txt\nfrom: 3\nwhole: false\nlines: x\nlines: y'
  const record = {
    ...common,
    ref: 'call_1',
    kind: 'call',
    at: T,
    provenance: null,
    words: 'tool',
    path: null,
    text: went,
  }
  const good = succeeded('ReadFile', '2 lines', { text: 'one\ntwo', next: undefined })
  const bad = errorResult('ReadFile', 'rejected', 'not_found', 'There is no a.txt.', 'Look.')
  assert.ok(bad.status === 'error')
  const told = { ...bad, error: { ...bad.error, detail: { near: ['b.txt'] } } }
  const table: [given: Partial<Call>, records: unknown[]][] = [
    [{}, [record]],
    [{ finished_at: later }, [{ ...record, at: later }]],
    [{ started_at: null }, []],
    [{ tool_name: 'MemorySearch' }, []],
    [{ tool_name: 'MemoryGet' }, []],
    [{ input: 'just words' }, [{ ...record, text: 'ReadFile\njust words' }]],
    [{ input: { text: '' } }, [{ ...record, text: 'ReadFile\ntext: ' }]],
    [{ input: '' }, [{ ...record, text: 'ReadFile' }]],
    [{ result: good }, [{ ...record, text: `${went}\n2 lines\ntext: one\ntwo` }]],
    [
      { result: bad },
      [{ ...record, text: `${went}\n${bad.summary}\nnot_found: There is no a.txt.` }],
    ],
    [
      { result: told },
      [{ ...record, text: `${went}\n${bad.summary}\nnot_found: There is no a.txt.\nnear: b.txt` }],
    ],
  ]
  assert.deepEqual(
    table.map(([given]) => [given, recordsOf('calls', { ...of, ...given }, nothingBeside)]),
    table,
  )
  assert.deepEqual(refsOf('calls', of), ['call_1'])
})

test('the tables whose rows are records are known by name', () => {
  const all = ['work_items', 'briefs', 'messages', 'tasks', 'rounds', 'calls', 'schedules']
  assert.deepEqual(memoryTables, all)
  assert.deepEqual(tables.filter(isMemoryTable).toSorted(), all.toSorted())
})
