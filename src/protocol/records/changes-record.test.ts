import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import type { TaskChanges } from '../../domain/state/task.ts'
import { changesOf } from './changes-record.ts'
import type { FileDiff, Rows } from './records.ts'

const item = 'work_0001'
let n = 0

function aCall(diffs: readonly FileDiff[], more: Partial<Rows['calls']> = {}): Rows['calls'] {
  const id = `call_000${(n += 1)}` as const
  return {
    ...{ id, turn_id: 'turn_0001', agent_id: 'main', work_item_id: item, round: 1, index: n },
    ...{ provider_call_id: id, tool_name: 'ApplyPatch', input: {}, intent: null, task_id: null },
    ...{ effect_class: 'content_checked', state: 'finished', result_hash: null, attempts: 1 },
    result: { tool_name: 'ApplyPatch', summary: 'done', status: 'success', result: {}, diffs },
    changed_something: true,
    started_at: '2026-03-02T09:00:00.000Z',
    finished_at: '2026-03-02T09:00:01.000Z',
    ...more,
  }
}

const unseenTask = 'task_0001'

function aTask(changes: TaskChanges): Rows['tasks'] {
  return {
    ...{ id: unseenTask, agent_id: 'main', work_item_id: item, kind: 'command', label: 'x' },
    ...{ cmd: 'x', child_agent_id: null, workdir: '/w', timeout_ms: null, input: 'none' },
    ...{ start_place: null, asking: null, status: 'completed', reason: null, exit_status: 0 },
    ...{ promoted: true, survivors: [], output: { path: null, bytes: 0 } },
    created_at: '2026-03-02T09:00:00.000Z',
    started_at: '2026-03-02T09:00:00.000Z',
    ended_at: '2026-03-02T09:00:00.500Z',
    changes,
  }
}

test('what a command did in the background stands in its place, with its task', () => {
  const calls = [aCall([diff('changed')])]
  const tasks = [aTask({ diffs: [diff('added')] })]
  const { files } = changesOf(item, { calls, tasks }, true)
  assert.deepEqual(
    files.map(({ kind, edits }) => [kind, edits.map((one) => [one.task_id, one.kind])]),
    [
      [
        'added',
        [
          [unseenTask, 'added'],
          [null, 'changed'],
        ],
      ],
    ],
  )
})

const diff = (kind: FileDiff['kind'], name = 'a', text = ''): FileDiff => {
  return { kind, path: `/w/${name}`, name, added: 2, removed: 1, text, cut_lines: 0 }
}

const kinds: [edits: FileDiff['kind'][], comes_to: FileDiff['kind']][] = [
  [['added'], 'added'],
  [['changed', 'changed'], 'changed'],
  [['added', 'changed'], 'added'],
  [['changed', 'deleted'], 'deleted'],
  [['deleted', 'added'], 'changed'],
  [['added', 'deleted'], 'deleted'],
  [['added', 'deleted', 'added'], 'added'],
]
for (const [edits, comes_to] of kinds) {
  test(`a file that was ${edits.join(', then ')} comes to ${comes_to}`, () => {
    const calls = edits.map((kind) => aCall([diff(kind)]))
    const { files } = changesOf(item, { calls, tasks: [] }, true)
    assert.deepEqual(
      files.map(({ kind, added, removed, edits: of }) => [kind, added, removed, of.length]),
      [[comes_to, 2 * edits.length, edits.length, edits.length]],
    )
  })
}

test('files stand by name; commands and edits that nobody knows of are counted', () => {
  const error = { kind: 'outcome_unknown', code: 'x', message: 'x', hint: null, retryable: false }
  const ran = { tool_name: 'ExecCommand', effect_class: 'reattachable' } as const
  const unknown = { tool_name: 'ApplyPatch', summary: 'x', status: 'error', error } as const
  const calls = [
    aCall([diff('added', 'b'), diff('changed', 'a')]),
    aCall([], { ...ran, task_id: unseenTask, result: null }),
    aCall([], { ...ran, task_id: 'task_0002' }),
    aCall([], ran),
    aCall([], { result: unknown as Rows['calls']['result'] }),
    aCall([], { result: null, state: 'started', finished_at: null }),
  ]
  const unseen = aTask({ unseen: 'it is too large' })
  const { files, ...more } = changesOf(item, { calls, tasks: [unseen] }, false)
  assert.deepEqual(
    files.map(({ name }) => name),
    ['a', 'b'],
  )
  const told = { commands: 1, unseen: ['it is too large'] }
  assert.deepEqual(more, { work_item_id: item, ...told, unknown: 1, complete: false })
})

test('an answer has so many characters of diffs; what has no room is counted in lines', () => {
  const half = `${'x'.repeat(limits.changes_text.value / 2 - 1)}\n`
  const calls = ['a', 'b', 'c'].map((name) => aCall([diff('changed', name, half)]))
  const { files } = changesOf(item, { calls, tasks: [] }, true)
  const seen = files.flatMap(({ edits }) => edits.map((one) => [one.text.length, one.cut_lines]))
  assert.deepEqual(seen, [
    [half.length, 0],
    [half.length, 0],
    [0, 1],
  ])
})
