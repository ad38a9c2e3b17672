/**
 * Long pastes while a text is written: each is one character of it, which is moved over and deleted
 * as one, shows as `[214 lines pasted]`, and is the whole again wherever the text goes. Pure.
 */
import type { Writing, TuiModel } from '../model/model.ts'
import { inserted } from './writing.ts'

/** Lines from which on a paste is one character. */
const longLines = 10

/** Noncharacters, which no text that is exchanged may have: as many as pastes can be folded. */
const first = 0xfdd0
const most = 32
const marks = /[\ufdd0-\ufdef]/g

const pasteOf = ({ pastes = [] }: Writing, mark: string): string | undefined =>
  pastes[mark.charCodeAt(0) - first]

/** With every paste in full. */
export const whole = (at: Writing): string =>
  at.text.replace(marks, (mark) => pasteOf(at, mark) ?? mark)

/** A part of its text as the screen shows it. */
export const shown = (at: Writing, part: string): string =>
  part.replace(marks, (mark) => {
    const paste = pasteOf(at, mark)
    return paste === undefined ? mark : `[${paste.split('\n').length} lines pasted]`
  })

/** Puts in what was pasted. */
export function withPaste(at: Writing, given: string): Writing {
  const { pastes = [] } = at
  const plain = given.replace(/\r\n?/g, '\n').replace(marks, '\ufffd')
  if (plain.split('\n').length < longLines || pastes.length === most) return inserted(at, plain)
  const mark = String.fromCharCode(first + pastes.length)
  return { ...inserted(at, mark), pastes: [...pastes, plain] }
}

/** The same text with nothing folded, the cursor where it was. */
export function unfolded(at: Writing): Writing {
  const before = whole({ ...at, text: at.text.slice(0, at.cursor) })
  return { text: whole(at), cursor: before.length }
}

export const searchText = ({ writing, drafts }: TuiModel): string =>
  writing?.prompt.for === 'find' ? whole(writing.text) : (drafts.get('find') ?? '')
