/**
 * Which records a row makes, and what can be read in each. Pure: what stands in files comes with
 * the row. The searches themselves are no records: they would find each other.
 */
import { imageWords } from '../image.ts'
import type { Call } from '../state/call.ts'
import type { Rows, Table } from '../state/event.ts'
import type { MemoryRecord } from './memory.ts'
import type { Message } from '../state/message.ts'
import { roundText } from '../state/turn.ts'
import { isUnadopted } from '../state/work-item.ts'

/** Tables whose rows are records, in the order in which an index is built. */
export const memoryTables = [
  'work_items',
  'briefs',
  'messages',
  'tasks',
  'rounds',
  'calls',
  'schedules',
] as const satisfies readonly Table[]
export type MemoryTable = (typeof memoryTables)[number]

export const isMemoryTable = (table: Table): table is MemoryTable =>
  (memoryTables as readonly Table[]).includes(table)

/** What belongs to a row and is not in it; null: there is none (any more). */
export type ExternalTexts = { plan: string | null; stdout: string | null; stderr: string | null }
export const nothingBeside: ExternalTexts = { plan: null, stdout: null, stderr: null }

const quiet = new Set(['MemorySearch', 'MemoryGet'])

/** Every reference the row can ever have had; those without a record now are gone. */
export function refsOf(table: MemoryTable, row: Rows[MemoryTable]): readonly string[] {
  switch (table) {
    case 'work_items':
      return [row.id, `${row.id}/plan`]
    case 'tasks':
      return [row.id, `${row.id}/stdout`, `${row.id}/stderr`]
    case 'rounds':
      return [roundRef(row as Rows['rounds'])]
    case 'briefs':
    case 'messages':
    case 'calls':
    case 'schedules':
      return [row.id]
  }
}

const roundRef = ({ turn_id, n }: Pick<Rows['rounds'], 'turn_id' | 'n'>): string =>
  `${turn_id}/${n}`

export function recordsOf(
  table: MemoryTable,
  row: Rows[MemoryTable],
  beside: ExternalTexts,
): readonly MemoryRecord[] {
  switch (table) {
    case 'work_items':
      return ofItem(row as Rows['work_items'], beside)
    case 'briefs':
      return ofBrief(row as Rows['briefs'])
    case 'messages':
      return ofMessage(row as Message)
    case 'tasks':
      return ofTask(row as Rows['tasks'], beside)
    case 'rounds':
      return ofRound(row as Rows['rounds'])
    case 'calls':
      return ofCall(row as Call)
    case 'schedules':
      return ofSchedule(row as Rows['schedules'])
  }
}

const own = { provenance: null, words: 'own', path: null } as const

/** One that was brought here in a file is no memory of anybody until it is picked. */
function ofItem(item: Rows['work_items'], { plan }: ExternalTexts): MemoryRecord[] {
  if (isUnadopted(item)) return []
  const { id, agent_id, updated_at: at, plan_artifact } = item
  const common = { ...own, agent_id, work_item_id: id, at }
  const lines = [
    item.objective,
    ...(item.blocked_by === null ? [] : [`blocked by: ${item.blocked_by}`]),
    ...item.todo_list.map(({ text, state }) => `${state}: ${text}`),
    ...(item.result_summary === null ? [] : [item.result_summary]),
  ]
  const record: MemoryRecord = { ...common, ref: id, kind: 'work_item', text: lines.join('\n') }
  if (plan === null || plan.trim() === '') return [record]
  const { path } = plan_artifact
  return [record, { ...common, ref: `${id}/plan`, kind: 'plan', text: plan, path }]
}

function ofBrief(brief: Rows['briefs']): MemoryRecord[] {
  const { id: ref, agent_id, work_item_id, created_at: at, text } = brief
  const kind = brief.kind === 'result' ? 'report' : 'brief'
  return [{ ...own, ref, kind, agent_id, work_item_id, at, text }]
}

/** Words of the runtime to the model are no memory of anybody. */
function ofMessage(message: Message): MemoryRecord[] {
  if (message.kind === 'internal_followup') return []
  const { kind, origin, delivery_surface, admission_context, authority_class } = message
  const provenance = { kind, origin, delivery_surface, admission_context, authority_class }
  const external =
    authority_class === 'integration_signal' || authority_class === 'external_evidence'
  const about = [message.source, message.resource].filter((one) => one !== null)
  return [
    {
      ref: message.id,
      kind: 'message',
      agent_id: message.agent_id,
      work_item_id: message.work_item_id,
      at: message.created_at,
      text: [
        ...(about.length === 0 ? [] : [about.join(' ')]),
        message.body,
        ...(message.images ?? []).map((image) => `[${imageWords(image)}]`),
      ].join('\n'),
      provenance,
      words: origin === 'task' ? 'tool' : external ? 'external' : 'own',
      path: null,
    },
  ]
}

function ofTask(task: Rows['tasks'], { stdout, stderr }: ExternalTexts): MemoryRecord[] {
  const { id, agent_id, work_item_id, reason } = task
  const at = task.ended_at ?? task.started_at ?? task.created_at
  const lines = [task.label, task.cmd, reason].filter((one) => one !== null && one !== '')
  const common = { ...own, agent_id, work_item_id, at }
  const record: MemoryRecord = {
    ...common,
    ref: id,
    kind: 'task',
    text: [...new Set(lines)].join('\n'),
  }
  const output = (stream: 'stdout' | 'stderr', text: string | null): MemoryRecord[] =>
    text === null || text.trim() === ''
      ? []
      : [
          {
            ...common,
            ref: `${id}/${stream}`,
            kind: 'task_output',
            text,
            words: 'tool',
            path: outputPathOf(task, stream),
          },
        ]
  return [record, ...output('stdout', stdout), ...output('stderr', stderr)]
}

const outputPathOf = ({ output }: Rows['tasks'], stream: 'stdout' | 'stderr'): string | null =>
  output.path === null ? null : `${output.path}/${stream}`

function ofRound(round: Rows['rounds']): MemoryRecord[] {
  const text = roundText(round)
  if (round.state !== 'recorded' || text === '') return []
  const { agent_id, work_item_id } = round
  const at = round.recorded_at ?? round.requested_at
  return [{ ...own, ref: roundRef(round), kind: 'round', agent_id, work_item_id, at, text }]
}

function ofCall(call: Call): MemoryRecord[] {
  if (quiet.has(call.tool_name)) return []
  const { id: ref, agent_id, work_item_id, tool_name, input, result } = call
  const lines = [tool_name, ...flat(input)]
  if (result !== null) {
    lines.push(result.summary)
    if (result.status === 'success') lines.push(...flat(result.result))
    else lines.push(`${result.error.code}: ${result.error.message}`, ...flat(result.error.detail))
  }
  const at = call.finished_at ?? call.started_at
  if (at === null) return []
  const text = lines.filter((line) => line !== '').join('\n')
  return [{ ref, kind: 'call', agent_id, work_item_id, at, text, ...tool }]
}
/** What the agent will read when it is due, and its name. */
function ofSchedule(schedule: Rows['schedules']): MemoryRecord[] {
  const { id: ref, agent_id, work_item_id, status, label, text, created_at: at } = schedule
  if (status === 'removed') return []
  return [{ ...own, ref, kind: 'schedule', agent_id, work_item_id, at, text: `${label}\n${text}` }]
}

const tool = { provenance: null, words: 'tool', path: null } as const

/** The leaves of plain data, each behind its name. */
function flat(value: unknown, name = ''): string[] {
  if (value === null || value === undefined) return []
  if (typeof value === 'string') return [name === '' ? value : `${name}: ${value}`]
  if (typeof value === 'number' || typeof value === 'boolean') return [`${name}: ${value}`]
  if (typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap((one) => flat(one, name))
  return Object.entries(value).flatMap(([key, one]) => flat(one, key))
}
