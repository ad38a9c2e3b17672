/**
 * The messages of a request to a model: `context` renders them, `models` brings them into the form
 * of a provider. Types only.
 */
import type { Image } from '../domain/image.ts'
import type { Json } from './json.ts'

export type ModelMessage =
  /** Projections and runtime notes, as text; images of the messages in them stand behind it. */
  | { role: 'user'; content: string; images?: readonly AttachedImage[] }
  | { role: 'assistant'; parts: readonly ModelPart[] }
  | { role: 'tool'; results: readonly ToolResultMessage[] }

/** `label` says which image it is; its bytes are in the request under their hash. */
export type AttachedImage = { label: string; image: Image }

/** `call_id` is ours, `provider_call_id` pairs the result with its call on the wire. */
export type ToolResultMessage = {
  call_id: string
  provider_call_id: string
  tool_name: string
  text: string
  /** Shown with the text; its bytes are in the request under their hash. */
  image?: Image
  is_error: boolean
}

/**
 * What a model said, in its order. `provider_metadata` is the provider's own (signatures, item
 * ids, encrypted reasoning): kept as it came and handed back as it was, never read.
 */
export type ModelPart =
  | { type: 'text'; text: string; provider_metadata?: Json }
  | { type: 'reasoning'; text: string; provider_metadata?: Json }
  | ToolCallPart

/** `input_json` is the model's text as it came, valid JSON or not: the runtime judges it. */
export type ToolCallPart = {
  type: 'tool_call'
  provider_call_id: string
  tool_name: string
  input_json: string
  provider_metadata?: Json
}
