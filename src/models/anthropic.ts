/**
 * Anthropic Messages. Adds what its prompt cache needs: marks on the system text (which covers the
 * tools before it), on the opening, on the newest message, and on the message that was newest one
 * request ago, so that a round with many calls still finds the prefix it wrote.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch } = connection
  const library = createAnthropic({ apiKey: api_key ?? '', baseURL: base_url, fetch })
  return {
    provider,
    language_model: library(model),
    secrets: api_key === null ? [] : [api_key],
    last_touch: mark,
  }
}

const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

/** Exported for its table. At most four marks, which is the provider's limit. */
export function mark(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = prompt.length - 1
  const answer = prompt.findLastIndex((message) => message.role === 'assistant')
  const opening = prompt.findIndex((message) => message.role === 'user')
  const marked = new Set([opening, newest, answer - 1])
  return prompt.map((message, at) =>
    message.role === 'system' || marked.has(at) ? { ...message, providerOptions: cached } : message,
  )
}
