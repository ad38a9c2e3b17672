/** The other tabs of an item: its plan, why it is as it is, what it used, its events. Pure. */
import { safeLines } from '../../present/text/safe.ts'
import { proseLines } from '../drawing/prose.ts'
import type { z } from 'zod'
import type * as spends from '../../protocol/records/spend-record.ts'
import type { planView, WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { choiceLines, clauseOf } from '../../protocol/records/records.ts'
import type { whyRecord } from '../../protocol/views/why.ts'
import { decisionWord } from '../../protocol/records/records.ts'
import { shelved } from '../../present/history/chunked-map.ts'
import { feedOf } from '../../present/presentation.ts'
import { clock, clockSeconds, clockTimes } from '../../present/text/span.ts'
import { dollars, thousandths } from '../../present/lines/state-cell.ts'
import { padEnd, width, wrap } from '../../present/text/width.ts'
import { heading, type BodyRow } from '../drawing/body.ts'
import { apart, blank, line, rule, span, type Line } from '../drawing/line.ts'
import { viewOf, type TuiModel } from '../model/model.ts'
import { pointer, short, timesOf } from '../drawing/paint.ts'

export type WhyValue = z.infer<typeof whyRecord>
export type PlanValue = z.infer<typeof planView>
type SpendValue = z.infer<typeof spends.spendReport>

/** What was read; null while it was not, or could not be. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the reader names the type
export const readOf = <T>(model: TuiModel, key: string): T | null =>
  (model.details.get(key)?.value as T | undefined) ?? null

const notRead = (model: TuiModel, key: string, what: string): BodyRow[] => {
  const failure = model.details.get(key)?.failure ?? null
  if (failure === null) return [heading(line('  reading …', 'dim'))]
  const end = line('           r  read it again     l  the thread, which still works')
  return [
    heading(blank, [span('   ✗ ', 'red'), span(`${what} could not be shown.`)], blank),
    heading(line(`   why     ${failure}`), line('   do'), end),
  ]
}

export function planBody(model: TuiModel, id: string, columns: number): BodyRow[] {
  const read = readOf<PlanValue>(model, `plan ${id}`)
  if (read === null) return notRead(model, `plan ${id}`, 'The plan')
  const { plan_artifact: plan, text } = read
  if (text === null) return damaged(model, id, plan)
  if (text.trim() === '') return [...noPlan(plan.path), ...todoRows(model, id)]
  const hash = plan.sha256 === null ? '' : `, sha ${plan.sha256.slice(0, 4)}`
  const lines = text.trimEnd().split('\n')
  const head = heading(line(`  ${plan.path}, ${lines.length} lines${hash}`, 'dim'), blank)
  const wide = Math.min(columns - 4, 100)
  const shown = safeLines(text.trimEnd())
  const pen = { columns: wide, ascii: model.look.ascii }
  const rows = proseLines(read, shown, pen, 'plain').map((one, n): BodyRow => ({
    id: `plan ${n}`,
    lines: [planLine(model, one, n)],
    text,
  }))
  return [head, ...rows, heading(blank), ...todoRows(model, id)]
}

/** What would stand here, and whose it is. */
const noPlan = (path: string): BodyRow[] => [
  heading(blank, line('   There is no plan yet.'), blank),
  heading(
    line('   what    how the agent goes about this item, step by step, in its words'),
    line(`   where   ${path}: it writes there, and so may you; every version is kept`),
    line('   do      c  write to the agent, and ask for one'),
    blank,
  ),
]

function planLine(model: TuiModel, text: Line, n: number): Line {
  const isSelected = viewOf(model).selected === `plan ${n}`
  return [span(isSelected ? `${pointer(model)} ` : '  '), ...text]
}

function damaged(model: TuiModel, id: string, plan: PlanValue['plan_artifact']): BodyRow[] {
  const { problem } = plan
  const sha = problem?.last_good?.slice(0, 4)
  const good = sha === undefined ? 'no version that was good' : `the last good one, sha ${sha}`
  const cross = model.look.ascii ? 'X' : '✗'
  return [
    heading(blank, [span(`   ${cross} `, 'red'), span('The plan could not be shown.')], blank),
    heading(
      line(`   what    ${problem?.message ?? 'it cannot be read'}`),
      line(`   where   ${plan.path}`),
      line(`   kept    ${good}`),
      line('   do      l  the thread, which still works       y  copy these lines'),
      blank,
      line(short(model, `   $ holon work show ${id}`)),
    ),
  ]
}

export function todoRows(model: TuiModel, id: string): BodyRow[] {
  const item = readOf<WorkItemRecord>(model, `item ${id}`)
  const todos = item?.todo_list ?? []
  if (todos.length === 0) return []
  const done = todos.filter(({ state }) => state === 'completed').length
  const marks = {
    completed: model.look.ascii ? '+' : '✓',
    in_progress: pointer(model),
    pending: '-',
  }
  return [
    heading(line(`  Todos ${done} of ${todos.length}`, 'bold')),
    ...todos.map(({ text, state }) => heading(line(`  ${marks[state]} ${text}`))),
  ]
}

export function whyBody(model: TuiModel, id: string, columns: number): BodyRow[] {
  const why = readOf<WhyValue>(model, `why ${id} history`)
  if (why === null) return notRead(model, `why ${id} history`, 'Why it is so')
  const times = timesOf(model)
  const said = (text: string) => short(model, clockTimes(text, times))
  const cost = why.cost_since === null ? 'runs now' : `none since ${clock(why.cost_since, times)}`
  const ahead = why.when === null ? 'nothing is due' : clock(why.when, times)
  const can = why.can.filter(({ key }) => key !== 'look')
  const fields: [string, string][] = [
    [
      'State',
      `${why.candidate_class}${why.since === null ? '' : ` since ${clock(why.since, times)}`}`,
    ],
    ['Why', clauseOf(why.why, why.detail)],
    ...why.also.map((one): [string, string] => ['Also', clauseOf(one.why, one.detail)]),
    ...asked(why),
    ['Next', why.next],
    ['When', ahead],
    ['Cost', why.state === 'completed' ? 'all is paid' : cost],
    [
      'Do',
      can.length === 0
        ? 'nothing is needed'
        : can.map(({ cli, label }) => cli ?? label).join('    '),
    ],
  ]
  const rows = fields.flatMap(([name, text]) =>
    wrap(said(text), columns - 8).map((part, n) =>
      heading(line(`${padEnd(n === 0 ? name : '', 7)}${part}`)),
    ),
  )
  const decided = why.last_decision
  const title =
    decided === null
      ? 'NOW'
      : `LAST DECISION ${short(model, decided.id)}, ${clockSeconds(decided.at, times)}` +
        `: ${decisionWord(decided.decision)}`
  return [
    ...rows,
    heading(
      blank,
      rule(title, cutNote(said(why.decision.because), columns), {
        ascii: model.look.ascii,
        columns,
      }),
    ),
    ...candidates(model, why, columns),
    ...earlier(model, why, columns),
    heading(blank, rule('SAME FROM A SHELL', '', { ascii: model.look.ascii, columns })),
    heading(line(`  ${short(model, `holon why ${id} --history`)}`)),
  ]
}

/** What it asks, where nothing above has its words, and the answers that are offered. */
function asked({ question, detail, also }: WhyValue): [string, string][] {
  if (question === null) return []
  const isSaid = [detail, ...also.map((one) => one.detail)].includes(question.text)
  const offers = choiceLines(question)
  return [
    ...(isSaid ? [] : [['Asks', question.text] satisfies [string, string]]),
    ...offers.map((one, n): [string, string] => [n === 0 ? 'Offers' : '', one]),
  ]
}

const cutNote = (text: string, columns: number): string => (text.length < columns / 2 ? text : '')

function candidates(model: TuiModel, why: WhyValue, columns: number): BodyRow[] {
  const rows = why.considered.map((one) =>
    'more' in one
      ? { id: null, name: one.candidate_class, verdict: `and ${one.more} more` }
      : { id: one.work_item_id, name: one.candidate_class, verdict: one.verdict },
  )
  if (!rows.some(({ id }) => id === why.work_item_id)) {
    rows.push({ id: why.work_item_id, name: why.candidate_class, verdict: why.verdict })
  }
  const wide = Math.max(...rows.map(({ name }) => width(name)))
  return rows.map(({ id, name, verdict }) => {
    const own = id === why.work_item_id ? pointer(model) : ' '
    const words = short(model, clockTimes(verdict, timesOf(model)))
    const called = padEnd(id === null ? '' : short(model, id), 10)
    const text = `${own} ${called} ${padEnd(name, wide)}  ${words}`
    return {
      id: `candidate ${id ?? name}`,
      lines: [apart(line(text), blank, columns)],
      text,
      ...(id === null
        ? {}
        : { opens: { at: 'item', agent_id: why.agent_id, work_item_id: id, tab: 'why' } as const }),
    }
  })
}

function earlier(model: TuiModel, why: WhyValue, columns: number): BodyRow[] {
  const history = (why.history ?? []).slice(0, 20)
  if (history.length === 0) return []
  const rows = history.map((one): BodyRow => {
    const times = timesOf(model)
    const because = short(model, clockTimes(one.because, times))
    const decided = padEnd(decisionWord(one.decision), 14)
    const text = `${clockSeconds(one.at, times)}  ${decided}  ${because}`
    const isSelected = viewOf(model).selected === one.id
    const left: Line = [span(text, isSelected ? 'inverse' : 'plain')]
    return { id: one.id, lines: [apart(left, line(short(model, one.id), 'dim'), columns)], text }
  })
  return [heading(blank, rule('BEFORE', '', { ascii: model.look.ascii, columns })), ...rows]
}

export function spendBody(model: TuiModel, id: string, columns: number): BodyRow[] {
  const item = readOf<WorkItemRecord>(model, `item ${id}`)
  const report = readOf<SpendValue>(model, `spend ${id}`)
  if (item === null || report === null) return notRead(model, `spend ${id}`, 'What it used')
  const rows = report.spend.map((row) => {
    const { input_tokens: into, output_tokens: out, cached_input_tokens: cached } = row
    const share = into === 0 ? '' : ` (${Math.round((cached / into) * 100)} % cached)`
    const price =
      row.usd !== null
        ? dollars(row.usd)
        : row.known_usd === null
          ? 'no price'
          : `${dollars(row.known_usd)} and ${row.unpriced_requests} requests without a price`
    return heading(
      line(`  ${row.requests} requests`),
      line(`  ${thousandths(into)} tokens in${share}, ${thousandths(out)} out`),
      line(`  ${price}`),
    )
  })
  const none = heading(line('  nothing was spent', 'dim'))
  return [
    heading(rule('SPENT', '', { ascii: model.look.ascii, columns })),
    ...(rows.length === 0 ? [none] : rows),
    heading(blank, rule('BUDGET', '', { ascii: model.look.ascii, columns })),
    ...budgetLines(item).map((text) => heading(line(`  ${text}`))),
  ]
}

export function budgetLines({ budget, meter }: WorkItemRecord): string[] {
  const draws_on = meter?.draws_on ?? null
  if (draws_on !== null) return [`draws on the budget of ${draws_on}`]
  if (budget === null) return ['no budget is set']
  const used = meter?.used
  const usd = used?.usd ?? null
  const parts: string[] = []
  if (budget.max_usd !== null) {
    parts.push(`${usd === null ? 'no price' : dollars(usd)} of ${dollars(budget.max_usd)}`)
  }
  if (budget.max_tokens !== null) {
    parts.push(`${thousandths(used?.tokens ?? 0)} of ${thousandths(budget.max_tokens)} tokens`)
  }
  if (budget.max_rounds !== null) parts.push(`${used?.rounds ?? 0} of ${budget.max_rounds} rounds`)
  if (budget.deadline !== null)
    parts.push(`until ${budget.deadline.slice(0, 16).replace('T', ' ')}`)
  return parts.length === 0 ? ['no limit is set'] : parts
}

/** The events of the item that this screen holds: nouns with the seqs they reach from and to. */
export function itemEventsBody(
  model: TuiModel,
  agent_id: string,
  id: string,
  columns: number,
): BodyRow[] {
  const feed = model.p === null ? null : feedOf(model.p, agent_id)
  if (feed === null) return [heading(line('  reading …', 'dim'))]
  const groups = [...shelved(feed.groups)].filter((group) => group.work_item_id === id)
  const times = timesOf(model)
  const rows = groups
    .sort((a, b) => a.seq - b.seq)
    .map((group): BodyRow => {
      const types = Object.keys(group.heard).join(', ')
      const at = clockSeconds(group.at, times)
      const text = `${at}  ${padEnd(short(model, group.id), 16)}  ${types}`
      const seqs =
        group.seq === group.last_seq ? String(group.seq) : `${group.seq}-${group.last_seq}`
      const isSelected = viewOf(model).selected === `group ${group.id}`
      const left: Line = [span(text, isSelected ? 'inverse' : 'plain')]
      return { id: `group ${group.id}`, lines: [apart(left, line(seqs, 'dim'), columns)], text }
    })
  return rows.length > 0 ? rows : [heading(line('  none is held here', 'dim'))]
}
