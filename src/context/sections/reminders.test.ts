import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reminders, type Reminded } from './reminders.ts'
import type { RoundView } from './situation.ts'
import { aCall, anItem, aRound, aTask, succeededWith } from '../../testing/rows.ts'

const call = (tool: string, input: unknown = {}, changed = false) =>
  aCall(tool, input, succeededWith(tool, 'ok'), { changed_something: changed })
const reading = (n: number): RoundView => aRound(n, '', [call('ReadFile')])
const editing = (n: number): RoundView => aRound(n, '', [call('EditFile', {}, true)])
const running = (n: number): RoundView =>
  aRound(n, '', [
    aCall('ExecCommand', {}, succeededWith('ExecCommand', 'ok'), { effect_class: 'reattachable' }),
  ])
const updating = (n: number, input: unknown): RoundView =>
  aRound(n, '', [call('UpdateWorkItem', input, true)])

const many = (count: number, round: (n: number) => RoundView) =>
  Array.from({ length: count }, (_, i) => round(i + 1))

/** The request numbers, up to the last round, in front of which a reminder stood. */
const dueAt = (rounds: readonly RoundView[], given: Partial<Reminded>): number[] =>
  [...rounds.keys()]
    .map((i) => i + 1)
    .filter(
      (k) =>
        reminders({ item: null, running_tasks: [], ...given, rounds: rounds.slice(0, k) }).length >
        0,
    )

const item = anItem('work_1')
const todo = anItem('work_1', { todo_list: [{ text: 'write docs', state: 'in_progress' }] })

test('when reminders come: in steps, and from the last change on', () => {
  const changed = [...many(5, reading), updating(6, { todo_list: [] }), ...many(22, reading)]
  assert.deepEqual(
    {
      quiet: dueAt(many(45, reading), { item }),
      completed: dueAt(many(45, reading), { item: anItem('work_1', { state: 'completed' }) }),
      after_a_change: dueAt(changed, { item }),
      stale_list: dueAt(many(19, editing), { item: todo }),
      no_list: dueAt(many(19, editing), { item }),
      list_replaced: dueAt([...many(7, editing), updating(8, { todo_list: [] }), editing(9)], {
        item: todo,
      }),
      list_untouched: dueAt(
        [...many(7, editing), updating(8, { plan_status: 'ready' }), editing(9)],
        {
          item: todo,
        },
      ),
      stale_by_commands: dueAt(many(9, running), { item: todo }),
      no_item: dueAt(many(13, editing), {}),
      no_item_by_commands: dueAt(many(7, running), {}),
      no_item_reading: dueAt(many(13, reading), {}),
      loose_task: dueAt(many(13, reading), { running_tasks: [aTask('task_1')] }),
      bound_task: dueAt(many(13, reading), {
        running_tasks: [aTask('task_1', { work_item_id: 'work_1' })],
      }),
    },
    {
      quiet: [20, 40],
      completed: [],
      after_a_change: [26],
      stale_list: [8, 16],
      no_list: [],
      list_replaced: [],
      list_untouched: [9],
      stale_by_commands: [8],
      no_item: [6, 12],
      no_item_by_commands: [6],
      no_item_reading: [],
      loose_task: [6, 12],
      bound_task: [],
    },
  )
})

test('a failed mutation is not a change', () => {
  const refused = aCall(
    'UpdateWorkItem',
    {},
    {
      tool_name: 'UpdateWorkItem',
      status: 'error',
      summary: 'no',
      error: { kind: 'rejected', code: 'x', message: 'no', hint: null, retryable: false },
    },
  )
  const rounds = [...many(10, reading), aRound(11, '', [refused]), ...many(9, reading)]
  assert.deepEqual(dueAt(rounds, { item }), [20])
})

test('reminders, word for word', (t) => {
  const tasks = many(10, reading).map((_, i) => aTask(`task_${i}`))
  const texts = [
    ...reminders({ rounds: many(20, reading), item, running_tasks: [] }),
    ...reminders({ rounds: many(8, editing), item: todo, running_tasks: [] }),
    ...reminders({ rounds: many(6, editing), item: null, running_tasks: tasks }),
  ]
  assert.equal(texts.length, 4)
  t.assert.snapshot(texts.join('\n---\n'), { serializers: [(value: string) => value] })
})
