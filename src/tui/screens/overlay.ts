/** What lies over a screen: help and palette, both made from the key table, and dialogs. Pure. */
import { padEnd, width, wrap, wrapped } from '../../present/text/width.ts'
import { actionOf, keyOf, keyTable, type ActionName, type KeyLine } from '../model/keys.ts'
import { blank, cutTo, line, rule, span, apart, type Line } from '../drawing/line.ts'
import { viewOf, type MenuChoice, type TuiModel, type Overlay } from '../model/model.ts'
import { markSpan, pointer, short } from '../drawing/paint.ts'
import { isEmpty } from './home-of.ts'
import type { Mark } from '../../present/text/marks.ts'

const marks: readonly (readonly [Mark, string])[] = [
  ['needs_me', 'asks you'],
  ['unknown', 'outcome unknown'],
  ['failed', 'failed'],
  ['arrived', 'triggered, or something came late'],
  ['working', 'at work (moves only when data arrives)'],
  ['waiting', 'waiting'],
  ['next', 'in hand or ready'],
  ['blocked', 'blocked'],
  ['done', 'done (claimed or verified, as the row says)'],
]

type Help = Overlay & { kind: 'help' }

export function helpLines(model: TuiModel, overlay: Help): Line[] {
  const { columns } = model.size
  const pen = { ascii: model.look.ascii, columns }
  const at = viewOf(model).place.at
  const about = overlay.about === null ? null : actionOf(overlay.about)
  const title = columns < 60 ? `keys: ${at}` : `keys on this screen: ${at}`
  const head = [
    apart(line(title, 'bold'), line(about === null ? '' : aboutWords(model, about)), columns),
    rule('', '', pen),
  ]
  const body = helpBody(model)
  const { room, most } = helpRoom(model)
  const top = Math.min(overlay.top, most)
  const shown = body.slice(top, top + room)
  const last = Math.min(body.length, top + room)
  const part = most === 0 ? '' : `${top + 1}-${last} of ${body.length}: up down, page`
  const foot = [
    rule('', part, pen),
    apart(line(columns < 60 ? ': all commands' : helpHint), line('esc close'), columns),
  ]
  const below = Array.from({ length: Math.max(0, room - shown.length) }, () => blank)
  return [...head, ...shown, ...below, ...foot].map((one) => cutTo(one, columns))
}

const helpHint = 'any key: what it does here   : all commands with their shell line'

/** Lines of the help that fit at once, and how far down it can be moved. */
export function helpRoom(model: TuiModel): { room: number; most: number } {
  const room = Math.max(1, model.size.rows - 4)
  return { room, most: Math.max(0, helpBody(model).length - room) }
}

/** All of it, as long as it is; a text that is wider than the screen goes on below. */
function helpBody(model: TuiModel): Line[] {
  const { columns } = model.size
  const pen = { ascii: model.look.ascii, columns }
  const texts = (all: readonly string[]) =>
    all.flatMap((one) => wrap(one, columns).map((part) => line(part)))
  return [
    ...columnsOf(columns, isBeginning(model)),
    blank,
    rule('WRITING', '', pen),
    ...texts(writingHelp),
    blank,
    rule('LEAVING', '', pen),
    ...texts([leavingHelp]),
    blank,
    rule('WHAT THE MARKS MEAN', '', pen),
    ...markLines(model, columns),
  ]
}

const writingHelp = [
  'enter sends   tab now/next   ctrl+j new line   up history   esc keeps the draft',
  'ctrl+g editor   ctrl+r sent before   @ names   ctrl+s aside   ctrl+_ undo',
  'a paste never sends, ctrl+o unfolds it; an empty text never answers a question',
  'up in an empty box takes back what no turn has claimed',
]
const leavingHelp =
  'q or ctrl+c twice leaves, ctrl+z suspends. Agents go on; only x stops something.'

function aboutWords(model: TuiModel, { shown, label, cli }: KeyLine): string {
  const begins = isBeginning(model) ? beginnings[Number(shown) - 1] : undefined
  return begins === undefined
    ? `${shown}: ${label}${cli === undefined ? '' : `   $ ${cli}`}`
    : `${shown}: ${begins}`
}

const isBeginning = (model: TuiModel): boolean =>
  viewOf(model).place.at === 'home' && isEmpty(model)

const listsHelp = 'home board agents'
/** What they are on the empty home instead. */
const beginnings = ['try it', 'add a model', 'give an objective'] as const
const beginningsHelp = 'as they stand here'

/** Keys that belong together stand in one line of the help: their actions, and what they do. */
const helpLists: readonly (readonly [
  string,
  readonly (readonly [readonly ActionName[], string])[],
])[] = [
  [
    'MOVE',
    [
      [['down', 'up'], 'down, up'],
      [['first', 'last'], 'first, last'],
      [['half_down', 'half_up'], 'half page'],
      [['open', 'back'], 'open, back'],
      [['pane'], 'next tab'],
      [['next_item', 'previous_item'], 'neighbour item'],
      [['last_view'], 'last view'],
      [['home', 'board', 'agents'], listsHelp],
      [['tasks', 'waits', 'events'], 'tasks waits events'],
      [['find'], 'find'],
      [['palette'], 'all commands'],
    ],
  ],
  [
    'LOOK',
    [
      [['level'], 'level 1 2 3'],
      [['unfold'], 'open this entry'],
      [['thread'], 'thread'],
      [['plan'], 'plan'],
      [['item_tasks'], 'tasks'],
      [['why'], 'why'],
      [['spend'], 'spend'],
      [['item_events'], 'events'],
      [['clock'], 'clock or ago'],
      [['only_pane'], 'only this pane'],
      [['reload', 'redraw'], 'read, draw'],
    ],
  ],
  [
    'ACT',
    [
      [['next_need', 'previous_need'], 'next for you'],
      [['write', 'write_agent'], 'write here, agent'],
      [['new_item'], 'new item'],
      [['answer'], 'answer'],
      [['snooze'], 'snooze'],
      [['dismiss'], 'dismiss'],
      [['focus'], 'focus this item'],
      [['stop'], 'stop (asks first)'],
      [['start'], 'start the agent'],
      [['copy', 'copy_line', 'pager'], 'copy, line, pager'],
      [['again'], 'try again'],
    ],
  ],
]

function columnsOf(columns: number, begins: boolean): Line[] {
  const shown = (words: string) => (begins && words === listsHelp ? beginningsHelp : words)
  const lists = helpLists.map(([title, list]) => [
    title,
    ...list.map(([names, words]) => helpWords([names, shown(words)])),
  ])
  const wide = lists.map((words) => Math.max(...words.map(width)) + 2)
  const over = columns - wide.reduce((sum, cells) => sum + cells, 0)
  if (over < -2) return lists.flatMap(oneBelowTheOther)
  const more = Math.max(0, Math.floor(over / lists.length))
  const height = Math.max(...lists.map((words) => words.length))
  const row = (n: number): string =>
    lists.map((words, at) => padEnd(words[n] ?? '', (wide[at] ?? 0) + more)).join('')
  return Array.from({ length: height }, (_, n) =>
    line(row(n).trimEnd(), n === 0 ? 'bold' : 'plain'),
  )
}

/** Where they do not stand beside each other each list has its title above it. */
const oneBelowTheOther = ([title = '', ...words]: readonly string[], at: number): Line[] => [
  ...(at === 0 ? [] : [blank]),
  line(title, 'bold'),
  ...words.map((text) => line(text)),
]

function helpWords([names, words]: readonly [readonly ActionName[], string]): string {
  const keys = names.map((name) => keyOf(name).shown).join(' ')
  return keys.length > 7 ? `${keys} ${words}` : `${padEnd(keys, 7)} ${words}`
}

function markLines(model: TuiModel, columns: number): Line[] {
  const lines: Line[] = []
  let now: Line = []
  for (const [mark, words] of marks) {
    const next: Line = [
      ...now,
      ...(now.length === 0 ? [] : [span('   ')]),
      markSpan(model, mark),
      span(` ${words}`),
    ]
    if (next.reduce((sum, { text }) => sum + text.length, 0) > columns && now.length > 0) {
      lines.push(now)
      now = [markSpan(model, mark), span(` ${words}`)]
    } else now = next
  }
  return [...lines, now]
}

/** Commands that fit what was typed: by their name, their key or their shell line. */
export const matching = (text: string): readonly KeyLine[] =>
  keyTable.filter(({ label, action, cli }) =>
    `${label} ${action} ${cli ?? ''}`.toLowerCase().includes(text.toLowerCase().trim()),
  )

export function paletteLines(model: TuiModel, overlay: Overlay & { kind: 'palette' }): Line[] {
  const { columns, rows } = model.size
  const pen = { ascii: model.look.ascii, columns }
  const found = matching(overlay.text)
  const room = rows - 4
  const from = Math.max(0, overlay.at - room + 1)
  const list = found.slice(from, from + room).map((one, n): Line => {
    const isChosen = from + n === overlay.at
    const left: Line = [
      span(`${isChosen ? pointer(model) : ' '} ${padEnd(one.shown, 8)}`),
      span(one.label, isChosen ? 'inverse' : 'plain'),
    ]
    return apart(left, line(one.cli === undefined ? '' : `$ ${one.cli}`, 'dim'), columns)
  })
  const none: Line[] = found.length === 0 ? [line('  no command has these words', 'dim')] : []
  const filled = [...list, ...none]
  return [
    [span(`: ${overlay.text}`), span(model.look.ascii ? '_' : '▪')],
    rule('', '', pen),
    ...filled,
    ...Array.from({ length: Math.max(0, room - filled.length) }, () => blank),
    rule('', '', pen),
    line('type to narrow   up down   enter does it   esc close'),
  ]
}

/** The key of each choice: its own, else its number where no other has that as its own. */
export function keysOf(choices: readonly MenuChoice[]): string[] {
  const own = new Set(choices.flatMap(({ key }) => key ?? []))
  return choices.map(({ key }, n) => key ?? (n < 9 && !own.has(`${n + 1}`) ? `${n + 1}` : ''))
}

type Dialog = Overlay & { kind: 'dialog' }
type DialogRoom = {
  readonly text: readonly string[]
  readonly choices: readonly Line[]
  /** Lines of each that are shown at once. */
  readonly shown: { readonly text: number; readonly choices: number }
  /** How far down the text can be moved. */
  readonly most: number
}

/** Lines of the screen above a dialog, where there are many. */
const keptAbove = 2
/** The lines of a dialog beside its text and its choices. */
const fixedLines = 3

/**
 * What one decides on is wrapped and never cut. Where not all of it fits, the choices have their
 * place first, and text and choices are each moved for themselves.
 */
export function dialogRoom(model: TuiModel, overlay: Dialog): DialogRoom {
  const { columns, rows } = model.size
  const text = overlay.lines.flatMap((one) => wrapped(short(model, one), columns - 6))
  const choices = overlay.choices.flatMap((_, n) => choiceLines(model, overlay, n))
  const above = rows < 20 ? 0 : keptAbove
  const heads = titleLines(model, overlay).length - 1
  const room = Math.max(2, rows - above - heads - fixedLines - dialogHints(model, overlay).length)
  const least = Math.min(text.length, room < 8 ? 2 : 3)
  const ofChoices = Math.min(choices.length, Math.max(1, room - least))
  const ofText = Math.min(text.length, room - ofChoices)
  return { text, choices, shown: { text: ofText, choices: ofChoices }, most: text.length - ofText }
}

function choiceLines(model: TuiModel, { choices, chosen }: Dialog, n: number): Line[] {
  const key = padEnd(keysOf(choices)[n] ?? '', 1)
  const parts = wrapped(short(model, choices[n]?.label ?? ''), model.size.columns - 6)
  const style = chosen === n ? 'inverse' : 'plain'
  return parts.map((part, at): Line => {
    const mark = at === 0 && chosen === n ? ` ${pointer(model)} ` : '   '
    return [span(mark), span(at === 0 ? `${key}  ${part}` : `   ${part}`, style)]
  })
}

const titleLines = (model: TuiModel, { title }: Dialog): string[] =>
  wrapped(title, model.size.columns - 4)

function dialogHints(model: TuiModel, { chosen }: Dialog): Line[] {
  const { columns } = model.size
  const isNarrow = columns < 70
  const none = isNarrow ? 'its key, then enter' : 'nothing is chosen yet: its key, then enter'
  const left = chosen === null ? none : 'enter does it'
  return [apart(line(left), line(isNarrow ? 'esc leaves it' : 'esc leaves it waiting'), columns)]
}

/** A dialog is docked at the bottom, so that what is above it stays in sight. */
export function dialogLines(model: TuiModel, overlay: Dialog): Line[] {
  const { columns } = model.size
  const pen = { ascii: model.look.ascii, columns }
  const { text, choices, shown, most } = dialogRoom(model, overlay)
  const top = Math.min(overlay.top, most)
  const from = firstChoiceLine(model, overlay, shown.choices)
  const titles = titleLines(model, overlay)
  const more = [
    ...(most > 0 ? [`text ${part(top, shown.text, text.length)}: page`] : []),
    ...(choices.length > shown.choices
      ? [`choices ${part(from, shown.choices, choices.length)}: up down`]
      : []),
  ].join('  ')
  return [
    ...titles.slice(0, -1).map((one) => line(one, 'bold')),
    rule(titles.at(-1) ?? '', '', pen),
    ...text.slice(top, top + shown.text).map((one) => line(`   ${one}`)),
    line(more, 'dim'),
    ...choices.slice(from, from + shown.choices),
    rule('', '', pen),
    ...dialogHints(model, overlay),
  ].map((one) => cutTo(one, columns))
}

const part = (from: number, shown: number, all: number): string =>
  `${from + 1}-${from + shown}/${all}`

/** The chosen one is in sight, from its first line on. */
function firstChoiceLine(model: TuiModel, overlay: Dialog, room: number): number {
  const { chosen } = overlay
  if (chosen === null) return 0
  const heights = overlay.choices.map((_, n) => choiceLines(model, overlay, n).length)
  const sum = (n: number) => heights.slice(0, n).reduce((all, one) => all + one, 0)
  return Math.max(0, Math.min(sum(chosen), sum(chosen + 1) - room))
}
