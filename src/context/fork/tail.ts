/**
 * The parts of a fork that show how the parent came here: the process notes, and the hot tail, a
 * few newest rounds as one quoted record. The newest round stands whole, older ones as far as the
 * room goes; what was said or printed by others keeps its own block and label inside the record.
 */
import type { Call } from '../../domain/state/call.ts'
import { isForeign } from '../../domain/state/message.ts'
import { roundText } from '../../domain/state/turn.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block, cutBlock } from '../fence.ts'
import { omitted, partSeed, type ForkPart, type ForkSource } from './source.ts'
import { callLine, from, gist, outcome } from '../sections/history.ts'
import { contextLimits } from '../limits.ts'
import { clip, counted } from '../phrase.ts'
import { noteLines, processNotes } from '../process-notes.ts'
import { renderResult } from '../result.ts'
import { fenceOf, resultTokens } from '../sections/rounds.ts'
import { wordsWithImages } from '../sent-images.ts'
import type { EarlierRound } from '../sections/situation.ts'
import { template } from '../template.ts'

/** Titles, marks and counts around what is quoted. */
const headTokens = 60

export function notesPart(source: ForkSource, tokens: TokenEstimator, max: number): ForkPart {
  const id = source.item?.item.id ?? null
  const events = source.events.filter((event) => event.work_item_id === id)
  const found = processNotes(events, contextLimits.notes.value)
  if (found.notes.length === 0) return omitted('notes', 'no event left a note')
  const { text, left_out } = noteLines(found, tokens, max - headTokens)
  if (text === '') return omitted('notes', 'no room')
  const begins = id === null || events.some(({ event }) => event.type === 'work_item_created')
  const older = begins ? '' : ', without what older events would say'
  const label = `process notes, oldest first${older}`
  const form = left_out > 0 || !begins ? 'cut' : 'full'
  const why = form === 'cut' ? 'the newest notes' : 'the way of the item'
  const body = block(partSeed('notes', text), label, text)
  return { section: 'notes', text: `## Process notes\n\n${body}`, form, why }
}

export function tailPart(source: ForkSource, tokens: TokenEstimator, max: number): ForkPart {
  const { parent } = source
  const all = settled(source.rounds)
  if (all.length === 0) return omitted('tail', 'no round yet')
  const head = `## Last rounds\n\n${template('fork', 'tail', { parent })}`
  const room = max - tokens(head) - headTokens
  if (room < contextLimits.fork_least.value) return omitted('tail', 'no room')
  const rounds = all.slice(-contextLimits.fork_tail_rounds.value)
  const record = recordOf(rounds, tokens, room)
  const body = record.texts.join('\n\n')
  const older = all.length - record.texts.length
  const without = older === 0 ? '' : `, without ${counted(older, 'older round')}`
  const label = `record of ${counted(record.texts.length, 'round')}, oldest first${without}`
  const cut = { max_tokens: room + headTokens, tokens, full_path: null }
  const text = `${head}\n\n${cutBlock(partSeed('tail', body), label, body, cut)}`
  const form = older > 0 || record.shortened > 0 ? 'cut' : 'full'
  const why = form === 'cut' ? 'the newest rounds, older ones shortened' : 'all rounds'
  return { section: 'tail', text, form, why }
}

/**
 * The rounds as every fork made in one round sees them: of the round that is still at work only
 * the calls that ended, and of those not the ones that made children.
 */
export function settled(rounds: readonly EarlierRound[]): EarlierRound[] {
  return rounds
    .map((view) =>
      view.calls.every(({ result }) => result !== null)
        ? view
        : { ...view, calls: view.calls.filter((c) => c.result !== null && !makesChild(c)) },
    )
    .filter(({ round, calls, messages }) => {
      return calls.length > 0 || messages.length > 0 || roundText(round) !== ''
    })
}

const makesChild = ({ tool_name }: { tool_name: string }): boolean => tool_name === 'SpawnAgent'

/** The newest rounds that fit at a glance, then whole from the newest back while there is room. */
function recordOf(
  rounds: readonly EarlierRound[],
  tokens: TokenEstimator,
  room: number,
): { texts: string[]; shortened: number } {
  const texts: string[] = []
  let left = room
  for (const round of rounds.toReversed()) {
    const text = glance(round)
    const cost = tokens(text) + 1
    // The newest one stays: it is cut where it alone is too long.
    if (cost > left && texts.length > 0) break
    left -= cost
    texts.unshift(text)
  }
  const shown = rounds.slice(rounds.length - texts.length)
  let shortened = texts.length
  for (let at = shown.length - 1; at >= 0; at--) {
    const [round, before] = [shown[at], texts[at]]
    if (round === undefined || before === undefined) break
    const text = whole(round, tokens, left + tokens(before))
    const cost = tokens(text) - tokens(before)
    if (cost > left) break
    left -= cost
    texts[at] = text
    shortened--
  }
  return { texts, shortened }
}

const headOf = ({ round }: EarlierRound): string => `Round ${round.n} of ${round.turn_id}`

function glance(view: EarlierRound): string {
  const max = contextLimits.glance.value
  const text = roundText(view.round)
  return [
    `${headOf(view)}${text === '' ? '' : `: ${clip(text, max)}`}`,
    ...view.messages.map((m) => `- ${from(m)}: ${gist(m, max)}`),
    ...view.calls.map((call) => `- ${callLine(call, max)}: ${outcome(call)}`),
  ].join('\n')
}

/** Everything of a round, each result and message cut to its share of `room`. */
function whole(view: EarlierRound, tokens: TokenEstimator, room: number): string {
  const { round, calls, messages } = view
  const text = roundText(round)
  const { fork_result, result_min } = contextLimits
  const even = Math.floor((room * 0.9) / (calls.length + messages.length + 1))
  const share = Math.max(result_min.value, Math.min(fork_result.value, even))
  const cut = { max_tokens: share, tokens, full_path: null }
  return [
    headOf(view),
    ...messages.map((m) => {
      const label = isForeign(m) ? `external content, ${from(m)}` : from(m)
      return cutBlock(fenceOf(m), label, wordsWithImages(m), cut)
    }),
    ...(text === '' ? [] : [`said: ${text}`]),
    ...calls.flatMap((call) => callTexts(call, tokens, share)),
  ].join('\n')
}

/** What changed records shows by its summary alone: how they stand is in the parts before. */
function callTexts(call: Call, tokens: TokenEstimator, share: number): string[] {
  const says = `called ${callLine(call, contextLimits.glance.value)}`
  const { result } = call
  const isRecord = call.effect_class === 'idempotent' && result?.status === 'success'
  if (result === null || isRecord) return [`${says}: ${outcome(call)}`]
  const shown = renderResult(result, {
    max_tokens: Math.min(resultTokens(call), share),
    full_path: null,
    estimate: tokens,
    fence: fenceOf(call),
  })
  return [says, shown]
}
