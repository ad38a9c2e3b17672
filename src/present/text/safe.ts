/**
 * The one way foreign text reaches a screen (docs/spec/screens.md#foreign-text): control
 * characters, escape sequences, bidirectional marks, zero-width and tag characters become visible
 * text. `Safe` is branded so that a view that takes it cannot be handed anything else.
 */
declare const brand: unique symbol
export type Safe = string & { readonly [brand]: 'safe' }

/** C0, DEL, C1: written as the escapes programmers know. */
const controls = /\p{Cc}/u
/** Marks that reorder, hide or join what stands around them, and line breaks by other names. */
const hidden = new RegExp(
  '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
    '\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff' +
    '\\ud800-\\udfff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}' +
    '\\u{f0000}-\\u{10ffff}\\ue000-\\uf8ff]',
  'u',
)
const anyForeign = new RegExp(`${controls.source}|${hidden.source}`, 'gu')
/** The same in JSON text, which has no controls of C0 but its own line breaks. */
const unsafeInJson = new RegExp(`[\\u007f-\\u009f]|${hidden.source}`, 'gu')
/** An emoji keeps the joiner and the variation mark that make it one picture. */
const picture = '\\p{Extended_Pictographic}'
const emoji = new RegExp(
  `${picture}(?:\\ufe0f?[\\u{1f3fb}-\\u{1f3ff}]?\\u200d${picture})*\\ufe0f?`,
  'gu',
)

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\u001b': '\\x1b',
}

const visible = (char: string): string => {
  const known = escapes[char]
  if (known !== undefined) return known
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  return code < 0xa0 ? `\\x${hex.padStart(2, '0')}` : `<U+${hex.toUpperCase().padStart(4, '0')}>`
}

/** Everything foreign outside of whole emoji is made visible. */
function exposed(text: string): string {
  let out = ''
  let from = 0
  for (const found of text.matchAll(emoji)) {
    out += text.slice(from, found.index).replace(anyForeign, visible) + found[0]
    from = found.index + found[0].length
  }
  return out + text.slice(from).replace(anyForeign, visible)
}

/** JSON with what a terminal would obey, or not show, as escapes: it means the same value. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(unsafeInJson, (char) =>
    char.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )

/** Text for one line: breaks and tabs become visible too. */
export const safe = (text: string): Safe => exposed(text) as Safe

/** Text of several lines: real line breaks stay, tabs become two spaces, the rest as `safe`. */
export const safeLines = (text: string): Safe[] =>
  text.split(/\r\n|\n/).map((line) => safe(line.replaceAll('\t', '  ')))

/** A sentence on one line: runs of blank space, breaks included, become one space first. */
export const safeLine = (text: string): Safe => safe(text.replace(/\s+/g, ' ').trim())
