/**
 * Quoted blocks: text of others between two marks it cannot write. The code in the marks does not
 * occur in the text, also not in disguise, and its seed is random per request (or per call), so
 * that nobody can write the end of a block they stand in.
 */
import { contextLimits } from './limits.ts'
import type { TokenEstimator } from './estimate.ts'
import { oneLine, thousands } from './phrase.ts'

/** The text as a careless reader sees it: without invisible, wide or capital variants. */
const undisguised = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()

/** `seed`, or the first `seed-2`, `seed-3` … that does not occur in `text`. */
export function fenceCode(seed: string, text: string): string {
  const bare = undisguised(text)
  const own = undisguised(seed)
  let code = own
  for (let n = 2; bare.includes(code); n++) code = `${own}-${n}`
  return code
}

const mark = (code: string, label: string): string =>
  `<<${code} ${oneLine(label).replaceAll('<<', '< <').replaceAll('>>', '> >')}>>`

/** `text` unchanged (but for broken surrogates) as a block under `label`. */
export function block(seed: string, label: string, text: string): string {
  const body = text.toWellFormed()
  const code = fenceCode(seed, body)
  return `${mark(code, label)}\n${ended(body)}${mark(code, 'end')}`
}

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

export type Truncation = {
  max_tokens: number
  tokens: TokenEstimator
  /** Where the whole text can be read, or null when it was not kept. */
  full_path: string | null
}

/** `block`, its middle left out where it is longer than `cut.max_tokens`; a marked line says so. */
export function cutBlock(seed: string, label: string, text: string, cut: Truncation): string {
  const whole = block(seed, label, text)
  const cost = cut.tokens(whole)
  if (cost <= cut.max_tokens) return whole
  const body = text.toWellFormed()
  const code = fenceCode(seed, body)
  const marked = (kept: number) => {
    const { head, tail } = ends(body, kept)
    const left = body.length - head.length - tail.length
    const note = mark(code, cutNote(left, body.length, 'characters', cut.full_path))
    return `${mark(code, label)}\n${ended(head)}${note}\n${ended(tail)}${mark(code, 'end')}`
  }
  // The estimate need not be even over the text: shrink until it holds.
  let kept = Math.floor((body.length * Math.max(0, cut.max_tokens)) / cost)
  let shown = marked(kept)
  while (kept > 0 && cut.tokens(shown) > cut.max_tokens) {
    kept = Math.floor(kept * 0.9) - 16
    shown = marked(Math.max(0, kept))
  }
  return shown
}

export const cutNote = (
  left: number,
  total: number,
  unit: string,
  full_path: string | null,
): string =>
  `cut: ${thousands(left)} of ${thousands(total)} ${unit} left out here; ` +
  (full_path === null ? 'the rest is not available' : `whole text: ${full_path}`)

/** Three fifths of `kept` characters from the start, the rest from the end; near line ends. */
function ends(text: string, kept: number): { head: string; tail: string } {
  const near = contextLimits.inline.value
  let to = Math.floor(kept * 0.6)
  const lineEnd = text.lastIndexOf('\n', to - 1) + 1
  if (lineEnd > 0 && lineEnd <= to && to - lineEnd < near) to = lineEnd
  let from = text.length - (kept - Math.floor(kept * 0.6))
  const lineStart = text.indexOf('\n', from) + 1
  if (lineStart > 0 && lineStart - from < near) from = lineStart
  // A surrogate pair is one character: it stays on one side.
  if (isLow(text, to)) to--
  if (isLow(text, from)) from++
  return { head: text.slice(0, to), tail: text.slice(from) }
}

const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

/**
 * The text with `change` made to all that stands outside of blocks, and to what begins them; also
 * to what stands in a block whose label says that the words are ours.
 */
export function outsideBlocks(
  text: string,
  change: (text: string) => string,
  isOurs: (label: string) => boolean = () => false,
): string {
  const parts: string[] = []
  let from = 0
  for (const opened of text.matchAll(/^<<(\S+) (.*)>>$/gm)) {
    if (opened.index < from) continue
    const begin = opened.index + opened[0].length
    const mark = `\n<<${opened[1] ?? ''} end>>`
    const closed = text.indexOf(mark, begin)
    if (closed < 0) continue
    // Behind the mark: an end has the form of a beginning, and begins nothing.
    const end = closed + mark.length
    const inner = text.slice(begin, end)
    parts.push(change(text.slice(from, begin)), isOurs(opened[2] ?? '') ? change(inner) : inner)
    from = end
  }
  return [...parts, change(text.slice(from))].join('')
}
