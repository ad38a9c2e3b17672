/**
 * Anthropic Messages. Adds what its prompt cache needs: marks on the system text (which covers the
 * tools before it), on the opening, on the newest message, and on the message that was newest one
 * request ago, so that a round with many calls still finds the prefix it wrote.
 *
 * Its newest models bind each thought to all that stood before it. A recap changes that, so they
 * are asked to drop such thoughts instead of refusing the request.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Adapted } from './ai-sdk.ts'
import type { AdapterConnection } from './connection.ts'
import { modelLimits } from '../limits.ts'
import type { Effort, ModelRequest } from '../model.ts'

export function adapt(connection: AdapterConnection): Adapted {
  const { provider, model, api_key, base_url, fetch, tool_streaming } = connection
  const library = createAnthropic({ apiKey: api_key ?? '', baseURL: base_url, fetch })
  return {
    provider,
    language_model: library(model),
    secrets: api_key === null ? [] : [api_key],
    provider_options: (request) => ({ anthropic: optionsOf(model, request, tool_streaming) }),
    effort: (request) => effortOf(model, request),
    max_output: (request) => request.max_output_tokens ?? foreignOutput(model),
    last_touch: mark,
  }
}

/** Models whose thoughts are bound to what stood before them. */
const binding = /claude-(opus-5-5|sonnet-5-5|fable-5-[12])/
/** Models that think within a budget of tokens, and only by being asked to. */
const budgeted = /claude-((opus|sonnet|haiku)-4-[015]|(opus|sonnet)-4-2025)/

/** They think always, and as much as they find right. */
const dropping = {
  type: 'adaptive',
  display: 'summarized',
  blockBinding: { prefixMismatchBehavior: 'drop_block' },
} as const

function optionsOf(model: string, { plain }: ModelRequest, tool_streaming: boolean) {
  const streaming = tool_streaming ? {} : { toolStreaming: false }
  return plain || !binding.test(model) ? streaming : { ...streaming, thinking: dropping }
}

/**
 * A model with a budget refuses calls without a thought in front while it is to think; a model
 * that binds its thoughts cannot be kept from thinking.
 */
function effortOf(model: string, { effort, messages }: ModelRequest): Effort | undefined {
  if (effort === 'none' && binding.test(model)) return 'low'
  if (!budgeted.test(model)) return effort
  const thought = messages.every(
    (message) => message.role !== 'assistant' || message.parts[0]?.type === 'reasoning',
  )
  return thought ? effort : undefined
}

/** The library's own choice for an unknown name that is not Claude's is too short for work. */
const foreignOutput = (model: string): number | null =>
  model.includes('claude') ? null : modelLimits.foreign_output.value

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
