/**
 * What helps to write: what was sent before, found by its words (`ctrl+r`), and what an `@` may
 * mean. Both only change the text that is being written; nothing is sent by them. Pure.
 */
import { shelved } from '../../present/history/chunked-map.ts'
import { cutTo, line, rule, span, type Line } from '../drawing/line.ts'
import type { Aid, TuiModel, Writing } from '../model/model.ts'
import { pointer, short } from '../drawing/paint.ts'
import { edited, inserted, written } from './writing.ts'

type Open = NonNullable<TuiModel['writing']>
/** `put`: what stands in the text when it is taken. */
type Found = { readonly put: string; readonly title: string; readonly note: string }

/** Lines of the list that are shown. */
const shownLines = 5

/** What is sent from here, and what the held histories have from you, the newest first. */
function sentBefore({ p, history }: TuiModel): string[] {
  const told = (p?.feeds ?? []).flatMap((feed) =>
    [...shelved(feed.groups)].flatMap(({ heard, seq }) => {
      const event = heard.message_admitted?.event
      return event?.provenance.kind === 'operator_prompt' ? [{ seq, text: event.body }] : []
    }),
  )
  const older = told.sort((a, b) => a.seq - b.seq).map(({ text }) => text)
  return [...new Set([...older, ...history].toReversed())]
}

function named(model: TuiModel): Found[] {
  const { agents = [], work_items = [] } = model.p?.state ?? {}
  return [
    ...work_items.map(({ id, objective, agent_id }) => ({
      put: short(model, id),
      title: objective.split('\n')[0] ?? '',
      note: agent_id,
    })),
    ...agents.map(({ id, because }) => ({ put: id, title: because, note: 'agent' })),
  ]
}

export function found(model: TuiModel, { kind, words }: Aid): readonly Found[] {
  const all: Found[] =
    kind === 'history'
      ? sentBefore(model).map((put) => ({ put, title: put.split('\n')[0] ?? '', note: '' }))
      : named(model)
  const sought = words.toLowerCase()
  return all.filter(({ put, title }) => `${put} ${title}`.toLowerCase().includes(sought))
}

/** Null: the key is for the text itself, and the list closes. */
export function onAid(
  model: TuiModel,
  open: Open,
  { aid, key, text }: { aid: Aid; key: string; text: string },
): Open | null {
  const list = found(model, aid)
  const at = (n: number): Open => ({
    ...open,
    aid: { ...aid, at: Math.min(Math.max(0, n), Math.max(0, list.length - 1)) },
  })
  switch (key) {
    case 'down':
      return at(aid.at + 1)
    case 'up':
      return at(aid.at - 1)
    case 'ctrl+r':
      return at((aid.at + 1) % Math.max(1, list.length))
    case 'esc':
      return without(open)
    case 'enter':
    case 'tab': {
      const chosen = list[aid.at]
      return chosen === undefined
        ? without(open)
        : { ...without(open), text: taken(open, aid, chosen) }
    }
  }
  if (aid.kind === 'history') {
    if (key === 'backspace')
      return { ...open, aid: { ...aid, words: aid.words.slice(0, -1), at: 0 } }
    return text === '' ? null : { ...open, aid: { ...aid, words: aid.words + text, at: 0 } }
  }
  if (key === 'backspace' && aid.words !== '') {
    const next = edited(open.text, 'backspace') ?? open.text
    return { ...open, text: next, aid: { ...aid, words: aid.words.slice(0, -1), at: 0 } }
  }
  if (text === '' || /\s/.test(text)) return null
  return {
    ...open,
    text: inserted(open.text, text),
    aid: { ...aid, words: aid.words + text, at: 0 },
  }
}

export const without = ({ aid: _, ...open }: Open): Open => open

/** The name stands in the place of what was typed to find it. */
function taken({ text }: Open, { kind, words }: Aid, { put }: Found): Writing {
  if (kind === 'history') return written(put)
  const from = text.cursor - words.length - 1
  const cut = {
    ...text,
    text: text.text.slice(0, from) + text.text.slice(text.cursor),
    cursor: from,
  }
  return inserted(cut, `${put} `)
}

/** An `@` at the beginning of a word asks what there is. */
export const asksForName = ({ text, cursor }: Writing, typed: string): boolean =>
  typed === '@' && /(^|\s)$/.test(text.slice(0, cursor))

export function aidLines(model: TuiModel, aid: Aid): Line[] {
  const { columns } = model.size
  const list = found(model, aid)
  const from = Math.max(0, aid.at - shownLines + 1)
  const title = aid.kind === 'history' ? `sent before: ${aid.words}` : `@${aid.words}`
  const rows = list.slice(from, from + shownLines).map(({ put, title: said, note }, n): Line => {
    const isChosen = from + n === aid.at
    const name = aid.kind === 'history' ? '' : `${put}  `
    return cutTo(
      [
        span(`${isChosen ? pointer(model) : ' '} ${name}`),
        span(said, isChosen ? 'inverse' : 'plain'),
        span(note === '' ? '' : `  ${note}`, 'dim'),
      ],
      columns,
    )
  })
  return [
    rule(title, 'enter takes it   esc closes', { ascii: model.look.ascii, columns }),
    ...(rows.length === 0 ? [line('  nothing has these words', 'dim')] : rows),
  ]
}
