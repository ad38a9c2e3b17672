/** Editing a text as readline does: one key, the next text; positions are UTF-16. Pure. */
import type { TuiModel, Writing } from '../model/model.ts'

/** Changes of a text that can be undone. */
const changesHeld = 100

type Open = NonNullable<TuiModel['writing']>

export const nothing: Writing = { text: '', cursor: 0 }
export const written = (text: string): Writing => ({ text, cursor: text.length })

const isJoined = (text: string, at: number): boolean => /[\udc00-\udfff]/.test(text.charAt(at))

const left = ({ text, cursor }: Writing): number => {
  const at = Math.max(0, cursor - 1)
  return isJoined(text, at) ? Math.max(0, at - 1) : at
}
const right = ({ text, cursor }: Writing): number => {
  const at = Math.min(text.length, cursor + 1)
  return isJoined(text, at) ? Math.min(text.length, at + 1) : at
}
const lineStart = ({ text, cursor }: Writing): number => text.lastIndexOf('\n', cursor - 1) + 1
const lineEnd = ({ text, cursor }: Writing): number => {
  const at = text.indexOf('\n', cursor)
  return at < 0 ? text.length : at
}
const wordLeft = ({ text, cursor }: Writing): number =>
  cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0)
const wordRight = ({ text, cursor }: Writing): number =>
  cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0)

export const inserted = (at: Writing, given: string): Writing => ({
  ...at,
  text: at.text.slice(0, at.cursor) + given + at.text.slice(at.cursor),
  cursor: at.cursor + given.length,
})

const without = (at: Writing, from: number, to: number): Writing => ({
  ...at,
  text: at.text.slice(0, from) + at.text.slice(to),
  cursor: from,
})

/** Null: the key edits nothing. */
export function edited(at: Writing, key: string): Writing | null {
  switch (key) {
    case 'left':
    case 'ctrl+b':
      return { ...at, cursor: left(at) }
    case 'right':
    case 'ctrl+f':
      return { ...at, cursor: right(at) }
    case 'home':
    case 'ctrl+a':
      return { ...at, cursor: lineStart(at) }
    case 'end':
    case 'ctrl+e':
      return { ...at, cursor: lineEnd(at) }
    case 'alt+b':
      return { ...at, cursor: wordLeft(at) }
    case 'alt+f':
      return { ...at, cursor: wordRight(at) }
    case 'backspace':
    case 'ctrl+h':
      return without(at, left(at), at.cursor)
    case 'delete':
    case 'ctrl+d':
      return without(at, at.cursor, right(at))
    case 'ctrl+w':
    case 'alt+backspace':
      return without(at, wordLeft(at), at.cursor)
    case 'ctrl+u':
      return without(at, lineStart(at), at.cursor)
    case 'ctrl+k':
      return without(at, at.cursor, lineEnd(at))
    case 'ctrl+j':
    case 'alt+enter':
    case 'shift+enter':
      return inserted(at, '\n')
  }
  return null
}

/** The same column one line up or down; null: there is no such line. */
export function moved(at: Writing, step: -1 | 1): Writing | null {
  const column = at.cursor - lineStart(at)
  if (step < 0) {
    const start = lineStart(at)
    if (start === 0) return null
    const above = { ...at, cursor: start - 1 }
    return { ...at, cursor: Math.min(lineStart(above) + column, start - 1) }
  }
  const end = lineEnd(at)
  if (end === at.text.length) return null
  const below = { ...at, cursor: end + 1 }
  return { ...at, cursor: Math.min(end + 1 + column, lineEnd(below)) }
}

/** Another text in the same box; what it was can be had again. */
export const changed = (open: Open, text: Writing): Open =>
  text.text === open.text.text
    ? { ...open, text }
    : { ...open, text, before: [...(open.before ?? []), open.text].slice(-changesHeld) }

/** As it was before the last change. */
export function undone(open: Open): Open {
  const { before = [] } = open
  const text = before.at(-1)
  return text === undefined ? open : { ...open, text, before: before.slice(0, -1) }
}
