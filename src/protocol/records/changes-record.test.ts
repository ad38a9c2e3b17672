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

/** One that leads from one content to the next. */
const from = (before: string, after: string): FileDiff => {
  const kept = (kept_sha256: string) => ({ kind: 'file', kept_sha256, mode: 0o644 }) as const
  return { ...diff('changed'), ends: { before: kept(before), after: kept(after) } }
}
const at = (ms: number) => `2026-03-02T09:00:0${ms}.000Z`

/** An edit at 2, and a command from `begun` to 5 that sees this; how often is the file told? */
const beside: [begun: number, seen: [string, string], edits: [string, string][], told: number][] = [
  [1, ['a', 'b'], [['a', 'b']], 1],
  [
    1,
    ['a', 'c'],
    [
      ['a', 'b'],
      ['b', 'c'],
    ],
    2,
  ],
  [1, ['a', 'c'], [['a', 'b']], 2],
  [1, ['a', 'b'], [['x', 'y']], 2],
  [4, ['a', 'b'], [['a', 'b']], 2],
]

for (const [begun, seen, edits, count] of beside) {
  const names = edits.map((one) => one.join('→')).join(', ')
  test(`edits ${names} and a command from ${begun} that saw ${seen.join('→')}: ${count}`, () => {
    const calls = edits.map(([a, b]) => aCall([from(a, b)], { finished_at: at(2) }))
    const ran = { ...aTask({ diffs: [from(...seen)] }), started_at: at(begun), ended_at: at(5) }
    const { files, commands } = changesOf(item, { calls, tasks: [ran] }, true)
    assert.deepEqual([files[0]?.edits.length, files[0]?.added, commands], [count, 2 * count, 0])
  })
}
