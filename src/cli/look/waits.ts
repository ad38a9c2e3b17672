/** `holon waits`: what each item, or an agent, waits for, and what ends it. */
import { activeWaitsOf, type AgentView } from '../../protocol/agent-view.ts'
import {
  askedOf,
  triggeredWords,
  waitWords,
  type Task,
  type Wait,
} from '../../protocol/records/records.ts'
import { questionLines } from '../../present/lines/question-lines.ts'
import { safeLine } from '../../present/text/safe.ts'
import { due, since, type Zone } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { printList } from '../command/records.ts'

const columns: readonly Column[] = [
  { title: 'WAIT' },
  { title: 'ITEM' },
  { title: 'WAITS FOR', min: 14 },
  { title: 'WAKES', min: 12 },
  { title: 'SINCE', align: 'right' },
]

export function waits(context: Context, options: { agent?: string }): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/waits`
    return printList(context, { plural: 'waits', path, agent: options.agent })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const found = views.flatMap((view) => activeWaitsOf(view.facts).map((wait) => ({ view, wait })))
    if (found.length === 0) {
      printLines(context, ['nothing waits'])
      return exits.done
    }
    const zone = zoneOf(context)
    const { ids } = context
    ids.know(found.flatMap(({ wait }) => [wait.id, wait.work_item_id ?? wait.id]))
    const rows = found.map(({ view, wait }) =>
      [
        ids.short(wait.id),
        wait.work_item_id === null ? `agent ${wait.agent_id}` : ids.short(wait.work_item_id),
        ids.within(cellOf(view, wait)),
        wakes(view, wait, zone),
        since(wait.created_at, zone),
      ].map(safeLine),
    )
    const below = found.flatMap(({ view, wait }) => wholeOf(context, view, wait))
    printLines(context, [...table(columns, rows, context.medium), ...below])
    return exits.done
  })
}

/** What a cell may have cut: a question with its choices, what must be true, the item's blocker. */
function wholeOf({ ids, medium }: Context, view: AgentView, wait: Wait): string[] {
  const { columns } = medium
  const blocker = columns === null ? null : blockerOf(view, wait)
  const said = [
    ...(wait.condition === null ? [] : [`condition: ${wait.condition}`]),
    ...(blocker === null ? [] : [`blocked: ${blocker}`]),
  ]
  const lines = [
    ...questionCut(wait, columns),
    ...said.map((one) => `  ${safeLine(ids.within(one))}`),
  ]
  const verb = wait.question === null ? 'waits' : 'asks'
  return lines.length === 0 ? [] : ['', `${ids.short(wait.id)} ${verb}`, ...lines]
}

/** All of a question of which a cell has less: several lines, choices, or longer than its cell. */
function questionCut({ question }: Wait, columns: number | null): string[] {
  if (question === null) return []
  const isWhole = !/\n/.test(question.text) && question.choices.length === 0
  if (isWhole && (columns === null || question.text.length <= cellKeeps)) return []
  return questionLines(question, columns, '  ')
}

/** Characters of a question that its cell shows in any terminal. */
const cellKeeps = 14

/** The agent's own blocker, which stands whatever the wait comes to. */
const blockerOf = ({ facts }: AgentView, { work_item_id: id }: Wait): string | null =>
  id === null ? null : (facts.row('work_items', id)?.blocked_by ?? null)

function cellOf(view: AgentView, wait: Wait): string {
  const blocker = blockerOf(view, wait)
  return `${what(view, wait)}${blocker === null ? '' : `; blocked: ${blocker}`}`
}

function what({ facts, agent }: AgentView, wait: Wait): string {
  switch (wait.wake) {
    case 'operator_input':
      return `${askedOf(agent, wait) ?? 'you'}: ${waitWords(wait)}`
    case 'task_result': {
      const task = wait.resource === null ? undefined : facts.row('tasks', wait.resource)
      return task === undefined ? `${wait.resource}: ${wait.reason}` : `${task.id}: ${task.label}`
    }
    case 'timer':
      return `time: ${wait.reason}`
    case 'external': {
      const name = [wait.source, wait.resource].filter((part) => part !== null).join(' ')
      const triggered = triggeredWords(wait)
      const often = triggered === null ? '' : `, ${triggered}`
      return `${name === '' ? 'an event' : name}: ${wait.reason}${often}`
    }
    case 'system':
      return `held: ${wait.reason}`
  }
}

function wakes({ facts, survey, agent }: AgentView, wait: Wait, zone: Zone): string {
  const asks = askedOf(agent, wait)
  const stopped = survey.stopped ? ` (${agent.id} is stopped)` : ''
  switch (wait.wake) {
    case 'operator_input':
      return `${asks === null ? 'your' : `${asks}'s`} answer${stopped}`
    case 'task_result': {
      const task = wait.resource === null ? undefined : facts.row('tasks', wait.resource)
      return `when it ends${task === undefined ? '' : running(task, zone)}${stopped}`
    }
    case 'timer':
      return `${due(wait.wake_at ?? zone.now, zone)}${stopped}`
    case 'external':
      if (wait.trigger_count > wait.reviewed_trigger_count)
        return `a review by ${agent.id}${stopped}`
      return wait.recheck_at === null
        ? `an event${stopped}`
        : `an event, or a look ${due(wait.recheck_at, zone)}${stopped}`
    case 'system':
      return wait.wake_at === null ? 'holon run --resume' : due(wait.wake_at, zone)
  }
}

const running = (task: Task, zone: Zone): string =>
  task.started_at === null ? '; queued' : `; running ${since(task.started_at, zone)}`
