/**
 * Google Gemini, by its own API. Thought signatures ride on the parts they came with. Thoughts are
 * asked for as text: nothing else shows that a model is at work while it thinks.
 */
import { createGoogle } from '@ai-sdk/google'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch } = connection
  const library = createGoogle({ apiKey: api_key ?? '', baseURL: base_url, fetch })
  return {
    provider,
    language_model: library(model),
    secrets: api_key === null ? [] : [api_key],
    ids: 'any',
    provider_options: (request) => ({
      google: thinks.test(model) && !request.plain ? shown : {},
    }),
  }
}

const thinks = /gemini-(2\.5|[3-9])(?!.*(image|tts|audio|live))/
const shown = { thinkingConfig: { includeThoughts: true } }
