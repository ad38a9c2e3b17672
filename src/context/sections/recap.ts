/**
 * The recap: what stands for rounds that went out of a request when it was compacted. It forgets
 * results, not thoughts: the agent's own texts stay whole, and of the rest it says which files
 * changed, the handles of what was made or touched, what failed, and in a line what each of the
 * newest rounds did, with the ids by which more can be read. Made of the recorded rounds alone, the
 * same from the same rows. An id that only stands in foreign words is masked, for nobody can look
 * it up.
 */
import { imageOf, type Call } from '../../domain/state/call.ts'
import { withShortIds, type Short } from '../../domain/state/short-id.ts'
import { roundText } from '../../domain/state/turn.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block } from '../fence.ts'
import { contextLimits } from '../limits.ts'
import { clip, counted, oneLine, quoted } from '../phrase.ts'
import { omitted, type Section } from '../section.ts'
import type { RoundView } from './situation.ts'
import { template } from '../template.ts'

export type RecapView = {
  tokens: TokenEstimator
  /** What all but the agent's own texts may take. */
  max_tokens: number
  /** What the agent's own texts may take: the oldest go first. */
  texts_tokens: number
  /** Seed of the marks around the text. */
  fence: string
  /** Ids as they are shown; without it whole. */
  short?: Short
}

const title = '# Earlier rounds of this turn, recapped'
/** Title, what a recap is, marks and counts. */
const headTokens = 180
/** The head of a part, and the line that counts the rest. */
const partTokens = 40

/** The section of rounds 1 to the last of `rounds`; each of them recorded, its calls finished. */
export function recapSection(rounds: readonly RoundView[], view: RecapView): Section {
  const last = rounds.at(-1)
  if (last === undefined) return omitted('recap', 'no round went out of the request')
  const known = handlesOf(rounds)
  const room = new Room(view, view.max_tokens - headTokens)
  const head = [countLine(rounds)]
  for (const line of head) room.take(line)
  const files = within(room, changedFiles(rounds), contextLimits.recap_paths.value)
  const errors = within(room, errorLines(rounds, known), contextLimits.recap_errors.value)
  const handles = within(room, handleLines(known), contextLimits.recap_handles.value)
  const body = [
    ...head,
    ...part('Changed files, the last change last:', files),
    ...part('Handles:', handles),
    ...part('What failed:', errors),
    ...part('Round by round:', roundLines(rounds, known, room, view)),
  ].join('\n')
  const n = String(last.round.n)
  const says = template('anchors', 'recap', { last: n, turn: last.round.turn_id })
  const { fence, short = (id) => id } = view
  const told = block(fence, `recap of rounds 1 to ${n}`, withShortIds(body, short))
  const text = `${title}\n\n${withShortIds(says, short)}\n\n${told}`
  const why = `rounds 1 to ${n} went out of the request`
  return { section: 'recap', text, form: 'compact', why }
}

/** What the own texts of these rounds take where all of them stay. */
export const textsTokens = (rounds: readonly RoundView[], tokens: TokenEstimator): number =>
  rounds.reduce((sum, { round }) => {
    const text = roundText(round)
    return text === '' ? sum : sum + tokens(text) + textCost
  }, 0)

/** The words in front of a text. */
const textCost = 6

/** Lines that still fit, the newest kept, and how many do not. */
type Fitting = { lines: string[]; more: number }

class Room {
  readonly tokens: TokenEstimator
  left: number

  constructor({ tokens }: RecapView, left: number) {
    this.tokens = tokens
    this.left = left
  }

  take(line: string): boolean {
    const cost = this.tokens(line) + 1
    if (cost > this.left) return false
    this.left -= cost
    return true
  }
}

function within(room: Room, lines: readonly string[], most: number): Fitting {
  const kept: string[] = []
  if (lines.length > 0) room.left -= partTokens
  for (const line of lines.slice(-most).toReversed()) {
    if (!room.take(line)) break
    kept.unshift(line)
  }
  return { lines: kept, more: lines.length - kept.length }
}

const part = (head: string, { lines, more }: Fitting): string[] =>
  lines.length + more === 0
    ? []
    : [head, ...(more > 0 ? [`- (${counted(more, 'older line')} left out)`] : []), ...lines]

function countLine(rounds: readonly RoundView[]): string {
  const calls = rounds.flatMap((round) => round.calls)
  const byTool = new Map<string, number>()
  for (const { tool_name } of calls) byTool.set(tool_name, (byTool.get(tool_name) ?? 0) + 1)
  const tools = [...byTool]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, count]) => `${oneLine(name)} ${count}`)
  const failed = calls.filter((call) => call.result?.status === 'error').length
  return `${counted(rounds.length, 'round')} with ${counted(calls.length, 'call')}${
    tools.length === 0 ? '' : `: ${clip(tools.join(', '), 500)}`
  }; ${failed} failed.`
}

/** `- path (Tool, 3 times, last +3 −1 in round 30)`, by the last change. */
function changedFiles(rounds: readonly RoundView[]): string[] {
  const found = new Map<string, { tool: string; times: number; round: number; last: string }>()
  for (const { round, calls } of rounds) {
    for (const call of calls) {
      for (const { path, last } of changesOf(call)) {
        const times = (found.get(path)?.times ?? 0) + 1
        found.delete(path)
        found.set(path, { tool: call.tool_name, times, round: round.n, last })
      }
    }
  }
  return [...found].map(([path, { tool, times, round, last }]) => {
    const often = times === 1 ? '' : `, ${counted(times, 'time')}, last`
    return `- ${clip(path, 400)} (${tool}${often}${last} in round ${round})`
  })
}

/** The recorded changes, of a command as of a file tool; of earlier versions what the tools say. */
function changesOf(call: Call): { path: string; last: string }[] {
  const { result } = call
  const diffs = result?.status === 'success' ? result.diffs : undefined
  if (diffs === undefined) return pathsOf(call).map((path) => ({ path, last: '' }))
  return diffs.map(({ path, added, removed }) => ({ path, last: ` +${added} −${removed}` }))
}

/** What file tools say of what they changed. */
function pathsOf({ result, changed_something, effect_class }: Call): string[] {
  if (!changed_something || effect_class !== 'content_checked') return []
  if (result?.status !== 'success' || !isRecord(result.result)) return []
  const { path, files } = result.result
  const named = Array.isArray(files) ? files : []
  const paths = named.map((file: unknown) => (isRecord(file) ? file['path'] : null))
  return [path, ...paths].filter((one) => typeof one === 'string')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Records by id, in order of the round that touched them last. */
type Handles = ReadonlyMap<string, { tool: string; round: number }>

const handle = /^(work|wait|task|turn|msg|brief|deleg|trig|sched)_[0-9A-Za-z-]+$/

/** The ids that results name in fields of their own, and those of the rows themselves. */
function handlesOf(rounds: readonly RoundView[]): Handles {
  const found = new Map<string, { tool: string; round: number }>()
  const add = (id: string, tool: string, round: number) => {
    found.delete(id)
    found.set(id, { tool, round })
  }
  for (const { round, calls } of rounds) {
    for (const id of round.message_ids) add(id, 'came', round.n)
    for (const call of calls) {
      for (const id of handlesIn(call)) add(id, call.tool_name, round.n)
    }
  }
  return found
}

const handlesIn = ({ result }: Call): string[] =>
  result?.status === 'success' ? idsIn(result.result, 0) : []

/** How deep records of our own tools go. */
const deepest = 5

function idsIn(value: unknown, depth: number): string[] {
  if (depth > deepest || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((entry) => idsIn(entry, depth + 1))
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    typeof inner === 'string'
      ? isIdField(key) && handle.test(inner)
        ? [inner]
        : []
      : idsIn(inner, depth + 1),
  )
}

const isIdField = (key: string): boolean => key === 'id' || key.endsWith('_id')

const handleLines = (handles: Handles): string[] =>
  [...handles].map(([id, { tool, round }]) => `- ${id} (${tool}, round ${round})`)

function errorLines(rounds: readonly RoundView[], known: Handles): string[] {
  return rounds.flatMap(({ round, calls }) =>
    calls.flatMap((call) => {
      const { result } = call
      if (result?.status !== 'error') return []
      const { kind, code, message } = result.error
      const said = masked(clip(message, contextLimits.glance.value), known)
      const what = `${oneLine(call.tool_name)}: ${kind}, ${code}`
      return [`- round ${round.n}, ${what}. ${said} [${call.id}]`]
    }),
  )
}

/** A round's words, and in one line its calls, each as far as its room goes; the newest stay. */
function roundLines(
  rounds: readonly RoundView[],
  known: Handles,
  room: Room,
  { tokens, texts_tokens }: RecapView,
): Fitting {
  const said = textsWithin(rounds, tokens, texts_tokens)
  const done = new Map<number, string>()
  room.left -= partTokens
  for (const view of rounds.toReversed()) {
    const line = `- ${view.round.n}: ${callsOf(view, known)}`
    if (!room.take(line)) break
    done.set(view.round.n, line)
  }
  const kept = rounds.filter(({ round: { n } }) => said.has(n) || done.has(n))
  const lines = kept.map(({ round: { n } }) => {
    const text = said.get(n)
    const line = done.get(n) ?? `- ${n}:`
    return text === undefined ? line : `${line}\n  you said: ${text}`
  })
  return { lines, more: rounds.length - lines.length }
}

/** The newest texts whole, by round; of one that is too long for all the room its beginning. */
function textsWithin(
  rounds: readonly RoundView[],
  tokens: TokenEstimator,
  max_tokens: number,
): ReadonlyMap<number, string> {
  const kept = new Map<number, string>()
  let left = max_tokens
  for (const { round } of rounds.toReversed()) {
    const text = roundText(round)
    if (text === '') continue
    const cost = tokens(text) + textCost
    if (cost > left) {
      const share = Math.floor((text.length * (left - 2 * textCost)) / cost)
      const rest = `… (cut: MemoryGet ${round.turn_id}/${round.n})`
      if (kept.size === 0 && share > 0) kept.set(round.n, `${text.slice(0, share)}${rest}`)
      break
    }
    left -= cost
    kept.set(round.n, text)
  }
  return kept
}

/** Calls of one round in its line. */
const glanceCalls = 8

function callsOf({ calls }: RoundView, known: Handles): string {
  if (calls.length === 0) return 'no call'
  const shown = calls.slice(0, glanceCalls).map((call) => doneOf(call, known))
  const more = calls.length - shown.length
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

/** Calls of rounds that are not shown, a line each. */
export function callsDone(calls: readonly Call[]): string[] {
  const known: Handles = new Map(
    calls.flatMap((call) => handlesIn(call).map((id) => [id, { tool: call.tool_name, round: 0 }])),
  )
  return calls.map((call) => doneOf(call, known))
}

/** `ExecCommand "npm test": exit status 1 [task_…]`: what it was about, and where more of it is. */
function doneOf(call: Call, known: Handles): string {
  const { id, task_id, tool_name, input, result } = call
  const max = contextLimits.glance.value / 2
  const said = result === null ? 'no result' : masked(clip(result.summary, max), known)
  const status = result?.status === 'error' ? ' failed' : ''
  const about = subjectOf(input)
  const named = about === '' || said.includes(about) ? '' : ` ${quoted(about, max)}`
  const again = imageOf(result) === null ? '' : '; ViewImage again to see it'
  return `${oneLine(tool_name)}${named}${status}: ${said}${again} [${task_id ?? id}]`
}

/** The first text of the arguments: the command, the path, the id. */
function subjectOf(input: unknown): string {
  if (!isRecord(input)) return ''
  return oneLine(Object.values(input).find((value) => typeof value === 'string') ?? '')
}

/** Any words about these rounds, masked as those of the recap are; their calls are known too. */
export function maskedFor(rounds: readonly RoundView[], text: string, short: Short): string {
  const known = new Map(handlesOf(rounds))
  for (const { round, calls } of rounds) {
    for (const { id, task_id, tool_name } of calls) {
      known.set(id, { tool: tool_name, round: round.n })
      if (task_id !== null) known.set(task_id, { tool: tool_name, round: round.n })
    }
  }
  for (const [id, touched] of [...known]) known.set(short(id), touched)
  return masked(text, known)
}

/**
 * Foreign words without ids that nobody can look up: one may be made up, of somebody else, or cut
 * in the middle.
 */
const masked = (text: string, known: Handles): string =>
  text.replace(
    /\b(work|wait|task|turn|msg|brief|deleg|trig|sched|call|dec|evt|dlv)_[0-9A-Za-z-]{4,}/g,
    (id, prefix: string) => (known.has(id) ? id : `${prefix}_…`),
  )
