import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, task, World } from '../../testing/world/agent-world.ts'
import { taskEnds } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { leftBehind } from './left.ts'
import type { Todo } from '../state/work-item.ts'

test('a completed item says what it left for as long as that is so; an open one left nothing', () => {
  const rows: [todos: Todo['state'][], running: number, left: string[]][] = [
    [[], 0, []],
    [['completed', 'completed'], 0, []],
    [['in_progress', 'pending'], 0, ['2 of 2 todos are not finished']],
    [['completed', 'pending'], 1, ['1 of 2 todos is not finished', '1 task of it still runs']],
    [[], 2, ['2 tasks of it still run']],
  ]
  for (const [states, running, left] of rows) {
    const w = new World()
    const id = item(w, { todo_list: states.map((state) => ({ text: state, state })) })
    task(w, { work_item_id: item(w) })
    taskEnds(w, task(w, { work_item_id: id }))
    const tasks = Array.from({ length: running }, () => task(w, { work_item_id: id }))
    const said = () => leftBehind(itemRow(w, id), w.all('tasks'))
    assert.deepEqual(said(), [], 'it is open')
    w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: 'Done.', turn: null }))
    assert.deepEqual(said(), left)
    for (const one of tasks) taskEnds(w, one)
    assert.deepEqual(
      said(),
      left.filter((words) => words.includes('todo')),
      'all has ended',
    )
  }
})
