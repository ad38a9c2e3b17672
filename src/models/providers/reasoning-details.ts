/**
 * `reasoning_details` of the routers that speak Chat Completions (OpenRouter): thoughts with their
 * signatures, streamed in pieces, which the model behind the router wants back unchanged and in
 * order. The library does not know them. They are put together from the raw chunks, kept as
 * metadata of one more reasoning part at the end of the answer, and put on the assistant message
 * of the next request, where they stand for the plain text of the thoughts.
 *
 * A piece continues the detail of its type and index; one without an index continues the last
 * detail, if that is of its type, not signed yet, and not encrypted. Another id is another detail.
 */
import type {
  JSONObject,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { modelLimits } from '../limits.ts'
import { listIn } from './raw-chunk.ts'

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>

/** Hands on the parts of one answer, its details before its end. Not reusable. */
export function withDetails(): (part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart[] {
  const details = new Details()
  return (part) => {
    if (part.type === 'raw') details.take(part.rawValue)
    const { whole } = details
    if (part.type !== 'finish' || whole.length === 0) return [part]
    const id = 'reasoning_details'
    const providerMetadata = { openaiCompatible: { reasoning_details: whole } }
    return [{ type: 'reasoning-start', id, providerMetadata }, { type: 'reasoning-end', id }, part]
  }
}

/** Puts the details of each answer on its message. Pure. */
export const liftDetails = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => (message.role === 'assistant' ? lifted(message) : message))

function lifted(message: Assistant): LanguageModelV4Message {
  const own = message.content.map((part) => part.providerOptions?.['openaiCompatible'])
  const reasoning_details = own.find((it) => it?.['reasoning_details'])?.['reasoning_details']
  if (reasoning_details === undefined) return message
  return {
    ...message,
    content: message.content.filter(({ type }) => type !== 'reasoning'),
    providerOptions: { openaiCompatible: { reasoning_details } },
  }
}

class Details {
  #whole: JSONObject[] = []
  #chars = 0

  /** None when they are too many: what is not whole would be refused. */
  get whole(): readonly JSONObject[] {
    return this.#isTooMuch ? [] : this.#whole
  }

  get #isTooMuch(): boolean {
    return this.#chars > modelLimits.reasoning_details.value
  }

  take(chunk: unknown): void {
    for (const piece of listIn(chunk, 'reasoning_details').filter(isObject)) {
      if (this.#isTooMuch) return void (this.#whole = [])
      this.#chars += JSON.stringify(piece).length
      const at = this.#whole.findLastIndex((detail, index) =>
        continues(detail, piece, index === this.#whole.length - 1),
      )
      const begun = this.#whole[at]
      if (begun === undefined) this.#whole.push(piece)
      else this.#whole[at] = joined(begun, piece)
    }
  }
}

function continues(detail: JSONObject, piece: JSONObject, isLast: boolean): boolean {
  const [one, other] = [detail['id'] ?? null, piece['id'] ?? null]
  const sameId = one === null || other === null || one === other
  if (detail['type'] !== piece['type'] || detail['index'] !== piece['index'] || !sameId)
    return false
  if (typeof piece['index'] === 'number') return true
  return isLast && piece['type'] !== 'reasoning.encrypted' && !detail['signature']
}

/** Content grows; of all else the last that says something counts. */
function joined(detail: JSONObject, piece: JSONObject): JSONObject {
  const grown: JSONObject = { ...detail }
  for (const [key, value] of Object.entries(piece)) {
    const before = grown[key]
    const grows = content.has(key) && typeof before === 'string' && typeof value === 'string'
    if (grows) grown[key] = before + value
    else if ((value ?? '') !== '' || before === undefined) grown[key] = value
  }
  return grown
}

const content: ReadonlySet<string> = new Set(['text', 'summary', 'data'])

const isObject = (value: unknown): value is JSONObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
