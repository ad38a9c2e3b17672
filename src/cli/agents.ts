/** `holon agents`: every agent with its posture, focus, model and what it waits for. */
import type { AgentView } from '../protocol/agent-view.ts'
import { safeLine } from '../present/safe.ts'
import { due, type Zone } from '../present/span.ts'
import { table, type Column } from '../present/table.ts'
import { printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { exits, type Exit } from './failure.ts'
import { printList } from './records.ts'

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
    const rows = views.map((view) => {
      const { agent } = view
      const focus = agent.current_work_item_id
      return [
        agent.id,
        ids.within(posture(view, zone)),
        focus === null ? '-' : ids.short(focus),
        String(openCount(view)),
        agent.model ?? 'none yet',
      ].map(safeLine)
    })
    printLines(context, table(columns, rows, context.medium))
    return exits.done
  })
}

const openCount = ({ facts }: AgentView): number =>
  [...facts.rows('work_items')].filter((item) => item.state === 'open').length

/** What the agent does now, in a few words. */
function posture(view: AgentView, zone: Zone): string {
  const { next, turn, turn_count, has_owner } = view
  if (turn !== null && has_owner) return `works: turn ${turn_count}`
  switch (next.do) {
    case 'stop':
      return 'stopped'
    case 'noop':
      return `works: turn ${turn_count}`
    case 'start_turn':
      return has_owner ? 'is about to work' : 'has work; a run goes on'
    case 'sleep':
      return 'nothing to do'
    case 'wait':
      break
  }
  const until = next.until === null ? '' : `, ${due(next.until, zone)}`
  switch (next.for) {
    case 'system':
      return `held${until}`
    case 'operator':
      return 'waits for you'
    case 'task':
      return 'waits for a task'
    case 'external':
      return `waits for an event${until}`
    case 'timer':
      return `waits for a time${until}`
    case 'backoff':
      return `pauses${until}`
  }
}
