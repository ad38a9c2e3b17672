/**
 * Exact replacement in a text, as the EditFile tool does it. Pure. The text around the replaced
 * part is kept to the byte: a byte order mark stays, and in a file with CRLF line ends a
 * replacement written with LF is matched and inserted as CRLF.
 */

export type Edit = { old: string; new: string; replace_all?: boolean }

export type EditRejectionCode = 'empty_old' | 'same_text' | 'not_found' | 'not_unique'

/** `lines` are the 1-based lines where a match begins (at most 20). */
export type EditOutcome =
  | { ok: true; after: string; replacements: number; lines: number[] }
  | { ok: false; code: EditRejectionCode; message: string; hint: string; lines: number[] }

const LINES_SHOWN = 20

export function editText(before: string, edit: Edit): EditOutcome {
  if (edit.old === '') {
    return no('empty_old', 'the text to replace is empty', 'Give the exact text to replace.')
  }
  if (edit.old === edit.new) {
    return no('same_text', 'the old and the new text are the same', 'Nothing needs to be done.')
  }
  const { old, replacement, starts } = find(before, edit)
  const lines = starts.slice(0, LINES_SHOWN).map((start) => lineAt(before, start))
  if (starts.length === 0) return notFound(before, edit.old)
  if (starts.length > 1 && !edit.replace_all) {
    const shown = lines.join(', ') + (starts.length > LINES_SHOWN ? ', …' : '')
    const message = `the text was found ${starts.length} times, on lines ${shown}`
    const hint = 'Add lines around it until it is unique, or set replace_all.'
    return { ok: false, code: 'not_unique', message, hint, lines }
  }
  // Not String.replace: `$&` in a replacement is text here.
  const after = splice(before, starts, old.length, replacement)
  return { ok: true, after, replacements: starts.length, lines }
}

/** Lines shown in front of a change and behind it, and of the change itself at most. */
const AROUND = 2
const CHANGED_SHOWN = 6
const LINE_CHARS = 200

/**
 * The lines that `changed` took the place of from line `first` on, with those around them, each
 * behind its number and a tab: what the next edit goes on from. The middle of a long change is left
 * out, for whoever made it knows it.
 */
export function linesAround(after: string, first: number, changed: string): string {
  const lines = after.split(/\r?\n/)
  const last = first + changed.replace(/\n$/, '').split('\n').length - 1
  const from = Math.max(1, first - AROUND)
  const to = Math.min(lines.at(-1) === '' ? lines.length - 1 : lines.length, last + AROUND)
  const half = CHANGED_SHOWN / 2
  const isLong = last - first + 1 > CHANGED_SHOWN
  const shown: string[] = []
  for (let n = from; n <= to; n++) {
    if (isLong && n === first + half) shown.push('…')
    if (isLong && n >= first + half && n <= last - half) continue
    const line = lines[n - 1] ?? ''
    shown.push(`${n}\t${line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line}`)
  }
  return shown.join('\n').toWellFormed()
}

function find(before: string, edit: Edit) {
  const exact = positions(before, edit.old)
  if (exact.length === 0 && before.includes('\r\n') && !edit.old.includes('\r')) {
    const old = edit.old.replaceAll('\n', '\r\n')
    const starts = positions(before, old)
    const replacement = edit.new.replaceAll(/\r?\n/g, '\r\n')
    if (starts.length > 0) return { old, replacement, starts }
  }
  // A match inside one line: what is inserted still takes the file's line ends.
  const usesCrlf = before.includes('\r\n') && !/(^|[^\r])\n/.test(before)
  const replacement = usesCrlf ? edit.new.replaceAll(/\r?\n/g, '\r\n') : edit.new
  return { old: edit.old, replacement, starts: exact }
}

function positions(text: string, part: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    found.push(at)
  return found
}

function splice(text: string, starts: readonly number[], length: number, part: string): string {
  let done = 0
  const pieces: string[] = []
  for (const start of starts) {
    pieces.push(text.slice(done, start), part)
    done = start + length
  }
  return [...pieces, text.slice(done)].join('')
}

function lineAt(text: string, at: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/** Says where a match would be if white space were ignored: the usual reason for a miss. */
function notFound(before: string, old: string): EditOutcome {
  const bare = (line: string) => line.replaceAll(/\s+/g, ' ').trim()
  const wanted = old.split('\n').map(bare)
  while (wanted.length > 1 && wanted[0] === '') wanted.shift()
  while (wanted.length > 1 && wanted.at(-1) === '') wanted.pop()
  const have = before
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map(bare)
  const lines: number[] = []
  // Blank lines alone would match everywhere.
  const last = wanted.some((line) => line !== '') ? have.length - wanted.length : -1
  for (let at = 0; at <= last && lines.length < 5; at++) {
    if (wanted.every((line, index) => have[at + index] === line)) lines.push(at + 1)
  }
  const message = 'the text to replace was not found'
  if (lines.length === 0) {
    return no(
      'not_found',
      message,
      'Read the file again; it may have changed, or the path differs.',
    )
  }
  const place = lines.length === 1 ? `on line ${lines[0]}` : `on lines ${lines.join(', ')}`
  const hint = `It differs only in white space ${place}; copy the text from there exactly.`
  return { ok: false, code: 'not_found', message, hint, lines }
}

function no(code: EditRejectionCode, message: string, hint: string): EditOutcome {
  return { ok: false, code, message, hint, lines: [] }
}
