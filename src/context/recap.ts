/**
 * The recap: what stands for rounds that went out of a request when it was compacted (contracts
 * 10). Made of the recorded rounds alone, the same from the same rows: which files changed, the
 * handles of what was made or touched, what failed, and at a glance what each of the newest rounds
 * did. It names no id that cannot be looked up: one that only stands in foreign words is masked.
 */
import type { Call } from '../domain/call.ts'
import { roundText } from '../domain/turn.ts'
import type { TokenEstimator } from './estimate.ts'
import { block } from './fence.ts'
import { contextLimits } from './limits.ts'
import { clip, counted, oneLine } from './phrase.ts'
import { omitted, type Section } from './section.ts'
import type { RoundView } from './situation.ts'

export type RecapView = {
  tokens: TokenEstimator
  max_tokens: number
  /** Seed of the marks around the text. */
  fence: string
}

const title = '# Earlier rounds of this turn, recapped'
/** Title, marks and counts. */
const headTokens = 80
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
  const glances = within(room, glanceLines(rounds, known), rounds.length)
  const body = [
    ...head,
    ...part('Changed files, the last change last:', files),
    ...part('Handles:', handles),
    ...part('What failed:', errors),
    ...part('Round by round:', glances),
  ].join('\n')
  const label = `recap of rounds 1 to ${last.round.n}`
  const text = `${title}\n\n${block(view.fence, label, body)}`
  const why = `rounds 1 to ${last.round.n} went out of the request`
  return { section: 'recap', text, form: 'compact', why }
}

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

/** `- path (Tool, 3 times, last in round 30)`, by the last change. */
function changedFiles(rounds: readonly RoundView[]): string[] {
  const found = new Map<string, { tool: string; times: number; round: number }>()
  for (const { round, calls } of rounds) {
    for (const call of calls) {
      for (const path of pathsOf(call)) {
        const times = (found.get(path)?.times ?? 0) + 1
        found.delete(path)
        found.set(path, { tool: call.tool_name, times, round: round.n })
      }
    }
  }
  return [...found].map(([path, { tool, times, round }]) => {
    const often = times === 1 ? '' : `, ${counted(times, 'time')}, last`
    return `- ${clip(path, 400)} (${tool}${often} in round ${round})`
  })
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
      if (call.result?.status !== 'success') continue
      for (const id of idsIn(call.result.result, 0)) add(id, call.tool_name, round.n)
    }
  }
  return found
}

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

/** One line a round: its words, and what became of each call. */
function glanceLines(rounds: readonly RoundView[], known: Handles): string[] {
  const max = contextLimits.glance.value / 2
  return rounds.map(({ round, calls }) => {
    const text = roundText(round)
    const words = text === '' ? [] : [`you said "${masked(clip(text, max), known)}"`]
    const shown = calls.slice(0, glanceCalls).map((call) => doneOf(call, known))
    const more = calls.length - shown.length
    return `- ${round.n}: ${[...words, ...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ')}`
  })
}

/** Calls of one round in its line. */
const glanceCalls = 4

function doneOf(call: Call, known: Handles): string {
  const { tool_name, result } = call
  const max = contextLimits.glance.value / 2
  const said = result === null ? 'no result' : masked(clip(result.summary, max), known)
  const status = result?.status === 'error' ? ' failed' : ''
  return `${oneLine(tool_name)}${status}: ${said}${placeOf(call)}`
}

/** Where more of it is: the task of a command, else the call; a read can simply be made again. */
function placeOf({ id, task_id, effect_class, result }: Call): string {
  if (task_id !== null) return ` [${task_id}]`
  const again = effect_class === 'pure' || effect_class === 'idempotent'
  return again && result?.status === 'success' ? '' : ` [${id}]`
}

/** Any words about these rounds, masked as those of the recap are. */
export const maskedFor = (rounds: readonly RoundView[], text: string): string =>
  masked(text, handlesOf(rounds))

/**
 * Foreign words without ids that nobody can look up: one may be made up, of somebody else, or cut
 * in the middle.
 */
const masked = (text: string, known: Handles): string =>
  text.replace(
    /\b(work|wait|task|turn|msg|brief|deleg|trig|sched|call|dec|evt|dlv)_[0-9A-Za-z-]{4,}/g,
    (id, prefix: string) => (known.has(id) ? id : `${prefix}_…`),
  )
