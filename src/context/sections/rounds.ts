/**
 * The rounds of a turn as messages. Rounds are only ever appended: the messages of k rounds are
 * exactly the first messages of k + 1, so that a provider's prompt cache holds from round to round.
 */
import type { Image } from '../../domain/image.ts'
import { imageOf, type Call } from '../../domain/state/call.ts'
import { limits } from '../../domain/limits.ts'
import type { Short } from '../../domain/state/short-id.ts'
import type { AssistantPart, Round } from '../../domain/state/turn.ts'
import type { SentImages } from '../../domain/turns/shown.ts'
import { charTokens, type TokenEstimator } from '../estimate.ts'
import { insteadOf, type ImageForm } from '../images.ts'
import { contextLimits } from '../limits.ts'
import { withSentImages } from '../sent-images.ts'
import type { ModelMessage, ModelPart } from '../../ports/model-message.ts'
import type { Json } from '../../ports/json.ts'
import { withShortOutside } from './messages.ts'
import { isNearlyFullNote } from './notes.ts'
import { renderResult } from '../result.ts'
import type { ItemsShown } from '../result-view.ts'
import type { RoundView } from './situation.ts'

export type RoundsView = {
  /** `provider/model` of the request: rounds of another model go without provider-own parts. */
  model: string
  /** Path of a call's full output: a function of the call alone. Named only where text was cut. */
  full_path: (call: Call) => string | null
  tokens?: TokenEstimator
  /** Items that the request has in full so far; grows with each round that is rendered. */
  items: ItemsShown
  /** Ids as they are shown; without it whole. */
  short?: Short
  /** How the image of a call stands in the request; without it none is shown. */
  image?: (key: string, image: Image) => ImageForm
  /** Messages with images that requests of the turn carry. */
  sent?: readonly SentImages[]
  /** The round whose request was compacted last, if one was: the warning before that is over. */
  compacted?: number
}

/**
 * Notes stand in front of the request they were made for, as one user message, with the images of
 * the messages that it carries first. Those of the turn's first request stand behind its opening.
 */
export function renderNotes(
  { n }: Pick<Round, 'n'>,
  notes: readonly string[],
  view: Pick<RoundsView, 'short' | 'image' | 'sent'> = {},
): ModelMessage[] {
  if (notes.length === 0) return []
  const { short, image = () => 'left_out', sent = [] } = view
  const text = notes.join('\n\n')
  const content = short ? withShortOutside(text, short) : text
  const said = n === 1 ? [] : sent.filter(({ round }) => round === n)
  return [withSentImages({ role: 'user', content }, said, image, short)]
}

/** The notes of a round that still hold: what warned of a recap goes with it. */
export const notesOf = (
  { n, notes }: Pick<Round, 'n' | 'notes'>,
  compacted = 0,
): readonly string[] => (n > compacted ? notes : notes.filter((text) => !isNearlyFullNote(text)))

/**
 * Notes, answer and results of one round. A round that is only requested has its notes alone; an
 * answer without words and calls is left out, since providers refuse bare reasoning on the way
 * back. Throws when a recorded call has no row or no result: the caller's bug.
 */
export function renderRound({ round, calls }: RoundView, view: RoundsView): ModelMessage[] {
  const notes = renderNotes(round, notesOf(round, view.compacted), view)
  const says = round.parts.some((p) => p.type === 'tool_call' || isText(p))
  if (round.state === 'requested' || !says) return notes
  const foreign = round.model !== view.model
  const inOrder = [...calls].sort((a, b) => a.index - b.index)
  let index = 0
  const parts = round.parts.flatMap((part): ModelPart[] => {
    if (part.type !== 'tool_call') return plainPart(part, foreign)
    const call = inOrder[index++]
    if (call === undefined) throw new Error(`no row for call ${index - 1} of round ${round.id}`)
    return [callPart(part, wireId(call, foreign), foreign)]
  })
  const assistant: ModelMessage = { role: 'assistant', parts }
  if (index === 0) return [...notes, assistant]
  const results = inOrder.slice(0, index).map((call) => resultOf(call, wireId(call, foreign), view))
  return [...notes, assistant, { role: 'tool', results }]
}

const isText = (part: AssistantPart): boolean => part.type === 'text' && part.text.trim() !== ''

function plainPart(
  part: Exclude<AssistantPart, { type: 'tool_call' }>,
  foreign: boolean,
): ModelPart[] {
  if (!foreign) return [part as ModelPart]
  return part.type === 'text' ? [{ type: 'text', text: part.text }] : []
}

function callPart(
  part: Extract<AssistantPart, { type: 'tool_call' }>,
  provider_call_id: string,
  foreign: boolean,
): ModelPart {
  const { type, tool_name, input_json, provider_metadata } = part
  return {
    type,
    provider_call_id,
    tool_name,
    input_json,
    ...(foreign || provider_metadata === undefined
      ? {}
      : { provider_metadata: provider_metadata as Json }),
  }
}

/** Another provider may refuse the form of a foreign id; ours suits all of them. */
const wireId = (call: Call, foreign: boolean): string => (foreign ? call.id : call.provider_call_id)

function resultOf(call: Call, provider_call_id: string, view: RoundsView) {
  if (call.result === null) throw new Error(`no result for ${call.id}`)
  const text = renderResult(call.result, {
    max_tokens: resultTokens(call),
    full_path: view.full_path(call),
    estimate: view.tokens ?? charTokens,
    fence: fenceOf(call),
    items: view.items,
    ...(view.short === undefined ? {} : { short: view.short }),
  })
  return {
    call_id: call.id,
    provider_call_id,
    tool_name: call.tool_name,
    ...withImage(call, text, view),
    is_error: call.result.status === 'error',
  }
}

/** The text of a result, with its image or with what stands for that. */
function withImage(call: Call, text: string, view: RoundsView): { text: string; image?: Image } {
  const image = imageOf(call.result)
  if (image === null) return { text }
  const form = view.image?.(call.id, image) ?? 'left_out'
  return form === 'shown' ? { text, image } : { text: `${text}\n${insteadOf[form]}` }
}

/** The random end of an id: the same in every request, unknown to what is quoted under it. */
export const fenceOf = ({ id }: { id: string }): string => id.slice(-8)

/** What a call's result may take: 8,000 tokens, or what its `max_output_tokens` asks for. */
export function resultTokens(call: Pick<Call, 'input'>): number {
  const { input } = call
  const asked =
    typeof input === 'object' && input !== null && 'max_output_tokens' in input
      ? input.max_output_tokens
      : null
  if (typeof asked !== 'number' || !Number.isFinite(asked)) return limits.result_tokens.value
  const { result_min, result_max } = contextLimits
  return Math.min(result_max.value, Math.max(result_min.value, Math.floor(asked)))
}
