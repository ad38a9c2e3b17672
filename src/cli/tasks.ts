/** `holon tasks` and `holon tasks show|output`: managed executions and what they wrote. */
import type { Task } from '../protocol/records.ts'
import { glyph, painted, type Mark } from '../present/marks.ts'
import { safeLine, safeLines } from '../present/safe.ts'
import { clock, since, took, type Zone } from '../present/span.ts'
import { table, type Column } from '../present/table.ts'
import { idOf, printJson, printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { exits, usage, type Exit } from './failure.ts'
import { printList, printRecord } from './records.ts'
import type { HomeReader } from './ports.ts'

export type TaskListOptions = { all?: boolean; agent?: string }

/** Tasks that have ended, and bytes of output, that are shown at most. */
const most = 1_000
const mostOutput = 32 * 1024 * 1024

const live = ['queued', 'running', 'cancelling']

const columns: readonly Column[] = [
  { title: ' ' },
  { title: 'TASK' },
  { title: 'ITEM' },
  { title: 'COMMAND', min: 12 },
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
          ...(options.all === true ? {} : { status: live }),
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
    const rows = found.map((task) =>
      [
        glyph(markOf(task), ink),
        ids.short(task.id),
        task.work_item_id === null ? '-' : ids.short(task.work_item_id),
        task.label,
        statusOf(task),
        timeOf(task, zone),
      ].map(safeLine),
    )
    const lines = table(columns, rows, context.medium)
    const marked = lines.map((line, at) => {
      const task = found[at - 1]
      return task === undefined ? line : painted(line, markOf(task), ink)
    })
    printLines(context, marked)
    return exits.done
  })
}

export function markOf(task: Task): Mark {
  switch (task.status) {
    case 'queued':
      return 'next'
    case 'running':
    case 'cancelling':
      return 'working'
    case 'completed':
      return task.exit_status === 0 ? 'done' : 'failed'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'blocked'
    case 'interrupted':
      return 'unknown'
  }
}

export function statusOf(task: Task): string {
  if (task.status === 'completed') return `exit ${task.exit_status}`
  const why = task.reason === null ? '' : `: ${task.reason}`
  const left = task.survivors.length === 0 ? '' : `, ${task.survivors.join(', ')} still run`
  return task.status === 'interrupted' ? `end unknown${why}` : `${task.status}${why}${left}`
}

function timeOf(task: Task, zone: Zone): string {
  if (task.started_at === null) return '-'
  return task.ended_at === null
    ? since(task.started_at, zone)
    : took(Date.parse(task.ended_at) - Date.parse(task.started_at))
}

async function taskOf(context: Context, reader: HomeReader, text: string): Promise<Task> {
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
    const item = task.work_item_id === null ? 'no item' : ids.short(task.work_item_id)
    printLines(context, [
      `${ids.short(task.id)}  ${safeLine(task.label)}`,
      `status  ${safeLine(statusOf(task))}, ${timeOf(task, zone)}`,
      `for     ${item} of ${safeLine(task.agent_id)}, started ${clock(task.created_at, zone)}`,
      `in      ${safeLine(task.workdir)}`,
      ...(task.cmd === null ? [] : ['command', ...safeLines(task.cmd).map((line) => `  ${line}`)]),
      `output  ${safeLine(task.output.path)}`,
      `do      holon tasks output ${ids.short(task.id)}`,
    ])
    return exits.done
  })
}

/**
 * The output itself: as it is into a pipe, made visible on a terminal. Output of a task is foreign
 * text, and a terminal would obey it.
 */
export function taskOutput(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader) => {
    const task = await taskOf(context, reader, text)
    const { ports } = context
    const streams = await Promise.all(
      outputFiles(task).map((path) => ports.read_text(path, mostOutput)),
    )
    const texts = streams.flatMap((read) => (read.ok ? [read.text] : []))
    if (texts.length === 0) {
      const why = streams[0]?.ok === false ? streams[0].why : 'not_found'
      throw usage('no_output', `the output of ${text} cannot be read (${why})`, 'see its folder')
    }
    if (context.flags.json === true) {
      const [stdout = '', stderr = ''] = streams.map((read) => (read.ok ? read.text : ''))
      printJson(context, { task_id: task.id, stdout, stderr })
      return exits.done
    }
    const whole = texts.join('')
    if (context.ports.terminal.stdout) printLines(context, safeLines(whole.replace(/\n$/, '')))
    else context.ports.out(whole)
    return exits.done
  })
}

/** Both streams of a command; the row names the folder they are in. */
const outputFiles = (task: Task): string[] =>
  ['stdout', 'stderr'].map((stream) => `${task.output.path}/${stream}`)
