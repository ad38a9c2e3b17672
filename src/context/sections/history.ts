/**
 * Earlier rounds of the item as quoted text, never as replayed calls: the last 20, the newest
 * whole, older ones at a glance (words, and one line per call) as far as the room goes. The glance
 * is also what stands for process notes: what each call did, in the tool's own summary.
 */
import type { Call } from '../../domain/state/call.ts'
import { isForeign, type Message } from '../../domain/state/message.ts'
import { withShortIds, type Short } from '../../domain/state/short-id.ts'
import { roundText } from '../../domain/state/turn.ts'
import { block, cutBlock } from '../fence.ts'
import type { SectionView } from './item.ts'
import { contextLimits } from '../limits.ts'
import { framed } from './messages.ts'
import { ago, clip, counted } from '../phrase.ts'
import { renderResult } from '../result.ts'
import { fenceOf } from './rounds.ts'
import { full, omitted, type Section } from '../section.ts'
import { wordsWithImages } from '../sent-images.ts'
import type { EarlierRound } from './situation.ts'

/** `full_path`: where a result that is cut here can be read whole. */
export type HistoryView = SectionView & {
  full_path: (call: Call) => string | null
  /** Messages that stand elsewhere in the opening. */
  above: ReadonlySet<string>
}

/** The section in at most `max_tokens`. */
export function historySection(
  earlier: readonly EarlierRound[],
  view: HistoryView,
  max_tokens: number,
): Section {
  const rounds = earlier.slice(-contextLimits.earlier_rounds.value)
  const newest = rounds.at(-1)
  if (newest === undefined) return omitted('history', 'the item has no earlier round')
  const left = { tokens: max_tokens - headTokens }
  const texts = atAGlance(rounds, view, left)
  if (texts.length === 0) return onlyNewest(newest, view, max_tokens)
  const whole_ones = makeWhole(rounds, texts, view, left)
  const missing = rounds.length - texts.length
  const older = missing === 0 ? '' : `, without ${counted(missing, 'older round')}`
  const title = '# Earlier rounds of this work item'
  const label = `record of ${counted(texts.length, 'round')}, oldest first${older}`
  const text = `${title}\n\n${block(view.fence, label, texts.join('\n\n'))}`
  const of = `of ${counted(rounds.length, 'round')}`
  return whole_ones === rounds.length
    ? full('history', text, 'the newest rounds of the item, whole')
    : {
        section: 'history',
        text,
        form: 'compact',
        why: `${of} ${whole_ones} whole, ${texts.length - whole_ones} at a glance`,
      }
}

/** What title and marks of the section take. */
const headTokens = 60

/** The newest rounds that fit, each shortened, oldest first. */
function atAGlance(
  rounds: readonly EarlierRound[],
  view: HistoryView,
  left: { tokens: number },
): string[] {
  const texts: string[] = []
  for (const round of rounds.toReversed()) {
    const text = glance(round, view)
    const cost = view.tokens(text) + 1
    if (cost > left.tokens) break
    left.tokens -= cost
    texts.unshift(text)
  }
  return texts
}

/** Replaces glances by whole rounds, newest first, until one does not fit; how many it were. */
function makeWhole(
  rounds: readonly EarlierRound[],
  texts: string[],
  view: HistoryView,
  left: { tokens: number },
): number {
  for (let back = 1; back <= texts.length; back++) {
    const round = rounds[rounds.length - back]
    const before = texts[texts.length - back]
    if (round === undefined || before === undefined) return back - 1
    // The newest stands whole even where its results must be cut shorter for that.
    const room = back === 1 ? left.tokens + view.tokens(before) : Infinity
    const text = whole(round, view, room)
    const cost = view.tokens(text) - view.tokens(before)
    if (cost > left.tokens) return back - 1
    left.tokens -= cost
    texts[texts.length - back] = text
  }
  return texts.length
}

/** Not even one glance fits: the newest round, cut, where there is room for anything. */
function onlyNewest(newest: EarlierRound, view: HistoryView, max_tokens: number): Section {
  const room = max_tokens - headTokens
  if (room < contextLimits.result_min.value) return omitted('history', 'no room')
  const cut = { max_tokens: room, tokens: view.tokens, full_path: null }
  const text = cutBlock(view.fence, 'record of the last round', whole(newest, view, room), cut)
  return {
    section: 'history',
    text: `# Earlier rounds of this work item\n\n${text}`,
    form: 'compact',
    why: 'room for one round, cut',
  }
}

const headOf = ({ round }: EarlierRound, { now }: HistoryView): string =>
  `Round ${round.n} of ${round.turn_id}, ${ago(round.recorded_at ?? round.requested_at, now)}`

const unsaid = ({ messages }: EarlierRound, { above }: HistoryView): readonly Message[] =>
  messages.filter(({ id }) => !above.has(id))

/** Foreign words stand in blocks only; of a task's the runtime says how it ended. */
export function gist(message: Message, max: number): string {
  if (!isForeign(message)) return clip(wordsWithImages(message), max)
  return clip(framed(message).frame ?? 'an event', max)
}

function glance(view: EarlierRound, section: HistoryView): string {
  const max = contextLimits.glance.value
  const lines = [
    `${headOf(view, section)}${saidBriefly(view, max)}`,
    ...unsaid(view, section).map((m) => `- ${from(m)}: ${gist(m, max)}`),
    ...view.calls.map((call) => `- ${callLine(call, max)}: ${outcome(call)}`),
  ]
  return withShortIds(lines.join('\n'), section.short)
}

/** An answer without words and calls is said to be one: it is no round that was left out. */
function saidBriefly({ round, calls }: EarlierRound, max: number): string {
  const text = roundText(round)
  if (text !== '') return `: ${clip(text, max)}`
  return calls.length === 0 ? ': an empty answer' : ''
}

export function outcome({ result }: Call): string {
  if (result === null) return 'no result was recorded'
  const says = clip(result.summary, contextLimits.glance.value)
  return result.status === 'error' ? `error. ${says}` : says || 'success'
}

/**
 * All of a round, each result within 4 KiB; they share nine tenths of `room` tokens where they need
 * more.
 */
function whole(view: EarlierRound, section: HistoryView, room: number): string {
  const { round, calls } = view
  const text = roundText(round)
  const rest = room - section.tokens(text)
  const share = Math.max(contextLimits.result_min.value, (rest * 0.9) / Math.max(1, calls.length))
  return [
    withShortIds(headOf(view, section), section.short),
    ...unsaid(view, section).map((m) => block(fenceOf(m), from(m), saidIn(m, section.short))),
    ...(text === '' ? [] : [`You said: ${text}`]),
    ...(text === '' && calls.length === 0 ? ['You gave an empty answer.'] : []),
    ...calls.flatMap((call) => [
      withShortIds(`You called ${callLine(call, contextLimits.arguments.value)}`, section.short),
      call.result === null
        ? 'No result was recorded.'
        : renderResult(call.result, {
            max_tokens: Math.min(contextLimits.history_result.value, Math.floor(share)),
            full_path: section.full_path(call),
            estimate: section.tokens,
            fence: fenceOf(call),
            form: 'history',
            short: section.short,
          }),
    ]),
  ].join('\n')
}

/** Its words, with the runtime's own line above them. */
function saidIn(message: Message, short: Short): string {
  const { frame, words } = framed(message)
  return frame === null ? words : `${withShortIds(frame, short)}\n${words}`
}

export const from = (message: Message): string => `${message.kind} from ${message.origin}`

export const callLine = (call: Call, max: number): string =>
  `${call.tool_name} ${clip(JSON.stringify(call.input) ?? 'null', max)}`
