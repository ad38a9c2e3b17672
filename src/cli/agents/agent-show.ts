/**
 * `holon agents show`: one agent, what it does and why, what it is told about how work is done, who
 * is above it and who works for it.
 */
import { allowanceWords } from '../../protocol/records/agent-record.ts'
import type { AgentView } from '../../protocol/agent-view.ts'
import { agentUnread, type Facts } from '../../protocol/records/records.ts'
import { lineage } from '../../protocol/views/lineage.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock, type Zone } from '../../present/text/span.ts'
import { agentSeen, agentSentence } from '../../present/lines/state-cell.ts'
import { doing } from './agents.ts'
import { spendLines } from './budget-lines.ts'
import { printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, noAgent, usage, type Exit } from '../command/failure.ts'
import { instructionLines } from './instruction-lines.ts'
import { printRecord } from '../command/records.ts'

type Line = readonly [head: string, text: string]

export function agentShow(context: Context, name: string): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, undefined)
    const view = views.find(({ agent }) => agent.id === name)
    if (view === undefined) {
      const row = await reader.row('agents', name)
      const names = views.map(({ agent }) => agent.id)
      if (row === null) throw noAgent(name, names)
      throw usage(
        'agent_deleted',
        `${name} was deleted`,
        `holon events --agent ${name} has its past`,
      )
    }
    if (context.flags.json === true) return printRecord(context, `/agents/${name}`)
    const told = await instructionLines(context, name)
    const spend = await spendLines(context, view, views)
    const lines = [
      ...about(context, view, views),
      ...spend,
      ...told,
      ...below(context, view, views),
    ]
    const cells = Math.max(...lines.map(([head]) => head.length)) + 2
    printLines(
      context,
      lines.map(([head, text]) => `${safeLine(head).padEnd(cells)}${safeLine(text)}`),
    )
    return exits.done
  })
}

function about(context: Context, view: AgentView, all: readonly AgentView[]): Line[] {
  const { agent, facts } = view
  const { ids } = context
  const zone = zoneOf(context)
  const { fallback_model, lineage_parent_agent_id: maker, current_work_item_id: focus } = agent
  const item = focus === null ? undefined : facts.row('work_items', focus)
  const model = agent.model ?? 'none yet'
  return [
    [agent.id, `${agent.visibility}, made ${clock(agent.created_at, zone)}`],
    ...(maker === null || agent.visibility === 'private' ? [] : [['made by', maker] as const]),
    ...supervision(context, view, all),
    ['does', ids.within(doesWords(view, all, zone))],
    ['model', fallback_model === null ? model : `${model}, else ${fallback_model}`],
    ...presetLine(view, all),
    ['works in', `${agent.workspace.root}${modes[agent.workspace.mode]}`],
    ...(agent.template === null ? [] : [['template', agent.template] as const]),
    ['in focus', item === undefined ? 'nothing' : `${ids.short(item.id)}  ${item.objective}`],
  ]
}

/** What was set for it and for those above it: each decides, the strictest counts. */
function presetLine({ agent }: AgentView, all: readonly AgentView[]): Line[] {
  const words = lineage(all, (one) => one.agent, agent.id).flatMap(({ agent: one }) => {
    if (!one.policy_preset) return []
    return [one.id === agent.id ? one.policy_preset : `${one.policy_preset} of ${one.id}`]
  })
  return words.length === 0 ? [] : [['preset', words.join(', and ')]]
}

/** What it does, as lists have it, and why. */
function doesWords(view: AgentView, all: readonly AgentView[], zone: Zone): string {
  const { facts, next, now } = view
  const seen = { ...agentSeen(view), because: next.because, unread: agentUnread(facts, now) }
  return agentSentence(seen, { ...zone, runs: true }, null, doing(view, all, zone))
}

const modes = { inherit: '', explicit_root: '', worktree: ' (a worktree of its own)' } as const

/** Of a private child: whose it is, under which task, and what for. */
function supervision({ ids }: Context, mine: AgentView, all: readonly AgentView[]): Line[] {
  const { supervisor_agent_id: parent, supervising_task_id: id } = mine.agent
  if (parent === null || id === null) return []
  const task = all.find((one) => one.agent.id === parent)?.facts.row('tasks', id)
  return [
    ['child of', `${parent}, under ${ids.short(id)}: ${task?.label ?? 'its task is over'}`],
    ...allowanceLine(mine),
    ['do', `holon tasks follow ${ids.short(id)}`],
  ]
}

function allowanceLine(view: AgentView): Line[] {
  const words = allowanceWords(view)
  return words === null ? [] : [['may use', words]]
}

/** The agents it made: its children with what they were handed, then the public ones. */
function below(context: Context, { agent, facts }: AgentView, all: readonly AgentView[]): Line[] {
  const zone = zoneOf(context)
  const { ids } = context
  const made = all.filter((one) => one.agent.lineage_parent_agent_id === agent.id)
  return made.map((one, at): Line => {
    const { id, supervising_task_id: task } = one.agent
    const does = ids.within(doing(one, all, zone))
    const what = task === null ? 'public' : handed(facts, task, (text) => ids.short(text))
    return [at === 0 ? 'made' : '', `${id}  ${does}; ${what}`]
  })
}

function handed(facts: Facts, id: string, short: (id: string) => string): string {
  const task = facts.row('tasks', id)
  const asks = task?.asking ? `; needs input: ${task.asking.text.split('\n', 1)[0]}` : ''
  const given = [...facts.rows('delegations')].find(({ task_id }) => task_id === id)
  const item = given?.work_item_id ?? null
  const about = item === null ? '' : ` for ${short(item)}`
  return `${short(id)}${about}: ${task?.label ?? 'its task is over'}${asks}`
}
