/**
 * OpenAI Responses, stateless: nothing is stored at the provider, and encrypted reasoning travels
 * with our own messages instead (the library asks for it whenever the model can reason).
 */
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch } = connection
  const library = createOpenAI({ apiKey: api_key ?? '', baseURL: base_url, fetch })
  return {
    provider,
    language_model: library.responses(model),
    secrets: api_key === null ? [] : [api_key],
    provider_options: ({ cache_key }) => ({
      openai: { store: false, ...(cache_key === undefined ? {} : { promptCacheKey: cache_key }) },
    }),
    last_touch: plainErrors,
  }
}

/**
 * This wire has no error flag, and the library would wrap an error's text in JSON, escaping every
 * line of it. The text says itself that it is an error.
 */
function plainErrors(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== 'tool') return message
    const content = message.content.map((part) =>
      part.type === 'tool-result' && part.output.type === 'error-text'
        ? { ...part, output: { type: 'text' as const, value: part.output.value } }
        : part,
    )
    return { ...message, content }
  })
}
