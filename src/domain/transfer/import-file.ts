/**
 * Reads the file of an item that came from elsewhere. It believes nothing: size, number of lines
 * and depth are bounded before anything is parsed, each line must be written as `JSON.stringify`
 * writes it (so that no key stands twice), ids and times have their forms, and the sum must match.
 * The first thing that is wrong is a refusal that names its line; nothing was written by then.
 */
import {
  exportFormat,
  exportTables,
  exportVersion,
  sliceKinds,
  type Carried,
  type ExportHead,
  type HashText,
  type SliceKind,
} from './export-format.ts'
import { sizeOf } from './export-file.ts'
import { isAgentId } from '../ids.ts'
import { utf8Length } from '../inbox/admit.ts'
import { isShallow } from './json-depth.ts'
import { limits } from '../limits.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import { planStatuses, todoStates, type PlanStatus, type Todo } from '../state/work-item.ts'

export type ImportRead = { ok: true; carried: Carried; records: number } | Rejection

type Fields = { readonly [field: string]: unknown }
type Line = { ok: true; fields: Fields } | Rejection

export function readExport(file: string, hash: HashText): ImportRead {
  const bytes = utf8Length(file)
  if (bytes > limits.export_file.value) return overLimit(limits.export_file, bytes)
  const count = countOf(file, '\n')
  if (count > limits.export_records.value + 2) return overLimit(limits.export_records, count)
  const lines = file.split('\n')
  if (lines.pop() !== '') return invalid(lines.length + 1, 'it breaks off in the middle')
  const head = headOf(lines[0] ?? '')
  if ('ok' in head) return head
  const last = lines.at(-1) ?? ''
  const body = file.slice(0, file.length - last.length - 1)
  const ended = checkEnd(last, lines.length, hash(body))
  if (ended) return ended
  const slice = lines.slice(1, -1)
  if (slice.length !== head.records) {
    return invalid(1, `it says ${head.records} records, and there are ${slice.length}`)
  }
  return readSlice(slice, head)
}

function readSlice(lines: readonly string[], head: ExportHead): ImportRead {
  const seen = new Set<string>()
  let item: Fields | null = null
  let plan = ''
  for (const [n, line] of lines.entries()) {
    const read = parsed(line, n + 2)
    if (!read.ok) return read
    const { fields } = read
    const key = keyOf(fields)
    if (key === null) return invalid(n + 2, 'it is no record of this format')
    if (seen.has(key)) return invalid(n + 2, 'the same record stands in the file already')
    seen.add(key)
    if (fields['generation'] !== 0) continue
    if (fields['record'] === 'item') item = fields['item'] as Fields
    if (fields['record'] === 'plan') plan = fields['text'] as string
  }
  if (item === null) return invalid(1, 'there is no item in it')
  const carried = carriedOf(item, plan, head)
  return 'ok' in carried ? carried : { ok: true, carried, records: lines.length }
}

function headOf(line: string): ExportHead | Rejection {
  const read = parsed(line, 1)
  if (!read.ok) return read
  const { fields } = read
  const { record, format, version, records, agent_id, work_item_id, exported_at } = fields
  if (record !== 'export' || format !== exportFormat || !isCount(version)) {
    return invalid(1, 'it is no export of a work item')
  }
  if (version > exportVersion) {
    const known = `this program knows up to ${exportVersion}`
    return no('import_newer', `The file has version ${version} of its format; ${known}.`)
  }
  const fine =
    version === exportVersion &&
    hasOnly(fields, headFields) &&
    isCount(records) &&
    isTime(exported_at) &&
    typeof agent_id === 'string' &&
    isAgentId(agent_id) &&
    isWorkItemId(work_item_id) &&
    typeof fields['program'] === 'string' &&
    isFields(fields['cut'])
  return fine ? (fields as ExportHead) : invalid(1, 'its head is not as it must be')
}

function checkEnd(line: string, at: number, sum: string): Rejection | null {
  const read = parsed(line, at)
  if (!read.ok) return read
  const { record, sha256 } = read.fields
  if (record !== 'end' || !hasOnly(read.fields, ['record', 'sha256'])) {
    return invalid(at, 'the last line is not its end: the file was cut off')
  }
  return sha256 === sum ? null : invalid(at, 'the sum does not match: the file was changed')
}

function parsed(line: string, at: number): Line {
  // Which kind it is, is not known yet: no kind may be larger than a plan.
  if (line.length > sizeOf('plan')) return invalid(at, 'the line is too long')
  if (!isShallow(line, limits.export_depth.value)) return invalid(at, 'it is nested too deep')
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return invalid(at, 'it is not JSON')
  }
  if (!isFields(value)) return invalid(at, 'it is not an object')
  if (JSON.stringify(value) !== line) return invalid(at, 'it is not written as an export is')
  return { ok: true, fields: value }
}

/** What a record may be told from others by; null when it is none. */
function keyOf(fields: Fields): string | null {
  const { record, generation } = fields
  const kind = sliceKinds.find((one) => one === record)
  if (kind === undefined || !isCount(generation)) return null
  if (generation >= limits.import_generations.value) return null
  const own = ownKey(kind, fields)
  return own === null ? null : `${generation} ${kind} ${own}`
}

function ownKey(kind: SliceKind, fields: Fields): string | null {
  const only = (...names: string[]) => hasOnly(fields, ['record', 'generation', ...names])
  switch (kind) {
    case 'item':
      return only('item') && isFields(fields['item']) ? '' : null
    case 'plan':
      return only('text') && typeof fields['text'] === 'string' ? '' : null
    case 'row': {
      const { table, row } = fields
      if (!only('table', 'row') || !isFields(row) || !isId(row['id'])) return null
      return exportTables.some((one) => one === table) ? `${String(table)} ${row['id']}` : null
    }
    case 'event': {
      const { seq, at, event } = fields
      const named = only('seq', 'at', 'turn_id', 'causation_id', 'event')
      if (!named || !isCount(seq) || !isTime(at) || !isFields(event)) return null
      return typeof event['type'] === 'string' ? String(seq) : null
    }
    case 'blob': {
      const { sha256, text } = fields
      if (!only('sha256', 'text') || typeof text !== 'string') return null
      return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : null
    }
  }
}

function carriedOf(item: Fields, plan: string, head: ExportHead): Carried | Rejection {
  const { id, objective, plan_status, todo_list, budget, checks } = item
  if (id !== head.work_item_id) return invalid(1, 'its item is not the one its head names')
  const status = planStatuses.find((one) => one === plan_status)
  const todos = todosOf(todo_list)
  if (typeof objective !== 'string' || status === undefined || todos === null) {
    return invalid(1, 'its item has no objective, plan status or todo list of this format')
  }
  const bytes = utf8Length(plan)
  if (bytes > limits.plan_file.value) return overLimit(limits.plan_file, bytes)
  const { agent_id, work_item_id, exported_at } = head
  return {
    agent_id,
    work_item_id,
    exported_at,
    objective,
    // Asking was the old agent's: here nobody waits for an answer.
    plan_status: status === 'needs_input' ? 'draft' : (status satisfies PlanStatus),
    todo_list: todos,
    plan,
    not_taken: [
      ...(isFields(budget) ? (['budget'] as const) : []),
      ...(Array.isArray(checks) && checks.length > 0 ? (['checks'] as const) : []),
    ],
  }
}

function todosOf(value: unknown): Todo[] | null {
  if (!Array.isArray(value)) return null
  const todos = value.flatMap((one: unknown): Todo[] => {
    if (!isFields(one) || !hasOnly(one, ['text', 'state'])) return []
    const state = todoStates.find((known) => known === one['state'])
    return typeof one['text'] === 'string' && state ? [{ text: one['text'], state }] : []
  })
  return todos.length === value.length ? todos : null
}

const headFields = ['record', 'format', 'version', 'exported_at', 'program'].concat([
  'agent_id',
  'work_item_id',
  'records',
  'cut',
])

const invalid = (line: number, what: string): Rejection =>
  no('import_invalid', `Line ${line} of the file: ${what}.`)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
const isWorkItemId = (value: unknown): value is string =>
  typeof value === 'string' && /^work_[0-9A-Za-z-]{4,64}$/.test(value)
const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9@:._-]{0,255}$/.test(value)
/** Every name is there, and no other. */
const hasOnly = (fields: Fields, names: readonly string[]): boolean =>
  Object.keys(fields).length === names.length && names.every((name) => Object.hasOwn(fields, name))

function countOf(text: string, mark: string): number {
  let count = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) count += 1
  return count
}
