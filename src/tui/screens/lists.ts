/** Board, agents, tasks, waits and events: lists whose rows open what they are about. Pure. */
import { itemRow as homeItem, newestFirst } from '../../present/home.ts'
import { taskWords } from '../../present/item-words.ts'
import { agentAsks, agentCell, agentSentence, waitCell } from '../../present/lines/state-cell.ts'
import { endedWell, runsSince } from '../../present/lines/task-words.ts'
import { askedOf, awaitedWords, type StoredEvent } from '../../protocol/records/records.ts'
import type { TaskRecord } from '../../protocol/records/task-record.ts'
import { clockSeconds } from '../../present/text/span.ts'
import { padEnd, width } from '../../present/text/width.ts'
import { heading, type BodyRow } from '../drawing/body.ts'
import { itemRow } from './home.ts'
import { apart, line, rule, span, type Line } from '../drawing/line.ts'
import { viewOf, type TuiModel, type ScreenLocation } from '../model/model.ts'
import { markSpan, pointer, short, timesOf } from '../drawing/paint.ts'
import type { Mark } from '../../present/text/marks.ts'

const classes = [
  ['waiting_for_operator', 'WAITS FOR YOU'],
  ['triggered_blocked', 'TRIGGERED'],
  ['current_runnable', 'CURRENT'],
  ['queued_runnable', 'QUEUED'],
  ['blocked', 'WAITING OR BLOCKED'],
  ['completed_recent', 'DONE'],
] as const

/** By candidate class: what the scheduler looks at, in its order. */
export function boardBody(model: TuiModel, columns: number): BodyRow[] {
  const { p } = model
  if (p === null) return []
  const rows = classes.flatMap(([name, title]): BodyRow[] => {
    const items = p.state.work_items.filter(({ candidate_class: is }) => is === name)
    const field = name === 'completed_recent' ? 'completed' : name
    const total = p.state.counts.reduce((sum, one) => sum + Number(Object(one)[field] ?? 0), 0)
    const count = Math.max(items.length, total)
    if (count === 0) return []
    const inOrder = name === 'completed_recent' ? newestFirst(items) : items
    const who = Math.min(12, Math.max(7, ...items.map(({ agent_id }) => width(agent_id))))
    const more = count - items.length
    return [
      heading(rule(`${title} ${count}`, '', { ascii: model.look.ascii, columns })),
      ...inOrder.map((item) =>
        itemRow(model, homeItem(p, item, timesOf(model)), name, { columns, who }),
      ),
      ...(more > 0 ? [heading(line(`    ${more} more: holon work list`, 'dim'))] : []),
    ]
  })
  return rows.length > 0 ? rows : [heading(line('  there is no work yet; + makes an item', 'dim'))]
}

type Listed = {
  id: string
  mark: Mark | null
  who: string
  title: string
  right: string
  opens?: ScreenLocation
  agent_id: string
  work_item_id: string | null
  can?: BodyRow['can']
  cli?: string
}

function listed(
  model: TuiModel,
  rows: readonly Listed[],
  columns: number,
  empty: string,
): BodyRow[] {
  if (rows.length === 0) return [heading(line(`  ${empty}`, 'dim'))]
  const who = Math.min(16, Math.max(7, ...rows.map((row) => width(row.who))))
  return rows.map((row): BodyRow => {
    const isSelected = viewOf(model).selected === row.id
    const left: Line = [
      span(`${isSelected ? pointer(model) : ' '} `),
      markSpan(model, row.mark),
      span(` ${padEnd(short(model, row.who), who)}  `),
      span(short(model, row.title.split('\n')[0] ?? ''), isSelected ? 'inverse' : 'plain'),
    ]
    const { id, agent_id, work_item_id, can, cli, opens } = row
    return {
      id,
      agent_id,
      work_item_id,
      lines: [apart(left, line(short(model, row.right), 'dim'), columns)],
      text: row.title,
      ...(can === undefined ? {} : { can }),
      ...(cli === undefined ? {} : { cli }),
      ...(opens === undefined ? {} : { opens }),
    }
  })
}

export function agentsBody(model: TuiModel, columns: number): BodyRow[] {
  const agents = model.p?.state.agents ?? []
  const rows = agents.map((agent): Listed => {
    const asks = agentAsks(agent, model.p?.state.waits ?? [])
    const { mark } = agentCell(agent, timesOf(model), asks)
    return {
      id: `agents ${agent.id}`,
      mark,
      who: agent.id,
      title: agentSentence(agent, timesOf(model), asks),
      right: `${agent.open_work_items} open, ${agent.model ?? 'no model'}`,
      opens: { at: 'item', agent_id: agent.id, work_item_id: null, tab: 'thread' },
      agent_id: agent.id,
      work_item_id: null,
      can: agent.can,
    }
  })
  return listed(model, rows, columns, 'there is no agent yet; holon run makes one')
}

const taskMark = (task: TaskRecord): Mark => {
  switch (task.status) {
    case 'held':
      return 'needs_me'
    case 'queued':
      return runsSince(task) === null ? 'next' : 'working'
    case 'running':
    case 'cancelling':
      return 'working'
    case 'completed':
      return endedWell(task) ? 'done' : 'failed'
    case 'failed':
    case 'cancelled':
      return 'failed'
    case 'interrupted':
      return 'unknown'
  }
}

export function tasksBody(model: TuiModel, columns: number, key = 'tasks'): BodyRow[] {
  const read = model.details.get(key)
  const found = (read?.value as { tasks?: TaskRecord[] } | undefined)?.tasks
  const live = new Map(model.p?.state.tasks.map((task) => [task.id, task]))
  const tasks = (found ?? []).map((task) => live.get(task.id) ?? task).toReversed()
  const rows = tasks.map((task): Listed => ({
    id: task.id,
    mark: taskMark(task),
    who: task.agent_id,
    title: `${task.id}  ${task.label}`,
    right: taskWords(task, model.p?.outputs.get(task.id)?.at, timesOf(model)),
    opens: { at: 'task', agent_id: task.agent_id, task_id: task.id, stream: 'stdout' },
    agent_id: task.agent_id,
    work_item_id: task.work_item_id,
    can: task.can,
    cli: `holon tasks output ${task.id}`,
  }))
  if (read === undefined) return [heading(line('  reading …', 'dim'))]
  return listed(model, rows, columns, read.failure ?? 'no command was run yet')
}

export function waitsBody(model: TuiModel, columns: number): BodyRow[] {
  const { p } = model
  if (p === null) return []
  const rows = p.state.waits.map((wait): Listed => {
    const agent = p.state.agents.find(({ id }) => id === wait.agent_id)
    const asks = agent === undefined ? null : askedOf(agent, wait)
    const { mark, text } = waitCell(wait, timesOf(model), asks)
    return {
      id: wait.id,
      mark,
      who: wait.agent_id,
      title: awaitedWords(wait),
      right: text,
      opens: {
        at: 'item',
        agent_id: wait.agent_id,
        work_item_id: wait.work_item_id,
        tab: 'thread',
      },
      agent_id: wait.agent_id,
      work_item_id: wait.work_item_id,
      can: wait.can,
    }
  })
  return listed(model, rows, columns, 'nothing waits')
}

/** The events of the home, newest last; every one with its seq. */
export function eventsBody(model: TuiModel, columns: number): BodyRow[] {
  const read = model.details.get('events')
  const events = (read?.value as { events?: StoredEvent[] } | undefined)?.events ?? []
  if (read === undefined) return [heading(line('  reading …', 'dim'))]
  return listed(
    model,
    events.map((one) => eventRow(model, one)),
    columns,
    read.failure ?? 'there are none',
  )
}

const eventRow = (
  model: TuiModel,
  { global_seq, at, agent_id, work_item_id, event }: StoredEvent,
): Listed => ({
  id: `event ${global_seq}`,
  mark: null,
  who: agent_id,
  title: `${event.type}  ${event.id}`,
  right: `${global_seq}  ${clockSeconds(at, timesOf(model))}`,
  agent_id,
  work_item_id,
  opens: { at: 'item', agent_id, work_item_id, tab: 'thread' },
})
