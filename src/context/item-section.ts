/**
 * The turn's work item in full: what it is, its plan by descriptor and preview, its todos, what
 * holds it, its waits and tasks. Under pressure the preview and the tasks go, the rest stays.
 */
import { budgetLine } from '../domain/budget.ts'
import type { PlanDescriptor } from '../domain/plan.ts'
import type { Projection } from '../domain/readiness.ts'
import { isTerminal, type Task } from '../domain/task.ts'
import { between, type Timestamp } from '../domain/time.ts'
import type { Todo } from '../domain/work-item.ts'
import type { TokenEstimator } from './estimate.ts'
import { block } from './fence.ts'
import { ago, clip, counted, oneLine, quoted, span, thousands } from './phrase.ts'
import type { ItemView } from './situation.ts'
import { waitLine } from './wait-line.ts'

export type SectionView = { now: Timestamp; fence: string; tokens: TokenEstimator }

/** The section within `max_tokens` where that is possible without dropping what holds the item. */
export function itemSection(item: ItemView | null, view: SectionView, max_tokens: number): string {
  if (item === null) return '# Work item\n\nThis turn has no work item.'
  const { projection: p, plan } = item
  const here = p.focus === 'current'
  const title = here ? '# Current work item' : "# This turn's work item (not in focus)"
  const essential = [
    `id: ${p.item.id}`,
    `objective: ${oneLine(p.item.objective)}`,
    `state: ${stateWords(item, view.now)}`,
    `plan: ${planLine(p.item.plan_status, plan, view.now)}`,
    ...planProblem(plan),
    ...budgetWords(p),
  ]
  const held = [
    ...(p.item.blocked_by === null ? [] : [`blocked by: ${quoted(p.item.blocked_by, 2_000)}`]),
    ...(item.waits.length === 0
      ? []
      : ['waits:', ...item.waits.map((w) => `- ${waitLine(w, view.now)}`)]),
    ...(p.item.result_summary === null ? [] : [block(view.fence, 'report', p.item.result_summary)]),
  ]
  const todos = todoLines(p.item.todo_list)
  const preview = plan.preview === '' ? [] : [previewBlock(plan, view.fence)]
  const tasks =
    item.tasks.length === 0
      ? []
      : ['tasks:', ...item.tasks.map((task) => `- ${taskLine(task, view.now)}`)]
  const text = (...groups: readonly string[][]) => [title, '', ...groups.flat()].join('\n')
  // From all of it down to what holds the item, the first that fits.
  const tries = [
    text(essential, preview, todos, held, tasks),
    text(essential, preview, todos, held),
    text(essential, left('plan preview', preview), todos, held),
    text(essential, left('plan preview', preview), current(p.current_todo), held),
  ]
  return tries.find((t) => view.tokens(t) <= max_tokens) ?? tries.at(-1) ?? ''
}

function stateWords(item: ItemView, now: Timestamp): string {
  const { projection: p } = item
  const parts: string[] = [p.lifecycle]
  if (p.lifecycle === 'open') parts.push(p.scheduling_state)
  if (p.reason.code === 'needs_input') parts.push('its plan needs input')
  parts.push(p.focus === 'current' ? 'in focus' : 'not in focus')
  parts.push(`revision ${p.item.revision}`, `changed ${ago(p.item.updated_at, now)}`)
  return parts.join(', ')
}

const budgetWords = ({ item, budget }: Projection): string[] =>
  item.budget === null || budget === null
    ? []
    : [`budget, as far as it is used: ${budgetLine(item.budget, budget)}`]

function planLine(status: string, plan: PlanDescriptor, now: Timestamp): string {
  const when = plan.updated_at === null ? '' : `, changed ${ago(plan.updated_at, now)}`
  const size = plan.problem === undefined ? `, ${thousands(plan.bytes)} bytes${when}` : ''
  const empty = plan.problem === undefined && plan.bytes === 0 ? ' (nothing written yet)' : ''
  return `${status}, ${oneLine(plan.path)}${size}${empty}`
}

function planProblem(plan: PlanDescriptor): string[] {
  if (plan.problem === undefined) return []
  const { code, message, last_good } = plan.problem
  const snapshot =
    last_good === null ? 'No good snapshot was kept' : `The last good text is ${oneLine(last_good)}`
  return [
    `plan problem (${code}): ${clip(message, 500)}`,
    `${snapshot}. The runtime repairs nothing: restore or rewrite the file before relying on it.`,
  ]
}

const previewBlock = (plan: PlanDescriptor, fence: string): string =>
  block(
    fence,
    plan.preview_complete ? 'plan, complete' : 'plan, beginning; read the file for the rest',
    plan.preview,
  )

export const boxes = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

const todoLines = (todos: readonly Todo[]): string[] =>
  todos.length === 0
    ? ['todos: none']
    : ['todos:', ...todos.map(({ state, text }) => `${boxes[state]} ${oneLine(text)}`)]

const current = (todo: Todo | null): string[] =>
  todo === null ? [] : [`current todo: ${oneLine(todo.text)}`]

const left = (what: string, of: readonly string[]): string[] =>
  of.length === 0 ? [] : [`(${what} left out for lack of room: read the file)`]

/** `task_… "label" running for 3 min, output 1,204 bytes in /path`, or how it ended. */
export function taskLine(task: Task, now: Timestamp): string {
  const name = `${task.id} ${quoted(task.label)}`
  const output = `output ${counted(task.output.bytes, 'byte')} in ${oneLine(task.output.path)}`
  if (!isTerminal(task)) {
    const since = task.started_at ?? task.created_at
    return `${name} ${task.status} for ${span(between(since, now))}, ${output}`
  }
  const exit = task.exit_status === null ? '' : ` with exit status ${task.exit_status}`
  const why = task.reason === null ? '' : ` (${clip(task.reason, 200)})`
  return `${name} ${task.status}${exit}${why} ${ago(task.ended_at ?? now, now)}, ${output}`
}
