/**
 * What of a tool's result the model reads. The ledger keeps the whole shape; here is left what is
 * set and not said already: by the status line, by the call that stands above it, or by an item
 * that the same request has in full. Pure; a result that is unknown here loses its empty fields.
 */
import { questionText, type Question } from '../domain/state/question.ts'
import { stableHash } from '../domain/stable-hash.ts'
import { boxes } from './boxes.ts'
import { oneLine } from './phrase.ts'

export type ResultForm =
  /** Of this turn: an item that was asked for stands in full, once in a request. */
  | 'turn'
  /** Of an earlier turn: no item in full, for it is not so any more. */
  | 'history'

/** Of an item that stands in full: a mark of each field. What has another mark has changed. */
export type ItemMarks = Readonly<Record<string, string>>

/** The items that a request has in full so far, by id. */
export type ItemsShown = Map<string, ItemMarks>

type Fields = { readonly [key: string]: unknown }
type View = { summary: string; form: ResultForm; items: ItemsShown | null }
type Shown = (result: Fields, view: View) => unknown

/** What is left of `result`, to be written as lines; undefined: the status line says it all. */
export function shownResult(tool_name: string, result: unknown, view: View): unknown {
  if (!isFields(result)) return trimmed(result, view.summary)
  const of = byTool[tool_name]
  return trimmed(of === undefined ? result : of(result, view), view.summary)
}

const without =
  (...names: readonly string[]): Shown =>
  (result) =>
    omit(result, names)

/** What two fields say alike is said by one of them, and what the status says by none. */
const taskStatus: Shown = (result) => {
  const { task_id: _, task_kind: __, status, label, process, input, created_at, ...more } = result
  return {
    ...more,
    ...(label === more['cmd'] ? {} : { label }),
    ...(process === status ? {} : { process }),
    ...(input === 'none' ? {} : { input }),
    ...(isSet(more['started_at']) ? {} : { created_at }),
  }
}

const isSet = (value: unknown): boolean => !isUnset(value)

/** Of a private child its preset says all of whose it is. */
const agentGet: Shown = (result) => {
  const more = omit(result, ['agent_id', 'posture'])
  return result['preset'] === 'private_child'
    ? omit(more, ['visibility', 'ownership', 'lineage_parent_agent_id'])
    : more
}

const task = without('task_id', 'task_kind', 'status', 'exit_status', 'reason', 'full_output')

/** Tools whose results hold more than a model needs; the others are shown as they are. */
const byTool: Readonly<Record<string, Shown>> = {
  CreateWorkItem: ({ item, previous, ...more }, { form }) => ({
    ...more,
    // In an earlier turn it is told where the item stands.
    plan: isItem(item) && form === 'turn' ? item.plan_artifact['path'] : null,
    ...(isItem(previous) ? { previous: named(previous) } : {}),
  }),
  UpdateWorkItem: ({ cleared, ...more }) => ({ ...omit(more, ['item', 'changed']), cleared }),
  PickWorkItem: ({ current, previous, ...more }, view) => ({
    ...omit(more, ['binding']),
    ...(isItem(current) ? { item: asked(current, view) } : {}),
    ...(isItem(previous) ? { previous: named(previous) } : {}),
  }),
  GetWorkItem: ({ item, ...more }, view) => ({
    ...more,
    ...(isItem(item) ? { item: asked(item, view) } : {}),
  }),
  ListWorkItems: ({ items }) => ({
    items: Array.isArray(items) ? items.map((one) => (isItem(one) ? listed(one) : one)) : items,
  }),
  CompleteWorkItem: (result) => omit(result, ['work_item', 'warnings']),
  WaitFor: ({ wait, ...more }) => ({
    ...omit(more, ['status']),
    ...(isFields(wait) ? pick(wait, ['condition', 'wake_at', 'recheck_at']) : {}),
  }),
  ExecCommand: (result, view) => {
    const { task_handle, ...more } = task(result, view) as Fields
    return isFields(task_handle) ? { ...more, ...pick(task_handle, ['initial_output']) } : more
  },
  ListTasks: ({ running, ended }) => ({ running: taskLines(running), ended: taskLines(ended) }),
  TaskOutput: task,
  TaskStatus: taskStatus,
  AgentGet: agentGet,
  TaskStop: task,
  TaskInput: without('task_id', 'task_kind', 'message_id', 'answered', 'bytes', 'input_ended'),
  SpawnAgent: ({ agent_id: _, task_handle: __, model: ___, workspace, ...more }) =>
    isFields(more['worktree']) ? more : { ...more, workspace },
  FindInFiles: without('files'),
  // Its status says which image; what becomes of it, the request.
  ViewImage: (_, { form }) => (form === 'turn' ? {} : { image: 'ViewImage again to see it' }),
  ReadFile: without('path', 'total_entries', 'total_lines', 'bytes', 'first_line', 'last_line'),
  EditFile: ({ lines, text, replacements: n }, { form }) => ({
    // Where there are several the others are found by their numbers.
    ...(n === 1 ? {} : { lines: Array.isArray(lines) ? lines.join(', ') : lines }),
    ...(form === 'turn' ? { text } : {}),
  }),
}

/** A record of a work item, as every tool gives it. */
type Item = Fields & { id: string; objective: string; plan_artifact: Fields }

const isItem = (value: unknown): value is Item =>
  isFields(value) &&
  typeof value['id'] === 'string' &&
  typeof value['objective'] === 'string' &&
  isFields(value['plan_artifact'])

/** The item in full, once in a request; later what of it has changed, or that nothing has. */
function asked(item: Item, { form, items }: View): unknown {
  if (form === 'history') return listed(item)
  const fields = whole(item)
  const before = items?.get(item.id)
  const marks = marksOf(fields)
  items?.set(item.id, marks)
  if (before === undefined) return fields
  const gone = Object.keys(before).filter((name) => !(name in marks))
  const changed = Object.entries(fields).filter(([name]) => before[name] !== marks[name])
  if (changed.length === 0 && gone.length === 0) return `${item.id} is as it stands above`
  return {
    id: item.id,
    'changed since it was shown above': Object.fromEntries(changed),
    'not set any more': gone,
  }
}

const marksOf = (fields: Fields): ItemMarks =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => !isUnset(value))
      .map(([name, value]) => [name, stableHash(JSON.stringify(value))]),
  )

/** What an opening that has the item in full says of it. */
export const itemMarks = (record: Fields): ItemMarks =>
  isItem(record) ? marksOf(whole(record)) : {}

function whole(item: Item): Fields {
  const plan = item.plan_artifact
  return {
    ...named(item),
    ...(item['plan_status'] === 'draft' ? {} : { plan_status: item['plan_status'] }),
    plan: plan['path'],
    ...(plan['bytes'] === 0 ? {} : pick(plan, ['bytes', 'preview', 'preview_complete'])),
    ...pick(plan, ['problem']),
    todo_list: todos(item['todo_list']),
    ...pick(item, ['blocked_by', 'checks', 'imported', 'result_summary']),
    ...(isFields(item['wait']) ? { wait: waitOf(item['wait']) } : {}),
    ...(isFields(item['budget']) ? { budget: trimmed(item['budget'], '') } : {}),
    ...pick(item, ['meter', 'verification']),
  }
}

/** One of several: what it is about, how it stands, and what it is at or held by. */
function listed(item: Item): Fields {
  const now = item['current_todo']
  return {
    ...named(item),
    ...(item['plan_status'] === 'needs_input' ? { plan_status: 'needs_input' } : {}),
    ...(isFields(now) ? { todo: now['text'] } : {}),
    todo_list: todos(item['todo_list']),
    ...pick(item, ['blocked_by']),
    ...(isFields(item['wait']) ? { wait: waitLine(item['wait']) } : {}),
    ...pick(item, ['result_summary']),
  }
}

const named = (item: Item): Fields => ({
  id: item.id,
  objective: item.objective,
  state: stateOf(item),
})

/** `runnable, in focus`; `runnable, queued`; `waiting_task`. */
function stateOf({ scheduling_state, focus }: Fields): string {
  const words = { current: ', in focus', queued: ', queued', none: '' } as const
  return `${String(scheduling_state)}${words[focus as keyof typeof words] ?? ''}`
}

const waitOf = (wait: Fields): Fields =>
  pick(wait, [
    'id',
    'wake',
    'reason',
    'question',
    'choices',
    'resource',
    'source',
    'condition',
    'wake_at',
    'recheck_at',
    'trigger_count',
    'last_triggered_at',
  ])

/**
 * `wait_… external, the review of it, resource pr/12, condition both have approved`; of a question
 * all of it with the answers that are offered. One line, whatever was asked: a text of several is
 * quoted as it came, with whole ids.
 */
function waitLine(wait: Fields): string {
  const { id, wake, reason, question } = wait
  const says = isQuestion(question) ? questionText(question) : String(reason)
  const named = ['resource', 'source', 'condition'].flatMap((name) =>
    typeof wait[name] === 'string' ? [`${name} ${wait[name]}`] : [],
  )
  return oneLine([`${String(id)} ${String(wake)}`, says, ...named].join(', '))
}

const isQuestion = (value: unknown): value is Pick<Question, 'text' | 'choices'> =>
  isFields(value) && typeof value['text'] === 'string' && Array.isArray(value['choices'])

function todos(list: unknown): unknown {
  if (!Array.isArray(list)) return null
  return list.map((todo) =>
    isFields(todo)
      ? `${boxes[todo['state'] as keyof typeof boxes] ?? ''} ${String(todo['text'])}`
      : todo,
  )
}

/** What is said of a child that waits for an answer, by who is to give it. */
const asksWhom: Readonly<Record<string, string>> = {
  supervisor: ', asks you and waits for TaskInput (question in TaskOutput)',
  operator: ', asks the operator',
}

/** `task_… completed, exit status 0: npm test (work_…)` */
function taskLines(list: unknown): unknown {
  if (!Array.isArray(list)) return null
  return list.map((one: unknown) => {
    if (!isFields(one)) return one
    const { task_id, status, exit_status, reason, label, work_item_id, asks } = one
    const exit = typeof exit_status === 'number' ? `, exit status ${exit_status}` : ''
    const why = typeof reason === 'string' ? `, ${reason}` : ''
    const about = typeof work_item_id === 'string' ? ` (${work_item_id})` : ''
    const waits = asksWhom[String(asks)] ?? ''
    return `${String(task_id)} ${String(status)}${exit}${why}${waits}: ${String(label)}${about}`
  })
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const omit = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** Those of the names that are set: a count of nothing, as null, says nothing. */
const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = fields[name]
      return value === undefined || value === null || value === 0 ? [] : [[name, value]]
    }),
  )

/** Ids and paths are said once; another text may be a fact that happens to be equal. */
const idOrPath = /^(?:[a-z]+_[0-9a-f-]{8,}|\/\S+)$/

/**
 * Without what is not set: null, and texts, lists and records with nothing in them. At the root
 * also without what the status line has word for word.
 */
export function trimmed(value: unknown, summary: string): unknown {
  if (Array.isArray(value)) return value.map((one) => trimmed(one, ''))
  if (!isFields(value)) return value
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    const shown = trimmed(inner, '')
    return isUnset(shown) || isSaid(shown, summary) ? [] : [[key, shown] as const]
  })
  return Object.fromEntries(kept)
}

const isSaid = (value: unknown, summary: string): boolean =>
  typeof value === 'string' && idOrPath.test(value) && summary.includes(value)

function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isFields(value) && Object.keys(value).length === 0
}
