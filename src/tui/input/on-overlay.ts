/** Keys while help, the palette or a dialog is open. A dialog is decided by no letter. Pure. */
import { settle_ms } from './requests.ts'
import { actionOf, type ActionName } from '../model/keys.ts'
import type { MenuChoice, TuiModel, Overlay } from '../model/model.ts'
import { keysOf, matching } from '../screens/overlay.ts'
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
  const about = actionOf(key) === null ? overlay.about : key
  return [{ ...model, overlay: { ...overlay, about } }, []]
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
  if (key === 'down') return choose(chosen === null ? 0 : Math.min(choices.length - 1, chosen + 1))
  if (key === 'up') return choose(chosen === null ? choices.length - 1 : Math.max(0, chosen - 1))
  if (key === 'tab') {
    const words = choices.find((one) => one.words !== undefined)
    return words === undefined ? [model, []] : taken(model, words)
  }
  const choice = chosen === null ? undefined : choices[chosen]
  return key === 'enter' && choice !== undefined ? taken(model, choice) : [model, []]
}

function taken(model: TuiModel, { act, words }: MenuChoice): Transition {
  const closed = { ...model, overlay: null }
  if (words !== undefined) return [{ ...closed, writing: { prompt: words, text: written('') } }, []]
  return [closed, act === null ? [] : [{ do: 'act', act }]]
}
