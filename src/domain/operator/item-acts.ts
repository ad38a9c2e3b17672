/** The operator's acts on work items: the agent's own rules, with `by: operator`, and an answer. */
import { overWords } from '../facts/budget.ts'
import { budgetWarnings, changedBudget } from '../budgets/change.ts'
import { checksOf } from '../checks/spec.ts'
import { answerCheck, runAgain } from '../checks/checks.ts'
import { completeItem } from '../work/complete.ts'
import { activeWaitOf, agentOf, type Draft } from '../facts/facts.ts'
import { openItem, pickItem } from '../waits/focus.ts'
import type { WorkItemId } from '../ids.ts'
import { createItem, tellRunningTurn, updateItem } from '../work/create-and-update.ts'
import type { Prepared } from './act-inputs.ts'
import { meterOf } from '../facts/payer.ts'
import { askForInput, wantedWords } from '../waits/plan-question.ts'
import type { Projection } from '../facts/readiness.ts'
import type { DecidedAct } from './act.ts'
import { done, type Done } from '../state/reply.ts'
import { isRejection, no, type Rejection } from '../rejection.ts'

type Act<K extends DecidedAct['do']> = Extract<DecidedAct, { do: K }>

/** Makes an item, blocked at once when it is asked for. Its plan file is there already. */
export function create(d: Draft, act: Prepared<'create_item'>): Done | Rejection {
  const { id, plan } = act.inputs.new_item
  const set = changedBudget(null, act.budget ?? null, d.now)
  if (isRejection(set)) return set
  const asked = checksOf(act.checks ?? [], agentOf(d).workspace.root)
  if (isRejection(asked)) return asked
  const made = createItem(d, {
    id,
    by: 'operator',
    objective: act.objective,
    plan_status: act.plan_status ?? 'draft',
    todo_list: act.todo_list ?? [],
    ...(act.question === undefined ? {} : { question: act.question }),
    plan_text: act.plan ?? '',
    plan,
    budget: set.budget,
    ...(asked.checks.length === 0 ? {} : { checks: asked.checks }),
  })
  if (isRejection(made)) return made
  const warnings = [...brief(made.warnings), ...budgetWords(d, id, act)]
  if (act.blocked_by === undefined) return done(`${id} is created.`, { id, warnings })
  const { blocked_by } = act
  const blocked = updateItem(d, { work_item_id: id, by: 'operator', blocked_by })
  if (isRejection(blocked)) return blocked
  return done(`${id} is created, blocked.`, {
    id,
    warnings: [...warnings, ...brief(blocked.warnings)],
  })
}

export function update(d: Draft, act: Prepared<'update_item'>): Done | Rejection {
  const work_item_id = act.work_item_id as WorkItemId
  const item = openItem(d, work_item_id)
  if ('ok' in item) return item
  const { expected_revision: expected } = act
  if (expected !== undefined && expected !== item.revision) {
    const now = `${item.id} is at revision ${item.revision}, changed at ${item.updated_at}`
    return no('revision_stale', `${now}; the change was meant for revision ${expected}.`)
  }
  const { objective, plan_status, question, todo_list, blocked_by } = act
  const set = act.budget === undefined ? null : changedBudget(item.budget, act.budget, d.now)
  if (isRejection(set)) return set
  const asked = act.checks === undefined ? null : checksOf(act.checks, agentOf(d).workspace.root)
  if (isRejection(asked)) return asked
  const so_far = act.inputs.budget?.so_far
  const updated = updateItem(d, {
    work_item_id,
    by: 'operator',
    ...(set === null ? {} : { budget: set.budget }),
    ...(asked === null ? {} : { checks: asked.checks }),
    ...(so_far === undefined ? {} : { so_far }),
    ...(objective === undefined ? {} : { objective }),
    ...(plan_status === undefined ? {} : { plan_status }),
    ...(question === undefined ? {} : { question }),
    plan_text: act.inputs.plan_text ?? '',
    ...(todo_list === undefined ? {} : { todo_list }),
    ...(blocked_by === undefined ? {} : { blocked_by }),
  })
  if (isRejection(updated)) return updated
  const said = updated.changed ? `${item.id} is changed.` : `${item.id} was so already.`
  const warnings = [...brief(updated.warnings), ...budgetWords(d, item.id, act)]
  return done(said, { id: item.id, warnings })
}

/** What is to be said of a budget that was just set. */
function budgetWords(d: Draft, id: WorkItemId, act: Prepared<'create_item' | 'update_item'>) {
  if (act.budget === undefined) return []
  const unpriced = act.inputs.budget?.unpriced ?? null
  const budget = d.row('work_items', id)?.budget ?? null
  return budgetWarnings(budget, meterOf(d, id), { now: d.now, unpriced })
}

export function pick(d: Draft, act: Act<'pick'>): Done | Rejection {
  const work_item_id = act.work_item_id as WorkItemId
  const picked = pickItem(d, { work_item_id, by: 'operator', reason: act.reason ?? null })
  if (isRejection(picked)) return picked
  askForInput(d)
  const said = picked.changed ? 'is in focus' : 'was in focus already'
  return done(`${work_item_id} ${said}.`, { id: work_item_id, warnings: brief(picked.warnings) })
}

export function complete(d: Draft, act: Act<'complete'>): Done | Rejection {
  const work_item_id = act.work_item_id as WorkItemId
  const report = act.report ?? null
  const completed = completeItem(d, { work_item_id, by: 'operator', report, turn: null })
  if (isRejection(completed)) return completed
  tellRunningTurn(d, work_item_id, ['it is completed'])
  const warnings = brief(completed.warnings)
  return done(`${work_item_id} is completed.`, { id: work_item_id, warnings })
}

export function unblock(d: Draft, act: Act<'unblock'>): Done | Rejection {
  const work_item_id = act.work_item_id as WorkItemId
  const asked = activeWaitOf(d, work_item_id)?.wake === 'operator_input'
  const updated = updateItem(d, { work_item_id, by: 'operator', blocked_by: null })
  if (isRejection(updated)) return updated
  const { blocked_by, wait_id } = updated.cleared ?? { blocked_by: null, wait_id: null }
  const cleared = [
    ...(blocked_by === null ? [] : ['its blocker is cleared']),
    ...(wait_id === null ? [] : [`${wait_id} is cancelled`]),
  ]
  const what = cleared.length === 0 ? 'nothing held it' : cleared.join(', ')
  const gone = asked && wait_id !== null
  const warnings = [...brief(updated.warnings), ...(gone ? [questionCancelled] : [])]
  const still = stillHeld(updated.item)
  if (still === null) {
    return done(`${work_item_id} may go on: ${what}.`, { id: work_item_id, warnings })
  }
  const before = cleared.length === 0 ? '' : `${what}, but `
  return done(`${before}${work_item_id} does not go on yet: ${still}`, {
    id: work_item_id,
    warnings,
  })
}

/** What "I may go on" leaves in force, with what ends it; null: nothing. */
function stillHeld({ item, reason }: Projection): string | null {
  switch (reason.code) {
    case 'wait':
    case 'needs_input':
      return item.plan_status === 'needs_input'
        ? `its plan needs your input, "${wantedWords(item)}" (holon answer ${item.id} "…")`
        : null
    case 'imported':
      return `it was imported (holon work pick ${item.id})`
    case 'budget':
      return `${overWords(reason.over)} (holon work update ${item.id} raises it)`
    case 'blocked_by':
    case 'completed':
    case 'nothing_holds_it':
      return null
  }
}

export function runChecks(d: Draft, act: Act<'run_checks'>): Done | Rejection {
  const { work_item_id, names = null } = act
  const again = runAgain(d, { work_item_id, names })
  if (isRejection(again)) return again
  const which = again.names.join(', ')
  return done(`${which} of ${work_item_id} will be run.`, { id: work_item_id })
}

export function answer(d: Draft, act: Act<'answer_check'>): Done | Rejection {
  const { work_item_id, name, run, passed, words = null } = act
  const answered = answerCheck(d, { work_item_id, name, run, passed, words })
  if (isRejection(answered)) return answered
  const said = `${name} of ${work_item_id} is answered: ${passed ? 'passed' : 'failed'}.`
  return done(said, { id: work_item_id })
}

const questionCancelled = {
  kind: 'question_cancelled',
  message: 'It had asked you something and goes on without an answer; `holon answer` gives one.',
}

const brief = (warnings: readonly { kind: string; message: string }[]) =>
  warnings.map(({ kind, message }) => ({ kind, message }))
