/** The thread of an item or an agent: its entries at the level that was chosen. Pure. */
import { counted } from '../../present/lines/call-line.ts'
import type { Entry } from '../../present/entries/entry.ts'
import { ago, running } from '../../present/item-words.ts'
import type { OutboxMessage } from '../../present/history/input.ts'
import { thread } from '../../present/presentation.ts'
import { clock, due, since } from '../../present/text/span.ts'
import { padEnd, wrapped } from '../../present/text/width.ts'
import { apart, line, span, widthOf, type Line, type Pen } from '../drawing/line.ts'
import { proseLines, proseTitle } from '../drawing/prose.ts'
import { safe } from '../../present/text/safe.ts'
import { heading, heightOf, type BodyRow } from '../drawing/body.ts'
import { diffRows } from './diff.ts'
import { viewOf, type TuiModel, type ScreenLocation } from '../model/model.ts'
import { caret, markSpan, pointer, short, timesOf } from '../drawing/paint.ts'

/** Lines of a body that are shown before it is unfolded, where not all of the thread fits. */
const foldedLines = { text: 12, other: 3 }

/** Cells there are; `fits`: nothing has to be folded for want of lines. */
type Room = { readonly columns: number; readonly fits: boolean }

const whoCells = 7
/** Lines of a title that is longer than one. */
const titleLines = 4

export function threadBody(
  model: TuiModel,
  place: ScreenLocation & { at: 'item' },
  { columns, height }: { columns: number; height: number },
): BodyRow[] {
  const folded = rowsOf(model, place, { columns, fits: false })
  if (heightOf(folded) >= height) return folded
  const whole = rowsOf(model, place, { columns, fits: true })
  return heightOf(whole) > height ? folded : whole
}

function rowsOf(model: TuiModel, place: ScreenLocation & { at: 'item' }, room: Room): BodyRow[] {
  const { p } = model
  if (p === null) return []
  const { columns } = room
  const { level } = viewOf(model)
  const entries = thread(p, place.agent_id, place.work_item_id, level)
  const rows = entries.flatMap((entry) => entryRows(model, entry, place, room))
  const sent = p.sent.filter(
    (one) => one.agent_id === place.agent_id && one.work_item_id === place.work_item_id,
  )
  const waiting = sent.map(({ key, text, at, state }): BodyRow => {
    const said = sentWords(state)
    const left = line(
      `${timeOf(model, at)}  ${padEnd('you', whoCells)} ${text.split('\n')[0] ?? ''}`,
      'dim',
    )
    return {
      id: `sent ${key}`,
      lines: [apart(left, line(said, state.kind === 'refused' ? 'red' : 'dim'), columns)],
    }
  })
  const all = [...rows, ...waiting]
  if (all.length > 0) return all
  const isRead = p.feeds.some(
    ({ agent_id, heard }) => agent_id === place.agent_id && heard.length > 0,
  )
  return [heading(line(isRead ? '  nothing has happened here yet' : '  reading …', 'dim'))]
}

function sentWords(state: OutboxMessage['state']): string {
  switch (state.kind) {
    case 'sending':
    case 'accepted':
      return state.kind
    case 'unknown':
      return 'it may have arrived'
    case 'refused':
      return `refused: ${state.problem.detail}`
  }
}

const timeOf = (model: TuiModel, at: string): string =>
  at === '' ? '     ' : clock(at, timesOf(model)).slice(-5)

function entryRows(
  model: TuiModel,
  entry: Entry,
  place: ScreenLocation & { at: 'item' },
  space: Room,
): BodyRow[] {
  const { columns } = space
  const isSelected = viewOf(model).selected === entry.id
  const mark = entry.mark !== null && entry.kind !== 'turn'
  const who = mark && isGlyph(entry.who) ? markSpan(model, entry.mark) : span(entry.who)
  const gap = ' '.repeat(Math.max(1, whoCells + 1 - entryWho(entry, mark)))
  const right = factsOf(model, entry)
  const room = Math.max(20, columns - 15 - (right.length === 0 ? 0 : widthOf(right) + 2))
  const title =
    entry.kind === 'brief' && entry.mark === null ? proseTitle(entry.title) : entry.title
  const titles = wrapped(short(model, title), room)
  const style = isSelected ? 'inverse' : entry.kind === 'turn' ? 'bold' : 'plain'
  const left: Line = [
    span(timeOf(model, entry.at)),
    span(isSelected ? `${pointer(model)} ` : '  '),
    who,
    span(gap),
    span(titles[0] ?? '', style),
  ]
  const more = titles.slice(1, titleLines).map((one): Line => [span(' '.repeat(15)), span(one)])
  const row = rowOf(entry, place, [
    apart(left, right, columns),
    ...more,
    ...bodyLines(model, entry, space, 15),
  ])
  const isOpen =
    viewOf(model).level > 1 || viewOf(model).unfolded.has(entry.id) || entry.children.length < 4
  const children = isOpen ? entry.children : []
  const diff = diffRows(model, entry, { columns, indent: 15 })
  return [row, ...diff, ...children.flatMap((child) => childRows(model, child, place, space))]
}

const isGlyph = (who: string): boolean => who.length === 1
const entryWho = (entry: Entry, mark: boolean): number =>
  mark && isGlyph(entry.who) ? 1 : entry.who.length

function childRows(
  model: TuiModel,
  entry: Entry,
  place: ScreenLocation & { at: 'item' },
  room: Room,
  depth = 0,
): BodyRow[] {
  const { columns } = room
  const view = viewOf(model)
  const isSelected = view.selected === entry.id
  const indent = 9 + depth * 2
  const lead = `${isSelected ? pointer(model) : ' '}${' '.repeat(indent - 1)}`
  if (entry.kind === 'text') return [rowOf(entry, place, textLines(model, entry, room, lead))]
  const left: Line = [
    span(lead),
    ...(entry.mark === null ? [] : [markSpan(model, entry.mark), span(' ')]),
    span(short(model, entry.title), isSelected ? 'inverse' : 'plain'),
  ]
  const lines = [
    apart(left, factsOf(model, entry), columns),
    ...bodyLines(model, entry, room, indent + 4),
  ]
  const row = rowOf(entry, place, lines)
  const isOpen = entry.kind !== 'group' || view.unfolded.has(entry.id)
  return [
    row,
    ...diffRows(model, entry, { columns, indent: indent + 2 }),
    ...(isOpen
      ? entry.children.flatMap((one) => childRows(model, one, place, room, depth + 1))
      : []),
  ]
}

/** On the third level a request has a line of its own above its words. */
function textLines(model: TuiModel, entry: Entry, room: Room, lead: string): Line[] {
  const lines = bodyLines(model, entry, room, 9)
  const isLive = model.p?.texts.has(entry.id) ?? false
  const last = lines.at(-1)
  if (isLive && last !== undefined) lines[lines.length - 1] = [...last, span(caret(model))]
  if (entry.title === '')
    return lines.map((one, n) => (n === 0 ? [span(lead), ...one.slice(1)] : one))
  const left: Line = [span(lead), span(entry.title, 'dim')]
  return [apart(left, factsOf(model, entry), room.columns), ...lines]
}

function factsOf(model: TuiModel, entry: Entry): Line {
  const times = timesOf(model)
  const parts: string[] = [...entry.facts]
  if (entry.since !== null && entry.due === null) {
    const isWait = entry.kind === 'wait' || entry.kind === 'question'
    const prefix = entry.kind === 'turn' || entry.kind === 'task' ? 'running ' : ''
    const time = isWait ? since(entry.since, times) : running(entry.since, times)
    parts.unshift(time.startsWith('since') ? time : prefix + time)
  }
  if (entry.due !== null)
    parts.unshift(`timer ${times.runs ? due(entry.due, times) : clock(entry.due, times)}`)
  if (entry.subject?.noun === 'task' && entry.mark === 'working') {
    const output = model.p?.outputs.get(entry.subject.id)
    if (output !== undefined) parts.push(`output ${ago(output.at, times)}`)
  }
  return line(short(model, parts.join('  ')), entry.mark === 'failed' ? 'red' : 'dim')
}

function bodyLines(model: TuiModel, entry: Entry, room: Room, indent: number): Line[] {
  const { unfolded, level } = viewOf(model)
  const most =
    entry.kind === 'text' || entry.kind === 'completion' || entry.kind === 'brief'
      ? foldedLines.text
      : foldedLines.other
  const isOpen = unfolded.has(entry.id) || level === 3 || entry.kind === 'text'
  const body = isOpen ? entry.body : entry.body.filter((one) => one.trim() !== '')
  const cells = Math.max(20, room.columns - indent)
  const style = entry.kind === 'text' ? 'plain' : 'dim'
  const all = isProse(model, entry)
    ? proseLines(
        entry.body,
        body.map((one) => safe(short(model, one))),
        penOf(model, cells),
        style,
      )
    : body.flatMap((text) => wrapped(short(model, text), cells)).map((text) => line(text, style))
  // The line that says that one is folded would take the place of that one.
  const isShort = all.length <= most + 1
  const isWhole = unfolded.has(entry.id) || level === 3 || isShort || room.fits
  const shown = isWhole ? all : all.slice(0, most)
  const lead = ' '.repeat(indent)
  const lines: Line[] = shown.map((one) => [span(lead), ...one])
  if (!isWhole)
    lines.push([
      span(lead),
      span(`${counted(all.length - most, 'more line')}; space shows them`, 'dim'),
    ])
  return lines
}

/** What an agent wrote for people; what it is still saying is plain until it is recorded. */
function isProse(model: TuiModel, { id, kind, mark }: Entry): boolean {
  if (kind === 'text') return model.p?.texts.has(id) !== true
  return kind === 'completion' || (kind === 'brief' && mark === null)
}

const penOf = ({ look }: TuiModel, columns: number): Pen => ({ ascii: look.ascii, columns })

function rowOf(
  entry: Entry,
  { agent_id, work_item_id }: ScreenLocation & { at: 'item' },
  lines: Line[],
): BodyRow {
  const task = entry.subject?.noun === 'task' ? entry.subject.id : null
  const opens: ScreenLocation | undefined =
    task === null ? undefined : { at: 'task', agent_id, task_id: task, stream: 'stdout' }
  return {
    id: entry.id,
    lines,
    agent_id,
    work_item_id,
    cli: entry.cli,
    text: [entry.title, ...entry.body].join('\n'),
    ...(opens === undefined ? {} : { opens }),
  }
}
