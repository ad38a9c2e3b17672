/**
 * A tool result as the model reads it: a status line, the fields that are set as readable text,
 * warnings, and the hint of an error. Bounded: long texts keep head and tail around a line that
 * says how much is missing and where it can be read. What a tool printed cannot end the block it
 * stands in.
 */
import type { ToolResult, Warning } from '../domain/state/call.ts'
import { withShortIds, type Short } from '../domain/state/short-id.ts'
import type { TokenEstimator } from './estimate.ts'
import { block, cutBlock, cutNote } from './fence.ts'
import { contextLimits } from './limits.ts'
import { clip, hasBreak, oneLine } from './phrase.ts'
import { shownResult, trimmed, type ItemsShown, type ResultForm } from './result-view.ts'

export type ResultView = {
  /** At least 200; beyond it nothing is shown but for the lines that say so. */
  max_tokens: number
  /** Absolute path of the whole output, named when something was cut; null: there is none. */
  full_path: string | null
  estimate: TokenEstimator
  /** Seed of the block marks: something the author of the output cannot know (the call's id). */
  fence?: string
  /** Default: `turn`. */
  form?: ResultForm
  /** What the request has in full already; what this result has in full is added. */
  items?: ItemsShown
  /** Ids as they are shown; without it whole. */
  short?: Short
}

/** Either one line of ours, or a text of others under a label. */
type Piece = { line: string } | { label: string; text: string }

const defaultFence = 'quoted'
const line = contextLimits.line.value

/** What the model reads of `result`, at most `view.max_tokens` by `view.estimate`. */
export function renderResult(result: ToolResult, view: ResultView): string {
  const fence = view.fence ?? defaultFence
  const shown = shortForm(result, view)
  const pieces = piecesOf(view.short === undefined ? shown : withShort(shown, view.short))
  const whole = pieces.map((piece) => wholePiece(piece, fence)).join('\n')
  if (view.estimate(whole) <= view.max_tokens) return whole
  const texts = shortened(pieces, view, fence)
  const text = texts.join('\n')
  return view.estimate(text) <= view.max_tokens ? text : endsOf(texts, view, fence)
}

/** The same without a bound: what the file with the full output holds. */
export const wholeResult = (result: ToolResult): string =>
  piecesOf(result)
    .map((piece) => wholePiece(piece, defaultFence))
    .join('\n')

/** The same result with what the model is to read of it. */
function shortForm(result: ToolResult, { form = 'turn', items }: ResultView): ToolResult {
  switch (result.status) {
    case 'success': {
      const { tool_name, summary } = result
      const view = { summary, form, items: items ?? null }
      return { ...result, result: shownResult(tool_name, result.result, view) }
    }
    case 'error': {
      const { detail, ...error } = result.error
      if (detail === undefined) return result
      return { ...result, error: { ...error, detail: trimmed(detail, error.message) } }
    }
  }
}

/** With its ids as they are shown, but where it says what a file or a command says. */
function withShort(result: ToolResult, short: Short): ToolResult {
  const told = (text: string): string => withShortIds(text, short)
  const warnings = result.warnings?.map((one) => shortIn(one, told) as Warning)
  const more = { summary: told(result.summary), ...(warnings === undefined ? {} : { warnings }) }
  switch (result.status) {
    case 'success':
      return { ...result, ...more, result: shortIn(result.result, told) }
    case 'error':
      return { ...result, ...more, error: shortIn(result.error, told) as typeof result.error }
  }
}

/** What is in these is not ours: a file that has an id is edited by the words it has. */
const verbatim = new Set([
  'printed',
  'stdout',
  'stderr',
  'initial_output',
  'text',
  'page',
  'preview',
])

/** In these somebody unknown speaks: a block also where it is one short line. */
const strangers = new Set(['page'])

/** In these the runtime speaks: nobody else's words, however long. */
const facts = new Set(['worktree'])

/** Lines, and what is cut out of records; another text of several lines is somebody's words. */
function shortIn(value: unknown, told: (text: string) => string, key = ''): unknown {
  if (typeof value === 'string') {
    const isWords = hasBreak(value) && key !== 'snippet'
    return isWords || verbatim.has(key) ? value : told(value)
  }
  if (Array.isArray(value)) return value.map((one) => shortIn(one, told))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => [
    name,
    shortIn(inner, told, name),
  ])
  return Object.fromEntries(entries)
}

const wholePiece = (piece: Piece, fence: string): string =>
  'line' in piece ? piece.line : block(fence, piece.label, piece.text)

function piecesOf(result: ToolResult): Piece[] {
  switch (result.status) {
    case 'success':
      return [
        {
          line: statusLine(
            result.tool_name,
            result.summary === '' ? 'success' : '',
            result.summary,
          ),
        },
        ...fields(result.result, '', ''),
        ...(result.warnings ?? []).flatMap(warning),
      ]
    case 'error': {
      const { kind, code, message, hint, retryable, detail } = result.error
      const status = `error (${kind}, ${oneLine(code)})`
      return [
        { line: statusLine(result.tool_name, status, message) },
        ...(detail === undefined ? [] : fields(detail, '', '')),
        ...(result.warnings ?? []).flatMap(warning),
        ...(hint === null ? [] : [{ line: `hint: ${clip(hint, line)}` }]),
        ...(retryable ? [{ line: 'The same call may be made again.' }] : []),
      ]
    }
  }
}

const statusLine = (tool: string, status: string, says: string): string =>
  `${oneLine(tool)}: ${[status, clip(says, line)].filter((part) => part !== '').join('. ')}`

function warning({ kind, message, ...detail }: Warning): Piece[] {
  return [
    { line: `warning (${clip(kind, 80)}): ${clip(message, line)}` },
    ...fields(detail, '  ', 'warning'),
  ]
}

/** A value as indented lines; each long or broken text in it becomes a block under its path. */
function fields(value: unknown, indent: string, path: string): Piece[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object') return named('result', value, indent, path)
  if (Array.isArray(value)) return entries(value, indent, path)
  return Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : named(clip(key, 80), inner, indent, path),
  )
}

function named(key: string, value: unknown, indent: string, path: string): Piece[] {
  const label = path === '' ? key : `${path}.${key}`
  if (value === null || value === undefined) return [{ line: `${indent}${key}: null` }]
  if (typeof value === 'string') return textPiece(key, value, indent, label)
  if (typeof value !== 'object') return [{ line: `${indent}${key}: ${JSON.stringify(value)}` }]
  const inner = fields(value, `${indent}  `, label)
  if (inner.length > 0) return [{ line: `${indent}${key}:` }, ...inner]
  return [{ line: `${indent}${key}: ${Array.isArray(value) ? '(none)' : '{}'}` }]
}

function textPiece(key: string, text: string, indent: string, label: string): Piece[] {
  if (text === '') return [{ line: `${indent}${key}: (empty)` }]
  const bare = text.endsWith('\n') ? text.slice(0, -1) : text
  const isLine = !hasBreak(bare) && !strangers.has(key)
  if (isLine && (bare.length <= contextLimits.inline.value || facts.has(key))) {
    return [{ line: `${indent}${key}: ${bare.toWellFormed()}` }]
  }
  return [{ label, text }]
}

function entries(list: readonly unknown[], indent: string, path: string): Piece[] {
  return list.flatMap((entry, i) => {
    const label = `${path === '' ? 'result' : path}[${i}]`
    if (typeof entry !== 'object' || entry === null) {
      return typeof entry === 'string' && (hasBreak(entry) || entry.length > line)
        ? [{ label, text: entry }]
        : [{ line: `${indent}- ${typeof entry === 'string' ? oneLine(entry) : String(entry)}` }]
    }
    const inner = fields(entry, `${indent}  `, label)
    const [first, ...rest] = inner
    // The dash stands on the first line of the entry, where that is a line.
    return first !== undefined && 'line' in first
      ? [{ line: `${indent}- ${first.line.slice(indent.length + 2)}` }, ...rest]
      : [{ line: `${indent}-` }, ...inner]
  })
}

/** Every line whole; the blocks share what is left, the short ones whole before the long ones. */
function shortened(pieces: readonly Piece[], view: ResultView, fence: string): string[] {
  const whole = pieces.map((piece) => wholePiece(piece, fence))
  const costs = whole.map((text) => view.estimate(text) + 1)
  let left = view.max_tokens
  const blocks: number[] = []
  for (const [i, piece] of pieces.entries()) {
    if ('line' in piece) left -= costs[i] ?? 0
    else blocks.push(i)
  }
  blocks.sort((a, b) => (costs[a] ?? 0) - (costs[b] ?? 0))
  for (const [rank, i] of blocks.entries()) {
    const piece = pieces[i]
    if (piece === undefined || 'line' in piece) continue
    const share = Math.floor(left / (blocks.length - rank)) - 1
    const { estimate: tokens, full_path } = view
    const text = cutBlock(fence, piece.label, piece.text, { max_tokens: share, tokens, full_path })
    whole[i] = text
    left -= tokens(text) + 1
  }
  return whole
}

/** The first and last pieces that fit, whole, around a line that counts the missing ones. */
function endsOf(texts: readonly string[], view: ResultView, fence: string): string {
  const note = (left: number) =>
    `<<${fence} ${cutNote(left, texts.length, 'parts', view.full_path)}>>`
  const head: string[] = []
  const tail: string[] = []
  let left = view.max_tokens - view.estimate(note(texts.length)) - 2
  let [from, to] = [0, texts.length - 1]
  // Two from the start for one from the end: status and first fields say more.
  for (let step = 0; from <= to; step++) {
    const fromEnd = step % 3 === 2
    const next = texts[fromEnd ? to : from] ?? ''
    left -= view.estimate(next) + 1
    if (left < 0) break
    if (fromEnd) tail.unshift(next)
    else head.push(next)
    if (fromEnd) to--
    else from++
  }
  return [...head, note(to - from + 1), ...tail].join('\n')
}
