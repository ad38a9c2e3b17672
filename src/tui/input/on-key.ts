/** One key on a screen: where it goes, and what it asks for. Text and dialogs come first. Pure. */
import { nextNeed } from '../../present/home.ts'
import { named } from '../../present/text/called.ts'
import { seq } from './navigation.ts'
import { actionOf, type ActionName } from '../model/keys.ts'
import { answerDialog, dismissAct, startAct, stopDialog } from './requests.ts'
import { budgetPrompt, unblockAct } from './settle.ts'
import type { BodyRow } from '../drawing/body.ts'
import { draftKey } from '../model/draft-key.ts'
import { entryOf } from '../model/settles.ts'
import {
  aView,
  tabs,
  viewOf,
  type MessageTarget,
  type TuiModel,
  type ScreenLocation,
  type PromptPurpose,
  type Tab,
  type View,
} from '../model/model.ts'
import { onDialog, onHelp, onPalette, setsUp } from './on-overlay.ts'
import { onWriting } from './on-writing.ts'
import { isEmpty } from '../screens/home-of.ts'
import { standing } from '../screens/screen.ts'
import { taskOf as recordOf } from '../screens/task.ts'
import type { Effect, Reply, TuiMessage, Transition } from '../model/step.ts'
import { makesRunbookAgent, newWordsAgent, wordsAgent } from '../writing/first-agent.ts'
import { written } from '../writing/writing.ts'

type Key = Extract<TuiMessage, { kind: 'key' }>

export function onKey(model: TuiModel, key: Key): Transition {
  if (key.key === 'ctrl+c') return onInterrupt(model)
  if (key.key === 'ctrl+z') return [model, [{ do: 'keep_drafts' }, { do: 'suspend' }]]
  const now = { ...model, leaving: false, notice: model.writing === null ? null : model.notice }
  const { overlay } = now
  if (overlay?.kind === 'help') return onHelp(now, overlay, key)
  if (overlay?.kind === 'palette') return onPalette(now, overlay, key, acted)
  if (overlay?.kind === 'dialog') return onDialog(now, overlay, key)
  if (now.writing !== null) return onWriting(now, now.writing, key)
  if (now.p === null && viewOf(now).place.at === 'home' && /^[1-6]$/.test(key.key)) {
    return [{ ...now, early: key.key }, []]
  }
  const found = actionOf(key.key)
  if (found === null) return firstRunKey(now, key) ?? [now, []]
  return firstRunKey(now, key) ?? acted(now, found.action)
}

/** Once: closes what is open, else puts a draft aside, else says what leaving means. */
function onInterrupt(model: TuiModel): Transition {
  if (model.overlay !== null) return [{ ...model, overlay: null }, []]
  if (model.writing !== null) return onWriting(model, model.writing, { key: 'esc', text: '' })
  if (model.leaving) return [model, [{ do: 'keep_drafts' }, { do: 'leave', end: 'left' }]]
  const text = 'ctrl+c again leaves; work goes on'
  return [{ ...model, leaving: true, notice: { text, bad: false } }, []]
}

/** An empty home offers three beginnings under their numbers. */
function firstRunKey(model: TuiModel, { key }: Key): Transition | null {
  if (viewOf(model).place.at !== 'home' || !isEmpty(model)) return null
  const agent_id = wordsAgent(model)
  if (key === '1') {
    return [model, [{ do: 'try_example', makes: makesRunbookAgent(model) }]]
  }
  // A key is typed unseen, which the terminal does better than a screen.
  if (key === '2') return setsUp(model)
  if (key === '3')
    return writingTo(model, {
      for: 'message',
      target: { agent_id, work_item_id: null },
      delivery: 'next',
    })
  return null
}

const lists = ['home', 'board', 'agents', 'tasks', 'waits', 'events'] as const
const tabOf: Readonly<Partial<Record<ActionName, Tab>>> = {
  thread: 'thread',
  plan: 'plan',
  why: 'why',
  spend: 'spend',
  item_tasks: 'tasks',
  item_events: 'events',
}

export function acted(model: TuiModel, action: ActionName): Transition {
  const view = viewOf(model)
  const { rows, row } = standing(model)
  const moved = seq(model, rows, row, action)
  if (moved !== null) return [moved, []]
  const list = lists.find((one) => one === action)
  if (list !== undefined) {
    return [{ ...went(model, aView({ at: list })), views: [aView({ at: list })] }, []]
  }
  const tab = tabOf[action]
  if (tab !== undefined) return toTab(model, row, tab)
  const name: string = action
  switch (name) {
    case 'open':
      return opened(model, row)
    case 'back':
      return back(model)
    case 'last_view':
      return model.last === null ? [model, []] : [went(model, model.last), []]
    case 'next_need':
    case 'previous_need':
      return toNeed(model, row, action === 'next_need' ? 1 : -1)
    case 'find':
      return writingTo(went(model, aView({ at: 'search' })), { for: 'find' })
    case 'palette':
      return [{ ...model, overlay: { kind: 'palette', text: '', at: 0 } }, []]
    case 'help':
      return [{ ...model, overlay: { kind: 'help', top: 0, about: null } }, []]
    case 'leave':
      return [model, [{ do: 'keep_drafts' }, { do: 'leave', end: 'left' }]]
    case 'unfold':
      return [unfolded(model, view, row), []]
    case 'level': {
      const level = view.level === 1 ? 2 : view.level === 2 ? 3 : 1
      return [withTop(model, { ...view, level }), []]
    }
    case 'clock':
      return [{ ...model, clocks: !model.clocks }, []]
    case 'only_pane':
      return [{ ...model, only_pane: !model.only_pane }, []]
    case 'pane':
      return nextTab(model)
    case 'reload':
      return [{ ...model, details: new Map() }, [{ do: 'reconnect' }]]
    case 'again':
      return [{ ...model, details: new Map() }, [{ do: 'reconnect' }]]
    case 'redraw':
      return [model, [{ do: 'redraw' }]]
  }
  return asked(model, action, row)
}

const withTop = (model: TuiModel, view: View): TuiModel => ({
  ...model,
  views: [...model.views.slice(0, -1), view],
})

/** Acts: what changes something, is written, or leaves the program. */
function asked(model: TuiModel, action: ActionName, row: BodyRow | null): Transition {
  const about = subjectOf(model, row)
  const entry = entryOf(model, about)
  const { place } = viewOf(model)
  const name: string = action
  switch (name) {
    case 'answer':
      return replied(model, answerDialog(model, entry))
    case 'dismiss':
      return replied(model, dismissAct(entry))
    case 'snooze':
      return entry === null
        ? refused(model, 'nothing here needs you')
        : writingTo(model, { for: 'snooze', entry: entry.id })
    case 'stop':
      return replied(model, stopDialog(model, about, taskOf(place, row)))
    case 'start':
      return replied(model, startAct(model, about))
    case 'focus':
      return onItem(model, about, (item) => writingTo(model, { for: 'focus', ...item }))
    case 'new_item':
      return writingTo(model, { for: 'new_item', agent_id: meantBy(model, about, true).agent_id })
    case 'write':
      if (place.at === 'task') {
        const why = endedWords(model, place.task_id)
        if (why !== null) return refused(model, why)
        return writingTo(model, {
          for: 'task_input',
          agent_id: place.agent_id,
          task_id: place.task_id,
        })
      }
      return toMessage(model, about, false)
    case 'write_agent':
      return toMessage(model, about, true)
    case 'raise_budget':
      return onItem(model, about, (item) => writingTo(model, budgetPrompt(entry, item)))
    case 'unblock':
      return onItem(model, about, ({ agent_id, work_item_id }) => [
        model,
        [{ do: 'act', act: unblockAct(agent_id, work_item_id) }],
      ])
    case 'update':
      return onItem(model, about, (item) => writingTo(model, { for: 'objective', ...item }))
    case 'set_up':
      return setsUp(model)
    case 'copy':
      return row?.text === undefined
        ? refused(model, 'nothing is selected')
        : [model, [{ do: 'copy', text: row.text, what: 'it' }]]
    case 'copy_line': {
      const cli =
        row?.cli ??
        entry?.can.find(({ allowed, cli: one }) => allowed && one !== null)?.cli ??
        shellLine(about)
      return cli === null
        ? refused(model, 'it has no shell line')
        : [model, [{ do: 'copy', text: named(cli, model.look.called), what: cli }]]
    }
    case 'pager': {
      const text = standing(model).rows.flatMap((one) => (one.text === undefined ? [] : [one.text]))
      return [model, [{ do: 'page', text: [...new Set(text)].join('\n') } satisfies Effect]]
    }
  }
  return [model, []]
}

const endedWords = (model: TuiModel, task_id: string): string | null =>
  (recordOf(model, task_id)?.ended_at ?? null) === null
    ? null
    : 'it has ended: nothing reads its input'

type OfItem = { agent_id: string; work_item_id: string }

function onItem(
  model: TuiModel,
  about: BodyRow | null,
  does: (item: OfItem) => Transition,
): Transition {
  const { agent_id, work_item_id } = about ?? {}
  return agent_id === undefined || !work_item_id
    ? refused(model, 'no item is selected')
    : does({ agent_id, work_item_id })
}

const shellLine = (row: BodyRow | null): string | null =>
  !row?.work_item_id ? null : `holon why ${row.work_item_id}`

/** What is selected, or what the whole screen is about. */
function subjectOf(model: TuiModel, row: BodyRow | null): BodyRow | null {
  const { place } = viewOf(model)
  if (place.at === 'item') {
    const { agent_id, work_item_id } = place
    return { id: row?.id ?? null, lines: [], agent_id, work_item_id }
  }
  if (place.at === 'task')
    return { id: place.task_id, lines: [], agent_id: place.agent_id, work_item_id: null }
  return row
}

const taskOf = (place: ScreenLocation, row: BodyRow | null): string | null => {
  if (place.at === 'task') return place.task_id
  if (row?.opens?.at === 'task') return row.opens.task_id
  return null
}

function replied(model: TuiModel, reply: Reply): Transition {
  switch (reply.do) {
    case 'act':
      return [model, [{ do: 'act', act: reply.act }]]
    case 'open':
      return [{ ...model, overlay: reply.overlay }, []]
    case 'write':
      return writingTo(model, reply.prompt)
    case 'refuse':
      return refused(model, reply.why)
  }
}

const refused = (model: TuiModel, why: string): Transition => [
  { ...model, notice: { text: why, bad: true } },
  [],
]

/**
 * Whom words are for. In a list that is the row a person went to: a row that happens to be selected
 * is no wish to speak to it, an agent of runbooks takes no words, and no item that is done any.
 */
function meantBy(model: TuiModel, about: BodyRow | null, toAgent: boolean): MessageTarget {
  const { place, selected, pointed } = viewOf(model)
  if (place.at === 'item' || place.at === 'task') {
    const agent_id = about?.agent_id ?? wordsAgent(model)
    return { agent_id, work_item_id: toAgent ? null : (about?.work_item_id ?? null) }
  }
  const row = pointed && about?.id === selected ? about : null
  const agent_id = newWordsAgent(model, row?.agent_id)
  const item = model.p?.state.work_items.find(({ id }) => id === row?.work_item_id)
  const isOpen = item === undefined || item.state === 'open'
  const isItem = !toAgent && isOpen && agent_id === row?.agent_id
  return { agent_id, work_item_id: isItem ? (row.work_item_id ?? null) : null }
}

function toMessage(model: TuiModel, about: BodyRow | null, toAgent: boolean): Transition {
  const { agent_id, work_item_id } = meantBy(model, about, toAgent)
  const turn = model.p?.state.turns.find((one) => one.agent_id === agent_id)
  // Into the turn where one runs on this item, else it waits for the next.
  const now = turn !== undefined && turn.work_item_id === work_item_id
  const target = { agent_id, work_item_id }
  return writingTo(model, { for: 'message', target, delivery: now ? 'now' : 'next' })
}

export function writingTo(model: TuiModel, prompt: PromptPurpose): Transition {
  const text = model.drafts.get(draftKey(prompt)) ?? usualText(model, prompt)
  return [{ ...model, writing: { prompt, text: written(text) }, overlay: null, notice: null }, []]
}

/** What stands in a box that was never written in. */
function usualText({ p }: TuiModel, prompt: PromptPurpose): string {
  if (prompt.for === 'snooze') return '2h'
  if (prompt.for !== 'objective') return ''
  return p?.state.work_items.find(({ id }) => id === prompt.work_item_id)?.objective ?? ''
}

export const went = (model: TuiModel, view: View): TuiModel => ({
  ...model,
  last: viewOf(model),
  views: [...model.views, view].slice(-20),
  notice: null,
})

function opened(model: TuiModel, row: BodyRow | null): Transition {
  const place = row?.opens
  if (place !== undefined) return [went(model, aView(place)), []]
  return row === null ? [model, []] : [unfolded(model, viewOf(model), row), []]
}

function back(model: TuiModel): Transition {
  if (model.views.length > 1) {
    return [{ ...model, last: viewOf(model), views: model.views.slice(0, -1), notice: null }, []]
  }
  const { place } = viewOf(model)
  return place.at === 'home'
    ? [model, []]
    : [{ ...model, last: viewOf(model), views: [aView({ at: 'home' })] }, []]
}

function toNeed(model: TuiModel, row: BodyRow | null, step: 1 | -1): Transition {
  if (model.p === null) return [model, []]
  const from = row?.id?.startsWith('needs ') ? row.id.slice(6) : null
  const entry = nextNeed(model.p, from, step)
  if (entry === null) return [{ ...model, notice: { text: 'nothing needs you', bad: false } }, []]
  const isHome = viewOf(model).place.at === 'home'
  const base = isHome ? model : { ...model, last: viewOf(model), views: [aView({ at: 'home' })] }
  return [
    withTop(base, {
      ...viewOf(base),
      selected: `needs ${entry.id}`,
      pointed: true,
      follow: false,
    }),
    [],
  ]
}

function toTab(model: TuiModel, row: BodyRow | null, tab: Tab): Transition {
  const { place } = viewOf(model)
  if (place.at === 'item') {
    if (place.work_item_id === null && tab !== 'thread')
      return refused(model, 'that is of an item; this is an agent')
    return [
      withTop(
        { ...model, last: viewOf(model) },
        aView({ ...place, tab }, { follow: tab === 'thread' }),
      ),
      [],
    ]
  }
  if (row?.agent_id === undefined || !row.work_item_id) return refused(model, 'no item is selected')
  const { agent_id, work_item_id } = row
  return [
    went(model, aView({ at: 'item', agent_id, work_item_id, tab }, { follow: tab === 'thread' })),
    [],
  ]
}

function nextTab(model: TuiModel): Transition {
  const { place } = viewOf(model)
  if (place.at === 'item' && place.work_item_id !== null) {
    const tab = tabs[(tabs.indexOf(place.tab) + 1) % tabs.length] ?? 'thread'
    return toTab(model, null, tab)
  }
  if (place.at === 'task') {
    const stream = place.stream === 'stdout' ? 'stderr' : 'stdout'
    return [withTop(model, aView({ ...place, stream })), []]
  }
  return [model, []]
}

function unfolded(model: TuiModel, view: View, row: BodyRow | null): TuiModel {
  if (row === null || row.id === null) return model
  const selected = row.folds ?? row.id
  const open = new Set(view.unfolded)
  if (!open.delete(selected)) open.add(selected)
  return withTop(model, { ...view, unfolded: open, selected, pointed: true, follow: false })
}
