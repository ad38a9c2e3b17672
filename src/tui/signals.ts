/**
 * What a terminal that nobody looks at is told: the state in its title, and once for each entry
 * that newly needs a person a bell and a notification. Every text is safe and of one line. Pure.
 */
import { home } from '../present/home.ts'
import { safeLine } from '../present/text/safe.ts'
import { cut } from '../present/text/width.ts'
import type { TuiModel } from './model/model.ts'
import { timesOf } from './drawing/paint.ts'

const [esc, bell] = ['\u001b', '\u0007']
/** Ends a string that a terminal takes. */
const end = `${esc}\\`

/** Characters of a title, and of a notification. */
const most = 80

/** The title is kept while the screen stands, and the terminal says when it is looked at. */
export const lookedAt = { on: `${esc}[?1004h`, off: `${esc}[?1004l` } as const
export const signalsOn = `${esc}[22;0t${lookedAt.on}`
export const signalsOff = `${lookedAt.off}${esc}[23;0t`

export type Signals = {
  readonly title: string
  /** Entries that were told, or were there when it began; null: nothing is known yet. */
  readonly told: ReadonlySet<string> | null
}
export const noSignals: Signals = { title: '', told: null }

/** `focused` null: the terminal has not said. */
export function signalsOf(
  before: Signals,
  model: TuiModel,
  focused: boolean | null,
): { readonly next: Signals; readonly write: string } {
  const { p } = model
  if (p === null) return { next: before, write: '' }
  const isLive = p.link.kind === 'live' || p.link.kind === 'connecting'
  const said = isLive ? home(p, timesOf(model)).counts : 'not connected'
  const title = cut(`holon: ${said}`, most)
  const titled = title === before.title ? '' : `${esc}]2;${title}${end}`
  const entries = p.state.attention
  const told = new Set([...(before.told ?? []), ...entries.map(({ id }) => id)])
  const isSame = before.told !== null && told.size === before.told.size
  const fresh = entries.filter(({ id }) => before.told?.has(id) === false)
  const rings = focused !== true && fresh.length > 0
  const notes = rings ? fresh.slice(0, 3).map((one) => note(one.agent_id, one.text)) : []
  return {
    next: title === before.title && isSame ? before : { title, told },
    write: `${titled}${notes.join('')}${rings ? bell : ''}`,
  }
}

const note = (agent: string, text: string): string =>
  `${esc}]9;${cut(safeLine(`holon: ${agent}: ${text.split('\n')[0] ?? ''}`), most)}${end}`

/** Bytes of a text that terminals take at most, encoded. */
const copyMost = 74_994

/** Asks the terminal to put the text on the clipboard; null: it is too long for that. */
export function copySequence(text: string): string | null {
  const bytes = new TextEncoder().encode(text)
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return encoded.length > copyMost ? null : `${esc}]52;c;${encoded}${end}`
}
