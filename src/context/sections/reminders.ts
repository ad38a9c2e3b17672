/**
 * Reminders: text in the next request, never a mutation, and functions of the turn's rounds alone,
 * so that a rebuilt request carries the same ones. Each comes back only after as many rounds again.
 */
import type { Call } from '../../domain/state/call.ts'
import type { Task } from '../../domain/state/task.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { currentTodo } from '../../domain/facts/readiness.ts'
import { contextLimits } from '../limits.ts'
import { clip, counted } from '../phrase.ts'
import type { RoundView } from './situation.ts'
import { template } from '../template.ts'

export type Reminded = {
  /** The recorded rounds of the turn, oldest first. */
  rounds: readonly RoundView[]
  /** The turn's item as it is now; null when it has none. */
  item: WorkItem | null
  running_tasks: readonly Task[]
}

/** The reminders due in front of the turn's next request; usually none. */
export const reminders = (given: Reminded): string[] =>
  (given.item === null ? itemless(given) : [...unchanged(given), ...stale(given)]).map(
    (text) => `Runtime note: ${text}`,
  )

const mutations = [
  'CreateWorkItem',
  'UpdateWorkItem',
  'PickWorkItem',
  'CompleteWorkItem',
  'WaitFor',
]

/** Rounds since a work item last changed, counted in whole steps: 20, 40, 60 … */
function unchanged({ rounds, item }: Reminded): string[] {
  const quiet = since(rounds, (call) => did(call) && mutations.includes(call.tool_name)).length
  if (
    item === null ||
    item.state === 'completed' ||
    !isStep(quiet, contextLimits.unchanged_rounds.value)
  ) {
    return []
  }
  return [template('notes', 'no_item_change', { rounds: String(quiet), item: item.id })]
}

/** Files and records changed since the list was last replaced, while it names a step as current. */
function stale({ rounds, item }: Reminded): string[] {
  const todo = item === null ? null : currentTodo(item)
  if (item === null || todo === null || item.state === 'completed') return []
  const later = since(rounds, (call) => did(call) && replacesTodos(call))
  const step = contextLimits.stale_changes.value
  const changes = count(later, isChange)
  const before = count(later.slice(0, -1), isChange)
  // Due in the round that crosses a step, and in no other.
  if (Math.floor(changes / step) === Math.floor(before / step)) return []
  const values = { item: item.id, changes: String(changes), todo: clip(todo.text, 300) }
  return [template('notes', 'stale_todos', values)]
}

/** Work that nothing would carry on: changes, or running tasks, without an item. */
function itemless({ rounds, running_tasks }: Reminded): string[] {
  const changing = rounds.filter((view) => view.calls.some(isChange)).length
  const last = rounds.at(-1)
  const texts: string[] = []
  const steps = isStep(changing, contextLimits.itemless_rounds.value)
  if (steps && last !== undefined && last.calls.some(isChange)) {
    texts.push(template('notes', 'no_item', { rounds: String(changing) }))
  }
  const loose = running_tasks.filter((task) => task.work_item_id === null)
  if (loose.length > 0 && isStep(rounds.length, contextLimits.itemless_rounds.value)) {
    const shown = loose.slice(0, contextLimits.other_tasks.value).map(({ id }) => id)
    const more = loose.length - shown.length
    const tasks = `${shown.join(', ')}${more > 0 ? ` and ${counted(more, 'more', 'more')}` : ''}`
    texts.push(template('notes', 'tasks_without_item', { tasks }))
  }
  return texts
}

const isStep = (n: number, step: number): boolean => n > 0 && n % step === 0

const did = (call: Call): boolean => call.result?.status === 'success'

/**
 * A change of a file, or a command that was run: what a command changed nobody knows, and an agent
 * that works by commands alone is reminded as one that edits files.
 */
const isChange = (call: Call): boolean =>
  !mutations.includes(call.tool_name) &&
  (call.changed_something || (call.effect_class === 'reattachable' && did(call)))

const replacesTodos = ({ tool_name, input }: Call): boolean =>
  tool_name === 'UpdateWorkItem' &&
  typeof input === 'object' &&
  input !== null &&
  'todo_list' in input

/** The rounds after the last one with such a call; all of them when there is none. */
function since(rounds: readonly RoundView[], such: (call: Call) => boolean): readonly RoundView[] {
  return rounds.slice(rounds.findLastIndex((view) => view.calls.some(such)) + 1)
}

const count = (rounds: readonly RoundView[], such: (call: Call) => boolean): number =>
  rounds.reduce((total, view) => total + view.calls.filter(such).length, 0)
