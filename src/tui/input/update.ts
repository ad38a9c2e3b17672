/**
 * What happens to the screen, one message at a time: the next model, and what to do outside.
 * Nothing takes the focus, moves the scroll or eats a key but a key itself. Pure.
 */
import type { Input } from '../../present/history/input.ts'
import { apply, hasItem, open } from '../../present/presentation.ts'
import { isMeantBy } from '../../protocol/records/records.ts'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import { onKey, went, writingTo } from './on-key.ts'
import { withPaste } from '../writing/pastes.ts'
import type { TuiMessage, Transition } from '../model/step.ts'
import { changed, written } from '../writing/writing.ts'
import { aView, viewOf, type TuiModel, type View } from '../model/model.ts'
import { standing } from '../screens/screen.ts'
import { timesOf } from '../drawing/paint.ts'
import { clock } from '../../present/text/span.ts'
import { tookBack } from '../writing/take-back.ts'
import { undone } from '../writing/undone.ts'

/** Reads that are held: those of the views one goes back and forth between. */
const detailsHeld = 64

export function update(model: TuiModel, message: TuiMessage): Transition {
  switch (message.kind) {
    case 'key':
      return kept(withReceipt(model, onKey({ ...model, key_at: message.at }, message)))
    case 'paste':
      return pasted(model, message.text)
    case 'size': {
      const { columns, rows } = message
      return kept([{ ...model, size: { columns, rows } }, []])
    }
    case 'state':
      return meant(stillAsked(withState(model, message.state, message.url)))
    case 'input':
      return model.p === null ? [model, []] : [received(model, message.input), []]
    case 'time':
      return [message.now === model.now ? model : { ...model, now: message.now }, []]
    case 'read': {
      const { key, version, value, failure } = message
      const details = new Map(model.details)
      const before = details.get(key)
      details.delete(key)
      details.set(key, { version, failure, value: failure === null ? value : before?.value })
      const [oldest] = details.keys()
      if (details.size > detailsHeld && oldest !== undefined) details.delete(oldest)
      return [{ ...model, details }, []]
    }
    case 'acted': {
      const { says, failure } = message
      return [{ ...model, notice: { text: failure ?? says, bad: failure !== null } }, []]
    }
    case 'undone':
      return undone(model, message)
    case 'taken_back':
      return tookBack(model, message.target, message.text)
    case 'trouble':
      return [{ ...model, trouble: message.trouble }, []]
    case 'place':
      return [{ ...model, views: [aView({ at: 'home' }), aView(message.place)] }, []]
    case 'edited': {
      const { writing } = model
      if (writing === null || message.text === null) return [model, []]
      // An editor ends a file with a line break that nobody typed.
      const text = written(message.text.replace(/\n$/, ''))
      return [{ ...model, writing: changed(writing, text) }, [{ do: 'keep_drafts' }]]
    }
    case 'drafts':
      return [withDrafts(model, new Map(Object.entries(message.drafts))), []]
    case 'notice':
      return [{ ...model, notice: message.notice }, []]
  }
}

/** On an empty home a number is a choice, elsewhere a list. */
function meant(model: TuiModel): Transition {
  const { early } = model
  if (early === null) return [model, []]
  return onKey(
    { ...model, early: null },
    { kind: 'key', key: early, text: early, at: model.key_at },
  )
}

/** A receipt stands where the words were sent from, and goes with that view. */
function withReceipt(before: TuiModel, [model, effects]: Transition): Transition {
  const isThere = viewOf(model).place === viewOf(before).place
  return isThere || model.receipt === null
    ? [model, effects]
    : [{ ...model, receipt: null }, effects]
}

function withState(model: TuiModel, state: StateRecord, url: string): TuiModel {
  model.ids.know([
    ...state.work_items.map(({ id }) => id),
    ...state.tasks.map(({ id }) => id),
    ...state.waits.map(({ id }) => id),
  ])
  const p = model.p === null ? open(state) : apply(model.p, { kind: 'state', state })
  const next = { ...model, p, now: later(model.now, state.now), where: { ...model.where, url } }
  const { opens } = model
  if (opens === null) return next
  const at = { ...next, opens: null }
  if (typeof opens === 'string') return withOpened(at, opens)
  return 'words_to' in opens ? withBox(at, opens.words_to) : withItem(at, opens)
}

/** A person has just set this agent up: their words are what comes next. */
function withBox(model: TuiModel, agent_id: string): TuiModel {
  const target = { agent_id, work_item_id: null }
  return {
    ...writingTo(model, { for: 'message', target, delivery: 'next' })[0],
    notice: model.notice,
  }
}

/** A dialog closes when what it is of was settled, put away or asked anew in the meantime. */
function stillAsked(model: TuiModel): TuiModel {
  const { overlay } = model
  if (overlay?.kind !== 'dialog' || overlay.about === null) return model
  const { id, bound_hash } = overlay.about
  const now = model.p?.state.attention.find((one) => one.id === id)
  if (now !== undefined && now.bound_hash === bound_hash) return model
  const at = clock(model.now, timesOf(model))
  const what = now === undefined ? 'was settled elsewhere' : 'asks something else now'
  const text = `${model.ids.short(id)} ${what}, ${at}; nothing was sent`
  return { ...model, overlay: null, notice: { text, bad: false } }
}

/** A box that stands open already has its draft, unless something was typed there since. */
function withDrafts(model: TuiModel, drafts: TuiModel['drafts']): TuiModel {
  const next = { ...model, drafts }
  const { writing } = model
  return writing === null || writing.text.text !== '' ? next : writingTo(next, writing.prompt)[0]
}

/** An item that may be older than those of the state. */
const withItem = (
  model: TuiModel,
  { agent_id, work_item_id }: { agent_id: string; work_item_id: string | null },
): TuiModel => ({
  ...model,
  views: [...model.views, aView({ at: 'item', agent_id, work_item_id, tab: 'thread' })],
})

/** What the command line named: an agent by its id, an item by a beginning or end of its. */
function withOpened(model: TuiModel, named: string): TuiModel {
  const { agents = [], work_items = [] } = model.p?.state ?? {}
  const agent = agents.find(({ id }) => id === named)
  const items = work_items.filter(({ id }) => isMeantBy(id, named))
  if (agent === undefined && items.length > 1) {
    const all = items.map(({ id, agent_id }) => `${model.ids.short(id)} (${agent_id})`)
    return { ...model, notice: { text: `${named} means ${all.join(', ')}`, bad: true } }
  }
  const [item] = items
  const agent_id = agent?.id ?? item?.agent_id
  if (agent_id === undefined) {
    const text = `no agent and no item here is called ${named}; / finds what is older`
    return { ...model, notice: { text, bad: true } }
  }
  const work_item_id = agent === undefined ? (item?.id ?? null) : null
  return withItem(model, { agent_id, work_item_id })
}

/**
 * A message that was sent from a screen without its thread: its receipt is at the foot there, and
 * where its agent has no item, so that no row would have the answer, its thread opens.
 */
function received(model: TuiModel, input: Input): TuiModel {
  const next = heard(model, input)
  if (input.kind !== 'sent' || viewOf(model).place.at === 'item') return next
  const { agent_id, work_item_id, state } = input.sent
  if (state.kind !== 'accepted') return next
  const isFree = model.writing === null && model.overlay === null
  if (isFree && work_item_id === null && model.p !== null && !hasItem(model.p.state, agent_id)) {
    return went(next, aView({ at: 'item', agent_id, work_item_id, tab: 'thread' }))
  }
  return { ...next, receipt: { agent_id, message_id: state.message_id } }
}

function heard(model: TuiModel, input: Input): TuiModel {
  if (model.p === null) return model
  const p = apply(model.p, input)
  return p === model.p ? model : { ...model, p, now: later(model.now, p.heard_at) }
}

const later = (a: string, b: string): string => (a > b ? a : b)

/** A paste never sends, and is no key. */
function pasted(model: TuiModel, text: string): Transition {
  const { writing, overlay } = model
  if (overlay?.kind === 'palette') {
    const [first = ''] = text.split(/[\r\n]/)
    return [{ ...model, overlay: { ...overlay, text: overlay.text + first, at: 0 } }, []]
  }
  if (overlay !== null || writing === null) return [model, []]
  return [
    { ...model, writing: changed(writing, withPaste(writing.text, text)) },
    [{ do: 'keep_drafts' }],
  ]
}

/** The view holds where it stands, so that what grows above or below does not move it. */
function kept([model, effects]: Transition): Transition {
  if (model.p === null) return [model, effects]
  const view = viewOf(model)
  const { row, top } = standing(model)
  const selected = view.follow ? null : (row?.id ?? null)
  if (view.top === top && view.selected === selected) return [model, effects]
  const pointed = view.pointed && view.selected === selected
  return [withView(model, { ...view, top, selected, pointed }), effects]
}

export const withView = (model: TuiModel, view: View): TuiModel => ({
  ...model,
  views: [...model.views.slice(0, -1), view],
})
