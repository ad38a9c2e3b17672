/**
 * One tool call as one line of a run: mark, verb and object, outcome. Null for calls whose effect
 * has a line of its own (items made and completed, waits). Pure.
 */
import type { FileDiff, ToolResult } from '../../protocol/records/records.ts'
import type { Mark } from '../text/marks.ts'
import { diffTotal } from './diff-lines.ts'

export type CallLine = { mark: Mark; left: string; right: string }

type Input = Readonly<Record<string, unknown>>

const record = (value: unknown): Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Calls that only look: neighbours of a kind fold into one line. */
export const looks: Readonly<Record<string, { one: string; many: string }>> = {
  ReadFile: { one: 'read', many: 'files' },
  GetWorkItem: { one: 'looked at', many: 'items' },
  ListWorkItems: { one: 'looked at', many: 'lists of items' },
  ListTasks: { one: 'looked at', many: 'lists of tasks' },
  TaskStatus: { one: 'looked at', many: 'tasks' },
  TaskOutput: { one: 'read the output of', many: 'tasks' },
  WebFetch: { one: 'read', many: 'pages' },
  ViewImage: { one: 'looked at', many: 'images' },
}

export function callLine(tool: string, given: unknown, result: ToolResult): CallLine | null {
  const input = record(given)
  if (result.status === 'error') return failedLine(tool, input, result.error)
  const value = record(result.result)
  switch (tool) {
    case 'ExecCommand':
      return commandLine(input, value)
    case 'ReadFile':
      return { mark: 'done', left: `read ${text(input['path'])}`, right: linesRead(value) }
    case 'WebFetch':
      return { mark: 'done', left: `read ${text(input['url'])}`, right: '' }
    case 'ViewImage':
      return { mark: 'done', left: `looked at ${text(input['path'])}`, right: '' }
    case 'EditFile':
      return editLine(text(input['path']), value, result.diffs ?? [])
    case 'ApplyPatch':
      return patchLine(result.summary, result.diffs ?? [])
    case 'UpdateWorkItem':
      return updateLine(input, result.summary)
    case 'CreateWorkItem':
    case 'PickWorkItem':
    case 'CompleteWorkItem':
      return null
    case 'WaitFor':
      // One that waits has a line of its own, from its event.
      return record(value['wait'])['status'] === 'resolved'
        ? { mark: 'done', left: result.summary, right: '' }
        : null
    case 'GetWorkItem':
    case 'TaskStatus':
    case 'TaskOutput': {
      const id = text(input['work_item_id']) || text(input['task_id'])
      return { mark: 'done', left: `${looks[tool]?.one} ${id}`, right: '' }
    }
    case 'TaskStop':
      return { mark: 'done', left: `stop ${text(input['task_id'])}`, right: '' }
  }
  return { mark: 'done', left: `${tool}: ${result.summary}`, right: '' }
}

/** What a command is known to have changed: `+1 -1`, or `3 files +11 -2`. */
export function changedWords(diffs: readonly FileDiff[] | undefined): string {
  if (diffs === undefined || diffs.length === 0) return ''
  const { what, counts } = diffTotal(diffs)
  return diffs.length === 1 ? counts : `${what} ${counts}`
}

/** What a call is about, for a line that says it has begun or failed. */
export function callSubject(tool: string, given: unknown): string {
  const input = record(given)
  switch (tool) {
    case 'ExecCommand':
      return oneCommand(text(input['cmd']))
    case 'ReadFile':
      return `read ${text(input['path'])}`
    case 'WebFetch':
      return `read ${text(input['url'])}`
    case 'ViewImage':
      return `look at ${text(input['path'])}`
    case 'EditFile':
      return `edit ${text(input['path'])}`
    case 'ApplyPatch':
      return patchSubject(text(input['patch']))
  }
  return tool
}

/** By the headers of a patch: it may be one that cannot be applied, or read. */
function patchSubject(patch: string): string {
  const headers = patch.matchAll(/^--- (.+)\n\+\+\+ (.+)$/gm)
  const names = [...headers].map(([, before = '', after = '']) =>
    after.startsWith('/dev/null') ? nameIn(before, 'a/') : nameIn(after, 'b/'),
  )
  const [first] = names
  if (first === undefined) return 'patch'
  return names.length === 1 ? `patch ${first}` : `patch ${names.length} files`
}

/** Without the time that may stand behind it, and without git's prefix. */
function nameIn(header: string, prefix: string): string {
  const name = header.split('\t')[0]?.trim() ?? ''
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

type CallError = Extract<ToolResult, { status: 'error' }>['error']

function failedLine(tool: string, input: Input, error: CallError): CallLine {
  const left = callSubject(tool, input)
  switch (error.kind) {
    case 'not_executed':
      return { mark: 'next', left, right: 'not run' }
    case 'outcome_unknown':
      return { mark: 'unknown', left, right: `outcome unknown: ${error.message}` }
    case 'invalid_input':
    case 'rejected':
    case 'fault':
    case 'timeout':
    case 'aborted':
      return { mark: 'failed', left, right: error.message }
  }
}

/** The first line of a command, and that there is more. */
export function oneCommand(cmd: string): string {
  const [first = '', ...rest] = cmd.trim().split('\n')
  return rest.length === 0 ? first : `${first} … (${rest.length + 1} lines)`
}

function commandLine(input: Input, value: Input): CallLine {
  const left = oneCommand(text(input['cmd']))
  const handle = record(value['task_handle'])
  if (typeof handle['task_id'] === 'string') {
    return { mark: 'waiting', left, right: `goes on as ${handle['task_id']}` }
  }
  const status = value['exit_status']
  const words = `${text(value['stdout'])}\n${text(value['stderr'])}`
  if (status === 0) {
    const lines = text(value['stdout'])
      .split('\n')
      .filter((line) => line !== '').length
    return { mark: 'done', left, right: lines === 0 ? '' : counted(lines, 'line') }
  }
  const last = words.split('\n').findLast((line) => line.trim() !== '')
  return {
    mark: 'failed',
    left,
    right: last === undefined ? `exit ${String(status)}` : `exit ${String(status)}: ${last.trim()}`,
  }
}

function updateLine(input: Input, summary: string): CallLine {
  const todos = input['todo_list']
  if (typeof input['blocked_by'] === 'string') {
    return { mark: 'blocked', left: `blocked: ${input['blocked_by']}`, right: '' }
  }
  if (Array.isArray(todos)) {
    const done = todos.filter((todo) => record(todo)['state'] === 'completed').length
    const doing = todos.map(record).find((todo) => todo['state'] === 'in_progress')
    const now = doing === undefined ? '' : `: ${text(doing['text'])}`
    return { mark: 'done', left: `todos ${done}/${todos.length}${now}`, right: '' }
  }
  return { mark: 'done', left: summary, right: '' }
}

function linesRead(value: Input): string {
  const { first_line, last_line, total_lines } = value
  if (typeof first_line !== 'number' || typeof last_line !== 'number') return ''
  const count = Math.max(0, last_line - first_line + 1)
  return count === total_lines ? counted(count, 'line') : `${count} of ${String(total_lines)} lines`
}

function editLine(path: string, value: Input, diffs: readonly FileDiff[]): CallLine {
  const { change, replacements } = value
  const places =
    typeof replacements === 'number' && replacements > 1 ? `${replacements} places` : ''
  const total = diffs.length === 0 ? { what: path, counts: '' } : diffTotal(diffs)
  const how = change === 'created' ? 'new' : places
  const right = [how, total.counts].filter((part) => part !== '').join(', ')
  return { mark: 'done', left: `edit ${total.what}`, right }
}

/** An earlier version kept no diffs: then as many words as the result has. */
function patchLine(summary: string, diffs: readonly FileDiff[]): CallLine {
  if (diffs.length === 0) return { mark: 'done', left: 'patch', right: summary }
  const { what, counts } = diffTotal(diffs)
  return { mark: 'done', left: `patch ${what}`, right: counts }
}

export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
