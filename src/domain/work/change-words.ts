/**
 * What the operator changed of an item that a turn works on, in words that need no second look:
 * each field with the value that it has now, and of a budget what is used of it.
 */
import { asked } from '../checks/words.ts'
import { budgetLine, budgetNow } from '../facts/budget.ts'
import type { Draft } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { meterOf } from '../facts/payer.ts'
import type { WorkItemChanges } from '../state/work-item.ts'

type Words = { readonly [K in keyof WorkItemChanges]-?: (value: Given<K>, now: Now) => string }
type Given<K extends keyof WorkItemChanges> = NonNullable<WorkItemChanges[K]>
type Now = { d: Draft; id: WorkItemId }

const words: Words = {
  objective: (text) => `objective: ${quote(text)}`,
  plan_status: (status) => `plan_status: ${status}`,
  input_wanted: ({ question }) => (question === null ? '' : `asks ${quote(question)}`),
  todo_list: (list) =>
    list.length === 0
      ? 'todos: none'
      : `todos: ${list.map(({ state, text }) => `${state} ${quote(text)}`).join(', ')}`,
  blocked_by: (text) => `blocked_by: ${quote(text)}`,
  budget: (budget, { d, id }) => {
    const item = d.row('work_items', id)
    const now = item === undefined ? null : budgetNow(item, meterOf(d, id), d.now)
    return now === null ? 'budget' : `budget, used so far: ${budgetLine(budget, now)}`
  },
  checks: (checks) =>
    checks.length === 0
      ? 'checks: none'
      : `checks: ${checks.map((check) => `${check.name} (${asked(check)})`).join(', ')}`,
}

/** In the order of the fields; what is too long is named, to be read. */
export function changeWords(d: Draft, id: WorkItemId, changed: WorkItemChanges): string[] {
  return Object.entries(changed).flatMap(([field, value]) => {
    const name = field as keyof WorkItemChanges
    if (value === null) return gone[name] === '' ? [] : [gone[name]]
    const of = words[name] as (value: unknown, now: Now) => string
    const text = of(value, { d, id })
    if (text.length > limits.told_change.value) return [`${name}, to be read with GetWorkItem`]
    return text === '' ? [] : [text]
  })
}

const gone: { readonly [K in keyof WorkItemChanges]-?: string } = {
  objective: '',
  plan_status: '',
  input_wanted: '',
  todo_list: '',
  blocked_by: 'no blocker any more',
  budget: 'no budget any more',
  checks: '',
}

const quote = (text: string): string => JSON.stringify(text)
