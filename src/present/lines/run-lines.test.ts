import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Emitted, Event, FileDiff, ToolResult } from '../../protocol/records/records.ts'
import { callLine } from './call-line.ts'
import { RunLines, type RunLine } from './run-lines.ts'
import { ShortIds } from '../text/short-id.ts'
import { statusLine } from './status-line.ts'
import {
  briefDelivered,
  callFinished,
  callRecorded,
  itemCreated,
  taskEnded,
  taskQueued,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../../testing/events.ts'

const ok = (result: unknown, summary = 'done'): ToolResult => {
  return { tool_name: 'x', summary, status: 'success', result }
}
const aDiff = (name: string, added: number, removed: number): FileDiff => {
  return { kind: 'changed', path: `/w/${name}`, name, added, removed, text: '', cut_lines: 0 }
}
const withDiffs = (...diffs: FileDiff[]): ToolResult => {
  return { tool_name: 'x', summary: 'done', status: 'success', result: {}, diffs }
}
const no = (kind: 'fault' | 'not_executed' | 'outcome_unknown', message: string): ToolResult => ({
  tool_name: 'x',
  summary: message,
  status: 'error',
  error: { kind, code: 'c', message, hint: null, retryable: false },
})

/** Tool, arguments, result, and the line: mark, left, right. */
const calls: [tool: string, input: unknown, result: ToolResult, line: string | null][] = [
  [
    'ExecCommand',
    { cmd: 'git log' },
    ok({ exit_status: 0, stdout: 'a\nb\n', stderr: '' }),
    'done|git log|2 lines',
  ],
  ['ExecCommand', { cmd: 'true' }, ok({ exit_status: 0, stdout: '', stderr: '' }), 'done|true|'],
  [
    'ExecCommand',
    { cmd: 'x\ny' },
    ok({ exit_status: 3, stdout: '', stderr: 'a\ninactive\n' }),
    'failed|x … (2 lines)|exit 3: inactive',
  ],
  [
    'ExecCommand',
    { cmd: 'npm test' },
    ok({ task_handle: { task_id: 'task_1' } }),
    'waiting|npm test|goes on as task_1',
  ],
  [
    'ExecCommand',
    { cmd: 'rm x' },
    no('outcome_unknown', 'the end is not on record'),
    'unknown|rm x|outcome unknown: the end is not on record',
  ],
  [
    'ReadFile',
    { path: 'a.ts' },
    ok({ first_line: 1, last_line: 9, total_lines: 9 }),
    'done|read a.ts|9 lines',
  ],
  [
    'ReadFile',
    { path: 'a.ts' },
    ok({ first_line: 1, last_line: 9, total_lines: 90 }),
    'done|read a.ts|9 of 90 lines',
  ],
  [
    'ReadFile',
    { path: 'a.ts' },
    no('fault', 'there is no such file'),
    'failed|read a.ts|there is no such file',
  ],
  ['EditFile', { path: 'a.ts' }, ok({ change: 'created' }), 'done|edit a.ts|new'],
  [
    'EditFile',
    { path: 'a.ts' },
    ok({ change: 'changed', replacements: 2 }),
    'done|edit a.ts|2 places',
  ],
  ['ApplyPatch', {}, ok({}, '2 files changed'), 'done|patch|2 files changed'],
  ['ApplyPatch', {}, withDiffs(aDiff('src/a.ts', 3, 1)), 'done|patch src/a.ts|+3 -1'],
  [
    'ApplyPatch',
    {},
    withDiffs(aDiff('src/a.ts', 3, 1), aDiff('b.ts', 7, 0), aDiff('c.ts', 0, 1)),
    'done|patch 3 files|+10 -2',
  ],
  [
    'ApplyPatch',
    { patch: '--- a/src/a.ts\t2026\n+++ b/src/a.ts\t2026\n@@ -1 +1 @@\n-a\n+b\n' },
    no('fault', 'the disk is full'),
    'failed|patch src/a.ts|the disk is full',
  ],
  [
    'ApplyPatch',
    { patch: '--- old.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n' },
    no('not_executed', 'the round was closed'),
    'next|patch old.ts|not run',
  ],
  [
    'ApplyPatch',
    { patch: '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- b\n+++ b\n@@ -1 +1 @@\n-a\n+b\n' },
    no('outcome_unknown', 'x'),
    'unknown|patch 2 files|outcome unknown: x',
  ],
  ['ApplyPatch', { patch: 'no patch' }, no('fault', 'x'), 'failed|patch|x'],
  ['EditFile', { path: '/w/a.ts' }, withDiffs(aDiff('a.ts', 1, 1)), 'done|edit a.ts|+1 -1'],
  [
    'UpdateWorkItem',
    {
      todo_list: [
        { text: 'a', state: 'completed' },
        { text: 'b', state: 'in_progress' },
      ],
    },
    ok({}),
    'done|todos 1/2: b|',
  ],
  ['UpdateWorkItem', { blocked_by: 'no key' }, ok({}), 'blocked|blocked: no key|'],
  ['CreateWorkItem', {}, ok({}), null],
  ['CompleteWorkItem', {}, ok({}), null],
  ['WaitFor', {}, ok({ wait: { status: 'active' } }), null],
  [
    'WaitFor',
    {},
    ok({ wait: { status: 'resolved' } }, 'task_1 has ended already.'),
    'done|task_1 has ended already.|',
  ],
  ['PickWorkItem', {}, no('not_executed', 'the round was closed'), 'next|PickWorkItem|not run'],
]

describe('a call in one line', () => {
  for (const [tool, input, result, wanted] of calls) {
    test(`${tool} reads ${wanted ?? 'nothing: its effect has a line of its own'}`, () => {
      const line = callLine(tool, input, result)
      assert.equal(line && `${line.mark}|${line.left}|${line.right}`, wanted)
    })
  }
})

const at = (seconds: number) => `2026-11-21T14:02:${String(10 + seconds)}.000Z`
const zone = { now: at(49), utc: true }

/** Events of one commit each, one second apart, and the lines they print. */
function printed(events: readonly Event[]): string[] {
  const lines = new RunLines({ ids: new ShortIds(), zone: () => zone, facts: null, turns: 0 })
  const out = events.flatMap((event, n) => {
    const meta = { at: at(n), seq: n, work_item_id: null, turn_id: null, causation_id: null }
    return lines.take([{ event, meta } satisfies Emitted])
  })
  return [...out, ...lines.flush()].map(shown)
}

function shown(line: RunLine): string {
  switch (line.kind) {
    case 'step':
      return `${line.mark ?? '-'} ${line.left} | ${line.right}`
    case 'title':
    case 'note':
      return `# ${line.text}`
    case 'words':
      return `${line.brief}: ${line.text.join(' / ')}`
  }
}

const work = 'work_01a20081-e48b-7954-8bef-b17872407f3a'
const task = 'task_01a20081-e48b-7954-8bef-b178724091c2'
const wait = 'wait_01a20081-e48b-7954-8bef-b17872403c1e'
const turn = 'turn_1' as const

const call = (n: number, tool_name: string, input: unknown): Event =>
  callRecorded(turn, 1, n, { id: `call_${n}`, tool_name, input })
const finished = (n: number, result: ToolResult): Event => callFinished(`call_${n}`, { result })
const turnBegan = (work_item_id: typeof work | null): Event =>
  turnStarted({
    id: turn,
    work_item_id,
    cause:
      work_item_id === null
        ? { kind: 'message', message_id: 'msg_1' }
        : { kind: 'continue_current', work_item_id },
    because: 'the operator spoke',
  })
const testsAwaited = waitRegistered({
  id: wait,
  work_item_id: work,
  wake: 'task_result',
  reason: 'the tests must end',
  resource: task,
  released_focus: true,
})

describe('the lines of a run', () => {
  test('neighbouring reads fold into one line, anything else prints them', () => {
    const read = ok({ first_line: 1, last_line: 2, total_lines: 2 })
    assert.deepEqual(
      printed([
        call(1, 'ReadFile', { path: 'a' }),
        call(2, 'ReadFile', { path: 'b' }),
        call(3, 'EditFile', { path: 'c' }),
        call(4, 'ReadFile', { path: 'd' }),
        finished(1, read),
        finished(2, read),
        finished(3, ok({ change: 'created' })),
        finished(4, read),
      ]),
      ['done read 2 files | ', 'done edit c | new', 'done read d | 2 lines'],
    )
  })

  test('a task that outlives its call is told when it begins, is waited for, and ends', () => {
    const queued = taskQueued({ id: task, work_item_id: work, label: 'npm test', cmd: 'npm test' })
    const ended = taskEnded(task, { output_bytes: 3, ended_at: at(30) })
    const resolved: Event = {
      type: 'wait_resolved',
      id: wait,
      by: { kind: 'task', task_id: task },
    }
    assert.deepEqual(
      printed([
        queued,
        { type: 'task_started', id: task, pid: 1, started_at: at(0) },
        { type: 'task_promoted', id: task },
        testsAwaited,
        ended,
        resolved,
        turnBegan(work),
      ]),
      [
        'waiting waits for task_91c2 (npm test); no cost | ctrl+c leaves, it goes on',
        'done task_91c2 npm test | exit 0, 30 s',
        '- turn 1, because task_91c2 ended | ',
      ],
    )
    const hostile = { ...queued, label: '\u001b'.repeat(20) }
    assert.deepEqual(printed([hostile, testsAwaited]), [
      `waiting waits for task_91c2 (${'\\x1b'.repeat(7)}\\…); no cost | ctrl+c leaves, it goes on`,
    ])
  })

  test('a command is said to have taken as long as it ran, whenever somebody looked', () => {
    const started = { type: 'call_started', id: 'call_1', intent: {}, work_item_id: work } as const
    const result = ok({ exit_status: 0, stdout: 'a\nb\n', stderr: '' })
    const ran = [
      { type: 'task_started', id: task, pid: null, started_at: at(1) },
      taskEnded(task, { ended_at: at(13) }),
    ] as const
    const lines = (events: readonly Event[], task_id: typeof task | null) =>
      printed([
        call(1, 'ExecCommand', { cmd: 'npm test' }),
        taskQueued({ id: task }),
        { ...started, task_id },
        ...events,
        ...Array.from({ length: 40 }, () => turnBegan(work)),
        finished(1, result),
      ]).at(-1)
    assert.equal(lines(ran, task), 'done npm test | 2 lines, 12 s')
    // Nothing is known of its process: the call says how long it was under way.
    assert.equal(lines([], task), 'done npm test | 2 lines, 41 s')
    assert.equal(lines(ran, null), 'done npm test | 2 lines, 43 s')
  })

  test('a report, a failed turn and a hostile name are words a terminal cannot obey', () => {
    assert.deepEqual(
      printed([
        itemCreated({ id: work, objective: 'Clear\x1b[2J\n  it' }),
        briefDelivered({ kind: 'result', text: 'Done.\n\x1b]0;owned\x07', work_item_id: work }),
        turnEnded(turn, { outcome: 'failed', reason: 'the provider refused', progress: false }),
      ]),
      [
        '# work_7f3a  Clear\\x1b[2J it',
        'result: Done. / \\x1b]0;owned\\x07',
        'failed turn 0 failed | the provider refused',
      ],
    )
  })
})

test('the status line is one sentence', () => {
  const usage = {
    input_tokens: 18_000,
    output_tokens: 200,
    reasoning_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    usd: 0.31,
  }
  const line = statusLine({
    turn: { number: 7, for_ms: 161_000 },
    doing: { kind: 'command', subject: 'npm test', for_ms: 72_000, quiet_ms: 3_000 },
    usage,
    questions: 0,
  })
  assert.equal(
    line,
    'turn 7, 2:41 - npm test 1:12, last output 3 s ago - 18.2k tokens, $0.31 - nothing needs you',
  )
})

test('what runs is safe before it is cut: its escapes count as cells of the line', () => {
  const subject = `a\n b${'\u001b'.repeat(40)}`
  const doing = { kind: 'command', subject, for_ms: 72_000, quiet_ms: null } as const
  assert.equal(
    statusLine({ turn: null, doing, usage: null, questions: 0 }),
    `a b${'\\x1b'.repeat(8)}… 1:12 - nothing needs you`,
  )
})
