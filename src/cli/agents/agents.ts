/** `holon agents [list]`: every agent with its posture, focus, model and what it waits for. */
import { activeWaitsOf, type AgentView } from '../../protocol/agent-view.ts'
import { postureOf, postureWord } from '../../protocol/records/records.ts'
import { safe, safeLine } from '../../present/text/safe.ts'
import type { Zone } from '../../present/text/span.ts'
import { agentAsks, agentCell, agentSeen } from '../../present/lines/state-cell.ts'
import { table, type Column } from '../../present/text/table.ts'
import { printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { printList } from '../command/records.ts'

const columns: readonly Column[] = [
  { title: 'AGENT', min: 8 },
  { title: 'DOES', min: 16 },
  { title: 'IN FOCUS' },
  { title: 'OPEN', align: 'right' },
  { title: 'MODEL', min: 10 },
]

export function agents(context: Context): Promise<Exit> {
  if (context.flags.json === true) {
    return printList(context, { plural: 'agents', path: '/agents' })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, undefined)
    if (views.length === 0) {
      printLines(context, ['no agent yet', 'do    holon run "<what is to be done>"'])
      return exits.done
    }
    const zone = zoneOf(context)
    const { ids } = context
    const rows = byParent(views).map((view) => {
      const { agent } = view
      const focus = agent.current_work_item_id
      const indent = agent.visibility === 'private' ? '  ' : ''
      const cells = [
        ids.within(doing(view, views, zone)),
        focus === null ? '-' : ids.short(focus),
        String(openCount(view)),
        agent.model ?? 'none yet',
      ]
      return [safe(indent + agent.id), ...cells.map(safeLine)]
    })
    printLines(context, table(columns, rows, context.medium))
    return exits.done
  })
}

/** Oldest first, each followed by the children it supervises, which stand indented. */
function byParent(views: readonly AgentView[]): AgentView[] {
  const childrenOf = (id: string) => views.filter(({ agent }) => agent.supervisor_agent_id === id)
  return views.flatMap((view) =>
    view.agent.supervisor_agent_id === null ? [view, ...childrenOf(view.agent.id)] : [],
  )
}

const openCount = ({ facts }: AgentView): number =>
  [...facts.rows('work_items')].filter((item) => item.state === 'open').length

/** What the agent does now; of a child that asks something, whom it asks. */
export function doing(view: AgentView, all: readonly AgentView[], zone: Zone): string {
  const { supervisor_agent_id: parent, supervising_task_id: id } = view.agent
  const above = all.find(({ agent }) => agent.id === parent)
  const asking = id === null ? null : (above?.facts.row('tasks', id)?.asking ?? null)
  if (asking === null) return posture(view, zone)
  return asking.of === 'operator' ? 'asks you' : `asks ${parent}`
}

/** Held, and by which budget, where it is one. */
function holdWords(hold: AgentView['survey']['hold']): string {
  if (hold?.runtime_cause === 'budget')
    return `held by the budget of ${hold.resource ?? 'its work'}`
  if (hold?.runtime_cause !== 'spending') return 'held'
  if (hold.source === 'question') return `held; ${hold.resource ?? ''} asks you`
  return `held by the budget of ${hold.resource ?? 'the home'}`
}

/** What wakes an agent that waits for nothing: the end of what it left running. */
function runningWords({ facts }: AgentView): string {
  // A read of the live rows has no task that ended.
  const running = [...facts.rows('tasks')].length
  if (running === 0) return ''
  return running === 1 ? ' until a task ends' : ` until one of ${running} tasks ends`
}

/** What the agent does now: its one word, with its turn, its hold, or until when. */
function posture(view: AgentView, zone: Zone): string {
  const { agent, facts, next, turn_count, has_owner } = view
  const asks = agentAsks(agent, activeWaitsOf(facts))
  const { text } = agentCell(agentSeen(view), { ...zone, runs: true }, asks)
  switch (postureOf(next)) {
    case 'noop':
      return `${text}: turn ${turn_count}`
    case 'start_turn':
      return has_owner ? text : `${text} once a run goes on`
    case 'wait:system':
      return text.replace(postureWord['wait:system'], holdWords(view.survey.hold))
    case 'sleep':
      return `${text}${runningWords(view)}`
    case 'stop':
    case 'wait:operator':
    case 'wait:task':
    case 'wait:external':
    case 'wait:timer':
    case 'wait:backoff':
      return text
  }
}
