/**
 * CreateWorkItem and UpdateWorkItem: the rules. Each checks, then emits; equal values are a
 * success without an event, and every refusal names the value and the remedy (contracts 2).
 */
import type { Warning } from './call.ts'
import type { Check } from './check.ts'
import { activeWaitOf, openItems, openTurn, type Draft, type Facts } from './facts.ts'
import { mustProject, openItem, releaseFocus } from './focus.ts'
import type { WaitId, WorkItemId } from './ids.ts'
import { notAdopted, type ImportedFrom } from './imported.ts'
import { admit } from './ingress.ts'
import { limits } from './limits.ts'
import { nothingUsed, openMeter, type UseSoFar } from './metering.ts'
import { outsideInput, queueChanged } from './pacing.ts'
import { runtimeFollowup } from './provenance.ts'
import type { Projection } from './readiness.ts'
import { no, overLimit, type Rejection } from './verdict.ts'
import type { Budget, By, PlanStatus, PlanStored, Todo, WorkItemChanges } from './work-item.ts'

export type CreateItem = {
  id: WorkItemId
  by: By
  objective: string
  plan_status: PlanStatus
  todo_list: readonly Todo[]
  plan: PlanStored
  budget: Budget | null
  /** The operator's alone to give; absent: none. */
  checks?: readonly Check[]
  imported?: ImportedFrom
}

export type Mutated = {
  ok: true
  changed: boolean
  item: Projection
  /** What "I may go on" cleared: the blocker's text, the wait it cancelled. */
  cleared: { blocked_by: string | null; wait_id: WaitId | null } | null
  warnings: readonly Warning[]
}

/** Whether an item may be made, before its plan file is: the same checks, no event. */
export function checkCreate(
  facts: Facts,
  command: Pick<CreateItem, 'objective' | 'todo_list'>,
): Rejection | null {
  const wrong = checkObjective(command.objective) ?? checkTodos(command.todo_list)
  if (wrong) return wrong
  let open = 0
  for (const _ of openItems(facts)) open += 1
  return open >= limits.open_items.value ? overLimit(limits.open_items, open + 1) : null
}

/** Makes an open item. Creation never sets focus. */
export function createItem(d: Draft, command: CreateItem): Mutated | Rejection {
  const wrong = checkCreate(d, command)
  if (wrong) return wrong
  if (command.checks !== undefined && command.by !== 'operator') {
    throw new Error(`${command.by} sets the checks of ${command.id}`)
  }
  d.emit({ type: 'work_item_created', ...command, objective: command.objective.trim() })
  if (command.budget !== null) openMeter(d, command.id, nothingUsed)
  if (command.by === 'operator') outsideInput(d, command.id, 'operator')
  return {
    ok: true,
    changed: true,
    item: mustProject(d, command.id),
    cleared: null,
    warnings: todoWarnings(command.todo_list),
  }
}

export type UpdateItem = {
  work_item_id: WorkItemId
  by: By
  objective?: string
  plan_status?: PlanStatus
  todo_list?: readonly Todo[]
  blocked_by?: string | null
  budget?: Budget | null
  /** The operator's alone to give. */
  checks?: readonly Check[]
  /** What was used before a budget is set; needed with one. */
  so_far?: UseSoFar
}

/** Changes the fields given. `blocked_by: null` says "I may go on" and cancels the active wait. */
export function updateItem(d: Draft, command: UpdateItem): Mutated | Rejection {
  const item = openItem(d, command.work_item_id)
  if ('ok' in item) return item
  const wrong = notAdopted(item, command.by) ?? checkUpdate(command)
  if (wrong) return wrong

  if (command.checks !== undefined && command.by !== 'operator') {
    throw new Error(`${command.by} sets the checks of ${item.id}`)
  }
  const changed = differing(item, command)
  const wait = activeWaitOf(d, item.id)
  const cleared =
    command.blocked_by === null ? { blocked_by: item.blocked_by, wait_id: wait?.id ?? null } : null
  const emittedBefore = d.emitted.length
  if (Object.keys(changed).length > 0) {
    d.emit({ type: 'work_item_updated', id: item.id, by: command.by, changed })
  }
  if (changed.budget) openMeter(d, item.id, command.so_far ?? nothingUsed)
  if (command.blocked_by === null && wait !== null) {
    d.emit({ type: 'wait_cancelled', id: wait.id, by: command.by, because: 'unblocked' })
    queueChanged(d)
  }
  if (changed.blocked_by) releaseFocus(d, item.id, 'blocked')
  if (changed.plan_status === 'needs_input') releaseFocus(d, item.id, 'needs_input')
  const isChanged = d.emitted.length > emittedBefore
  if (command.by === 'operator') {
    outsideInput(d, item.id, 'operator')
    if (isChanged) tellRunningTurn(d, item.id, Object.keys(changed))
  }
  const warnings = [...(command.todo_list ? todoWarnings(command.todo_list) : [])]
  if (command.blocked_by && wait === null) {
    warnings.push({
      kind: 'no_wake',
      message:
        'Nothing will wake this item: it now needs a person. ' +
        'If an event, a task or a time can help, use WaitFor instead.',
    })
  }
  return {
    ok: true,
    changed: isChanged,
    item: mustProject(d, item.id),
    cleared,
    warnings,
  }
}

function differing(
  item: { [K in keyof WorkItemChanges]-?: unknown },
  command: UpdateItem,
): WorkItemChanges {
  const changed: Record<string, unknown> = {}
  for (const key of [
    'objective',
    'plan_status',
    'todo_list',
    'blocked_by',
    'budget',
    'checks',
  ] as const) {
    const given = command[key]
    if (given === undefined) continue
    const value = typeof given === 'string' ? given.trim() : given
    if (JSON.stringify(item[key]) !== JSON.stringify(value)) changed[key] = value
  }
  return changed
}

function checkUpdate(command: UpdateItem): Rejection | null {
  const { objective, todo_list, blocked_by, plan_status, budget, checks } = command
  const given = [objective, todo_list, blocked_by, plan_status, budget, checks]
  if (given.every((value) => value === undefined)) {
    return no('nothing_to_update', `No field of ${command.work_item_id} is given.`)
  }
  if (objective !== undefined) {
    const wrong = checkObjective(objective)
    if (wrong) return wrong
  }
  if (typeof blocked_by === 'string') {
    if (blocked_by.trim() === '') return no('blocker_empty', 'blocked_by is empty.')
    if (blocked_by.length > limits.reason.value) {
      return overLimit(limits.reason, blocked_by.length)
    }
  }
  return todo_list === undefined ? null : checkTodos(todo_list)
}

export function checkObjective(objective: string): Rejection | null {
  if (objective.trim() === '') return no('objective_empty', 'The objective is empty.')
  if (objective.length > limits.objective.value) {
    return overLimit(limits.objective, objective.length)
  }
  return null
}

function checkTodos(todos: readonly Todo[]): Rejection | null {
  if (todos.length > limits.todos.value) return overLimit(limits.todos, todos.length)
  const long = todos.find((todo) => todo.text.length > limits.todo_text.value)
  return long ? overLimit(limits.todo_text, long.text.length) : null
}

function todoWarnings(todos: readonly Todo[]): Warning[] {
  const running = todos.filter((todo) => todo.state === 'in_progress').length
  if (running < 2) return []
  return [
    {
      kind: 'several_in_progress',
      message: `${running} todos are in progress; one at a time says better where you are.`,
    },
  ]
}

/** A change by the operator to the running turn's item reaches the model in its next request. */
export function tellRunningTurn(d: Draft, item: WorkItemId, fields: readonly string[]): void {
  const turn = openTurn(d)
  if (turn === null || turn.work_item_id !== item) return
  const what = fields.length > 0 ? fields.join(', ') : 'its wait'
  admit(d, {
    id: d.mint('msg'),
    provenance: runtimeFollowup,
    priority: 'interject',
    body: `The operator changed ${item}: ${what}. Read it again with GetWorkItem.`,
    work_item_id: item,
  })
}
