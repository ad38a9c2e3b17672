/** Keys while help, the palette or a dialog is open. A dialog is decided by no letter. Pure. */
import { settle_ms } from './requests.ts'
import { actionOf, type ActionName } from '../model/keys.ts'
import type { MenuChoice, TuiModel, Overlay } from '../model/model.ts'
import { dialogRoom, helpRoom, keysOf, matching } from '../screens/overlay.ts'
import type { Transition } from '../model/step.ts'
import { written } from '../writing/writing.ts'

type Key = { key: string; text: string; at: number }

export function onHelp(
  model: TuiModel,
  overlay: Overlay & { kind: 'help' },
  { key }: Key,
): Transition {
  if (key === 'esc' || key === 'q') return [{ ...model, overlay: null }, []]
  if (key === ':') return [{ ...model, overlay: { kind: 'palette', text: '', at: 0 } }, []]
  const top = scrolledTo(model, overlay.top, key)
  if (top !== null) return [{ ...model, overlay: { ...overlay, top, about: null } }, []]
  const about = actionOf(key) === null ? overlay.about : key
  return [{ ...model, overlay: { ...overlay, about } }, []]
}

/** Null: the key moves nothing here, or all of it is in sight; then it is explained. */
function scrolledTo(model: TuiModel, top: number, key: string): number | null {
  const { room, most } = helpRoom(model)
  const action = actionOf(key)?.action
  if (most === 0 || action === undefined) return null
  const moves: Readonly<Partial<Record<ActionName, number>>> = {
    down: top + 1,
    up: top - 1,
    half_down: top + room - 1,
    half_up: top - room + 1,
    first: 0,
    last: most,
  }
  const next = moves[action]
  return next === undefined ? null : Math.min(most, Math.max(0, next))
}

export function onPalette(
  model: TuiModel,
  overlay: Overlay & { kind: 'palette' },
  { key, text }: Key,
  act: (model: TuiModel, action: ActionName) => Transition,
): Transition {
  const found = matching(overlay.text)
  const to = (at: number): Transition => {
    const kept = Math.min(Math.max(0, at), Math.max(0, found.length - 1))
    return [{ ...model, overlay: { ...overlay, at: kept } }, []]
  }
  switch (key) {
    case 'esc':
      return [{ ...model, overlay: null }, []]
    case 'down':
    case 'ctrl+n':
      return to(overlay.at + 1)
    case 'up':
    case 'ctrl+p':
      return to(overlay.at - 1)
    case 'enter': {
      const chosen = found[overlay.at]
      const closed = { ...model, overlay: null }
      return chosen === undefined ? [model, []] : act(closed, chosen.action)
    }
    case 'backspace':
      return [{ ...model, overlay: { ...overlay, text: overlay.text.slice(0, -1), at: 0 } }, []]
  }
  if (text === '') return [model, []]
  return [{ ...model, overlay: { ...overlay, text: overlay.text + text, at: 0 } }, []]
}

/** What moves the text of a dialog; up and down go from choice to choice. */
const pagesOf: Readonly<Record<string, 1 | -1>> = { half_down: 1, half_up: -1 }

export function onDialog(
  model: TuiModel,
  overlay: Overlay & { kind: 'dialog' },
  { key, at }: Key,
): Transition {
  if (key === 'esc') return [{ ...model, overlay: null }, []]
  // Keys that were on their way when it opened are not meant for it.
  if (at - overlay.opened_at < settle_ms) return [model, []]
  const { choices, chosen } = overlay
  const choose = (n: number): Transition => [{ ...model, overlay: { ...overlay, chosen: n } }, []]
  const named = keysOf(choices).indexOf(key)
  if (named >= 0) return choose(named)
  const page = pagesOf[actionOf(key)?.action ?? '']
  if (page !== undefined) {
    const { shown, most } = dialogRoom(model, overlay)
    const to = Math.min(overlay.top, most) + page * Math.max(1, shown.text - 1)
    const top = Math.min(most, Math.max(0, to))
    return [{ ...model, overlay: { ...overlay, top } }, []]
  }
  if (key === 'down') return choose(chosen === null ? 0 : Math.min(choices.length - 1, chosen + 1))
  if (key === 'up') return choose(chosen === null ? choices.length - 1 : Math.max(0, chosen - 1))
  if (key === 'tab') {
    const words = choices.find((one) => one.words !== undefined)
    return words === undefined ? [model, []] : taken(model, words)
  }
  const choice = chosen === null ? undefined : choices[chosen]
  return key === 'enter' && choice !== undefined ? taken(model, choice) : [model, []]
}

/** Leaves for the terminal, where a key is typed unseen. */
export const setsUp = (model: TuiModel): Transition => [
  model,
  [{ do: 'keep_drafts' }, { do: 'leave', end: 'set_up' }],
]

function taken(model: TuiModel, { act, words, sets_up }: MenuChoice): Transition {
  const closed = { ...model, overlay: null }
  if (sets_up === true) return setsUp(closed)
  if (words !== undefined) return [{ ...closed, writing: { prompt: words, text: written('') } }, []]
  return [closed, act === null ? [] : [{ do: 'act', act }]]
}
