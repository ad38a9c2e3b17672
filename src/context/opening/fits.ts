/**
 * Whether a request fits the model's window. One that does not, after compaction, ends the turn
 * with reason `context_limit`, and the item goes on in a new one.
 */
import { imageTokens } from '../../domain/image.ts'
import type { TokenEstimator } from '../estimate.ts'
import { contextLimits } from '../limits.ts'
import type { ModelMessage } from '../../ports/model-message.ts'

/** Tokens of the window kept free for the answer. */
export const answerTokens = (window: number): number =>
  Math.min(contextLimits.answer.value, Math.floor(window * contextLimits.answer_share.value))

/** Whether `request_tokens` leave room for an answer in `window`; both in tokens. */
export const fits = (request_tokens: number, window: number): boolean =>
  request_tokens <= window - answerTokens(window)

/** What a message adds to a request: a turn keeps a running sum instead of counting anew. */
export function messageTokens(message: ModelMessage, tokens: TokenEstimator): number {
  switch (message.role) {
    case 'user':
      return (
        imagesOf(message) +
        sum(message.images ?? [], ({ label }) => tokens(label)) +
        tokens(message.content)
      )
    case 'assistant':
      return sum(message.parts, (part) => {
        const own = part.provider_metadata
        const metadata = own === undefined ? 0 : tokens(JSON.stringify(own))
        if (part.type !== 'tool_call') return metadata + tokens(part.text)
        return framing + metadata + tokens(part.tool_name) + tokens(part.input_json)
      })
    case 'tool':
      return imagesOf(message) + sum(message.results, ({ text }) => framing + tokens(text))
  }
}

/** What the images of a message take of that. */
export function imagesOf(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return (message.images ?? []).reduce((all, { image }) => all + imageTokens(image), 0)
    case 'assistant':
      return 0
    case 'tool':
      return message.results.reduce((all, { image }) => all + (image ? imageTokens(image) : 0), 0)
  }
}

/** Roles, ids and brackets around a message, in tokens. */
const framing = 8

const sum = <T>(list: readonly T[], of: (entry: T) => number): number =>
  list.reduce((total, entry) => total + of(entry), framing)
