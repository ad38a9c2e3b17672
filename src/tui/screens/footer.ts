/** The foot of the screen: what is being written and what enter will do, or what keys do. Pure. */
import { aidLines } from '../writing/completion.ts'
import { cutTo, line, rule, span, apart, type Line } from '../drawing/line.ts'
import { footer, type ActionName } from '../model/keys.ts'
import {
  budgetWords,
  isLive,
  targetKey,
  viewOf,
  type MessageTarget,
  type TuiModel,
  type PromptPurpose,
  type ScreenLocation,
} from '../model/model.ts'
import { entryInSight, settleWords } from '../model/settles.ts'
import { unreadAt } from '../../present/unread.ts'
import { clockTimes } from '../../present/text/span.ts'
import type { Unread } from '../../protocol/records/records.ts'
import { cut } from '../../present/text/width.ts'
import { caret, short, timesOf } from '../drawing/paint.ts'
import type { MessageRecord } from '../../protocol/records/message-record.ts'
import { readOf } from './item-tabs.ts'
import { taskOf } from './task.ts'
import type { Can } from '../../protocol/actions/action.ts'
import { shown, whole } from '../writing/pastes.ts'
import { standingOf, type SendState } from '../writing/undone.ts'

/** Lines of a text that are shown while it is written. */
const shownLines = 6

export function bottomLines(model: TuiModel): Line[] {
  const { columns } = model.size
  const pen = { ascii: model.look.ascii, columns }
  const { place } = viewOf(model)
  if (model.writing !== null && model.writing.prompt.for !== 'find') return writingLines(model)
  const notice = noticeLine(model) ?? receiptLine(model)
  if (place.at === 'home') return [notice ?? [], cutTo(line(hintsOf(model)), columns)]
  if (place.at === 'search') {
    const said =
      model.writing === null
        ? 'enter open   / other words   esc back'
        : 'enter looks at what was found   esc back'
    return [notice ?? rule('', '', pen), line(said)]
  }
  if (place.at === 'item' && place.tab === 'thread') {
    const view = viewOf(model)
    const mark = model.look.ascii ? '*' : '▪'
    const follow = view.follow ? `${mark} following` : 'G follows'
    const to = short(model, place.work_item_id ?? place.agent_id)
    const draft = model.drafts.get(targetKey(place)) === undefined ? '' : ', a draft is kept'
    return [
      apart(line(follow, 'dim'), line(view.follow ? 'end' : '', 'dim'), columns),
      notice ?? rule(`c to write to ${to}${draft}`, '', pen),
      cutTo(line(hintsOf(model)), columns),
    ]
  }
  return [notice ?? rule('', '', pen), cutTo(line(hintsOf(model)), columns)]
}

/** What the runtime says has whole ids and timestamps. */
function noticeLine(model: TuiModel): Line | null {
  const { notice, size } = model
  if (notice === null) return null
  const text = short(model, clockTimes(notice.text, timesOf(model)))
  return cutTo(line(text, notice.bad ? 'red' : 'bold'), size.columns)
}

/** `sent to main: seen in turn 5`: of the words that were sent last from such a screen. */
function receiptLine(model: TuiModel): Line | null {
  const { receipt, p } = model
  const read = receipt && readOf<MessageRecord>(model, `message ${receipt.message_id}`)
  if (p === null || receipt === null || viewOf(model).place.at === 'item') return null
  const to = `sent to ${receipt.agent_id}`
  if (read === null) return line(to, 'dim')
  const { turn_id, request_id, said } = read.receipt
  const turn = p.state.turns.find(({ id }) => id === turn_id)
  const where = turn === undefined ? short(model, said) : `in turn ${turn.number}`
  const seen = request_id === null || turn === undefined ? where : `seen ${where}`
  return cutTo(line(`${to}: ${seen}`, 'bold'), model.size.columns)
}

/** What an agent has not. */
const ofItems = [
  ['why', 'why'],
  ['plan', 'plan'],
] as const

/** What can be settled is offered where it is seen, before all else. */
function settleHint(model: TuiModel): readonly (readonly [ActionName, string])[] {
  const entry = entryInSight(model)
  const words = entry === null ? '' : settleWords(entry.can)
  if (words === '') return []
  return [['answer', words.length <= settleCells ? words : 'settle it']]
}
/** Cells of what settles an entry, in the footer. */
const settleCells = 16

type Hints = readonly (readonly [ActionName, string])[]

const allows = (can: readonly Can[] | undefined, ...keys: readonly string[]): boolean =>
  can?.some(({ key, allowed }) => allowed && keys.includes(key)) === true

/** What can be done to a command, as its own record says. */
function taskHints(model: TuiModel, task_id: string): Hints {
  const can = taskOf(model, task_id)?.can
  const stop: Hints = allows(can, 'stop_task') ? [['stop', 'stop it']] : []
  const input: Hints = allows(can, 'task_input') ? [['write', 'write to its stdin']] : []
  return [...stop, ...input]
}

/** Of what is done nothing is stopped; else the agent's record says whether it can be. */
function stopHint({ p }: TuiModel, place: ScreenLocation & { at: 'item' }): Hints {
  const item = p?.state.work_items.find(({ id }) => id === place.work_item_id)
  const agent = p?.state.agents.find(({ id }) => id === place.agent_id)
  const isDone = place.work_item_id !== null && item?.state !== 'open'
  return !isDone && allows(agent?.can, 'stop_agent', 'abort') ? [['stop', 'stop']] : []
}

function hintsOf(model: TuiModel): string {
  const { columns } = model.size
  const { place } = viewOf(model)
  const settle = settleHint(model)
  switch (place.at) {
    case 'home':
      return footer(
        [
          ...settle,
          ['next_need', 'next for you'],
          ['open', 'open'],
          ['write', 'write'],
          ['new_item', 'new'],
          ['find', 'find'],
          ['palette', 'commands'],
          ['leave', 'leave'],
        ],
        columns,
      )
    case 'task':
      return footer(
        [
          ...settle,
          ...taskHints(model, place.task_id),
          ['last', 'follows'],
          ['pane', 'other stream'],
          ['copy', 'copy'],
          ['pager', 'pager'],
          ['back', 'back'],
        ],
        columns,
      )
    case 'item':
      return footer(
        [
          ...settle,
          // In the thread the line above says it.
          ...(place.tab === 'thread' ? [] : [['write', 'write'] as const]),
          ['next_need', 'next for you'],
          ['level', 'level'],
          ['unfold', 'unfold'],
          ...(place.work_item_id === null ? [] : ofItems),
          ...stopHint(model, place),
          ['back', 'back'],
        ],
        columns,
      )
    case 'board':
    case 'agents':
    case 'tasks':
    case 'waits':
    case 'events':
    case 'search':
      return footer(
        [
          ...settle,
          ['open', 'open'],
          ['back', 'back'],
          ['why', 'why'],
          ['find', 'find'],
          ['palette', 'commands'],
          ['leave', 'leave'],
        ],
        columns,
      )
  }
}

/** `to main: Upgrade the parser`: an item by what it is about, cut where enter has to be told. */
function targetWords({ p, size }: TuiModel, { agent_id, work_item_id }: MessageTarget): string {
  const item = p?.state.work_items.find(({ id }) => id === work_item_id)
  const objective = item?.objective.replace(/\s+/g, ' ') ?? work_item_id
  const said = objective === null ? '' : `: ${objective}`
  return cut(`to ${agent_id}${said}`, Math.max(16, Math.floor(size.columns / 2) - 6))
}

function titleOf(model: TuiModel, prompt: PromptPurpose): [string, string] {
  const { p } = model
  switch (prompt.for) {
    case 'message': {
      const { agent_id } = prompt.target
      const turn = p?.state.turns.find((one) => one.agent_id === agent_id)
      const unread = p === null ? null : unreadAt(p, prompt.target)
      const into =
        unread !== null
          ? `enter: not read yet: ${short(model, unread.because)}`
          : turn === undefined
            ? 'enter: its next turn'
            : prompt.delivery === 'now'
              ? `enter: into turn ${turn.number}, at its next safe point`
              : `enter: the turn after turn ${turn.number}`
      return [targetWords(model, prompt.target), into]
    }
    case 'new_item':
      return [
        `a new item for ${prompt.agent_id}`,
        'enter: it is made; its first line is the objective',
      ]
    case 'answer':
      return [
        `your answer to ${short(model, prompt.wait_id)}`,
        stillOpen(model, prompt.wait_id, 'enter: it is answered'),
      ]
    case 'refusal':
      return [
        `why ${short(model, prompt.task_id)} does not run`,
        stillOpen(model, prompt.task_id, 'enter: the agent is told'),
      ]
    case 'snooze':
      return ['put away for how long', 'like 30m, 2h or 1d']
    case 'focus':
      return [`why ${short(model, prompt.work_item_id)} goes first`, 'enter: it is in focus']
    case 'task_input':
      return [`to the input of ${short(model, prompt.task_id)}`, 'enter: one line is written']
    case 'budget':
      return [
        `the limit of ${short(model, prompt.work_item_id ?? prompt.agent_id)}`,
        budgetWords[prompt.limit],
      ]
    case 'model':
      return [`the model of ${prompt.agent_id}`, 'enter: it works with this provider/model']
    case 'objective':
      return [`the objective of ${short(model, prompt.work_item_id)}`, 'enter: it is this']
    case 'find':
      return ['find', '']
  }
}

/** Words are not taken from under whoever writes them: the box says that they come too late. */
const stillOpen = ({ p }: TuiModel, id: string, does: string): string =>
  p?.state.attention.some((one) => one.id === id) === false ? 'it was settled elsewhere' : does

function writingLines(model: TuiModel): Line[] {
  const { columns } = model.size
  const writing = model.writing
  if (writing === null) return []
  const { prompt, text } = writing
  const [title, into] = titleOf(model, prompt)
  const live = isLive(model)
  const pen = { ascii: model.look.ascii, columns }
  const [before, after] = [text.text.slice(0, text.cursor), text.text.slice(text.cursor)]
  const all = `${shown(text, before)}\u0000${shown(text, after)}`.split('\n')
  const at = all.findIndex((one) => one.includes('\u0000'))
  const from = Math.max(0, Math.min(at - shownLines + 1, all.length - shownLines))
  const lines = all
    .slice(from, from + shownLines)
    .map((one, n) => drawn(model, one, from + n === 0))
  const when = prompt.for === 'message' ? ['tab now/next'] : []
  const folds = shown(text, text.text) === text.text ? [] : ['ctrl+o unfold']
  const standing = standingWords[standingOf(model, { prompt, text: whole(text) })]
  const unread = prompt.for === 'message' && model.p ? unreadAt(model.p, prompt.target) : null
  const hint = !live
    ? standing.hint
    : unread !== null
      ? remedyWords(model, unread)
      : hintsThatFit(
          [...when, ...folds, 'ctrl+j new line', 'ctrl+g editor'],
          'esc leave, draft is kept',
          columns,
        )
  const needs = asking(model)
  return [
    ...(needs === null ? [] : [needs]),
    ...(writing.aid === undefined ? [] : aidLines(model, writing.aid)),
    rule(title, live ? (standing.again ?? into) : standing.kept, pen),
    ...lines,
    model.notice === null ? cutTo(line(hint, 'dim'), columns) : (noticeLine(model) ?? []),
  ]
}

/** As many as fit, dropped from the right; the way out is always there. */
function hintsThatFit(hints: readonly string[], last: string, columns: number): string {
  let said = ''
  for (const hint of hints) {
    const next = `${said}${hint}   `
    if (next.length + last.length > columns) break
    said = next
  }
  return said + last
}

/** Of words that are not known to be taken; `again`: what enter does instead while it is live. */
const standingWords: Record<SendState, { kept: string; hint: string; again: string | null }> = {
  unsent: {
    kept: 'kept here, not sent',
    hint: 'not sent: no connection. It stays in this box; nothing is sent behind your back.',
    again: null,
  },
  on_its_way: {
    kept: 'on its way: it may have arrived',
    hint: 'no answer yet. Without one the words come back into this box.',
    again: null,
  },
  unknown: {
    kept: 'kept here; it may have arrived',
    hint: 'It stays in this box; enter sends it again once there is a connection, never twice.',
    again: 'enter: again; it cannot arrive twice',
  },
}

/** What has to be so before the words are read, and the command that makes it so. */
const remedyWords = (model: TuiModel, { once, cli }: Unread): string =>
  short(model, clockTimes(`read once ${once}${cli === null ? '' : `: ${cli}`}`, timesOf(model)))

/** The line with the cursor keeps it in sight. */
function drawn(model: TuiModel, text: string, isFirst: boolean): Line {
  const cells = model.size.columns - 3
  const at = text.indexOf('\u0000')
  const [before, after] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  const cut = Math.max(0, before.length + 1 - cells)
  const lead = span(isFirst ? '> ' : '  ')
  if (at < 0) return cutTo([lead, span(text)], cells + 2)
  return cutTo(
    [lead, span(before.slice(cut)), span(caret(model), 'inverse'), span(after)],
    cells + 2,
  )
}

/** A question that came up while something is written: one line, and no key. */
function asking(model: TuiModel): Line | null {
  const first = model.p?.state.attention.find(({ kind }) => kind === 'question')
  if (first === undefined || model.writing?.prompt.for === 'answer') return null
  const [text = ''] = first.text.split('\n')
  return apart(
    [span('? ', 'yellow'), span(`${first.agent_id} asks: ${text}`)],
    line('esc, then n', 'dim'),
    model.size.columns,
  )
}
