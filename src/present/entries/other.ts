/** Reports, completions, plans, todos, budgets, delegations and changes as entries. Pure. */
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, type Sight } from './parts.ts'
import { counted } from '../lines/call-line.ts'
import type { Group } from '../history/noun-fold.ts'
import type { Event } from '../../protocol/records/records.ts'

export function briefEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const brief = group.heard.brief_delivered?.event
  if (brief === undefined) return null
  const { kind, text, work_item_id, wait_id } = brief
  // A completion contains its report, and a question is its own.
  const done = work_item_id === null ? undefined : sight.group(`${work_item_id}/done`)
  const report = done?.heard.work_item_completed?.event ?? done?.heard.work_item_reported?.event
  if (report?.brief_id === brief.id) return null
  if (kind === 'question' && wait_id !== null && sight.group(wait_id) !== undefined) return null
  if (kind === 'progress' && level < 2) return null
  const [first = '', ...rest] = isBlock.test(text.trim())
    ? ['', text.trim()]
    : text.trim().split('\n')
  return entry(group, 'brief', {
    who: line(kind === 'failure' ? 'failed' : kind === 'question' ? 'asks' : 'says'),
    mark: kind === 'failure' ? 'failed' : null,
    title: line(first),
    body: lines(rest.join('\n')),
  })
}

/** A report that begins with a list, a table, a quote or code is no sentence with a rest. */
const isBlock = /^(\||`{3}|~{3}|>|[-*+] |\d{1,9}[.)] )/

export function completionEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const { work_item_completed, work_item_reported } = group.heard
  const done = work_item_completed?.event
  const summary = work_item_reported?.event.result_summary ?? done?.result_summary ?? null
  const brief_id = work_item_reported?.event.brief_id ?? done?.brief_id ?? null
  const brief = brief_id === null ? undefined : sight.group(brief_id)?.heard.brief_delivered?.event
  const report = brief?.text ?? summary
  if (done === undefined) return null
  const left = done.unfinished_todo_count
  const by = done.by === 'operator' ? ' by you' : ''
  const rest = left === 0 ? '' : `; ${counted(left, 'todo')} not finished`
  const record = level === 3 ? [line(`${group.id}  seq ${group.seq}`)] : []
  return entry(group, 'completion', {
    mark: 'done',
    who: line('done'),
    title: line(`it is done${by}${rest}`),
    facts: facts('claimed'),
    body: [...(report === null ? [] : lines(report)), ...record],
  })
}

type Todo = { text: string; state: string }

/** The list as the turn left it; what it finished stands below. */
export function todosEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const todos = group.heard.work_item_updated?.event.changed.todo_list as Todo[] | undefined
  if (todos === undefined || level < 2) return null
  const first = group.first?.event
  const before = first?.type === 'work_item_updated' ? (first.changed.todo_list ?? []) : []
  const had = new Set(before.filter((todo) => todo.state === 'completed').map((todo) => todo.text))
  const done = todos.filter((todo) => todo.state === 'completed')
  const doing = todos.find((todo) => todo.state === 'in_progress')
  const now = doing === undefined ? '' : `: ${doing.text}`
  const fresh = (group.count.work_item_updated ?? 0) > 1 ? done.filter((t) => !had.has(t.text)) : []
  return entry(group, 'todos', {
    title: line(`todos ${done.length} of ${todos.length}${now}`),
    body: fresh.map((todo) => line(`done: ${todo.text}`)),
  })
}

export function planEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const plan = group.heard.plan_changed?.event.plan
  if (plan === undefined || level < 2) return null
  const size = plan.bytes < 1_000 ? `${plan.bytes} B` : `${(plan.bytes / 1_000).toFixed(1)} kB`
  const hash = plan.sha256 === null ? '' : `sha ${plan.sha256.slice(0, 4)}`
  return entry(group, 'plan', { title: line(`plan written, ${size}`), facts: facts(hash) })
}

export function budgetEntry(group: Group): Entry | null {
  const asked = group.heard.meter_asked?.event
  if (asked === undefined) return null
  return entry(group, 'budget', {
    mark: 'needs_me',
    who: line('$'),
    title: line(`reached a limit of its budget: ${asked.marks.join(', ').replaceAll(':', ' ')}`),
    facts: facts('no cost until you raise it'),
  })
}

export function delegationEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const made = group.heard.delegation_made?.event
  if (made === undefined || level < 2) return null
  const ended = group.heard.delegation_ended?.event
  const given = { who: line('child'), subject: { noun: 'task', id: made.task_id } } as const
  if (ended === undefined) {
    const title = line(`${made.child_agent_id} works on it`)
    return entry(group, 'delegation', { ...given, mark: 'working', title, since: group.at })
  }
  return entry(group, 'delegation', {
    ...given,
    mark: ended.state === 'completed' ? 'done' : 'failed',
    title: line(`${made.child_agent_id}: ${ended.state}`),
    body: ended.result_summary === null ? [] : lines(ended.result_summary),
  })
}

type By = 'agent' | 'operator' | 'runtime'
const byWords = (by: By): string =>
  by === 'operator' ? ' by you' : by === 'agent' ? '' : ' by holon'

/** What an item or its agent was made to be. */
export function changeEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const event = group.first?.event
  if (event === undefined) return null
  if (event.type === 'work_item_updated') return updateEntry(group, event)
  if (event.type === 'work_item_created') {
    const title = line(`made${byWords(event.by)}: ${event.objective}`)
    // An agent's own item was asked for by the message above it.
    const isTold = level < 3 && event.by === 'agent'
    return isTold ? null : entry(group, 'change', { who: line('item'), title })
  }
  const isOfAgent =
    event.type === 'agent_started' ||
    event.type === 'agent_stopped' ||
    event.type === 'agent_deleted'
  if (!isOfAgent) return null
  const title = line(`${event.id} ${event.type.replace('agent_', '')}${byWords(event.by)}`)
  return entry(group, 'change', { who: line('-'), title })
}

function updateEntry(group: Group, event: Extract<Event, { type: 'work_item_updated' }>): Entry {
  const { blocked_by, objective, budget } = event.changed
  const by = byWords(event.by)
  if (typeof blocked_by === 'string') {
    return entry(group, 'change', {
      mark: 'blocked',
      who: line('#'),
      title: line(`blocked: ${blocked_by}`),
    })
  }
  const said = [
    blocked_by === null ? `may go on${by}` : '',
    objective === undefined ? '' : `its objective was changed${by}: ${objective}`,
    budget === undefined ? '' : `its budget was changed${by}`,
  ].filter((part) => part !== '')
  return entry(group, 'change', { who: line('-'), title: line(said.join('; ')) })
}
