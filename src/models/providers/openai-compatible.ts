/**
 * Chat Completions, as spoken by local servers and most other providers. Usage in the stream is
 * asked for: without it nothing could be counted. No key means no authorization header. Thoughts
 * that a router signed go back as they came. Images of results follow them (chat-images.ts).
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'
import { liftImages } from './chat-images.ts'
import { liftDetails, withDetails } from './reasoning-details.ts'
import { providerIds } from './repeated-ids.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch } = connection
  const library = createOpenAICompatible({
    // One name for all, so that metadata written through one provider id is read through another.
    name: 'openaiCompatible',
    baseURL: base_url,
    fetch,
    includeUsage: true,
    ...(api_key !== null && { apiKey: api_key }),
  })
  return {
    provider,
    language_model: library.chatModel(model),
    secrets: api_key === null ? [] : [api_key],
    first_touch: () => {
      const [named, detailed] = [providerIds(), withDetails()]
      return (part) => detailed(named(part))
    },
    last_touch: (prompt) => liftImages(liftDetails(prompt)),
    ids: 'any',
  }
}
