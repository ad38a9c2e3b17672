/**
 * What a completed item left: todos that are not finished, and commands and children of it that go
 * on. Its completion warns of both, and whoever reads the report later is told for as long as it is
 * so.
 */
import { isCommandOf } from '../state/check.ts'
import { isGoingOn, type Task } from '../state/task.ts'
import type { WorkItem } from '../state/work-item.ts'

/**
 * Commands and children of the item that have not ended; its checks judge it and are no work, and
 * what is held has not begun.
 */
export const goingOn = ({ id, checks }: WorkItem, tasks: Iterable<Task>): Task[] =>
  [...tasks].filter(
    (task) => task.work_item_id === id && isGoingOn(task) && !isCommandOf(checks, task.id),
  )

/** In words, each of what it left; of an item that is open nothing. */
export function leftBehind(item: WorkItem, tasks: Iterable<Task>): string[] {
  if (item.state !== 'completed') return []
  const { length: all } = item.todo_list
  const todos = item.todo_list.filter(({ state }) => state !== 'completed').length
  const running = goingOn(item, tasks).length
  return [
    ...(todos === 0 ? [] : [`${todos} of ${all} todos ${todos === 1 ? 'is' : 'are'} not finished`]),
    ...(running === 0
      ? []
      : [running === 1 ? '1 task of it still runs' : `${running} tasks of it still run`]),
  ]
}
