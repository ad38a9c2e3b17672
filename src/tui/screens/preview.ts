/** The pane beside a wide screen: about the selected row, or about the item that is open. Pure. */
import { stateWords } from '../../present/lines/check-lines.ts'
import { thread } from '../../present/presentation.ts'
import { safeLines } from '../../present/text/safe.ts'
import { padEnd, wrap, wrapped } from '../../present/text/width.ts'
import { clock, clockTimes } from '../../present/text/span.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import { choiceRows } from '../../present/lines/question-lines.ts'
import { counted } from '../../present/lines/call-line.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import type { BodyRow } from '../drawing/body.ts'
import {
  budgetLines,
  readOf,
  todoRows,
  whyBody,
  type PlanValue,
  type WhyValue,
} from './item-tabs.ts'
import { apart, blank, cutTo, line, rule, span, type Line, type Pen } from '../drawing/line.ts'
import { viewOf, type TuiModel } from '../model/model.ts'
import { markSpan, short, timesOf } from '../drawing/paint.ts'
import { proseLines } from '../drawing/prose.ts'

export function previewLines(model: TuiModel, row: BodyRow | null, columns: number): Line[] {
  const { place } = viewOf(model)
  if (place.at === 'item') {
    return place.work_item_id === null ? [] : besideThread(model, place.work_item_id, columns)
  }
  const item = row?.work_item_id ?? null
  const agent = row?.agent_id ?? null
  if (row === null || agent === null) return []
  return ofRow(model, row, { agent, item, columns })
}

/** The third pane: the whole of why, of the item that the two beside it are about. */
export function whyPane(model: TuiModel, row: BodyRow | null, columns: number): Line[] {
  const { place } = viewOf(model)
  const id = place.at === 'item' ? place.work_item_id : (row?.work_item_id ?? null)
  if (id === null) return []
  const rows = whyBody(model, id, columns)
  return rows.flatMap(({ lines }) => lines).map((one) => cutTo(one, columns))
}

type Of = { agent: string; item: string | null; columns: number }

function ofRow(model: TuiModel, row: BodyRow, { agent, item, columns }: Of): Line[] {
  const pen = { ascii: model.look.ascii, columns }
  const objective = model.p?.state.work_items.find(({ id }) => id === item)?.objective ?? ''
  const why = item === null ? null : readOf<WhyValue>(model, `why ${item}`)
  const said = (text: string) => short(model, clockTimes(text, timesOf(model)))
  const entry = model.p?.state.attention.find(({ id }) => row.id === `needs ${id}`)
  const entries = thread(model.p ?? neverOpen(), agent, item, 1).slice(-6)
  const able = (row.can ?? []).filter(({ allowed, cli }) => allowed && cli !== null)
  return [
    [span(`${agent}  ${item === null ? '' : short(model, item)}  `), span(objective, 'bold')],
    blank,
    ...(why === null ? [] : wrap(said(why.sentence), columns).map((one) => line(one))),
    ...(why === null ? [] : wrap(`Next: ${said(why.next)}.`, columns).map((one) => line(one))),
    ...(entry === undefined ? [] : [blank, ...question(model, entry, columns)]),
    blank,
    ...(entries.length === 0
      ? []
      : [
          rule('Thread', '', pen),
          ...entries.map((one) =>
            apart(
              line(
                `${clock(one.at, timesOf(model)).slice(-5)}  ${padEnd(one.who, 7)} ` +
                  short(model, one.title),
              ),
              line(short(model, one.facts.at(-1) ?? ''), 'dim'),
              columns,
            ),
          ),
          blank,
        ]),
    ...able.slice(0, 4).map(({ cli }) => line(`$ ${short(model, cli ?? '')}`, 'dim')),
  ].map((one) => cutTo(one, columns))
}

function neverOpen(): never {
  throw new Error('there is nothing to look at before the state was read')
}

/** Lines of its text that stand in the pane; its answers stand there whole. */
const questionLinesShown = 12

function question(model: TuiModel, entry: Attention, columns: number): Line[] {
  const [first = '', ...rest] = safeLines(entry.text.trim()).flatMap((one) =>
    wrapped(short(model, one), columns - 4),
  )
  const shown = rest.slice(0, questionLinesShown)
  const more = rest.length - shown.length
  const choices = choiceRows(entry).flatMap((one) => wrapped(one, columns - 4))
  return [
    [markSpan(model, 'needs_me'), span(` ${first}`)],
    ...shown.map((part) => line(`  ${part}`)),
    ...(more > 0 ? [line(`  ${counted(more, 'more line')}: a shows them`, 'dim')] : []),
    ...choices.map((part) => line(`  ${part}`)),
  ]
}

/** What the operator wants to see before a claim counts, and how far that is known. */
function checksOf(
  model: TuiModel,
  { checks = [], verification }: WorkItemRecord,
  pen: Pen,
): Line[] {
  if (checks.length === 0) return []
  const marks = { passed: 'done', failed: 'failed', unknown: 'unknown' } as const
  return [
    blank,
    rule('Checks', '', pen),
    ...checks.map((check): Line => {
      const { run, name } = check
      const mark = run?.state === 'finished' ? marks[run.outcome] : 'next'
      const said = run === null ? 'runs at completion' : run.state
      const how = run?.state === 'finished' ? run.outcome : said
      return apart([markSpan(model, mark), span(` ${name}`)], line(how, 'dim'), pen.columns)
    }),
    line(verification === null ? '' : `${stateWords[verification.state]}: ${verification.says}`),
  ]
}

function besideThread(model: TuiModel, id: string, columns: number): Line[] {
  const pen = { ascii: model.look.ascii, columns }
  const plan = readOf<PlanValue>(model, `plan ${id}`)
  const item = readOf<WorkItemRecord>(model, `item ${id}`)
  const text = plan?.text?.trim() ?? ''
  const hash = plan?.plan_artifact.sha256?.slice(0, 4)
  const sha = text === '' || hash === undefined ? '' : `, sha ${hash}`
  const tasks = model.p?.state.tasks.filter((one) => one.work_item_id === id) ?? []
  const waits = model.p?.state.waits.filter((one) => one.work_item_id === id) ?? []
  const planned =
    plan === null || text === ''
      ? [line('none yet', 'dim')]
      : proseLines(plan.plan_artifact, safeLines(text).slice(0, 16), pen, 'plain').slice(0, 8)
  return [
    line(`Plan  ${text === '' ? '' : `${text.split('\n').length} lines`}${sha}`, 'bold'),
    ...planned,
    blank,
    ...todoRows(model, id).flatMap(({ lines }) => lines),
    ...(item?.todo_list?.length ? [blank] : []),
    rule('Waits', '', pen),
    ...(waits.length === 0
      ? [line('none', 'dim')]
      : waits.map(({ reason }) => line(`~ ${reason.split('\n')[0]}`))),
    blank,
    rule('Tasks', '', pen),
    ...(tasks.length === 0
      ? [line('none', 'dim')]
      : tasks.map((task): Line => [
          markSpan(model, 'working'),
          span(` ${short(model, task.id)}  ${task.label}`),
        ])),
    blank,
    rule('Budget', '', pen),
    ...(item === null ? [] : budgetLines(item).map((one) => line(one))),
    ...(item === null ? [] : checksOf(model, item, pen)),
  ].map((one) => cutTo(one, columns))
}
