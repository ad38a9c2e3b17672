/**
 * Where a run stands: the todos of the item against the steps of the plan as it is now, by position
 * and text. The plan may change ahead of the run, never behind it. Pure.
 */
import type { Todo } from '../../domain/state/work-item.ts'
import type { RunbookStep } from './parse.ts'

export type Position =
  /** Index of the current step; null: all are done or left. */
  | { ok: true; at: number | null; todos: readonly Todo[] }
  /** What no longer fits, in words. */
  | { ok: false; why: string }

export function positionOf(steps: readonly RunbookStep[], before: readonly Todo[]): Position {
  for (const [index, todo] of before.entries()) {
    if (todo.state !== 'completed') continue
    const step = steps[index]
    if (!step) return { ok: false, why: `step ${index + 1} ("${todo.text}") was done and is gone` }
    if (step.title !== todo.text) {
      return {
        ok: false,
        why: `step ${index + 1} was done as "${todo.text}" and now reads "${step.title}"`,
      }
    }
  }
  const todos = steps.map(({ title }, index): Todo => {
    return { text: title, state: before[index]?.state ?? 'pending' }
  })
  const begun = todos.findLastIndex((todo) => todo.state !== 'pending')
  const at = todos.findIndex((todo, index) => {
    if (todo.state === 'in_progress') return true
    // An optional step that failed stays pending while the run goes on: it is not run again.
    const left = steps[index]?.optional === true && index < begun
    return todo.state === 'pending' && !left
  })
  return { ok: true, at: at < 0 ? null : at, todos }
}

export const withState = (
  todos: readonly Todo[],
  index: number,
  state: Todo['state'],
): readonly Todo[] => todos.map((todo, at) => (at === index ? { ...todo, state } : todo))

export const sameTodos = (a: readonly Todo[], b: readonly Todo[]): boolean =>
  a.length === b.length &&
  a.every((todo, index) => todo.text === b[index]?.text && todo.state === b[index]?.state)
