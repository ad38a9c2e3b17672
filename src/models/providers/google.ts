/**
 * Google Gemini, by its own API. Thought signatures ride on the parts they came with. Thoughts are
 * asked for as text: nothing else shows that a model is at work while it thinks.
 */
import { createGoogle } from '@ai-sdk/google'
import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
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
    last_touch: withoutGifs,
    provider_options: (request) => ({
      google: thinks.test(model) && !request.plain ? shown : {},
    }),
  }
}

const thinks = /gemini-(2\.5|[3-9])(?!.*(image|tts|audio|live))/
const shown = { thinkingConfig: { includeThoughts: true } }

/** This provider takes PNG, JPEG and WebP: of another image a sentence goes. */
function withoutGifs(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role === 'user') {
      const content = message.content.map((part) =>
        part.type === 'file' && part.mediaType === 'image/gif'
          ? { type: 'text' as const, text: noGif }
          : part,
      )
      return { ...message, content }
    }
    if (message.role !== 'tool') return message
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, output: withoutGif(part.output) } : part,
    )
    return { ...message, content }
  })
}

function withoutGif(output: LanguageModelV4ToolResultOutput): LanguageModelV4ToolResultOutput {
  if (output.type !== 'content') return output
  const isGif = output.value.some((it) => it.type === 'file' && it.mediaType === 'image/gif')
  if (!isGif) return output
  const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { type: 'text', value: [...texts, noGif].join('\n') }
}

const noGif = 'The image itself is not shown, because this provider takes no GIF; a PNG it does.'
