/** What each screen has in its middle, and above it; how much room there is for it. Pure. */
import { clock, clockSeconds, clockTimes } from '../../present/text/span.ts'
import { agentAsks, agentSentence, dollars, thousandths } from '../../present/lines/state-cell.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { heading, scrolled, selectedRow, type BodyRow } from '../drawing/body.ts'
import { firstRun, homeBody } from './home.ts'
import { homeOf, isEmpty } from './home-of.ts'
import { itemEventsBody, planBody, readOf, spendBody, whyBody, type WhyValue } from './item-tabs.ts'
import { apart, cutTo, line, rule, span, widthOf, type Line } from '../drawing/line.ts'
import { agentsBody, boardBody, eventsBody, tasksBody, waitsBody } from './lists.ts'
import {
  noDaemon,
  previewCells,
  tabs,
  viewOf,
  whyCells,
  type TuiModel,
  type ScreenLocation,
} from '../model/model.ts'
import { short, timesOf } from '../drawing/paint.ts'
import { searchBody, searchHeader } from './search.ts'
import { taskBody, taskHeader } from './task.ts'
import { threadBody } from './thread.ts'
import { bottomLines } from './footer.ts'
import type { SpendRow } from '../../protocol/records/spend-record.ts'

/** A frame asks for the same several times: of one model it is worked out once. */
function once<T>(make: (model: TuiModel) => T): (model: TuiModel) => T {
  const known = new WeakMap<TuiModel, { value: T }>()
  return (model) => {
    const found = known.get(model) ?? { value: make(model) }
    known.set(model, found)
    return found.value
  }
}

/** Cells of the main pane. */
export const paneCells = (model: TuiModel): number => {
  const beside = [previewCells(model), whyCells(model)].filter((cells) => cells > 0)
  return beside.reduce((left, cells) => left - cells - 1, model.size.columns)
}

/** Lines of the body. */
export const bodyHeight = once((model: TuiModel): number =>
  Math.max(1, model.size.rows - headerOf(model).length - bottomLines(model).length),
)

const bodyMade = (model: TuiModel): BodyRow[] => {
  const { place } = viewOf(model)
  const columns = paneCells(model)
  if (model.p === null) return [heading(line('  reading …', 'dim'))]
  switch (place.at) {
    case 'home':
      return isEmpty(model) ? firstRun(model, columns) : homeBody(model, columns, bodyHeight(model))
    case 'board':
      return boardBody(model, columns)
    case 'agents':
      return agentsBody(model, columns)
    case 'tasks':
      return tasksBody(model, columns)
    case 'waits':
      return waitsBody(model, columns)
    case 'events':
      return eventsBody(model, columns)
    case 'search':
      return searchBody(model, columns)
    case 'task':
      return taskBody(model, place, columns)
    case 'item':
      return itemBody(model, place, columns)
  }
}
export const bodyOf = once(bodyMade)

function itemBody(
  model: TuiModel,
  place: ScreenLocation & { at: 'item' },
  columns: number,
): BodyRow[] {
  const { work_item_id: id, agent_id, tab } = place
  if (id === null || tab === 'thread') {
    return threadBody(model, place, { columns, height: bodyHeight(model) })
  }
  switch (tab) {
    case 'plan':
      return planBody(model, id, columns)
    case 'tasks':
      return tasksBody(model, columns, `tasks ${id}`)
    case 'why':
      return whyBody(model, id, columns)
    case 'spend':
      return spendBody(model, id, columns)
    case 'events':
      return itemEventsBody(model, agent_id, id, columns)
  }
}

/** `live 14:05`: the clock of the last heartbeat, which stops when the link does. */
export function liveWords(model: TuiModel): Line {
  const times = timesOf(model)
  switch (model.p?.link.kind) {
    case 'live':
      return line(`live ${clock(model.p.heard_at, times)}`)
    case 'stale':
    case 'gone':
      return line(`stale: as of ${clockSeconds(model.p.heard_at, times)}`, 'yellow')
    case 'connecting':
    case undefined:
      return line('connecting', 'dim')
  }
}

export function headerOf(model: TuiModel): Line[] {
  const { place } = viewOf(model)
  const { columns } = model.size
  const link = model.p?.link
  if (link?.kind === 'stale') return disconnected(model, columns)
  const live = liveWords(model)
  const pen = { ascii: model.look.ascii, columns }
  switch (place.at) {
    case 'home':
      return [homeHeader(model, columns, live)]
    case 'board':
    case 'agents':
    case 'tasks':
    case 'waits':
    case 'events':
      return [apart(line(`holon  ${place.at}`, 'bold'), live, columns), rule('', '', pen)]
    case 'search':
      return [...searchHeader(model, columns), rule('', '', pen)]
    case 'task':
      return taskHeader(model, place, columns, live)
    case 'item':
      return itemHeader(model, place, columns, live)
  }
}

function homeHeader(model: TuiModel, columns: number, live: Line): Line {
  if (model.p === null) return apart(line('holon', 'bold'), live, columns)
  const { counts } = homeOf(model, model.p)
  const said = isEmpty(model) ? 'no work yet' : counts
  const left: Line = [span('holon', 'bold'), span(`  ${isEmpty(model) ? '' : said}`)]
  const beside = isEmpty(model) ? said : spentToday(model)
  const right: Line = beside === '' ? live : [span(`${beside}   `), ...live]
  // What is spent gives way: what needs a person does not.
  const fits = widthOf(left) + widthOf(right) < columns
  return apart(left, fits ? right : live, columns)
}

/** Only with a known price; tokens where there is none. */
function spentToday(model: TuiModel): string {
  const rows = readOf<{ spend: SpendRow[] }>(model, 'spend today')?.spend ?? []
  const usd = rows.reduce((sum, row) => sum + (row.known_usd ?? 0), 0)
  if (usd > 0) return `${dollars(usd)} today`
  const tokens = rows.reduce((sum, row) => sum + row.input_tokens + row.output_tokens, 0)
  return tokens === 0 ? '' : `${thousandths(tokens)} tokens today`
}

function disconnected(model: TuiModel, columns: number): Line[] {
  const { p, trouble, where } = model
  const times = timesOf(model)
  const since = p?.link.kind === 'stale' ? clockSeconds(p.link.since, times) : ''
  const next =
    trouble === null
      ? ''
      : Math.max(0, Math.ceil((Date.parse(trouble.next_at) - Date.parse(model.now)) / 1_000))
  const again = trouble === null ? 'trying again' : `try ${trouble.tries + 1} in ${next} s`
  const at = where.url.replace(/^https?:\/\//, '')
  return [
    apart(
      [span('holon', 'bold'), span('  '), span(`NOT CONNECTED since ${since}`, 'red')],
      liveWords(model),
      columns,
    ),
    apart(
      line(`${trouble?.message ?? 'the connection ended'} at ${at}; ${again}`),
      line(trouble?.message === noDaemon ? 'r starts it' : 'r now'),
      columns,
    ),
    line(
      `What you see was true at ${clockSeconds(p?.heard_at ?? model.now, times)}. ` +
        'Commands that run go on without the daemon.',
    ),
  ].map((one) => cutTo(one, columns))
}

function itemHeader(
  model: TuiModel,
  place: ScreenLocation & { at: 'item' },
  columns: number,
  live: Line,
): Line[] {
  const { agent_id, work_item_id: id, tab } = place
  const pen = { ascii: model.look.ascii, columns }
  if (id === null) return agentHeader(model, agent_id, columns, live)
  const known = model.p?.state.work_items.find((one) => one.id === id)
  const item = known ?? readOf<WorkItemRecord>(model, `item ${id}`)
  const title = item?.objective.replace(/\s+/g, ' ') ?? ''
  const first = apart(
    [span(`${short(model, id)}  `), span(title, 'bold')],
    [span(`${agent_id}   `), ...live],
    columns,
  )
  const second = tabLine(model, place)
  const note = tab === 'thread' ? `level ${viewOf(model).level} of 3` : ''
  if (tab !== 'thread') return [first, fill(second, '', pen)]
  return [first, ...sentences(model, id, item, columns), fill(second, note, pen)]
}

/** The tabs, and a rule to the end of the line. */
function fill(
  left: Line,
  note: string,
  { ascii, columns }: { ascii: boolean; columns: number },
): Line {
  const used = left.reduce((sum, { text }) => sum + text.length, 0)
  return [
    ...left,
    span(' '),
    ...rule('', note, { ascii, columns: Math.max(3, columns - used - 1) }),
  ]
}

function tabLine(model: TuiModel, { tab, work_item_id }: ScreenLocation & { at: 'item' }): Line {
  const running =
    model.p?.state.tasks.filter((one) => one.work_item_id === work_item_id).length ?? 0
  return tabs.flatMap((name, n): Line => {
    const count = name === 'tasks' && running > 0 ? ` ${running}` : ''
    const text = name === tab ? `[${name}]${count}` : `${name}${count}`
    return [span(n === 0 ? '' : '  '), span(text, name === tab ? 'bold' : 'plain')]
  })
}

/** Why it is as it is and what comes next, with what it used beside. */
function sentences(
  model: TuiModel,
  id: string,
  item: WorkItemRecord | null,
  columns: number,
): Line[] {
  const why = readOf<WhyValue>(model, `why ${id}`)
  const times = timesOf(model)
  const said = (text: string) => short(model, clockTimes(text, times))
  const used = item?.spend ?? null
  const budget = item?.budget?.max_usd ?? null
  const usd = !used?.usd ? '' : dollars(used.usd)
  const price = budget === null ? usd : `${usd === '' ? '$0' : usd}/${dollars(budget)}`
  const tokens =
    used === null || used.input_tokens === null || used.output_tokens === null
      ? 0
      : used.input_tokens + used.output_tokens
  const todos = item?.todo_counts
  const total = todos === undefined ? 0 : todos.pending + todos.in_progress + todos.completed
  const done = total === 0 ? '' : ` Todos ${todos?.completed}/${total}.`
  const turn = model.p?.state.turns.find((one) => one.work_item_id === id)
  const first =
    turn === undefined
      ? why === null
        ? ''
        : said(why.sentence)
      : `Working: turn ${turn.number} since ${clock(turn.started_at, times)}, ` +
        `because ${said(turn.because)}.`
  const needs = model.p?.state.attention.filter((one) => one.work_item_id === id).length ?? 0
  const next =
    why === null ? '' : `Next: ${said(why.next)}.${needs === 0 ? ' Nothing needs you.' : ''}`
  return [
    apart(line(fits(first, done, columns - price.length - 2)), line(price), columns),
    apart(
      line(next.replace('..', '.')),
      line(tokens === 0 ? '' : `${thousandths(tokens)} tokens`),
      columns,
    ),
  ]
}

/** What is said beside a sentence only where there is room for it. */
const fits = (sentence: string, more: string, cells: number): string =>
  sentence.length + more.length <= cells ? sentence + more : sentence

function agentHeader(model: TuiModel, agent_id: string, columns: number, live: Line): Line[] {
  const agent = model.p?.state.agents.find(({ id }) => id === agent_id)
  const times = timesOf(model)
  const asks = agent === undefined ? null : agentAsks(agent, model.p?.state.waits ?? [])
  const does = agent === undefined ? '' : agentSentence(agent, times, asks)
  const pen = { ascii: model.look.ascii, columns }
  return [
    apart([span(agent_id, 'bold'), span(`  agent, ${agent?.model ?? 'no model'}`)], live, columns),
    apart(
      line(short(model, clockTimes(does, times))),
      line(`${agent?.open_work_items ?? 0} open`),
      columns,
    ),
    rule('thread', `level ${viewOf(model).level} of 3`, pen),
  ]
}

type Standing = { rows: BodyRow[]; row: BodyRow | null; top: number }

/** The selected row, and the first line of the body that is shown. */
export const standing = once((model: TuiModel): Standing => {
  const view = viewOf(model)
  const found = selectedRow(bodyOf(model), view.selected, view.follow)
  const id = found?.id ?? null
  // Before the first key, and while it follows, what is selected goes by where it stands.
  const stood = view.selected === id ? model : withSelected(model, id)
  const rows = bodyOf(stood)
  const row = selectedRow(rows, id, view.follow)
  const place = { top: view.top, height: bodyHeight(model), follow: view.follow }
  return { rows, row, top: scrolled(rows, row, place) }
})

const withSelected = (model: TuiModel, selected: string | null): TuiModel => ({
  ...model,
  views: [...model.views.slice(0, -1), { ...viewOf(model), selected }],
})
