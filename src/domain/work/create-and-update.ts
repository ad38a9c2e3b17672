/**
 * CreateWorkItem and UpdateWorkItem: the rules. Each checks, then emits; equal values are a
 * success without an event, and every refusal names the value and the remedy
 * (docs/spec/work-item.md).
 */
import type { Warning } from '../state/call.ts'
import type { Check } from '../state/check.ts'
import { changeWords } from './change-words.ts'
import { checksRunning } from '../checks/checks.ts'
import {
  activeWaitOf,
  agentOf,
  openItems,
  openTurn,
  type Draft,
  type Facts,
} from '../facts/facts.ts'
import { mustProject, openItem, releaseFocus } from '../waits/focus.ts'
import type { WaitId, WorkItemId } from '../ids.ts'
import { revertWords, type RevertRecord } from './revert.ts'
import { notAdopted } from '../facts/imported.ts'
import { admit } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { drawOnNone, drawOnTurn, nothingUsed, openMeter, type UseSoFar } from '../budgets/settle.ts'
import { outsideInput, queueChanged } from '../waits/pacing.ts'
import { runtimeFollowup } from '../state/provenance.ts'
import { askForInputOf, inputWanted } from '../waits/plan-question.ts'
import { questionOf } from '../state/question.ts'
import type { Projection } from '../facts/readiness.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { Wait } from '../state/wait.ts'
import type {
  Budget,
  By,
  PlanStatus,
  PlanStored,
  Todo,
  WorkItem,
  ImportedFrom,
} from '../state/work-item.ts'
import type { WorkItemChanges } from '../state/work-item.ts'

export type CreateItem = {
  id: WorkItemId
  by: By
  objective: string
  plan_status: PlanStatus
  /** What is asked where the plan needs input; absent: the first lines of the plan. */
  question?: string
  /** The text of the plan, for a question that was not given. Absent: there is none. */
  plan_text?: string
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
  command: Pick<CreateItem, 'objective' | 'todo_list'> &
    Partial<Pick<CreateItem, 'plan_status' | 'question'>>,
): Rejection | null {
  const wrong =
    checkObjective(command.objective) ??
    checkTodos(command.todo_list) ??
    checkQuestion(command.question, command.plan_status === 'needs_input')
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
  const { question, plan_text: plan = '', ...made } = command
  const objective = command.objective.trim()
  const asked = question === undefined ? {} : { question }
  const { plan_status } = command
  const before = { plan_status, input_wanted: null, objective }
  const input_wanted = inputWanted(before, { ...asked, plan })
  d.emit({ type: 'work_item_created', ...made, objective, input_wanted })
  if (command.budget !== null) openMeter(d, command.id, nothingUsed)
  else if (command.by === 'agent') drawOnTurn(d, command.id)
  if (command.by === 'operator') {
    outsideInput(d, command.id, 'operator')
    askForInputOf(d, command.id, 'operator')
  }
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
  /** What is asked where the plan needs input; absent: the first lines of the plan. */
  question?: string
  /** The text of the plan, for a question that was not given. Absent: there is none. */
  plan_text?: string
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
  const wrong = notAdopted(item, command.by) ?? checkUpdate(command, item)
  if (wrong) return wrong

  if (command.checks !== undefined && command.by !== 'operator') {
    throw new Error(`${command.by} sets the checks of ${item.id}`)
  }
  const running = command.checks === undefined ? null : checksRunning(item)
  if (running) return running
  const { question, plan_status, plan_text: plan = '' } = command
  const wanted = inputWanted(item, {
    plan,
    ...(question === undefined ? {} : { question }),
    ...(plan_status === undefined ? {} : { plan_status }),
  })
  const lets_go = item.plan_status !== 'needs_input' && isCurrent(d, item.id)
  const input_wanted = wanted && { ...wanted, held_focus: wanted.held_focus || lets_go }
  const changed = differing(item, { ...command, input_wanted })
  const wait = activeWaitOf(d, item.id)
  const { isOver, cleared } = endsWait(item, { wait, changed, command })
  const emittedBefore = d.emitted.length
  if (Object.keys(changed).length > 0) {
    d.emit({ type: 'work_item_updated', id: item.id, by: command.by, changed })
  }
  if (changed.budget) openMeter(d, item.id, command.so_far ?? nothingUsed)
  else if (command.budget !== undefined) drawOnNone(d, item.id)
  if (isOver && wait !== null) {
    const because = cleared?.wait_id ? 'unblocked' : 'its plan asks this no more'
    d.emit({ type: 'wait_cancelled', id: wait.id, by: command.by, because })
    queueChanged(d)
  }
  if (changed.blocked_by) releaseFocus(d, item.id, 'blocked')
  if (changed.plan_status === 'needs_input') releaseFocus(d, item.id, 'needs_input')
  const isChanged = d.emitted.length > emittedBefore
  if (command.by === 'operator') {
    outsideInput(d, item.id, 'operator')
    askForInputOf(d, item.id, 'operator')
    if (isChanged) tellRunningTurn(d, item.id, changeWords(d, item.id, changed))
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

const isCurrent = (d: Draft, id: WorkItemId): boolean => agentOf(d).current_work_item_id === id

/**
 * Whether the item's wait ends with the change. "I may go on" ends any wait but the question of a
 * plan that still needs input; that one ends when the plan needs none, or asks something else.
 */
function endsWait(
  item: WorkItem,
  given: { wait: Wait | null; changed: WorkItemChanges; command: UpdateItem },
): { isOver: boolean; cleared: Mutated['cleared'] } {
  const { wait, changed, command } = given
  const isOfPlan = wait?.question?.settles === 'plan_status'
  const stillAsks = isOfPlan && (command.plan_status ?? item.plan_status) === 'needs_input'
  const asksElse =
    isOfPlan &&
    (!stillAsks || (changed.input_wanted?.question ?? wait.question?.text) !== wait.question?.text)
  if (command.blocked_by !== null) return { isOver: asksElse, cleared: null }
  const isFreed = wait !== null && !stillAsks
  const cleared = { blocked_by: item.blocked_by, wait_id: isFreed ? wait.id : null }
  return { isOver: isFreed || asksElse, cleared }
}

function differing(
  item: { [K in keyof WorkItemChanges]-?: unknown },
  command: UpdateItem & Pick<WorkItem, 'input_wanted'>,
): WorkItemChanges {
  const changed: Record<string, unknown> = {}
  for (const key of [
    'objective',
    'plan_status',
    'input_wanted',
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

function checkUpdate(command: UpdateItem, item: WorkItem): Rejection | null {
  const { objective, todo_list, blocked_by, plan_status, question, budget, checks } = command
  const given = [objective, todo_list, blocked_by, plan_status, question, budget, checks]
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
  const needsInput = (plan_status ?? item.plan_status) === 'needs_input'
  return (
    checkQuestion(question, needsInput) ?? (todo_list === undefined ? null : checkTodos(todo_list))
  )
}

/** A question is for a plan that needs input: nobody would be asked it otherwise. */
function checkQuestion(question: string | undefined, needsInput: boolean): Rejection | null {
  if (question === undefined) return null
  if (!needsInput) {
    return no('question_not_wanted', 'A question is given, and plan_status is not needs_input.')
  }
  const made = questionOf(question, [])
  return made.ok ? null : made
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
export function tellRunningTurn(d: Draft, item: WorkItemId, words: readonly string[]): void {
  const turn = openTurn(d)
  if (turn === null || turn.work_item_id !== item) return
  const what = words.length > 0 ? words.join('; ') : 'its wait is over'
  tell(d, item, `The operator changed ${item}: ${what}.`)
}

/** What a person does to files concerns every turn: they are there for all items. */
export function tellReverted(d: Draft, item: WorkItemId, record: RevertRecord): void {
  if (openTurn(d) === null) return
  const undone = record.undo ? '' : ' Do not make the change again unasked.'
  tell(d, item, `The operator ${revertWords(record)}: files that ${item} changed.${undone}`)
}

function tell(d: Draft, work_item_id: WorkItemId, body: string): void {
  const [id, provenance] = [d.mint('msg'), runtimeFollowup]
  admit(d, { id, provenance, priority: 'interject', body, work_item_id })
}
