/**
 * OpenAI Responses, stateless: nothing is stored at the provider, and encrypted reasoning travels
 * with our own messages instead (the library asks for it whenever the model can reason).
 */
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'
import { modelFacts } from '../model-data.ts'
import type { ModelRequest } from '../model.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch } = connection
  const library = createOpenAI({ apiKey: api_key ?? '', baseURL: base_url, fetch })
  return {
    provider,
    language_model: library.responses(model),
    secrets: api_key === null ? [] : [api_key],
    provider_options: ({ cache_key }) => ({
      openai: {
        store: false,
        // Summaries of thoughts are refused to accounts that are not verified.
        reasoningSummary: null,
        ...(cache_key === undefined ? {} : { promptCacheKey: cache_key }),
      },
    }),
    max_output: outputOf,
    last_touch: plainErrors,
  }
}

/**
 * The model's own maximum limits nothing, and this provider counts what is asked for against the
 * tokens of a minute.
 */
function outputOf({ model, max_output_tokens }: ModelRequest): number | null {
  const most = modelFacts(model).max_output
  return max_output_tokens !== null && most !== null && max_output_tokens >= most
    ? null
    : max_output_tokens
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
