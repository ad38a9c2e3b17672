/** The first screen: what needs a person, then what works, waits, comes next and is done. Pure. */
import { type HomeRow, type HomeSection } from '../../present/home.ts'
import { padEnd, width, wrap, wrapped } from '../../present/text/width.ts'
import { apart, blank, line, rule, span, widthOf, type Line } from '../drawing/line.ts'
import { heading, type BodyRow } from '../drawing/body.ts'
import { keyOf } from '../model/keys.ts'
import { previewCells, viewOf, type TuiModel, type ScreenLocation } from '../model/model.ts'
import { onlyByShell, settleWords } from '../model/settles.ts'
import { markSpan, pointer, short } from '../drawing/paint.ts'
import { homeOf } from './home-of.ts'

/** `columns`: of the pane; `height`: lines there are for it. */
export function homeBody(model: TuiModel, columns: number, height: number): BodyRow[] {
  if (model.p === null) return []
  const { sections } = homeOf(model, model.p)
  const shown = fitting(
    sections.filter(({ name, count }) => count > 0 || name === 'needs'),
    height,
  )
  const who = whoCells(shown)
  const limit = limits(shown, height)
  return shown.flatMap((section, n) =>
    sectionRows(model, section, { columns, who, limit: limit[n] ?? 0 }),
  )
}

/** Lines of a section at the least: its heading, a row, what is below that, what is cut off. */
const leastLines = ({ rows, name }: HomeSection): number =>
  1 + (rows[0]?.below ? 2 : 1) + (rows.length > 1 && name !== 'agents' ? 1 : 0)

/**
 * Sections from the end leave before anything that needs a person is cut off; their counts stand
 * in the first line, and their rows on a screen of their own.
 */
function fitting(sections: readonly HomeSection[], height: number): readonly HomeSection[] {
  const [needs, ...rest] = sections
  if (needs === undefined) return sections
  const room = height - 2 - Math.max(1, needs.rows.length)
  const kept = [...rest]
  while (kept.length > 1 && kept.reduce((sum, one) => sum + leastLines(one), 0) > room) kept.pop()
  return [needs, ...kept]
}

const whoCells = (sections: readonly HomeSection[]): number => {
  const names = sections.flatMap(({ name, rows }) => (name === 'agents' ? [] : rows))
  return Math.min(12, Math.max(7, ...names.map(({ who }) => width(who))))
}

/** Rows of each section: the longest gives first, what needs a person last. */
function limits(sections: readonly HomeSection[], height: number): number[] {
  const counts = sections.map(({ rows, name }) =>
    name === 'agents' ? Math.ceil(rows.length / 2) : rows.length,
  )
  const lines = (n: number): number => {
    const rows = sections[n]?.rows.slice(0, counts[n]) ?? []
    const below = rows.filter(({ below: line }) => line !== null).length
    const cut =
      (counts[n] ?? 0) < (sections[n]?.count ?? 0) && sections[n]?.name !== 'agents' ? 1 : 0
    return 1 + (counts[n] ?? 0) + below + cut
  }
  const total = () => counts.reduce((sum, _, n) => sum + lines(n), 1)
  while (total() > height) {
    const able = counts.map((count, n) => ({ n, count, last: sections[n]?.name === 'needs' }))
    const most = able
      .filter(({ count }) => count > 1)
      .sort((a, b) => Number(a.last) - Number(b.last) || b.count - a.count)[0]
    if (most === undefined) break
    counts[most.n] = most.count - 1
  }
  return counts
}

type Room = { columns: number; who: number; limit: number }

function sectionRows(model: TuiModel, section: HomeSection, room: Room): BodyRow[] {
  const { name, title, count, note, rows } = section
  const pen = { ascii: model.look.ascii, columns: room.columns }
  const head = heading(rule(`${title} ${count}`, note, pen))
  if (name === 'needs' && rows.length === 0) {
    return [heading(rule('NEEDS YOU 0', '', pen)), heading(line('  nothing needs you', 'dim'))]
  }
  if (name === 'agents') return [head, ...agentRows(model, rows, room)]
  const shown = rows.slice(0, room.limit).map((row) => itemRow(model, row, name, room))
  const more = count - Math.min(rows.length, room.limit)
  return more > 0
    ? [
        head,
        ...shown,
        { id: `more ${name}`, opens: { at: 'board' }, lines: [moreLine(model, name, more)] },
      ]
    : [head, ...shown]
}

const moreLine = (model: TuiModel, name: string, more: number): Line => {
  const isSelected = viewOf(model).selected === `more ${name}`
  return [
    span(`${isSelected ? pointer(model) : ' '}   ${more} more`, isSelected ? 'inverse' : 'dim'),
  ]
}

const placeOf = ({ agent_id, work_item_id }: HomeRow): ScreenLocation => ({
  at: 'item',
  agent_id,
  work_item_id,
  tab: 'thread',
})

export function itemRow(
  model: TuiModel,
  row: HomeRow,
  section: string,
  room: Pick<Room, 'columns' | 'who'>,
): BodyRow {
  const id = `${section} ${row.id}`
  const isSelected = viewOf(model).selected === id
  const narrow = model.size.columns < 60
  const left: Line = [
    span(`${isSelected ? pointer(model) : ' '} `),
    markSpan(model, row.mark),
    span(` ${padEnd(row.who, room.who)}  `),
    span(short(model, row.title), isSelected ? 'inverse' : 'plain'),
  ]
  const indent = ' '.repeat(narrow ? 4 : 6 + room.who)
  const right = line(short(model, row.right))
  const lines: Line[] = narrow
    ? [
        apart(left, blank, room.columns),
        apart(line(indent + short(model, row.right), 'dim'), blank, room.columns),
      ]
    : [apart(left, right, room.columns)]
  if (row.below !== null) {
    const { left: doing, right: used } = row.below
    lines.push(apart(line(indent + short(model, doing), 'dim'), line(used, 'dim'), room.columns))
  }
  if (isSelected && section === 'needs') {
    // The keys come first: of a long question they would be out of sight.
    lines.push(...hintLines(model, row, { indent, columns: room.columns }))
    lines.push(...askedLines(model, row, { indent, columns: room.columns }))
  }
  return {
    id,
    lines,
    opens: placeOf(row),
    agent_id: row.agent_id,
    work_item_id: row.work_item_id,
    can: row.can,
    cli: row.can.find(({ allowed, cli }) => allowed && cli !== null)?.cli ?? null,
    text: row.title,
  }
}

/**
 * The rest of a question that its row does not hold: below it, while it is selected and no pane
 * beside it has all of it.
 */
function askedLines(
  model: TuiModel,
  { asks = [], title }: HomeRow,
  { indent, columns }: { indent: string; columns: number },
): Line[] {
  if (previewCells(model) > 0) return []
  const [first, ...rest] = asks
  const shown = first === title && width(title) + indent.length + 8 <= columns ? rest : asks
  return shown.flatMap((one) =>
    wrapped(short(model, one), columns - indent.length).map((part) => line(indent + part)),
  )
}

/** What can be done about an entry, by its keys; none of it is cut. */
function hintLines(
  model: TuiModel,
  { can, id }: HomeRow,
  { indent, columns }: { indent: string; columns: number },
): Line[] {
  const settles = settleWords(can)
  const shell = onlyByShell(can)
  const able = (key: string) => can.some((one) => one.key === key && one.allowed)
  const hints = [
    ...(settles === '' ? [] : [`${keyOf('answer').shown} ${settles}`]),
    ...(shell === null ? [] : [`$ ${short(model, shell)}`]),
    ...(able('snooze') ? [`${keyOf('snooze').shown} snooze`] : []),
    'enter open',
  ]
  const lines = flowed(hints, columns - indent.length).map((one) => line(indent + one))
  const [first = [], ...rest] = lines
  const name = line(short(model, id), 'dim')
  const fits = widthOf(first) + widthOf(name) + 2 <= columns
  return fits ? [apart(first, name, columns), ...rest] : lines
}

/** As many beside each other as fit in a line; one that is wider than it is wrapped. */
function flowed(hints: readonly string[], cells: number): string[] {
  const out: string[] = []
  for (const hint of hints) {
    const last = out.at(-1)
    const next = `${last}   ${hint}`
    if (last !== undefined && width(next) <= cells) out[out.length - 1] = next
    else out.push(...wrapped(hint, cells))
  }
  return out
}

/** A home that is one agent which has spoken: its words have the whole line. */
const isOnlyOneSpeaking = ({ p }: TuiModel): boolean =>
  p?.state.agents.length === 1 && p.state.work_items.length === 0

/** Two agents a line where there is room. */
function agentRows(model: TuiModel, rows: readonly HomeRow[], room: Room): BodyRow[] {
  const across = room.columns >= 64 && !isOnlyOneSpeaking(model) ? 2 : 1
  const cells = Math.floor(room.columns / across)
  const names = Math.min(12, Math.max(7, ...rows.map(({ who }) => width(who))))
  const shown = rows.slice(0, room.limit * across)
  const out: BodyRow[] = []
  for (let at = 0; at < shown.length; at += across) {
    const group = shown.slice(at, at + across)
    const [first] = group
    if (first === undefined) break
    const isSelected = viewOf(model).selected === `agents ${first.id}`
    const cell = (row: HomeRow): Line => {
      const left: Line = [
        span(isSelected && row === first ? `${pointer(model)} ` : '  '),
        span(
          `${padEnd(row.who, names)}  ${row.title}`,
          isSelected && row === first ? 'inverse' : 'plain',
        ),
      ]
      return apart(left, line(`${row.right} `, 'dim'), cells)
    }
    const place: ScreenLocation = {
      at: 'item',
      agent_id: first.id,
      work_item_id: null,
      tab: 'thread',
    }
    out.push({
      id: `agents ${first.id}`,
      lines: [group.flatMap(cell)],
      opens: place,
      agent_id: first.id,
      can: first.can,
    })
  }
  if (rows.length > shown.length) {
    out.push({
      id: 'more agents',
      opens: { at: 'agents' },
      lines: [moreLine(model, 'agents', rows.length - shown.length)],
    })
  }
  return out
}

const beginnings: readonly (readonly [title: string, about: string])[] = [
  ['Try it', 'a runbook that checks this machine; no key, no cost'],
  ['Add a model', 'a provider and its key, or any OpenAI-compatible address'],
  ['Give an objective', 'one sentence; the agent plans, works, waits and reports'],
]

/** What a choice is about stands beside its title, or below it where there is no room. */
function beside(title: string, about: string, columns: number): string[] {
  const whole = `${title} ${about}`
  return width(whole) <= columns ? [whole] : [title.trimEnd(), ...wrap(`      ${about}`, columns)]
}

/** A home in which nothing is yet: what can be done first, each with its shell line. */
export function firstRun(model: TuiModel, columns: number): BodyRow[] {
  const pen = { ascii: model.look.ascii, columns: columns - 3 }
  const under = (title: string): Line => [span('   '), ...rule(title, '', pen)]
  const agents = model.p?.state.agents ?? []
  // What the first words would make an agent with counts before there is one.
  const all = [...agents.map((agent) => agent.model), model.first.model]
  const models = new Set(all.filter((name) => name !== null && name !== 'runbook'))
  const named = models.size === 0 ? 'none yet; "runbook" needs none' : [...models].join(', ')
  const fact = (name: string, value: string, state: string): Line =>
    apart(line(`   ${padEnd(name, 8)}${value}`), line(state), columns)
  const choices = beginnings.flatMap(([title, about], n) =>
    beside(`   ${n + 1}  ${padEnd(title, 17)}`, about, columns),
  )
  const said = wrap('   Nothing runs, nothing waits, nothing is spent.', columns)
  const shell = ['holon run examples/health.md', 'holon init', 'holon run "find out what is slow"']
  return [
    heading(blank, ...said.map((one) => line(one)), blank),
    heading(...choices.map((one) => line(one)), blank),
    heading(under('the same from a shell')),
    heading(...shell.map((one) => line(`   ${one}`)), blank),
    heading(under('what is set up')),
    heading(fact('home', model.where.home, 'ok')),
    heading(fact('daemon', model.where.url, 'ok')),
    heading(fact('model', named, models.size === 0 ? 'add one' : 'ok')),
  ]
}
