/** `holon tasks` and `holon tasks show`: managed executions, commands and children alike. */
import { isHeld, questionText, type Task } from '../../protocol/records/records.ts'
import { liveTaskStatuses } from '../../protocol/records/task-record.ts'
import { glyph, painted, type Mark } from '../../present/text/marks.ts'
import { endedWell, endWords } from '../../present/lines/task-words.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { clock, since, took, type Zone } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { printList, printRecord } from '../command/records.ts'
import type { CommandLook, HomeReader } from '../command/ports.ts'

export type TaskListOptions = { all?: boolean; agent?: string }

/** Tasks that have ended, that are shown at most. */
const most = 1_000

const columns: readonly Column[] = [
  { title: ' ' },
  { title: 'TASK' },
  { title: 'ITEM' },
  { title: 'KIND' },
  { title: 'WHAT', min: 12 },
  { title: 'STATUS', min: 10 },
  { title: 'TIME', align: 'right' },
]

export function tasks(context: Context, options: TaskListOptions): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/tasks`
    const query = { status: options.all === true ? 'all' : 'live' }
    return printList(context, { plural: 'tasks', path, agent: options.agent, query })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const lists = await Promise.all(
      views.map(({ agent }) =>
        reader.list('tasks', {
          agent_id: agent.id,
          ...(options.all === true ? {} : { status: liveTaskStatuses }),
          limit: most,
        }),
      ),
    )
    const found = lists.flat()
    if (found.length === 0) {
      printLines(context, [
        options.all === true ? 'no task yet' : 'no task runs; ended ones: --all',
      ])
      return exits.done
    }
    const zone = zoneOf(context)
    const { ids, ink } = context
    ids.know(found.map(({ id }) => id))
    const seen = await Promise.all(found.map((task) => seenOf(reader, task)))
    const rows = found.map((task, at) =>
      [
        glyph(markOf(task, seen[at]), ink),
        ids.short(task.id),
        task.work_item_id === null ? '-' : ids.short(task.work_item_id),
        task.child_agent_id ?? (task.kind === 'tool_call' ? 'call' : 'command'),
        task.label,
        statusOf(task, seen[at]),
        timeOf(task, zone, seen[at]),
      ].map(safeLine),
    )
    const lines = table(columns, rows, context.medium)
    const marked = lines.map((line, at) => {
      const task = found[at - 1]
      return task === undefined ? line : painted(line, markOf(task, seen[at - 1]), ink)
    })
    printLines(context, marked)
    return exits.done
  })
}

export function markOf(task: Task, seen: CommandLook | null = null): Mark {
  if (seen?.state === 'running' || seen?.state === 'ended') return 'working'
  if (seen?.state === 'lost') return 'unknown'
  if (task.asking !== null) return task.asking.of === 'operator' ? 'needs_me' : 'waiting'
  switch (task.status) {
    case 'held':
      return 'needs_me'
    case 'queued':
      return 'next'
    case 'running':
    case 'cancelling':
      return 'working'
    case 'completed':
      return endedWell(task) ? 'done' : 'failed'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'blocked'
    case 'interrupted':
      return 'unknown'
  }
}

/** What the machine says of a command whose end the ledger does not know; null: nothing. */
async function seenOf(reader: HomeReader, task: Task): Promise<CommandLook | null> {
  return task.kind !== 'command' || task.ended_at !== null ? null : reader.command(task.id)
}

/** `seen`: of a command that is not over in the ledger, which follows what its process does. */
export function statusOf(task: Task, seen: CommandLook | null = null): string {
  if (task.asking !== null) {
    const { of, text } = task.asking
    const whose = of === 'operator' ? 'your' : `${task.agent_id}'s`
    return `needs ${whose} input: ${text.split('\n', 1)[0]}`
  }
  switch (seen?.state) {
    case 'ended':
      return `ended, not yet read: ${endWords(seen)}`
    case 'lost':
      return 'its process is gone, not yet read'
    case 'running':
      if (task.status === 'queued') return 'running'
      break
    case 'not_begun':
    case undefined:
  }
  if (task.status === 'completed' && task.kind === 'command') return endWords(task)
  const why = task.reason === null ? '' : `: ${task.reason}`
  const left = task.survivors.length === 0 ? '' : `, ${task.survivors.join(', ')} still run`
  return task.status === 'interrupted' ? `end unknown${why}` : `${task.status}${why}${left}`
}

export function timeOf(task: Task, zone: Zone, seen: CommandLook | null = null): string {
  const { started_at, ended_at } = seen?.state === 'ended' ? seen : task
  const from = started_at ?? (seen?.state === 'running' ? seen.started_at : null)
  if (from === null) return '-'
  return ended_at === null ? since(from, zone) : took(Date.parse(ended_at) - Date.parse(from))
}

export async function taskOf(context: Context, reader: HomeReader, text: string): Promise<Task> {
  const id = await idOf(context, reader, text, ['task'])
  const task = await reader.row('tasks', id)
  if (task === null) throw new Error(`no row for ${id}`)
  return task
}

export function taskShow(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader) => {
    const task = await taskOf(context, reader, text)
    if (context.flags.json === true) {
      return printRecord(context, `/agents/${task.agent_id}/tasks/${task.id}`)
    }
    const zone = zoneOf(context)
    const { ids } = context
    const seen = await seenOf(reader, task)
    const begun = task.held !== undefined && task.started_at === null ? 'asked' : 'started'
    const item = task.work_item_id === null ? 'no item' : ids.short(task.work_item_id)
    printLines(context, [
      `${ids.short(task.id)}  ${safeLine(task.label)}`,
      `status  ${safeLine(statusOf(task, seen))}, ${timeOf(task, zone, seen)}`,
      `for     ${item} of ${task.agent_id}, ${begun} ${clock(task.created_at, zone)}`,
      `in      ${safeLine(task.workdir)}`,
      ...childLines(task, ids.short(task.id)),
      ...(task.input === 'none' ? [] : [`input   ${task.input}`]),
      ...(task.cmd === null ? [] : ['command', ...safeLines(task.cmd).map((line) => `  ${line}`)]),
      ...(task.output.path === null ? [] : [`output  ${safeLine(task.output.path)}`]),
      `do      ${nextLine(task, ids.short(task.id))}`,
    ])
    return exits.done
  })
}

function nextLine(task: Task, id: string): string {
  if (isHeld(task)) return answerLine(id)
  return `holon tasks ${task.ended_at === null ? 'follow' : 'output'} ${id}`
}

/** What begins what is held, or ends it. */
export const answerLine = (id: string): string => `holon answer ${id} <choice>`

/** Who the child is, what it wants to know, and how it is told something. */
function childLines({ child_agent_id, asking, ended_at }: Task, id: string): string[] {
  if (child_agent_id === null) return []
  const asksYou = asking?.of === 'operator' && asking.wait_id !== null
  const tell = asksYou
    ? `holon answer ${asking.wait_id} "<text>"`
    : `holon tasks input ${id} "<text>"`
  const asks = asking === null ? [] : safeLines(questionText(asking)).map((line) => `  ${line}`)
  return [
    `child   ${child_agent_id}`,
    ...(asks.length === 0 ? [] : ['asks', ...asks]),
    ...(ended_at === null ? [`tell    ${tell}`] : []),
  ]
}
