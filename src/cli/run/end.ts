/**
 * The last lines of a run: what it came to, what is left and why, what goes on without it, and the
 * line that resumes. Loaded when they are written.
 */
import { agentView, projections } from '../../protocol/agent-view.ts'
import {
  choiceLines,
  heldText,
  isGoingOn,
  isHeld,
  waitWords,
  type Agent,
  type Facts,
  type Wait,
} from '../../protocol/records/records.ts'
import { whyOf } from '../../protocol/views/why.ts'
import { checkLines } from '../../present/lines/check-lines.ts'
import { counted } from '../../present/lines/call-line.ts'
import type { RunCounts } from '../../present/lines/run-lines.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock, took } from '../../present/text/span.ts'
import { usageText } from '../../present/lines/status-line.ts'
import { apart } from '../../present/text/table.ts'
import { whyLines } from '../../present/lines/why-text.ts'
import { width } from '../../present/text/width.ts'
import { zoneOf, type Context } from '../command/context.ts'
import { faultText } from '../command/failure.ts'
import type { FailedCommand } from './deeds.ts'
import type { RunHost } from '../command/run-ports.ts'
import { questionsOfChildren } from './questions.ts'

export type RunEndContext = {
  context: Context
  host: RunHost
  /** A daemon goes on when the run has left. */
  outlives: boolean
  agents: readonly Agent[]
  /** What the run worked on, by agent. */
  mine: ReadonlyMap<string, ReadonlySet<string>>
  /** Of each agent its last command, where it failed and no text spoke of it. */
  failed_commands: readonly FailedCommand[]
}

type Outcome = {
  exit: number
  because: string
  fault: string | null
  counts: RunCounts
  ms: number
}

export function endLines(
  of: RunEndContext,
  { exit, because, fault, counts, ms }: Outcome,
): string[] {
  const { context } = of
  const lines: string[] = []
  if (fault !== null) lines.push(faultText(fault))
  const items = of.agents.flatMap((agent) => itemsOf(of, agent))
  if (items.some((one) => one.completed && one.reported && one.checks.length === 0)) {
    lines.push('claimed by the agent; no checks were asked for, so nothing is verified')
  }
  for (const { cmd, exit_status } of of.failed_commands) {
    lines.push(`its last command ended with exit ${exit_status}: ${safeLine(cmd)}`)
  }
  for (const { checks } of items) lines.push(...checks)
  for (const { why } of items) if (why.length > 0) lines.push('', ...why)
  lines.push(...heldLines(of, items.length), ...runningTasks(of))
  const parts = [
    counted(counts.turns, 'turn'),
    counted(counts.calls, 'call'),
    took(ms),
    usageText(counts.usage) || 'no tokens',
  ]
  if (exit !== 0) parts.push(because)
  const [only] = items.length === 1 ? items : []
  const show = only === undefined ? '' : `holon work show ${context.ids.short(only.id)}`
  const sum = parts.join(', ')
  const columns = columnsOf(context)
  const fits = columns === null || width(sum) + width(show) + 2 <= columns
  lines.push('', ...(fits || show === '' ? [apart(sum, show, columns)] : [sum, show]))
  return lines
}

export function interruptLines(of: RunEndContext, because: string): string[] {
  if (of.outlives) {
    const stops = of.agents.map(({ id }) => `holon agents stop ${id}${homeFlag(of.context)}`)
    return [
      `${because}. Follow it again with   holon run --resume${homeFlag(of.context)}`,
      `stop it with   ${stops.join('; ')}`,
    ]
  }
  return [
    ...runningTasks(of),
    `${because}; nothing is lost. Go on with   holon run --resume${homeFlag(of.context)}`,
  ]
}

/** The home is named when a later command would not find it by itself. */
function homeFlag({ home }: Context): string {
  return home.source === '--home' ? ` --home ${home.value}` : ''
}

type Item = {
  id: string
  completed: boolean
  reported: boolean
  checks: string[]
  why: string[]
}

function itemsOf({ context, host, outlives, mine }: RunEndContext, { id }: Agent): Item[] {
  const facts = host.facts(id)
  if (facts === null) return []
  const zone = zoneOf(context)
  const view = agentView(facts, zone.now, outlives)
  return projections(view)
    .filter(({ item }) => mine.get(id)?.has(item.id))
    .map((projection) => {
      const { item } = projection
      const completed = item.state === 'completed'
      const style = { zone, ids: context.ids, decided: false }
      const why = completed ? [] : whyLines(whyOf(view, projection, null), style)
      const { ids, ink } = context
      const checks = completed ? checkLines(item, { ids, zone, ink }) : []
      return { id: item.id, completed, reported: item.result_brief_id !== null, checks, why }
    })
}

/** What holds an agent as a whole, and questions that belong to no item. */
function heldLines({ context, host, outlives, agents }: RunEndContext, items: number): string[] {
  return agents.flatMap(({ id }) => {
    const facts = host.facts(id)
    if (facts === null) return []
    const waits = [...facts.rows('waits')].filter(
      (wait) => wait.status === 'active' && wait.work_item_id === null,
    )
    const asked = [...heldCommands(context, host, facts), ...askedByChildren(context, host, facts)]
    const held = waits.flatMap((wait) => {
      const short = context.ids.short(wait.id)
      if (wait.wake === 'operator_input') {
        return [
          `agent ${id} waits for you: "${safeLine(waitWords(wait))}"`,
          ...choicesOf(wait),
          `do    holon answer ${short} <text>`,
        ]
      }
      if (wait.wake !== 'system') return []
      const until = wait.wake_at === null ? '' : ` until ${clock(wait.wake_at, zoneOf(context))}`
      const lines = [
        ...(items > 0 ? [''] : []),
        `agent ${id} is held${until}: ${safeLine(wait.reason)}`,
      ]
      const go = outlives ? `holon agents start ${id}` : 'holon run --resume'
      return [...lines, `do    ${go}${homeFlag(context)}      once it is settled`]
    })
    return [...asked, ...held]
  })
}

/** Commands of the agent and of its children that wait for a yes. */
function heldCommands(context: Context, host: RunHost, facts: Facts): string[] {
  const tasks = [...facts.rows('tasks')]
  const own = tasks
    .filter(isHeld)
    .flatMap((task) => [
      ...heldText(task).split('\n').map(safeLine),
      `do    holon answer ${context.ids.short(task.id)} <yes|no>`,
    ])
  const below = tasks.flatMap(({ child_agent_id }) => {
    const child = child_agent_id === null ? null : host.facts(child_agent_id)
    return child === null ? [] : heldCommands(context, host, child)
  })
  return [...own, ...below]
}

/** Questions that a child asks the operator and not its parent. */
function askedByChildren(context: Context, host: RunHost, facts: Facts): string[] {
  return questionsOfChildren(host, facts).flatMap((wait) => [
    `agent ${wait.agent_id} asks you: "${safeLine(waitWords(wait))}"`,
    ...choicesOf(wait),
    `do    holon answer ${context.ids.short(wait.id)} <text>`,
  ])
}

const choicesOf = ({ question }: Wait): string[] =>
  question === null ? [] : choiceLines(question).map((line) => `  ${safeLine(line)}`)

function runningTasks({ context, host, agents }: RunEndContext): string[] {
  return agents.flatMap(({ id }) =>
    live(host.facts(id)).map((task) => {
      const short = context.ids.short(task.id)
      const left = `${short} goes on: ${safeLine(task.label)}`
      return apart(left, `holon tasks output ${short}`, columnsOf(context))
    }),
  )
}

const columnsOf = ({ ports: { terminal } }: Context): number | null =>
  terminal.stderr ? terminal.columns() || 100 : null

const live = (facts: Facts | null) =>
  facts === null ? [] : [...facts.rows('tasks')].filter(isGoingOn)
