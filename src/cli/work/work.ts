/**
 * `holon work list` and `holon work show`: items with their projection, and one item whole with its
 * plan, todos, wait, report and what it used.
 */
import type { HomeReader } from '../command/ports.ts'
import { readLastTurns } from '../../client/home-reads.ts'
import { attentionOf } from '../../protocol/views/attention.ts'
import { lateOf, projectionOf, projections, type AgentView } from '../../protocol/agent-view.ts'
import {
  budgetLine,
  leftBehind,
  verificationOf,
  type Brief,
  type Projection,
  type WorkItem,
} from '../../protocol/records/records.ts'
import { spendByItem, type Spend } from '../../protocol/records/item-spend.ts'
import { whyOf } from '../../protocol/views/why.ts'
import { counted } from '../../present/lines/call-line.ts'
import { checkLines, stateWords } from '../../present/lines/check-lines.ts'
import { glyph, painted } from '../../present/text/marks.ts'
import { safeLine } from '../../present/text/safe.ts'
import { spent, stateCell } from '../../present/lines/state-cell.ts'
import { clock } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { whyLines } from '../../present/lines/why-text.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { printList, printRecord } from '../command/records.ts'

export type WorkListOptions = { all?: boolean; agent?: string }

/** Items and turns of one agent that a list looks at. */
const most = 10_000

type Listed = { view: AgentView; projection: Projection; spend: Spend | null }

const columns: readonly Column[] = [
  { title: ' ' },
  { title: 'ITEM' },
  { title: 'AGENT', min: 5 },
  { title: 'OBJECTIVE', min: 12 },
  { title: 'STATE', min: 10 },
  { title: 'SPENT', align: 'right' },
]

export function workList(context: Context, options: WorkListOptions): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/work-items`
    const query = { filter: options.all === true ? 'all' : 'open' }
    return printList(context, { plural: 'work_items', path, agent: options.agent, query })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const listed = (await Promise.all(views.map((view) => itemsOf(reader, view, options)))).flat()
    if (listed.length === 0) {
      printLines(context, emptyWork(options))
      return exits.done
    }
    const needing = attentionOf(views, await readLastTurns(reader, views))
    printLines(context, workTable(context, listed, needing.length))
    return exits.done
  })
}

const emptyWork = ({ all }: WorkListOptions): string[] =>
  all === true
    ? ['no work yet', 'do    holon run "<what is to be done>"   or   holon run <runbook.md>']
    : ['no open work', 'do    holon run "<what is to be done>"      done: holon work list --all']

async function itemsOf(
  reader: HomeReader,
  view: AgentView,
  { all }: WorkListOptions,
): Promise<Listed[]> {
  const agent_id = view.agent.id
  const [sums, turns] = await Promise.all([
    reader.spend({ by: ['item'], agent_id }),
    reader.list('turns', { agent_id, limit: most }),
  ])
  const spend = spendByItem(sums, turns)
  const open = projections(view).filter(({ item }) => item.state === 'open')
  const completed = all === true ? await completedOf(reader, view) : []
  return [...open, ...completed].map((projection) => {
    return { view, projection, spend: spend.get(projection.item.id) ?? null }
  })
}

async function completedOf(reader: HomeReader, view: AgentView): Promise<Projection[]> {
  const agent_id = view.agent.id
  const rows = await reader.list('work_items', { agent_id, status: ['completed'], limit: most })
  return rows.toReversed().flatMap((row) => projectionOf(view, row.id, row) ?? [])
}

/** What was done last comes first, whoever did it; what is open stays in the order of its agent. */
function doneLater(a: Listed, b: Listed): number {
  const [one, other] = [a.projection.item.completed_at, b.projection.item.completed_at]
  if (one === null || other === null || one === other) return 0
  return one > other ? -1 : 1
}

const needsMe = ['needs_me', 'failed', 'unknown', 'arrived', 'working'].concat([
  'waiting',
  'next',
  'blocked',
  'done',
])

/** `needing`: entries of the inbox, which is where they are listed. */
function workTable(context: Context, listed: readonly Listed[], needing: number): string[] {
  const zone = zoneOf(context)
  const { ids, ink } = context
  ids.know(listed.map(({ projection }) => projection.item.id))
  const rows = listed
    .map((one) => ({ ...one, cell: stateCell(one.view, one.projection, zone) }))
    .sort((a, b) => needsMe.indexOf(a.cell.mark) - needsMe.indexOf(b.cell.mark) || doneLater(a, b))
  const lines = table(
    columns,
    rows.map(({ projection: { item }, spend, cell }) =>
      [
        glyph(cell.mark, ink),
        ids.short(item.id),
        item.agent_id,
        item.objective,
        ids.within(cell.text),
        spent(spend?.usage ?? null),
      ].map(safeLine),
    ),
    context.medium,
  )
  const painted_ = lines.map((line, at) => {
    const mark = rows[at - 1]?.cell.mark
    return mark === undefined ? line : painted(line, mark, ink)
  })
  if (context.medium.columns === null) return painted_
  const open = rows.filter(({ projection }) => projection.item.state === 'open')
  const needs =
    needing === 0
      ? 'nothing needs you'
      : `${needing} need${needing === 1 ? 's' : ''} you: holon inbox`
  const sum = `${open.length} open, ${needs}`
  return [...painted_, listed.length > open.length ? sum : `${sum}; done too: --all`]
}

export function workShow(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const id = await idOf(context, reader, text, ['work'])
    const item = await reader.row('work_items', id)
    if (item === null) throw new Error(`no row for ${id}`)
    if (context.flags.json === true) {
      return printRecord(context, `/agents/${item.agent_id}/work-items/${id}`)
    }
    const [view] = await viewsOf(reader, moment, item.agent_id)
    const projection = view && projectionOf(view, id, item)
    if (!view || !projection) throw new Error(`no view of ${item.agent_id}`)
    const turns = await reader.list('turns', { work_item_id: id, limit: most })
    const sums = await reader.spend({ by: ['item'], agent_id: item.agent_id, work_item_id: id })
    const one: Listed = { view, projection, spend: spendByItem(sums, turns).get(id) ?? null }
    const zone = zoneOf(context)
    const { ids } = context
    const plan = await reader.plan(item)
    const { result_brief_id } = item
    const brief = result_brief_id === null ? null : await reader.row('briefs', result_brief_id)
    const left = leftBehind(item, view.facts.rows('tasks'))
    const used = spent(one.spend?.usage ?? null)
    const { indentedProse } = await import('../command/prose.ts')
    const prose = indentedProse(context)
    printLines(context, [
      ...whyLines(whyOf(view, projection, null), { zone, ids, decided: false }),
      '',
      ...budgetLines(projection, (id) => ids.short(id)),
      ...todoLines(context, item),
      ...planLines(plan, prose),
      ...paragraph(checkLines(item, { ids, zone, ink: context.ink })),
      ...(item.result_summary === null ? [] : [claimLine(item), ...prose(item.result_summary), '']),
      ...paragraph(againstIt(context, left, brief)),
      ...paragraph(lateLines(context, lateOf(view.facts, item))),
      `${ids.short(id)}, agent ${item.agent_id}, made ${clock(item.created_at, zone)}, ` +
        [`revision ${item.revision}`, ...standing(projection)].join(', ') +
        `, ${counted(turns.length, 'turn')}, spent ${used}`,
    ])
    return exits.done
  })
}

/** Of an open item: how its plan stands, and whether its agent is at it. */
const standing = ({ item, focus }: Projection): string[] =>
  item.state === 'completed'
    ? []
    : [`plan ${item.plan_status}`, ...(focus === 'current' ? ['in focus'] : [])]

const paragraph = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [...lines, '']

/** What speaks against a report: what is left now, and what else it was written for. */
function againstIt({ ids }: Context, left: readonly string[], brief: Brief | null): string[] {
  const shared = (brief?.warnings ?? []).filter(({ kind }) => kind === 'shared_report')
  const said = [...left, ...shared.map(({ message }) => message)]
  return said.map((one) => safeLine(ids.within(`! ${one}`)))
}

/** What came of it since, and its agent has not seen. */
const lateLines = ({ ids }: Context, late: readonly string[]): string[] =>
  late.map((said) => safeLine(ids.within(`! came late: ${said}`)))

/** The report is the agent's word; what stands beside it is not. */
const claimLine = (item: WorkItem): string => `report, ${stateWords[verificationOf(item).state]}`

const todoMarks = { completed: 'done', in_progress: 'working', pending: 'next' } as const

function todoLines(context: Context, item: WorkItem): string[] {
  if (item.todo_list.length === 0) return []
  const done = item.todo_list.filter(({ state }) => state === 'completed').length
  const lines = item.todo_list.map(({ text, state }) => {
    // Of a completed item none is under way, whatever its list still says.
    const mark = item.state === 'completed' && state !== 'completed' ? 'next' : todoMarks[state]
    return painted(`  ${glyph(mark, context.ink)} ${safeLine(text)}`, mark, context.ink)
  })
  return [`todos ${done}/${item.todo_list.length}`, ...lines, '']
}

function budgetLines({ item, budget }: Projection, short: (id: string) => string): string[] {
  if (budget === null) return []
  const { draws_on } = budget
  if (draws_on !== null)
    return [`budget  that of ${short(draws_on)}, in whose turn it was made`, '']
  return item.budget === null ? [] : [`budget  ${budgetLine(item.budget, budget)}`, '']
}

type Plan = Awaited<ReturnType<HomeReader['plan']>>

function planLines(plan: Plan, prose: (text: string) => string[]): string[] {
  const { problem } = plan
  if (problem) {
    const kept = problem.last_good === null ? '' : `; the last whole text is ${problem.last_good}`
    return [`plan  ${safeLine(plan.path)}`, `  ! ${safeLine(problem.message + kept)}`, '']
  }
  if (plan.bytes === 0) return []
  const cut = plan.preview_complete ? [] : ['  …']
  return [`plan  ${safeLine(plan.path)}`, ...prose(plan.preview), ...cut, '']
}
